"""Pictures without Plotly: a still of a figure, a learning rate's line as SVG, a matrix as a small grid of integers."""

import base64
from collections.abc import Mapping
from html import escape, unescape

import numpy as np

from playground.features.shared.figures.theme import Style

WIDTH, HEIGHT, EDGE = 280, 64, 2  # units of the SVG; the page's style sets its width
MAX_SHAPE = (24, 64)  # maximum rows and columns
STRONGEST, MASKED = 127, -128  # among the integers


def still(light: Mapping, dark: Mapping, label: str) -> str:
    """Renders a figure of `attention.matrix`, light and dark, as an image named `label`, a placeholder until Plotly is loaded. All is
    read from the figure that Plotly draws later; the grid's size depends on the window, as in `cells.place`, which the server doesn't
    know yet, and is left to the page's style. Masked cells are not drawn: a figure of cross-attention to one sentence has none."""
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
        f'<span class="title across">{escape(layout["xaxis"]["title"]["text"])}</span>',
        f'<span class="title down">{escape(layout["annotations"][0]["text"]).replace("&lt;br&gt;", "<br>")}</span>',
        *_render_labels("column", layout["xaxis"]),
        *_render_labels("row", layout["yaxis"]),
        '<div class="bar">',
        *(f'<i style="--at:{at}">{escape(text)}</i>' for at, text in zip(bar["tickvals"], bar["ticktext"], strict=True)),
        "</div>",
        f'<span class="legend">{escape(legend["name"])}</span>' if legend["visible"] else "",
    ]
    return f'<div class="still" role="img" aria-label="{escape(label)}" style="{style}">{"".join(parts)}</div>'


def _draw_cells(light: list[list[float]], dark: list[list[float]]) -> list[str]:
    """Draws a square for each weight, with its other colour for a dark page."""
    return [
        f'<rect x="{column}" y="{row}" width="1" height="1" fill="{shade}" style="--dark:{dark_shade}"/>'
        for row, (weights, dark_weights) in enumerate(zip(light, dark, strict=True))
        for column, (shade, dark_shade) in enumerate(zip(Style().shades(weights), Style(dark=True).shades(dark_weights), strict=True))
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


def _render_labels(name: str, axis: Mapping) -> list[str]:
    """Renders the tick labels, which are HTML for Plotly."""
    ticks = zip(axis["tickvals"], axis["ticktext"], strict=True)
    return [f'<span class="{name}" style="--at:{at}">{escape(unescape(text))}</span>' for at, text in ticks]


def drawing(rates: Mapping[int, float], label: str, ends: tuple[str, str]) -> str:
    """Draws step -> learning rate, by step, as an SVG named `label`, with the texts `ends` below its two ends. The lower edge is 0, the
    upper the highest rate."""
    first, last, top = min(rates), max(rates), max(rates.values())
    across, down = (WIDTH - 2 * EDGE) / max(last - first, 1), (HEIGHT - 2 * EDGE) / top
    points = " ".join(f"{EDGE + (step - first) * across:.1f},{HEIGHT - EDGE - rate * down:.1f}" for step, rate in rates.items())
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}"><path d="M0 {HEIGHT - 0.5}H{WIDTH}"/>'
        f'<polyline points="{points}"/></svg><div><span>{escape(ends[0])}</span><span>{escape(ends[1])}</span></div>'
    )


def make_miniature(values: np.ndarray, visible: np.ndarray | None, scale: str, most: float = 1.0, square: bool = False) -> dict:
    """Converts `values`, with the mask `visible`, both (R, C), to signed bytes in base64: −127 … 127 for minus to plus `most` (0 … 127 for
    the scale "probability"), −128 for masked cells. Large matrices are pooled in blocks, on request `square` ones: by the mean, or for
    probabilities by the maximum."""
    size = tuple(max(1, -(-integers // cap)) for integers, cap in zip(values.shape, MAX_SHAPE, strict=True))
    size = (max(size), max(size)) if square else size
    masked_values = values if visible is None else np.where(visible, values, 0.0)
    pooled = _pool(masked_values, size, np.maximum if scale == "probability" else np.add) / most
    integers = np.rint(np.clip(pooled, -1, 1) * STRONGEST).astype(np.int8)
    if visible is not None:
        integers[~_pool(visible, size, np.maximum)] = MASKED
    data = base64.b64encode(integers.tobytes()).decode()
    return {"rows": integers.shape[0], "columns": integers.shape[1], "data": data, "scale": scale, "blocks": list(size)}


def _pool(values: np.ndarray, size: tuple[int, int], reduce: np.ufunc) -> np.ndarray:
    """Pools blocks of `size` with `reduce`: their maximum, or for np.add their mean."""
    for axis in (0, 1):
        if size[axis] == 1:
            continue
        length = values.shape[axis]
        starts = np.arange(0, length, size[axis])
        values = reduce.reduceat(values, starts, axis=axis)
        if reduce is np.add:
            values = values / np.expand_dims(np.diff([*starts, length]), 1 - axis)
    return values
