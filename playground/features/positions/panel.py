"""The Positions tab: the encoding as a table, as waves and as similarity; a shift as a rotation; and the run's own position table."""

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared import blocks, panels
from playground.features.shared.figures import theme
from playground.features.shared.figures.cells import PAIR
from playground.features.shared.figures.theme import PLAIN, Style
from playground.features.shared.view import NARROW, View
from playground.inspection import vectors as facts
from playground.model.positions import LearnedPositions, sinusoids
from playground.words import paragraph

SHOWN_POSITIONS = 64
STARTS = (2, 20)  # positions at which the clocks' hands start


@panels.declare("positions", "inside", 4, panels.FORMULA)
def panel(view: View) -> dict:
    kind, encoding = view.choice("pos"), view.run.experiment.model.encoding
    encoding_key = (encoding.added or "none") + ("_rotary" if encoding.rotary else "")
    trained = view.reader.longest(view.run)
    length = min(max(SHOWN_POSITIONS, trained + 16), 128)
    if kind == "learned":
        content, source = _build_learned(view, encoding_key, length, trained), LearnedPositions
    else:
        table = facts.sinusoids(length, view.run.experiment.model.d_model)
        content, source = SINUSOIDS[kind](view, table, trained), facts.rotation if kind == "shift" else sinusoids
    return {
        "step": None if kind != "learned" else view.step,
        "blocks": [
            view.offer("pos", "pos", "page.pos"),
            blocks.text("this", view.say(f"page.pos_run_{encoding_key}"), css="pg-caption"),
            *content,
            blocks.code("source", source),
        ],
    }


def _build_heatmap(view: View, table: np.ndarray, trained: int) -> list[dict]:
    length, d_model = table.shape
    picture = view.draw(heatmap, table, trained=trained, tallest=view.below(90 if view.width >= NARROW else 206))
    return [_build_figure(view, "heatmap", picture, view.say("page.pos_heatmap_caption", length=length, dims=d_model, trained=trained))]


