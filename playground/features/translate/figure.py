"""The tree of a beam search: a row for each step, downwards; a score under each token; pruned hypotheses on dotted lines."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

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
    style: Style = PLAIN,
) -> dict:
    """Draws N nodes: their tokens, the index of each one's parent (before it; -1 for the root, which is first), and three numbers each
    (N, 3): probability of the token, sum of log probabilities, score.

    fates      "kept", "finished" (ended and stayed), "overtaken" (ended and was pruned later) or "pruned"
    best       the nodes of the best hypothesis, without the root; `reference`: of the right answer, as far as the beam held it, or of
               the best output without constraints
    Draws all kept nodes, the `PRUNED` best of those pruned at a step, and at most `STEPS` steps, about the one at which the reference was
    pruned; meta has the counts. A tree with more lanes than fit into `width` px is wider.
    Traces: 0 reference, 1 pruned lines, 2 kept lines, 3 best; 4 to 7 nodes by fate, 8 nodes of the best, 9 where the reference was lost.
    Raises ValueError if the lists differ in length.
    """
    if not len(names) == len(parents) == len(numbers) == len(fates):
        raise ValueError(f"{len(names)} tokens, {len(parents)} parents, {len(numbers)} rows of numbers, {len(fates)} fates")
    depths = _count_depths(parents)
    lost = [node for node in reference if fates[node] in ("pruned", "overtaken")][:1]
    first, last = _choose_window(max(depths), depths[lost[0]] if lost else 0)
    on_best, on_reference = set(best), set(reference)
    ranks = [(node not in on_best, node not in on_reference, fates[node] == "pruned", -numbers[node][2]) for node in range(len(names))]
    at = _place(parents, depths, ranks, (first, last))
    drawn = _Tree(names, parents, numbers, fates, at, min(tokens.longest(style.width), 10), style)
    lanes = max(x for x, _ in at.values()) + 1
    lane = 20 + max(38, *(tokens.extent(names[node], drawn.longest) for node in at))  # px, at least; 38 for a score
    inner = max(style.width - AXIS - 8, lanes * lane)
    data = drawn.draw(*([node for node in nodes if node in at] for nodes in (best, reference, lost)))
    entries, down = sum(trace["showlegend"] for trace in data), ROW * (last - first + 1)
    ticks = {"range": [last + 0.5, first - 0.5], "tickvals": list(range(max(first, 1), last + 1)), "showgrid": False, "ticks": ""}
    x = style.axis("", range=[-0.2, lanes - 0.2], domain=[0, round(min(lanes * MAX_LANE_PX / inner, 1), 4)], visible=False)
    place = {"y": round(-8 / down, 4), "yanchor": "top", "font": style.font("muted")}
    counts = {"drawn": len(at) - (0 in at), "considered": len(names) - 1, "first": max(first, 1), "last": last, "steps": max(depths)}
    layout = style.layout(
        6 + down + 14 + ENTRY * entries, (AXIS, 8, 6, 14 + ENTRY * entries), xaxis=x, yaxis=style.axis(style.word("tree_step"), **ticks),
        showlegend=True, legend=theme.legend_column(**place, itemclick=False, itemdoubleclick=False, tracegroupgap=0),
        meta={**counts, "table": drawn.tabulate(depths)},
    )  # fmt: skip
    wider = {"width": int(np.ceil(inner)) + AXIS + 8} if inner > style.width - AXIS - 8 else {}
    return {"data": data, "layout": layout | wider}


class _Tree(NamedTuple):
    """A tree with the place (lane, step) of each drawn node."""

    names: Sequence[str]
    parents: Sequence[int]
    numbers: np.ndarray
    fates: Sequence[str]
    at: Mapping[int, tuple[int, int]]
    longest: int  # characters of a token
    style: Style

    def draw(self, best: Sequence[int], reference: Sequence[int], lost: Sequence[int]) -> list[dict]:
        """Draws all lines and nodes; the nodes of the best hypothesis, of the reference, and where it was lost are highlighted."""
        ink, on_best = self.style.colors, set(best)
        groups = {fate: [node for node in self.at if self.fates[node] == fate and node not in on_best] for fate in SYMBOLS}
        where = {"x": [self.at[node][0] for node in lost], "y": [self.at[node][1] for node in lost], "showlegend": bool(lost)}
        return [
            self.line(reference, "reference", ink["second"], 9, legend=True),
            self.line(groups["pruned"], "pruned", ink["line"], 1.5, dash="dot"),
            self.line([node for fate in SYMBOLS if fate != "pruned" for node in groups[fate]], "kept", ink["text"], 1.5),
            self.line(best, "best", ink["first"], 4, legend=True),
            *(self.dots(groups[fate], fate, ink["muted" if fate in ("overtaken", "pruned") else "text"]) for fate in SYMBOLS),
            self.dots(best, "best", ink["first"]) | {"showlegend": False},
            {
                "type": "scatter", "mode": "markers", "name": self.style.word("tree_lost"), "hoverinfo": "skip", **where,
                "marker": {"symbol": "x-thin", "size": 15, "line": {"width": 3, "color": ink["second"]}},
            },
        ]  # fmt: skip

    def line(self, nodes: Sequence[int], name: str, color: str, size: float, legend: bool = False, **more: object) -> dict:
        """Draws the lines from these nodes' parents to them, as one path with gaps."""
        x: list[float | None] = []
        y: list[float | None] = []
        for node in nodes:
            if self.parents[node] in self.at:
                (x0, y0), (x1, y1) = self.at[self.parents[node]], self.at[node]
                x += [*theme.rounded(x0 + (x1 - x0) * EASE, 3), None]
                y += [*theme.rounded(y0 + (y1 - y0) * BEND, 3), None]
        return {
            "type": "scatter", "mode": "lines", "x": x, "y": y, "name": self.style.word(f"tree_{name}"), "hoverinfo": "skip",
            "line": {"color": color, "width": size, **more}, "showlegend": legend and bool(x),
        }  # fmt: skip

    def dots(self, nodes: Sequence[int], name: str, color: str) -> dict:
        """Draws nodes by the symbols of their fates, each labelled by its token and, below it, the score of the sentence so far."""
        word, columns = self.style.word(f"tree_{name}"), ("probability", "total", "score")
        numbers = {column: f"%{{customdata[{at}]:.3f}}" for at, column in enumerate(columns)}
        return {
            "type": "scatter", "mode": "markers+text", "name": word, "showlegend": bool(nodes),
            "x": [self.at[node][0] for node in nodes], "y": [self.at[node][1] for node in nodes],
            "text": [self.label(node) for node in nodes], "textposition": "middle right",
            "textfont": {"family": theme.MONO, "size": theme.SIZE, "color": color}, "cliponaxis": False,
            "marker": {
                "symbol": [SYMBOLS[self.fates[node]] for node in nodes], "size": 8, "color": color,
                "line": {"width": 1.5, "color": color},
            },
            "hovertext": [tokens.label(self.names[node], 40) for node in nodes],
            "customdata": theme.rounded(np.take(self.numbers, nodes, axis=0)),
            "hovertemplate": self.style.hover("hover_tree", token="<b>%{hovertext}</b>", fate=word, **numbers),
        }  # fmt: skip

    def label(self, node: int) -> str:
        token, score = tokens.label(self.names[node], self.longest), theme.minus(f"{self.numbers[node][2]:z.2f}")
        return f'{token}<br><span style="font-size:{SMALL}px">{score}</span>' if node else token

    def tabulate(self, depths: Sequence[int]) -> dict:
        """Tabulates drawn nodes: step, the sentence so far, probability of its last token, sum of log probabilities, score, fate."""
        word = self.style.word
        head = [word(f"tree_{name}") for name in ("step", "sentence", "probability", "total", "score", "fate")]
        rows = [
            [depths[node], self.sentence(node), *theme.rounded(self.numbers[node]), word(f"tree_{self.fates[node]}")]
            for node in sorted(self.at)
            if depths[node]
        ]
        return {"head": head, "rows": rows}

    def sentence(self, node: int) -> str:
        path = []
        while self.parents[node] >= 0:
            path.append(tokens.visible(self.names[node]))
            node = self.parents[node]
        return " ".join(path[::-1])


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
