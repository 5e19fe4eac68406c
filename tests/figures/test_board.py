"""The runs of a class in one picture: every one can be told by its arm, and opened."""

import plotly.graph_objects as go
import pytest

from playground.figures import board
from playground.rooms.experiment import MOST_ARMS

ARMS = [f"arm {at}" for at in range(MOST_ARMS)]
LINES = [board.Line(f"run-{at}", at % 8, f"<b>{at}</b>", [10, 20], [0.1, at / 30]) for at in range(30)]
SHADES = [board.Shade(arm, [10, 20], [0.1, 0.5], [0.0, 0.2], [0.2, 0.9]) for arm in range(8)]


@pytest.mark.parametrize("dark", [False, True])
def test_every_run_is_a_line_that_a_click_opens(dark):
    figure = board.course(LINES, SHADES, ARMS, dark=dark)
    go.Figure(figure)
    opened = {trace["customdata"][0]: trace for trace in figure["data"] if "customdata" in trace}
    assert opened.keys() == {line.run for line in LINES}
    for line in LINES:
        trace = opened[line.run]
        assert trace["meta"] == board.OPENS
        assert (trace["line"]["color"], trace["line"]["dash"]) == tuple(board.look(line.arm, dark)[name] for name in ("color", "dash"))
        assert "<b>" not in trace["name"], "a name is text"
    assert [trace["name"] for trace in figure["data"] if trace.get("showlegend", True)] == ARMS


@pytest.mark.parametrize(("place", "kind"), [(0.02, None), ("sinusoids", "category")])
def test_scores_stand_against_a_number_or_a_choice(place, kind):
    points = [board.Point(f"run-{at}", at % 2, f"{at}", place, at / 4) for at in range(4)]
    figure = board.scores(points, ARMS, "knob")
    go.Figure(figure)
    assert [trace["customdata"] for trace in figure["data"]] == [["run-0", "run-2"], ["run-1", "run-3"]]
    assert figure["layout"]["xaxis"].get("type") == kind
