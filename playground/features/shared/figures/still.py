"""A static placeholder of an attention matrix until Plotly is loaded: the same cells, colours and words, as HTML around one SVG.

Everything is read from the figure that Plotly draws later. The grid's size depends on the window, as in `cells.place`, which the server
doesn't know yet, and is left to the page's style.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape, unescape

from playground.features.shared.figures import theme


def still(light: Mapping, dark: Mapping, label: str) -> str:
    """Renders a figure of `attention.matrix`, light and dark, as an image named `label`. Masked cells are not drawn: a figure of
    cross-attention to one sentence has none."""
    layout, weights, other, rings, legend = light["layout"], light["data"][0], dark["data"][0], light["data"][3], light["data"][4]
    rows, columns = len(weights["z"]), len(weights["z"][0])
    sizes = {"rows": rows, "columns": columns} | {f"margin-{side}": f"{layout['margin'][side]}px" for side in "lrtb"}
    colors = {"hue": layout["xaxis"]["linecolor"], "ring": rings["line"]["color"], "scale": _gradient(weights)}
    colors |= {
        "hue-dark": dark["layout"]["xaxis"]["linecolor"], "ring-dark": dark["data"][3]["line"]["color"], "scale-dark": _gradient(other),
    }  # fmt: skip
    style = ";".join(f"--{name}:{value}" for name, value in (sizes | colors).items())
    bar = weights["colorbar"]
    parts = [
        f'<svg viewBox="0 0 {columns} {rows}" preserveAspectRatio="none">',
        *_draw_cells(weights["z"], other["z"]),
        f'<path class="ring" d="{_ring_path(rings)}"/></svg>',
        _render_title("across", layout["xaxis"]),
        _render_title("down", layout["yaxis"]),
        *_render_labels("column", layout["xaxis"]),
        *_render_labels("row", layout["yaxis"]),
        '<div class="bar">',
        f"<b>{escape(bar['title']['text'])}</b>",
        *(f'<i style="--at:{tick}">{tick:g}</i>' for tick in bar["tickvals"]),
        "</div>",
        f'<span class="legend">{escape(legend["name"])}</span>' if legend["visible"] else "",
    ]
    return f'<div class="still" role="img" aria-label="{escape(label)}" style="{style}">{"".join(parts)}</div>'


def _draw_cells(light: list[list[float]], dark: list[list[float]]) -> list[str]:
    """Draws a square for each weight, with its other colour for a dark page."""
    return [
        f'<rect x="{column}" y="{row}" width="1" height="1" fill="{shade}" style="--dark:{dark_shade}"/>'
        for row, (weights, dark_weights) in enumerate(zip(light, dark, strict=True))
        for column, (shade, dark_shade) in enumerate(zip(theme.shades(weights), theme.shades(dark_weights, dark=True), strict=True))
    ]


def _ring_path(rings: Mapping) -> str:
    """Converts the outlines to an SVG path in cells, the first from 0 to 1."""
    path, pen = "", "M"
    for x, y in zip(rings["x"], rings["y"], strict=True):
        if x is None:
            pen = "M"
            continue
        path, pen = f"{path}{pen}{x + 0.5:g} {y + 0.5:g}", "L"
    return path


def _gradient(weights: Mapping) -> str:
    return f"linear-gradient(90deg,{','.join(color for _, color in weights['colorscale'])})"


def _render_title(name: str, axis: Mapping) -> str:
    return f'<span class="title {name}">{escape(axis["title"]["text"])}</span>'


def _render_labels(name: str, axis: Mapping) -> list[str]:
    """Renders the tick labels, which are HTML for Plotly."""
    ticks = zip(axis["tickvals"], axis["ticktext"], strict=True)
    return [f'<span class="{name}" style="--at:{at}">{escape(unescape(text))}</span>' for at, text in ticks]
