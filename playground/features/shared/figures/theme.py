"""Colours, fonts and the empty figure: the one place where the page's colours are declared.

A colour has one meaning. Encoder, decoder and cross-attention have one hue each, of different lightness too, for colour-blind readers.
Probabilities have one sequential scale from 0 to 1, signed values one diverging scale centred at 0. In dark mode both keep their hues and
are reversed, so that large values always contrast with the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

TALLEST = 612  # px, of a grid
CLEAR = "rgba(0,0,0,0)"
KINDS = ("encoder", "decoder", "cross")

# Lightness falls in equal steps (OKLab), from paper to petrol.
_PROBABILITY = (
    "#f2f9f6", "#c8e6e0", "#a0d2ce", "#7cbdbe", "#55a7b0", "#2991a4", "#0a7993", "#006281", "#014a69", "#083451", "#072038",
)  # fmt: skip
# Sand for below zero, petrol for above, equally strong at equal distance from zero.
_SIGNED_LIGHT = (
    "#5a2619", "#84462c", "#ae6a40", "#c89872", "#e1c5a9", "#f4f5f3", "#a6d6d1", "#66b1b6", "#108ca0", "#00647e", "#003d5b",
)  # fmt: skip
_SIGNED_DARK = (
    "#fae5c3", "#ddb586", "#c2854c", "#925f3e", "#5f3f32", "#23272b", "#274e5c", "#267987", "#32a6ab", "#83cdc5", "#c6f3e6",
)  # fmt: skip

_LIGHT = {
    "encoder": "#1f6fd6", "decoder": "#d37812", "cross": "#8f2059",
    "text": "#1f2933", "muted": "#5b6675", "grid": "#e4e8ed", "line": "#8a94a3", "paper": "#ffffff",
    "masked": "#f0f1f3", "hatch": "#9aa2ae", "right": "#1d7f4e", "wrong": "#c02b2b",
    "first": "#0a7993", "second": "#ae6a40",
}  # fmt: skip
_DARK = {
    "encoder": "#6ab3fd", "decoder": "#fbaf5d", "cross": "#cf5f96",
    "text": "#e6e9ee", "muted": "#a3adba", "grid": "#2a323e", "line": "#6b7686", "paper": "#0b0f19",
    "masked": "#1b2029", "hatch": "#737d8c", "right": "#5cc492", "wrong": "#ff8a80",
    "first": "#55a7b0", "second": "#c89872",
}  # fmt: skip

# Lines that belong to no kind, such as runs; they differ in their dashes too.
_LINES_LIGHT = ("#0a7993", "#ae6a40", "#1f2933", "#7a52c7", "#75760f", "#8a94a3")
_LINES_DARK = ("#55a7b0", "#c89872", "#e6e9ee", "#ae97f2", "#bdbb4a", "#6b7686")

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'
MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", monospace'
SIZE = 12  # px, of all text in a figure


def colors(dark: bool = False) -> dict[str, str]:
    """Returns every named colour as hex: the hue of each kind of attention, "text", "muted", "grid", "line", "paper" (the page behind a
    transparent figure), "masked" and "hatch", "right" and "wrong", and "first" and "second" for lines that belong to no kind."""
    return dict(_DARK if dark else _LIGHT)


def hue(kind: str, dark: bool = False) -> str:
    """Returns the colour of "encoder", "decoder" or "cross"."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, not {kind!r}")
    return colors(dark)[kind]


def lines(dark: bool = False) -> list[str]:
    """Returns the colours of six lines in one figure."""
    return list(_LINES_DARK if dark else _LINES_LIGHT)


def sequential(dark: bool = False) -> list[str]:
    """Returns the scale of probabilities as eleven hex colours, equally spaced from 0 to 1 (canvas thumbnails use the same list)."""
    return list(reversed(_PROBABILITY)) if dark else list(_PROBABILITY)


def diverging(dark: bool = False) -> list[str]:
    """Returns the scale of signed values as eleven hex colours; the middle one is 0."""
    return list(_SIGNED_DARK if dark else _SIGNED_LIGHT)


