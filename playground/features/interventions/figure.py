"""Effects of interventions: probabilities before and after, and the importance of each head."""

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.graph import names_axis, short
from playground.features.shared.figures.theme import PLAIN, Style

ROW, HEAD_ROW, TALLEST = 26, 20, 700  # px, of height for one row, of a token or a head, and for all of them
NUMBERS, NUMBER = 116, 40  # px at the right, for two probabilities and for one count of points


def pairs(
    names: Sequence[str], before: Sequence[float], after: Sequence[float], *, chosen: int | None = None, style: Style = PLAIN,
) -> dict:  # fmt: skip
    """Draws two probabilities (0 to 1) of each token, joined by a line: a ring for before, a filled diamond for after, so that they differ
    in shape as well as colour. First token on top; `chosen` is the cursor's row. Raises ValueError if the lists differ in length.

    Traces: 0 the lines between, 1 before, 2 after. Shape 0 frames the chosen row.
    """
    first, second = theme.fit(before, names), theme.fit(after, names)
    palette, down = style.colors, list(range(len(names)))
    data = [
        {
            "type": "scatter", "mode": "lines", "x": _interleave(theme.rounded(first), theme.rounded(second)), "y": _interleave(down, down),
            "line": {"color": palette["line"], "width": 2}, "hoverinfo": "skip", "showlegend": False,
        },
        _draw_marks("before", first, down, style, {"symbol": "circle-open", "size": 12, "color": palette["text"], "line": {"width": 2}}),
        _draw_marks("after", second, down, style, {"symbol": "diamond", "size": 9, "color": palette["second"]}),
    ]  # fmt: skip
    changes = [(short(left), short(right)) for left, right in zip(first, second, strict=True)]
    numbers = [" → ".join(change) if len({*change}) > 1 else "" for change in changes]  # the others are told where they are pointed at
    x = style.axis(style.word("probability"), range=[-0.02, 1.02], tickvals=[0, 0.5, 1], showgrid=True)
    framed = chosen is not None and 0 <= chosen < len(names)
    frame = {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": (chosen or 0) - 0.5, "y1": (chosen or 0) + 0.5, "visible": framed,
        "line": {"width": 1, "color": palette["text"]}, "fillcolor": "rgba(0,0,0,0)",
    }  # fmt: skip
    table = _tabulate(names, first, second, [style.word(word) for word in ("pair_token", "before", "after")])
    layout = _lay_out(names, numbers, data, (ROW, NUMBERS), style, xaxis=x, shapes=[frame])
    return {"data": data, "layout": layout | {"meta": {"tokens": list(names), "table": table}}}


def losses(
    names: Sequence[str],
    exact: Sequence[float],
    tokens_right: Sequence[float],
    *,
    kind: str,
    most: float,
    least: float = 0.0,
    off: Sequence[bool] = (),
    style: Style = PLAIN,
) -> dict:
    """Draws the points (of 100) that a model loses when one head alone is switched off: a bar for exact match with its number, a diamond
    for token accuracy. Negative ones are gains. `least` and `most` are the ends of the scale, the same for figures side by side; the names
    of heads that are `off` now are bold. Raises ValueError if the lists differ in length.
    """
    lost, fewer = theme.fit(exact, names), theme.fit(tokens_right, names)
    down = list(range(len(names)))
    data = [
        {
            "type": "bar", "orientation": "h", "name": style.word("lost_exact"), "x": theme.rounded(lost), "y": down, "width": 0.7,
            "marker": {"color": style.hue(kind), "line": {"width": 0}},
            "hovertemplate": style.hover("hover_lost_exact", head="<b>%{y}</b>", value="%{x:.1f}"),
        },
        {
            "type": "scatter", "mode": "markers", "name": style.word("lost_tokens"), "x": theme.rounded(fewer), "y": down,
            "cliponaxis": False, "marker": {"symbol": "diamond-open", "size": 8, "color": style.colors["text"], "line": {"width": 1.5}},
            "hovertemplate": style.hover("hover_lost_tokens", head="<b>%{y}</b>", value="%{x:.1f}"),
        },
    ]  # fmt: skip
    x = style.axis(style.word("points_lost"), range=[min(least, 0), max(most, 1)], nticks=5, zeroline=True)
    x["zerolinecolor"] = style.colors["line"]
    layout = _lay_out(names, [_format_points(value) for value in lost], data, (HEAD_ROW, NUMBER), style, xaxis=x)
    y = layout["yaxis"]
    y["ticktext"] = [f"<b>{text}</b>" if at < len(off) and off[at] else text for at, text in zip(y["tickvals"], y["ticktext"], strict=True)]
    table = _tabulate(names, lost, fewer, [style.word(word) for word in ("lost_head", "lost_exact", "lost_tokens")])
    return {"data": data, "layout": layout | {"meta": {"kind": kind, "tokens": list(names), "table": table}}}


def _lay_out(names: Sequence[str], numbers: Sequence[str], data: list[dict], px: tuple[int, int], style: Style, **more: object) -> dict:
    """Lays out a row for each name with its number at the right, outside the axes, and a legend of `data` above. `px`: of a row at most,
    and for the numbers."""
    row = max(min(px[0], TALLEST / max(len(names), 1)), 2)
    every = tokens.thinning(row, theme.SIZE + 2)
    y, left = names_axis(names, style, every)
    wide = sum(48 + tokens.extent(trace["name"], longest=99) for trace in data if trace.get("name"))
    top = 30 if wide <= style.width - left - px[1] else 48  # one line of the legend, or two where its words don't fit side by side
    note = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 8, "yref": "y", "showarrow": False, "align": "left"}
    notes = [note | {"font": style.font(), "y": at, "text": tokens.escape(numbers[at])} for at in range(0, len(names), every)]
    more |= {"yaxis": y, "annotations": notes, "showlegend": True, "legend": style.legend_above()}
    return style.layout(len(names) * row + top + 46, (left, px[1], top, 46), **more)


def _interleave(starts: Sequence[float], ends: Sequence[float]) -> list[float | None]:
    """Interleaves start, end, gap, start, end, gap, …: one line for each pair."""
    return [value for pair in zip(starts, ends, strict=True) for value in (*pair, None)]


def _draw_marks(name: str, values: np.ndarray, down: list[int], style: Style, marker: dict) -> dict:
    word = style.word(name)
    return {
        "type": "scatter", "mode": "markers", "name": word, "x": theme.rounded(values), "y": down, "cliponaxis": False,
        "marker": marker,
        "hovertemplate": style.hover("hover_pair", token="<b>%{y}</b>", when=word, value="%{x:.4f}"),
    }  # fmt: skip


def _format_points(value: float) -> str:
    """Formats points with a decimal only below 1, and with a real minus."""
    return theme.minus(f"{value:.0f}" if abs(value) >= 1 or value == 0 else f"{value:.1f}")


def _tabulate(names: Sequence[str], first: np.ndarray, second: np.ndarray, head: list[str]) -> dict:
    """Tabulates the numbers of a figure."""
    rows = [[tokens.visible(name), f"{left:.3f}", f"{right:.3f}"] for name, left, right in zip(names, first, second, strict=True)]
    return {"head": head, "rows": rows}
