"""The logit lens as a grid, and the votes of heads and sublayers as bars and as a path."""

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.graph import names_axis
from playground.features.shared.figures.theme import PLAIN, Style

ROW, TALLEST, RIGHT = 22, 700, 16  # px: of height for a bar, and for all; of width beside them
LINE, SQUARE = 22, 380  # px, of height: a line of the legend, and the path
MARK = 48  # px before a name in the legend
TITLE_CHARACTERS = 10  # of a token in the title of an axis
KINDS = ("decoder", "cross", "feed_forward", "others")  # each a colour


def grid(
    probabilities: np.ndarray,
    likeliest: Sequence[Sequence[str]],
    layers: Sequence[str],
    written: Sequence[str],
    *,
    rivals: Sequence[Sequence[str]] | None = None,
    decided: Sequence[int] = (),
    pinned: int | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws rows of layers, and columns of the steps that wrote `written`; a cell holds its likeliest token, coloured by its probability.

    probabilities  (N, T) of the likeliest tokens, 0 to 1; `likeliest` are these tokens
    rivals         the text of each cell's hover box; without it only the likeliest token
    decided        for each step the row from which on the likeliest token stays the same: ringed
    pinned         the step of the cursor; ignored when it lies outside
    Traces: 0 cells, 1 rings, 2 their legend. Raises ValueError if the shapes don't fit.
    """
    probabilities, shape = theme.fit(probabilities, layers, written), (len(layers), len(written))
    at = cells.place(layers, written, style)
    strong, longest = probabilities > 0.55, max(int(at.across / len(written) // 8), 1)
    hover = style.hover("hover_lens", layer="<b>%{y}</b>", rivals="%{customdata}")
    texts = [[tokens.escape(text) for text in row] for row in (rivals or likeliest)]
    data = [
        at.heat(theme.rounded(probabilities), hover, at.colorbar(style.word("probability")), meta={"kind": "decoder"}, customdata=texts),
        cells.rings([(row, step) for step, row in enumerate(decided[: shape[1]])], style.colors["second"]),
        cells.swatch(style.word("decided_here"), style.colors["second"], "square-open", visible=bool(len(decided))),
    ]
    layout = at.layout("decoder", (style.word("lens_rows"), style.word("lens_columns")), entries=1)
    layout["yaxis"]["ticktext"] = [tokens.escape(layer) for layer in layers]  # words, not tokens: their spaces are spaces
    layout["annotations"] = [
        {
            "x": step, "y": row, "text": tokens.label(likeliest[row][step], longest), "showarrow": False, "captureevents": False,
            "font": style.font("paper" if strong[row, step] else "text", family=theme.MONO),
        }
        for row, step in np.ndindex(shape)
    ]  # fmt: skip
    layout["shapes"] = at.cursor(None if pinned is None else (0, pinned))[1:2]
    return {"data": data, "layout": layout}


def votes(
    names: Sequence[str],
    values: Sequence[float],
    kinds: Sequence[str],
    heads: Sequence[str],
    *,
    tokens_of: tuple[str, str],
    style: Style = PLAIN,
) -> dict:
    """Draws a bar for each part, first on top: to the right for the first of `tokens_of`, to the left for the second; their sum is the
    logit difference. `kinds` are of KINDS; a click on a bar switches off its head of `heads`, "" for none. Raises ValueError unless there
    are as many values as names.
    """
    votes = theme.fit(values, names)
    palette = style.colors
    ink = {"feed_forward": palette["first"], "others": palette["muted"]}
    data = []
    for kind in KINDS:
        rows = [row for row, each in enumerate(kinds) if each == kind]
        if rows:
            data.append({
                "type": "bar", "orientation": "h", "name": style.word(f"votes_{kind}"), "x": theme.rounded(votes[rows]), "y": rows,
                "width": 0.7, "marker": {"color": ink.get(kind) or style.hue(kind), "line": {"width": 0}},
                "customdata": [heads[row] for row in rows],
                "meta": {"field": "off", "to": {"tab": "interventions"}} if all(heads[row] for row in rows) else {},
                "hovertemplate": style.hover("hover_vote", part="<b>%{y}</b>", value="%{x:+.3f}"),
            })  # fmt: skip
    every = tokens.thinning(min(ROW, TALLEST / max(len(names), 1)), theme.SIZE + 2)
    y, _ = names_axis(names, style, every)
    y["ticktext"] = [tokens.escape(names[row]) for row in y["tickvals"]]  # words, not tokens: their spaces are spaces, and none is cut
    left = 16 + max((tokens.extent(name, longest=99) for name in names), default=0)
    low, high = min(votes.min(initial=0), 0), max(votes.max(initial=0), 0)
    padding = 0.04 * max(high - low, 1e-9)
    first, second = (tokens.label(token, TITLE_CHARACTERS) for token in tokens_of)
    title = style.phrase("votes_axis", token=first, other=second)
    x = style.axis(title, range=[low - padding, high + padding], nticks=5)
    zero = {
        "type": "line", "xref": "x", "yref": "paper", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "line": {"width": 1, "color": palette["line"]},
    }  # fmt: skip
    head = [style.word(word) for word in ("votes_part", "votes_vote")]
    table = {"head": head, "rows": [[name, f"{value:.4f}"] for name, value in zip(names, votes, strict=True)]}
    above = 8 + LINE * _count_lines([trace["name"] for trace in data], style.width - left - RIGHT)
    layout = style.layout(
        min(len(names) * ROW, TALLEST) + above + 50, (left, RIGHT, above, 50), xaxis=x, yaxis=y, shapes=[zero],
        showlegend=True, legend=style.legend_above(), meta={"tokens": list(names), "table": table},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def path(
    names: Sequence[str],
    points: np.ndarray,
    *,
    tokens_of: tuple[str, str],
    style: Style = PLAIN,
) -> dict:
    """Draws the residual stream after each of `names`, (N, 2), as arrows: across its logit for the first of `tokens_of`, upwards that for
    the second, each minus the mean of all logits. Below the dashed diagonal the first token leads. Raises ValueError if the shapes don't
    fit."""
    steps = np.concatenate([np.zeros((1, 2)), theme.fit(points, names, tokens_of)])
    palette = style.colors
    low, high = steps.min() - 0.08 * np.ptp(steps) - 1e-6, steps.max() + 0.08 * np.ptp(steps) + 1e-6
    first, second = (tokens.label(token, TITLE_CHARACTERS) for token in tokens_of)
    between = len(names) - 1
    data = [{
        "type": "scatter", "mode": "markers", "x": theme.rounded(steps[:, 0]), "y": theme.rounded(steps[:, 1]), "name": "",
        "marker": {
            "size": [9, *[6] * between, 13], "color": palette["first"], "symbol": ["circle-open", *["circle"] * between, "star"],
        },
        "customdata": [style.word("path_start"), *names],
        "hovertemplate": "<b>%{customdata}</b><br>" + f"{first} %{{x:.3f}}<br>{second} %{{y:.3f}}<extra></extra>",
    }]  # fmt: skip
    arrow = {"showarrow": True, "arrowhead": 2, "arrowwidth": 1.6, "text": ""} | {"xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    arrows = [
        arrow | {"x": x, "y": y, "ax": from_x, "ay": from_y, "arrowcolor": palette["first"]}
        for (from_x, from_y), (x, y) in zip(steps.tolist(), steps[1:].tolist(), strict=False)
    ]  # fmt: skip
    longest = sorted(range(len(names)), key=lambda at: -np.abs(steps[at + 1] - steps[at]).sum())[:4]  # only these are named, for room
    named = [
        {
            "x": float(steps[at + 1, 0]), "y": float(steps[at + 1, 1]), "xref": "x", "yref": "y", "showarrow": False, "xanchor": "left",
            "xshift": 8, "yshift": 9, "text": tokens.escape(names[at]), "font": style.font(),
        }
        for at in longest
    ]  # fmt: skip
    diagonal = {
        "type": "line", "xref": "x", "yref": "y", "x0": low, "y0": low, "x1": high, "y1": high, "layer": "below",
        "line": {"width": 1, "dash": "dash", "color": palette["line"]},
    }  # fmt: skip
    x, y = (style.axis(style.phrase("path_axis", token=name), range=[low, high], nticks=5) for name in (first, second))
    head = [style.word("votes_part"), tokens.visible(tokens_of[0]), tokens.visible(tokens_of[1])]
    rows = [[name, *(f"{logit:.4f}" for logit in logits)] for name, logits in zip(names, steps[1:].tolist(), strict=True)]
    layout = style.layout(
        SQUARE, (60, 60, 10, 50), xaxis=x, yaxis=y, annotations=[*arrows, *named], shapes=[diagonal],
        showlegend=False, meta={"table": {"head": head, "rows": rows}},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _count_lines(names: Sequence[str], room: float) -> int:
    """Counts the lines of a legend whose entries are all as wide as the widest."""
    widest = max((MARK + tokens.extent(name, longest=99) for name in names), default=MARK)
    return -(-len(names) // max(1, int(room // widest)))
