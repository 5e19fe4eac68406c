"""Length generalisation: the share of right sentences by target length, and of right tokens by place; the lengths of training framed."""

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.runs import truncate
from playground.features.shared.figures.theme import PLAIN, Style

STRIP, PITCH = 22, 50  # px: height of a run's strip with its name above, and of one without; distance of two strips
MAX_CELL_PX, MAX_WIDTH_PX = 10, 620  # px: side of a cell of the map by place, and width of the map
BELOW = 100  # px: axis, its title and the colour bar


def by_length(
    shares: Sequence[np.ndarray],
    names: Sequence[str],
    trained: Sequence[tuple[int, int]],
    counts: Sequence[np.ndarray],
    *,
    style: Style = PLAIN,
) -> dict:
    """Draws a strip for each run, named unless it is the only one: column n - 1 of its shares (N,) is for targets of n tokens, NaN where
    there are none.

    names, trained (shortest, longest) and counts (N,) belong to the strips; N may differ. Shapes: the frames, one a strip, also beyond the
    longest target. Raises ValueError if the lists differ in length.
    """
    if not len(shares) == len(names) == len(trained) == len(counts):
        raise ValueError(f"{len(shares)} strips, {len(names)} names, {len(trained)} ranges and {len(counts)} counts")
    longest = max(*map(len, shares), *(high for _, high in trained))
    rows = len(shares)
    z = np.full((rows, longest), np.nan)
    sentences = np.zeros((rows, longest), dtype=int)
    for row, (share, count) in enumerate(zip(shares, counts, strict=True)):
        z[row, : len(share)], sentences[row, : len(count)] = share, count
    strip = STRIP if rows > 1 else PITCH
    down, half = rows * PITCH, strip / PITCH / 2  # px; half a strip in rows
    texts = {"length": "<b>%{x}</b>", "share": "%{z:.0%}", "count": "%{customdata}"}
    more = {"ygap": PITCH - strip, "xgap": 1 if style.width / longest > 9 else 0, "customdata": sentences.tolist()}
    data = _draw_shares(z, down, style.hover("hover_reach", **texts), style, 0, 2 * half, more)
    notes = [
        {
            "text": tokens.escape(name), "showarrow": False, "xref": "paper", "x": 0, "xanchor": "left", "y": row - half,
            "yanchor": "bottom", "yshift": 2, "font": style.font(),
        }
        for row, name in enumerate(truncate(name, style.width - 24, 1) for name in names if rows > 1)
    ]  # fmt: skip
    frames = []
    for row, (low, high) in enumerate(trained):
        left, right, top, bottom = low - 0.5, high + 0.5, row - half, row + half
        frames.append(_draw_frame([(left, top), (right, top), (right, bottom), (left, bottom)], style))
    layout = style.layout(
        down + 12 + BELOW, (12, 12, 12, BELOW), annotations=notes, shapes=frames, legend=_legend(down),
        meta={"rows": list(names), "columns": [str(n) for n in range(1, longest + 1)], "none": "–"},
        xaxis=_length_axis(longest, style),
        yaxis=style.axis("", range=[rows - 0.5, -0.5], showgrid=False, showline=False, showticklabels=False, ticks=""),
    )  # fmt: skip
    return {"data": data, "layout": layout | {"showlegend": True}}


def by_place(shares: np.ndarray, trained: tuple[int, int], *, style: Style = PLAIN) -> dict:
    """Draws shares (N + 1, N) of right tokens: column n - 1 for targets of n tokens, row p for their token number p + 1, <eos> the last.

    NaN where there is none. shapes[0] frames the lengths of training. Raises ValueError for another shape.
    """
    shares = np.asarray(shares, dtype=np.float64)
    if shares.ndim != 2 or shares.shape[0] != shares.shape[1] + 1:
        raise ValueError(f"expected one row more than columns, not shape {shares.shape}")
    places, longest = shares.shape
    room = style.width - 54 - 12
    side = min(min(MAX_WIDTH_PX, room) / longest, 3 * MAX_CELL_PX if longest < 16 else MAX_CELL_PX)
    across, down = side * longest, side * places
    texts = {"place": "<b>%{y}</b>", "length": "<b>%{x}</b>", "share": "%{z:.0%}"}
    more = {"y": list(range(1, places + 1)), "xgap": int(side > 9), "ygap": int(side > 9)}
    data = _draw_shares(shares, down, style.hover("hover_place", **texts), style, 1, 1, more)
    low, high = trained[0], min(trained[1], longest)
    stairs = [(n + step, n + 1.5) for n in range(high, low - 1, -1) for step in (0.5, -0.5)]  # down to each length's last token
    layout = style.layout(
        down + 12 + BELOW, (54, 12, 12, BELOW), legend=_legend(down),
        shapes=[_draw_frame([(low - 0.5, 0.5), (high + 0.5, 0.5), *stairs], style)],
        meta={"rows": [str(n) for n in range(1, places + 1)], "columns": [str(n) for n in range(1, longest + 1)], "none": ""},
        xaxis=_length_axis(longest, style) | {"domain": [0, round(min(across / room, 1), 4)]},
        yaxis=style.axis(style.word("place"), range=[places + 0.5, 0.5], showgrid=False, **_round_ticks(places)),
    )  # fmt: skip
    return {"data": data, "layout": layout | {"showlegend": True}}


def _length_axis(longest: int, style: Style) -> dict:
    return style.axis(style.word("target_length"), range=[0.5, longest + 0.5], showgrid=False, **_round_ticks(longest))


def _round_ticks(longest: int) -> dict:
    """Lays out at most nine ticks: 1, and multiples of a round number."""
    step = next(step for step in (1, 2, 4, 5, 8, 10, 16, 20, 25, 50) if longest <= 8 * step or step == 50)
    return {"tickvals": sorted({1, *range(step, longest + 1, step)} - ({2} if step > 1 else set()))}


def _draw_frame(corners: Sequence[tuple[float, float]], style: Style) -> dict:
    """Draws a line around the lengths of training, in a colour that contrasts with every shade of the cells."""
    path = "M" + "L".join(f"{x:g},{y:g}" for x, y in corners) + "Z"
    return {
        "type": "path", "layer": "above", "path": path, "line": {"color": style.colors["second"], "width": 2},
        "fillcolor": "rgba(0,0,0,0)",
    }  # fmt: skip


def _draw_shares(shares: np.ndarray, down: float, hover: str, style: Style, first: int, width: float, more: dict) -> list[dict]:
    """Draws shares by length, with a colour bar below `down` pixels, and hatches what was not measured: in rows from number `first` on,
    whose height is `width`."""
    bar = style.colorbar("", round(-48 / down, 4), 160, tickformat=".0%")
    hatching = cells.hatching(np.isnan(shares), style.word("unmeasured"), style)
    hatching |= {"y": [row + first for row in hatching["y"]], "base": [left + 1 for left in hatching["base"]], "width": width}
    return [style.heat(theme.rounded(shares), hover, x=list(range(1, shares.shape[1] + 1)), colorbar=bar) | more, hatching]


def _legend(down: float) -> dict:
    """Lays out the legend beside the colour bar."""
    return {"orientation": "h", "x": 1, "xanchor": "right", "y": round(-48 / down, 4), "yanchor": "top", "itemclick": False}