def palette(dark: bool = False) -> dict[str, list[str]]:
    """Returns all colours, in the same order for a dark page: "single" ones, and the scales "sequential" and "diverging"."""
    return {"single": [*colors(dark).values(), *lines(dark)], "sequential": sequential(dark), "diverging": diverging(dark)}


def scale(hexes: Sequence[str]) -> list[list]:
    """Converts a list of colours to Plotly's colorscale."""
    return [[round(i / (len(hexes) - 1), 4), color] for i, color in enumerate(hexes)]


def _interpolate(hexes: Sequence[str], places: np.ndarray) -> list[str]:
    """Interpolates the colours at `places` of a scale from 0 to 1; places beyond are clipped."""
    stops = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in hexes])  # (11, 3)
    at = np.clip(places, 0, 1)
    channels = [np.interp(at, np.linspace(0, 1, len(stops)), stops[:, c]).round().astype(int) for c in range(3)]
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in zip(*channels, strict=True)]


def rounded(values: object, digits: int = 4) -> list:
    """Rounds numbers of any shape to nested lists for JSON; NaN and infinity become None (a gap)."""
    array = np.asarray(values, dtype=np.float64)
    good = np.isfinite(array)
    short = np.round(np.where(good, array, 0.0), digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    return short.tolist() if good.all() else np.where(good, short.astype(object), None).tolist()


def fit(values: object, *names: Sequence) -> np.ndarray:
    """Converts numbers to an array with an axis for each of these lists of names. Raises ValueError if its shape differs."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != tuple(map(len, names)):
        raise ValueError(f"numbers of shape {array.shape} do not fit {' by '.join(str(len(axis)) for axis in names)} names")
    return array


def as_mask(mask: object, rows: int, columns: int) -> np.ndarray:
    """Converts a mask (True: can attend) to a boolean (rows, columns) array; one row holds for every row. Raises ValueError otherwise."""
    if mask is None:
        return np.ones((rows, columns), dtype=bool)
    array = np.asarray(mask, dtype=bool)
    array = array.reshape(array.shape[-2:]) if array.ndim > 2 and array.size == np.prod(array.shape[-2:]) else array
    if array.shape not in ((rows, columns), (1, columns), (columns,)):
        raise ValueError(f"a mask of shape {array.shape} does not fit {rows} rows and {columns} columns")
    return np.broadcast_to(array, (rows, columns))


def minus(number: str) -> str:
    """Replaces the hyphens of a number by true minus signs, also in its exponent."""
    return number.replace("-", "−")


def legend_column(**more: object) -> dict:
    """Lays out a legend above the figure, one entry a line."""
    return {"orientation": "v", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)", **more}


@dataclass(frozen=True)
class Style:
    """The style of a figure: its words in one language by their short names, dark or light, and the room it has, in pixels."""

    labels: Mapping[str, str] = field(default_factory=dict)
    dark: bool = False
    width: int = 720
    tallest: int = TALLEST  # of a grid
    stage: int = 0  # the height that the large picture of a tab fills; 0 for every other

    @property
    def colors(self) -> dict[str, str]:
        return colors(self.dark)

    @property
    def sequential(self) -> list[list]:
        """The scale of probabilities as Plotly's colorscale."""
        return scale(sequential(self.dark))

    @property
    def diverging(self) -> list[list]:
        """The scale of signed values as Plotly's colorscale."""
        return scale(diverging(self.dark))

    def hue(self, kind: str) -> str:
        return hue(kind, self.dark)

    def shades(self, probabilities: object) -> list[str]:
        """Maps probabilities (0 to 1, of any shape) to colours of the sequential scale, for bars; NaN counts as 0."""
        return _interpolate(sequential(self.dark), np.nan_to_num(np.ravel(probabilities)))

    def signed_shades(self, values: object) -> list[str]:
        """Maps values from -1 to 1 (of any shape) to colours of the diverging scale, for bars; NaN counts as 0."""
        return _interpolate(diverging(self.dark), (np.nan_to_num(np.ravel(values)) + 1) / 2)

    def word(self, name: str) -> str:
        """Returns the text of `name`; without one, the name itself."""
        return self.labels.get(name, name.replace("_", " "))

    def phrase(self, name: str, **parts: str) -> str:
        """Fills the {parts} of the sentence `name` (Plotly's %{x} and the like). Without one, joins the parts."""
        text = self.labels.get(name, " · ".join("{" + part + "}" for part in parts))
        for part, value in parts.items():
            text = text.replace("{" + part + "}", value)
        return text

    def hover(self, name: str, **parts: str) -> str:
        """Returns the sentence as a hover box without the name of its trace."""
        return self.phrase(name, **parts) + "<extra></extra>"

    def font(self, color: str = "text", size: int = SIZE, **more: str) -> dict:
        """Returns a font of a named colour."""
        return {"size": size, "color": self.colors[color], **more}

    def layout(self, height: float, margin: tuple[float, float, float, float], **more: object) -> dict:
        """Returns the layout that all figures share. `margin` in pixels: left, right, top, bottom."""
        return {
            "height": int(np.ceil(height)),
            "autosize": True,
            "margin": {side: int(np.ceil(px)) for side, px in zip("lrtb", margin, strict=True)} | {"pad": 0, "autoexpand": False},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": self.font(family=FONT),
            "hoverlabel": {
                "bgcolor": self.colors["paper"], "bordercolor": self.colors["line"], "align": "left",
                "font": self.font(size=SIZE + 1, family=FONT),
            },
            "showlegend": False,
            "dragmode": False,
            "uirevision": "keep",
            "hovermode": "closest",
            **more,
        }  # fmt: skip

    def legend_above(self) -> dict:
        """Lays out a legend in lines above the figure, which a click does not change."""
        return {
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)",
            "font": self.font("muted"), "itemclick": False, "itemdoubleclick": False,
        }  # fmt: skip

    def step_cursor(self, step: int | None) -> dict:
        """Draws the replay's step over a time axis; without a step, hidden."""
        return {
            "type": "line", "xref": "x", "yref": "paper", "x0": step or 0, "x1": step or 0, "y0": 0, "y1": 1, "layer": "above",
            "visible": step is not None, "line": {"color": self.colors["text"], "width": 1, "dash": "dot"},
        }  # fmt: skip

    def axis(self, title: str, **more: object) -> dict:
        """Lays out an axis without a zero line, with a faint grid and a small grey title."""
        return {
            "title": {"text": title, "font": self.font("muted"), "standoff": 6},
            "tickfont": self.font("muted"),
            "gridcolor": self.colors["grid"],
            "linecolor": self.colors["line"],
            "zeroline": False,
            "automargin": False,
            "fixedrange": True,
            **more,
        }

    def heat(self, z: list, hover: str, ends: tuple[float, float] = (0, 1), **more: object) -> dict:
        """Draws the numbers `z` as a heatmap, from `ends`: on the diverging scale if it begins below zero, else on the sequential one."""
        return {
            "type": "heatmap", "z": z, "zmin": ends[0], "zmax": ends[1], "colorscale": self.diverging if ends[0] < 0 else self.sequential,
            "hoverongaps": False, "hovertemplate": hover, **more,
        }  # fmt: skip

    def colorbar(self, title: str, y: float, length: float, ticks: Sequence[float] = (0, 0.5, 1), **more: object) -> dict:
        """Lays out a small horizontal colour bar with its title at the right, its top edge at `y` (in heights of the plot, below it when
        negative); `length` in pixels."""
        return {
            "orientation": "h", "x": 0, "xanchor": "left", "xpad": 0, "y": y, "yanchor": "top", "ypad": 0,
            "lenmode": "pixels", "len": int(length), "thicknessmode": "pixels", "thickness": 9,
            "outlinewidth": 0, "tickvals": list(ticks), "tickfont": self.font("muted", SIZE - 1),
            "title": {"text": title, "side": "top", "font": self.font("muted")}, **more,
        }  # fmt: skip


PLAIN = Style()
