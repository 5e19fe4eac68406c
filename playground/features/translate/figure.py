"""The tree of a beam search: a row for each step, downwards; a score under each token; pruned hypotheses on dotted lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens

ROW, STEPS = 46, 15  # px, of height for one step; steps drawn at most
PRUNED = 3  # pruned hypotheses drawn at one step
AXIS, ENTRY = 40, 20  # px: width of the steps' numbers; height of one line of the legend
MAX_LANE_PX = 110  # px, of a lane
SMALL = 10  # px, of the letters of a score
BEND = np.array([0, 0.36, 0.42, 0.5, 0.58, 0.64, 1])  # a line bends half way between two rows, clear of the labels
EASE = np.array([0, 0, 0.1, 0.5, 0.9, 1, 1])
SYMBOLS = {"kept": "circle", "finished": "square", "overtaken": "square-open", "pruned": "circle-open"}


def tree(
    names: Sequence[str],
    parents: Sequence[int],
    numbers: np.ndarray,
    fates: Sequence[str],
    *,
    best: Sequence[int],
    reference: Sequence[int] = (),
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws N nodes: their tokens, the index of each one's parent (before it; -1 for the root, which is first), and three numbers each
    (N, 3): probability of the token, sum of log probabilities, score.

    fates      "kept", "finished" (ended and stayed), "overtaken" (ended and was pruned later) or "pruned"
    best       the nodes of the best hypothesis, without the root; `reference`: of the right answer, as far as the beam held it
    Draws all kept nodes, the `PRUNED` best of those pruned at a step, and at most `STEPS` steps, about the one at which the reference was
    pruned; meta has the counts. A tree with more lanes than fit into `width` px is wider.
    Traces: 0 reference, 1 pruned lines, 2 kept lines, 3 best; 4 to 7 nodes by fate, 8 nodes of the best, 9 where the reference was lost.
    Raises ValueError if the lists differ in length.
    """
    if not len(names) == len(parents) == len(numbers) == len(fates):
        raise ValueError(f"{len(names)} tokens, {len(parents)} parents, {len(numbers)} rows of numbers, {len(fates)} fates")
    depths = _count_depths(parents)
    lost = [node for node in reference[-1:] if fates[node] in ("pruned", "overtaken")]
    first, last = _choose_window(max(depths), depths[lost[0]] if lost else 0)
    longest = min(tokens.longest(width), 10)
    on_best, on_reference = set(best), set(reference)
    ranks = [(node not in on_best, node not in on_reference, fates[node] == "pruned", -numbers[node][2]) for node in range(len(names))]
    at = _place(parents, depths, ranks, (first, last))
    lanes = max(x for x, _ in at.values()) + 1
    lane = 20 + max(38, *(tokens.extent(names[node], longest) for node in at))  # px, at least; 38 for a score
    inner = max(width - AXIS - 8, lanes * lane)

    palette = theme.colors(dark)
    groups = {fate: [node for node in at if fates[node] == fate and node not in on_best] for fate in SYMBOLS}
    inks = {fate: palette["muted" if fate in ("overtaken", "pruned") else "text"] for fate in SYMBOLS}

    def line(nodes: Sequence[int], name: str, color: str, size: float, **more: object) -> dict:
        in_legend = bool(more.pop("legend", False))
        x, y = _draw_curves(at, parents, nodes)
        return {
            "type": "scatter", "mode": "lines", "x": x, "y": y, "name": theme.word(labels, f"tree_{name}"), "hoverinfo": "skip",
            "line": {"color": color, "width": size, **more}, "showlegend": in_legend and bool(x),
        }  # fmt: skip

    def dots(nodes: Sequence[int], name: str, symbols: Sequence[str], color: str, legend: bool = True) -> dict:
        return {
            "type": "scatter", "mode": "markers+text", "name": theme.word(labels, f"tree_{name}"), "showlegend": legend and bool(nodes),
            "x": [at[node][0] for node in nodes], "y": [at[node][1] for node in nodes],
            "text": [_label(names[node], longest, numbers[node][2] if node else None) for node in nodes], "textposition": "middle right",
            "textfont": {"family": theme.MONO, "size": theme.SIZE, "color": color}, "cliponaxis": False,
            "marker": {"symbol": list(symbols), "size": 8, "color": color, "line": {"width": 1.5, "color": color}},
            "hovertext": [tokens.label(names[node], 40) for node in nodes], "customdata": theme.rounded(np.take(numbers, nodes, axis=0)),
            "hovertemplate": theme.phrase(
                labels, "hover_tree", token="<b>%{hovertext}</b>", fate=theme.word(labels, f"tree_{name}"),
                probability="%{customdata[0]:.3f}", total="%{customdata[1]:.3f}", score="%{customdata[2]:.3f}",
            ) + "<extra></extra>",
        }  # fmt: skip

    lost = [node for node in lost if node in at]
    data = [
        line([node for node in reference if node in at], "reference", palette["second"], 9, legend=True),
        line(groups["pruned"], "pruned", palette["line"], 1.5, dash="dot"),
        line([node for fate in SYMBOLS if fate != "pruned" for node in groups[fate]], "kept", palette["text"], 1.5),
        line([node for node in best if node in at], "best", palette["first"], 4, legend=True),
        *(dots(groups[fate], fate, [symbol] * len(groups[fate]), inks[fate]) for fate, symbol in SYMBOLS.items()),
        dots([node for node in best if node in at], "best", [SYMBOLS[fates[node]] for node in best if node in at], palette["first"], False),
        {
            "type": "scatter", "mode": "markers", "name": theme.word(labels, "tree_lost"), "hoverinfo": "skip", "showlegend": bool(lost),
            "x": [at[node][0] for node in lost], "y": [at[node][1] for node in lost],
            "marker": {"symbol": "x-thin", "size": 15, "line": {"width": 3, "color": palette["second"]}},
        },
    ]  # fmt: skip
    entries = sum(trace["showlegend"] for trace in data)
    down = ROW * (last - first + 1)
    y = theme.axis(
        theme.word(labels, "tree_step"), dark, range=[last + 0.5, first - 0.5], tickvals=list(range(max(first, 1), last + 1)),
        showgrid=False, ticks="",
    )  # fmt: skip
    x = theme.axis("", dark, range=[-0.2, lanes - 0.2], domain=[0, round(min(lanes * MAX_LANE_PX / inner, 1), 4)], visible=False)
    legend = {
        "orientation": "v", "x": 0, "xanchor": "left", "y": round(-8 / down, 4), "yanchor": "top", "bgcolor": "rgba(0,0,0,0)",
        "font": {"size": theme.SIZE, "color": palette["muted"]}, "itemclick": False, "itemdoubleclick": False, "tracegroupgap": 0,
    }  # fmt: skip
    drawn = {"drawn": len(at) - (0 in at), "considered": len(names) - 1, "first": max(first, 1), "last": last, "steps": max(depths)}
    wider = {"width": int(np.ceil(inner)) + AXIS + 8} if inner > width - AXIS - 8 else {}
    layout = theme.layout(
        6 + down + 14 + ENTRY * entries, {"l": AXIS, "r": 8, "t": 6, "b": 14 + ENTRY * entries}, dark, xaxis=x, yaxis=y, showlegend=True,
        legend=legend, hovermode="closest", **wider,
        meta={**drawn, "table": _tabulate(names, parents, numbers, fates, sorted(at), depths, labels)},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _count_depths(parents: Sequence[int]) -> list[int]:
    """Counts the steps from the root to each node."""
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return depths


def _choose_window(steps: int, at: int) -> tuple[int, int]:
    """Returns the first and the last step to draw, with `at` about in the middle if there are too many."""
    first = 0 if steps <= STEPS else max(0, min(at - STEPS // 2, steps - STEPS))
    return first, min(first + STEPS, steps)


def _place(parents: Sequence[int], depths: Sequence[int], ranks: Sequence[tuple], window: tuple[int, int]) -> dict[int, tuple[int, int]]:
    """Places every drawn node at (lane, step). No node is drawn without its parent; children are in their parents' order, so that no lines
    cross, and the best child is below its parent if there is room."""
    rows: dict[int, list[int]] = {step: [] for step in range(window[0], window[1] + 1)}
    drawn: set[int] = set()
    for step, row in rows.items():
        here = [node for node, depth in enumerate(depths) if depth == step and (step == window[0] or parents[node] in drawn)]
        here.sort(key=lambda node: ranks[node])
        faint = [node for node in here if ranks[node][:3] == (True, True, True)]
        row += [node for node in here if node not in faint[PRUNED:]]
        drawn.update(row)
    lanes = max(map(len, rows.values()))
    at: dict[int, tuple[int, int]] = {}
    for step, row in rows.items():
        above = {node: at[parents[node]][0] if parents[node] in at else 0 for node in row}
        next_free, siblings = 0, defaultdict(int)
        for place, node in enumerate(sorted(row, key=lambda node: (above[node], ranks[node][3]))):
            lane = min(max(above[node] + siblings[parents[node]], next_free), lanes - len(row) + place)
            siblings[parents[node]] += 1
            at[node], next_free = (lane, step), lane + 1
    return at


def _label(name: str, longest: int, score: float | None) -> str:
    """Labels a node by its token, and below it the score of the sentence that ends with it."""
    token = tokens.label(name, longest)
    return token if score is None else f'{token}<br><span style="font-size:{SMALL}px">{theme.minus(f"{score:.2f}")}</span>'


def _draw_curves(at: Mapping[int, tuple[int, int]], parents: Sequence[int], nodes: Sequence[int]) -> tuple[list, list]:
    """Draws the lines from these nodes' parents to them, as one path with gaps."""
    x: list[float | None] = []
    y: list[float | None] = []
    for node in nodes:
        if parents[node] in at:
            (x0, y0), (x1, y1) = at[parents[node]], at[node]
            x += [*theme.rounded(x0 + (x1 - x0) * EASE, 3), None]
            y += [*theme.rounded(y0 + (y1 - y0) * BEND, 3), None]
    return x, y


def _tabulate(
    names: Sequence[str], parents: Sequence[int], numbers: np.ndarray, fates: Sequence[str], nodes: Sequence[int], depths: Sequence[int],
    labels: Mapping[str, str] | None,
) -> dict:  # fmt: skip
    """Tabulates drawn nodes: step, the sentence so far, probability of its last token, sum of log probabilities, score, fate."""

    def sentence(node: int) -> str:
        path = []
        while parents[node] >= 0:
            path.append(tokens.visible(names[node]))
            node = parents[node]
        return " ".join(path[::-1])

    head = [theme.word(labels, f"tree_{name}") for name in ("step", "sentence", "probability", "total", "score", "fate")]
    rows = [
        [depths[node], sentence(node), *theme.rounded(numbers[node]), theme.word(labels, f"tree_{fates[node]}")]
        for node in nodes
        if depths[node]
    ]
    return {"head": head, "rows": rows}
