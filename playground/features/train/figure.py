"""Curves of a training run: empty figures that the page fills as the numbers arrive.

Each trace's meta names the columns of the history it draws, and the colour of a fork's part from its parent:
{"x": "step", "y": "loss", "past_color": "#8a94a3"}. Losses, learning rates and the like are recorded at each step ("step", "loss",
"learning_rate", "grad_norm", "tokens_per_second"), validation less often, with steps of its own ("validation_step", "validation_loss",
"token_accuracy", "exact_match").
"""

from __future__ import annotations

from collections.abc import Sequence

from playground.features.shared.figures import theme
from playground.features.shared.figures.theme import PLAIN, Style

HEIGHT, SMALL = 220, 150  # px
VALIDATION = "validation_step"
# figure: (height, share of 0..1?, [(column, its steps, colour, dash, marker)])
_FIGURES = {
    "loss": (HEIGHT, False, [("loss", "step", "first", "solid", None), ("validation_loss", VALIDATION, "second", "dash", "circle")]),
    "accuracy": (
        HEIGHT, True,
        [("token_accuracy", VALIDATION, "second", "dot", "diamond"), ("exact_match", VALIDATION, "first", "solid", "circle")],
    ),
    "learning_rate": (SMALL, False, [("learning_rate", "step", "first", "solid", None)]),
    "grad_norm": (SMALL, False, [("grad_norm", "step", "first", "solid", None)]),
    "tokens_per_second": (SMALL, False, [("tokens_per_second", "step", "first", "solid", None)]),
}  # fmt: skip


def skeletons(*, steps: int | None = None, style: Style = PLAIN) -> dict[str, dict]:
    """Draws a run's five figures without numbers: "loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second".

    With `steps`, the run's planned number, the axis shows them all from the start; else it follows the curve.
    layout.shapes[0] is the cursor of the replay: a vertical line, invisible until the page gives it a step.
    """
    return {name: _empty(*spec, steps=steps, style=style) for name, spec in _FIGURES.items()}


def _empty(height: int, share: bool, lines: Sequence[tuple], *, steps: int | None, style: Style) -> dict:
    top = 14 + 18 * len(lines) + 14 * share  # the legend has a line for each curve at any width, and for "(teacher-forced)"
    y = style.axis("", nticks=5 if height == HEIGHT else 4, rangemode="tozero", exponentformat="SI", minexponent=3)
    y |= {"range": [-0.03, 1.03], "tickvals": [0, 0.5, 1], "tickformat": ".0%"} if share else {"autorange": True}
    x = style.axis(style.word("step"), rangemode="tozero", showgrid=False, showline=True, nticks=6)
    x |= {"range": [0, steps], "autorange": False} if steps else {"autorange": True}
    layout = style.layout(
        height, (40 if share else 52, 12, top, 44),
        xaxis=x | {"fixedrange": False}, yaxis=y | {"fixedrange": False}, hovermode="x unified", showlegend=True, dragmode="zoom",
        legend=theme.legend_column(), shapes=[style.step_cursor(None)],
    )  # fmt: skip
    return {"data": [_draw_line(*line, share=share, style=style) for line in lines], "layout": layout}


def _draw_line(column: str, steps: str, color: str, dash: str, marker: str | None, *, share: bool, style: Style) -> dict:
    shade = style.colors[color]
    line = {
        "type": "scatter", "mode": "lines+markers" if marker else "lines",
        "name": style.word(f"line_{column}").replace(" (", "<br>("),
        "x": [], "y": [], "meta": {"x": steps, "y": column, "past_color": style.colors["line"]},
        "line": {"color": shade, "width": 2 if marker else 1.3, "dash": dash},
        "hovertemplate": "%{y:.1%}" if share else "%{y:.4~g}", "connectgaps": False, "cliponaxis": not share,
    }  # fmt: skip
    return line | ({"marker": {"symbol": marker, "size": 6, "color": shade}} if marker else {})