def _build_waves(view: View, table: np.ndarray, trained: int) -> list[dict]:
    d_model = table.shape[1]
    dims = sorted({min(dim, d_model - 1) for dim in (0, 1, d_model // 8 * 2, d_model // 4 * 2, d_model - 2)})
    slow = 2 * np.pi / facts.frequencies(d_model)[-1]
    picture = view.draw(waves, {"sinusoidal": table}, dims, trained=trained)
    return [_build_figure(view, "waves", picture, view.say("page.pos_waves_caption", fast=f"{2 * np.pi:.1f}", slow=f"{slow:,.0f}"))]


def _build_similarity(view: View, table: np.ndarray, trained: int) -> list[dict]:
    similarities = facts.cosines(table)
    picture = view.draw(similarity, similarities, trained=trained, width=min(view.width, 620))
    caption = view.say("page.pos_similarity_caption", near=f"{similarities[10, 11]:.2f}", far=f"{similarities[10, 40]:.2f}")
    return [_build_figure(view, "similarity", picture, caption)]


def _build_shift(view: View, table: np.ndarray, trained: int) -> list[dict]:
    d_model, shift = table.shape[1], view.number("shift")
    errors, turned = facts.shift_errors(table, shift), shift * facts.frequencies(d_model)
    pairs = sorted({0, *(d_model // part for part in (16, 8, 4))})
    picture = view.draw(clocks, table, STARTS, pairs, shift, [float(turned[pair]) for pair in pairs])
    caption = view.say("page.pos_shift_caption", shift=shift, error=f"{errors.max():.1e}")
    return [blocks.slider("shift", "shift", view.say("page.pos_shift_by"), shift), _build_figure(view, "shift", picture, caption)]


SINUSOIDS = {"heatmap": _build_heatmap, "waves": _build_waves, "similarity": _build_similarity, "shift": _build_shift}


def _build_figure(view: View, id: str, figure: dict, caption: str) -> dict:
    return blocks.figure(f"pos-{id}", figure, caption, view.say(f"page.pos_title_{id}"))


def _build_learned(view: View, encoding_key: str, length: int, trained: int) -> list[dict]:
    """Builds the run's learned position table beside the sinusoids, or a sentence if it has none."""
    if view.run.experiment.model.encoding.added != "learned":
        return [
            blocks.text("none", view.say(f"page.pos_no_table_{encoding_key}"), css="pg-caption"),
            blocks.button("try", "knob", view.say("page.pos_try_learned"), knob="positions"),
        ]
    learned, actual_step = view.reader.position_table(view.run, view.step)
    learned = learned[:length]
    inside, outside = facts.row_norms(learned[:trained]).mean(), facts.row_norms(learned[trained:]).mean() if length > trained else 0.0
    caption = view.say("page.pos_learned_caption", trained=trained, inside=f"{inside:.2f}", outside=f"{outside:.2f}")
    note, paper = view.step_note(actual_step), facts.sinusoids(length, view.run.experiment.model.d_model)
    return [
        _build_figure(view, "learnt", view.draw(heatmap, learned, trained=trained), paragraph([caption, note])),
        _build_figure(view, "beside", view.draw(heatmap, paper, trained=trained), view.say("page.pos_beside_caption")),
    ]


# ---- figures ----

_SERIES = {"first": "solid", "second": "dash"}  # colour and dash
SQUARE, WAVE = 320, 46  # px: side of the similarity, height of one wave
MAX_TABLE_PX = 420
ROOM, CLOCK = 2.9, 150  # side of the square of a clock of radius 1, and its most px
NAMED = 100  # px of a clock from which its name has words, not just two numbers
LEFT, TOP = 96, 34  # px: names of the rows, and of the columns
ARC = 0.45  # radius of the arc between two hands


def heatmap(table: np.ndarray, *, trained: int | None = None, style: Style = PLAIN) -> dict:
    """Draws a table (L, D) of encodings: one row a position, one column a dimension, signed and centred at 0."""
    limit = float(np.nanmax(np.abs(table), initial=0.0)) or 1.0
    down = float(np.clip(len(table) * 7, 180, min(style.tallest, MAX_TABLE_PX)))
    hover = style.hover("hover_position", position="<b>%{y}</b>", dimension="<b>%{x}</b>", value="%{z:.3f}")
    axes = {"title": style.word("dimension"), "nticks": 9}, {"title": style.word("position"), "nticks": 9}
    return _draw_table(table, limit, hover, style.word("value"), down, axes, trained, style)


def similarity(matrix: np.ndarray, *, trained: int | None = None, style: Style = PLAIN) -> dict:
    """Draws the cosine (L, L) between the encodings of every two positions, -1 to 1."""
    room = style.width - 66
    side = min(SQUARE, room)
    hover = style.hover("hover_similarity", **PAIR, value="%{z:.3f}")
    both = {"title": style.word("position"), "nticks": 7, "constrain": "domain"}  # keeps the diagonal at 45° on a wider page
    x = both | {"constraintoward": "left", "domain": [0, round(side / room, 4)]}
    axes = x, both | {"constraintoward": "top", "scaleanchor": "x"}
    return _draw_table(theme.fit(matrix, matrix, matrix), 1, hover, style.word("cosine"), side, axes, trained, style)


def _draw_table(
    table: np.ndarray, limit: float, hover: str, title: str, down: float, axes: tuple[dict, dict], trained: int | None, style: Style
) -> dict:
    """Draws signed numbers (L, C) up to `limit`, a row for each position, on `down` pixels; `title` names the colour bar."""
    tick, (length, columns) = float(f"{limit:.2g}"), table.shape
    bar = style.colorbar(title, -(48 / down), 160, (-tick, 0, tick))
    x, y = axes[0] | {"range": [-0.5, columns - 0.5]}, axes[1] | {"range": [length - 0.5, -0.5]}
    layout = style.layout(
        down + 20 + 104, (54, 12, 20, 104), xaxis=style.axis(showgrid=False, **x), yaxis=style.axis(showgrid=False, **y),
        **_draw_boundary(trained, length, "y", (-0.5, columns - 0.5), style),
    )  # fmt: skip
    return {"data": [style.heat(theme.rounded(table, 3), hover, (-limit, limit), zmid=0, colorbar=bar)], "layout": layout}


def waves(tables: Mapping[str, np.ndarray], dimensions: Sequence[int], *, trained: int | None = None, style: Style = PLAIN) -> dict:
    """Draws some dimensions of one or two tables (L, D) over the positions, one small row a dimension, in the given order. `tables` by the
    name of their label ("sinusoidal", "learned"), which differ in colour and dash."""
    count, height = len(dimensions), WAVE * len(dimensions)
    longest = max(map(len, tables.values()))
    reach = max(float(np.nanmax(np.abs(table[:, list(dimensions)]))) for table in tables.values()) or 1.0
    data, axes = [], {}
    for row, dimension in enumerate(dimensions):
        axis = f"y{row + 1 if row else ''}"
        domain = [round(1 - (row + 0.9) / count, 4), round(1 - (row + 0.1) / count, 4)]
        tick = {"tickvals": [0], "ticktext": [str(dimension)]}
        axes[axis.replace("y", "yaxis")] = style.axis("", domain=domain, range=[-1.1 * reach, 1.1 * reach], **tick)
        parts = {"position": "<b>%{x}</b>", "dimension": f"<b>{dimension}</b>", "value": "%{y:.3f}"}
        for (name, table), (color, dash) in zip(tables.items(), _SERIES.items(), strict=False):
            curve = {"shape": "spline"} if name == "sinusoidal" else {}  # a learned table has no values between its dots
            data.append({
                "type": "scatter", "mode": "lines+markers", "marker": {"size": 4}, "yaxis": axis, "name": style.word(name),
                "legendgroup": name, "showlegend": row == 0, "x": list(range(len(table))), "y": theme.rounded(table[:, dimension]),
                "line": {"color": style.colors[color], "width": 1.7, "dash": dash, **curve},
                "meta": {"dimension": int(dimension)}, "hovertemplate": style.hover("hover_position", **parts),
            })  # fmt: skip
    x = style.axis(style.word("position"), range=[-0.5, longest - 0.5], anchor=axis, nticks=9)
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "yanchor": "bottom", "bgcolor": theme.CLEAR}
    legend["y"] = round(1 + 20 / height, 4)  # a line is left for the name of the boundary
    layout = style.layout(
        height + 92, (54, 12, 48, 44), xaxis=x,
        showlegend=len(tables) > 1, legend=legend, **axes, **_draw_boundary(trained, longest, "x", None, style),
    )  # fmt: skip
    layout["annotations"].append({  # the title of all rows
        "text": style.word("dimension"), "textangle": -90, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0,
        "xanchor": "right", "xshift": -30, "y": 0.5, "yanchor": "middle", "font": style.font("muted"),
    })  # fmt: skip
    return {"data": data, "layout": layout}


def _draw_boundary(trained: int | None, length: int, axis: str, across: tuple[float, float] | None, style: Style) -> dict:
    """Draws a line after the last trained position of `axis`, with its name; nothing when all positions are trained. It runs `across` the
    other axis, or over the whole height of the figure when None."""
    if trained is None or not 0 < trained < length:
        return {"shapes": [], "annotations": []}
    palette, other = style.colors, "x" if axis == "y" else "y"
    spot, (start, end) = trained - 0.5, across or (0, 1)
    line = {
        "type": "line", f"{axis}ref": axis, f"{other}ref": other if across else "paper", f"{axis}0": spot, f"{axis}1": spot,
        f"{other}0": start, f"{other}1": end, "line": {"color": palette["text"], "width": 1.5},
    }  # fmt: skip
    note = {
        "text": ("↑ " if axis == "y" else "← ") + style.word("trained"), "showarrow": False, "font": style.font(),
        f"{axis}ref": axis, f"{other}ref": other if across else "paper", axis: spot, other: end, "borderpad": 2, "yanchor": "bottom",
        "xanchor": "right" if axis == "y" or 2 * trained > length else "left", "bgcolor": palette["paper"], "opacity": 0.9,
    }  # fmt: skip
    return {"shapes": [line], "annotations": [note]}


def clocks(
    table: np.ndarray, starts: Sequence[int], pairs: Sequence[int], shift: int, turned: Sequence[float], *, style: Style = PLAIN
) -> dict:
    """Draws a row of clocks for each of the positions `starts`, a column for each pair of dimensions (2 i, 2 i + 1) of `pairs`.

    A hand is (sin, cos) from the table (L, D): the thin one at the row's position, the thick one `shift` positions later; the arc between
    them is the angle `turned` (radians, one for each pair).
    """
    palette, data, notes = style.colors, [], []
    for row, start in enumerate(starts):
        notes.append(_annotate(f"{start} → {start + shift}", -ROOM / 2, -row * ROOM, style.font(), xanchor="right"))
        for column, (pair, angle) in enumerate(zip(pairs, turned, strict=True)):
            centre = np.array([column * ROOM, -row * ROOM])
            first, last = (table[at, 2 * pair : 2 * pair + 2] for at in (start, start + shift))
            begin, turn = np.arctan2(*first), np.linspace(0, angle, 3 + int(24 * abs(angle)))
            data += [
                _draw_line(_circle(np.linspace(0, 2 * np.pi, 61)) + centre, palette["line"], 1),
                _draw_line(ARC * _circle(begin + turn) + centre, palette["second"], 3),
                _draw_hand(centre, first, start, palette["muted"], 1.5, style),
                _draw_hand(centre, last, start + shift, palette["first"], 3.5, style),
            ]
            degrees = float(np.degrees(angle))
            text = f"{degrees:.3g}°" if abs(degrees) < 1000 else f"{degrees:,.0f}°"
            notes.append(_annotate(text, centre[0], centre[1] - 1.24, style.font()))
    side = min((style.width - LEFT - 12) / len(pairs), CLOCK)
    named = "clock_pair" if side >= NAMED else "clock_numbers"
    notes += [
        _annotate(style.phrase(named, first=str(2 * pair), second=str(2 * pair + 1)), column * ROOM, 1.28, style.font("muted"))
        for column, pair in enumerate(pairs)
    ]
    hidden = {"visible": False, "showgrid": False, "fixedrange": True, "zeroline": False}
    across = [-ROOM / 2, (style.width - LEFT - 12) / side * ROOM - ROOM / 2]
    down = [-(len(starts) - 0.5) * ROOM, ROOM / 2]
    layout = style.layout(
        TOP + side * len(starts), (LEFT, 12, TOP / 2, TOP / 2), annotations=notes,
        xaxis=hidden | {"range": across, "constrain": "domain"},
        yaxis=hidden | {"range": down, "scaleanchor": "x", "constrain": "domain"},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _circle(angles: np.ndarray) -> np.ndarray:
    """Returns points (N, 2) at these angles, clockwise from the top."""
    return np.stack([np.sin(angles), np.cos(angles)], axis=1)


def _draw_line(points: np.ndarray, color: str, width: float) -> dict:
    x, y = theme.rounded(points.T, 3)
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", "line": {"color": color, "width": width}}


def _draw_hand(centre: np.ndarray, tip: np.ndarray, position: int, color: str, width: float, style: Style) -> dict:
    sin, cos = (theme.minus(f"{value:.3f}") for value in tip)
    text = style.hover("hover_clock", position=f"<b>{position}</b>", sin=sin, cos=cos)
    hand = _draw_line(np.stack([centre, centre + tip]), color, width)
    marker = {"size": [0, width + 4], "color": color}
    return hand | {"mode": "lines+markers", "hoverinfo": "all", "hovertemplate": text, "marker": marker, "meta": {"position": position}}


def _annotate(text: str, x: float, y: float, font: dict, xanchor: str = "center") -> dict:
    return {"text": text, "x": x, "y": y, "showarrow": False, "xanchor": xanchor, "yanchor": "middle", "font": font}
