"""The tour through the map's own route: every stop opens its stage, asks for the model's own number, and says where it stands."""

from __future__ import annotations

import pytest

from playground.cursor import FIELDS
from playground.lessons.tour import STOPS
from playground.words import LANGUAGES
from tests.lessons.test_tour import by_hand
from tests.ui.panels.looking import all_blocks

HEAD = 2  # counted from 1; runs with fewer have their last


def at_stop(site, run: str, stop: str, **parameters) -> tuple[dict, dict]:
    """The block of the stop, and the drawing under it."""
    panel = site.panel("map", run=run, stop=stop, layer=1, head=HEAD, **parameters)
    assert "error" not in panel, panel
    tour, drawing = panel["blocks"]
    return tour, drawing


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_is_the_model_s_in_every_run_that_came_with_the_app(site, language):
    for run in site.runs.shipped():
        text, ids = site.reader.read(run, site.reader.examples(run, "heldout", 1)[0][0])
        model, config = site.reader.model_at(run, None)[0], run.experiment.model
        written = [piece.id for piece in site.reader.look(run, None, text).asked]
        wanted = by_hand(model, ids, written, min(HEAD, config.n_heads) - 1)
        found = {stop: at_stop(site, run.id, stop, text=text, target="output", lang=language) for stop in STOPS}
        assert {stop: tour["answer"] for stop, (tour, _) in found.items()} == pytest.approx(wanted, abs=2e-5, rel=2e-5)
        for stop, (tour, drawing) in found.items():
            assert drawing["open"] in drawing["order"]
            assert all(tour[name] for name in ("title", "text", "formula", "ask", "right", "where")), stop
            assert not [text for text in (tour["text"], tour["ask"], tour["where"], tour["formula"]) if "{" in text]


def test_another_stage_may_be_opened_on_the_way_and_the_stop_stays(site):
    tour, drawing = at_stop(site, "german_english", "weights", stage="memory")
    assert (tour["stop"], drawing["open"]) == ("weights", "memory")
    assert at_stop(site, "german_english", "weights")[1]["open"] == "encoder.0.self_attention.weights"
    assert {"stage", "row", "col", "window"} == {name for name, field in FIELDS.items() if "stop" in field.reset_by}


@pytest.mark.parametrize("stop", STOPS)
def test_the_number_that_is_asked_is_framed_and_its_calculation_stands_beside_it(site, stop):
    """Until another cell is chosen. The caption says no number, and nobody is asked twice."""
    tour, drawing = at_stop(site, "german_english", stop)
    found = {block["id"]: block for block in all_blocks(drawing["blocks"])}
    assert not found["stage"]["caption"]
    assert not {"source", "formula"} & set(found)
    if stop in ("mask", "loop"):  # where cells are counted
        assert "sheet" not in found
        return
    sheet = found["sheet"]
    assert sheet["answer"] == pytest.approx(tour["answer"], abs=2e-5)
    assert not sheet["asks"]
    assert sheet["still"]  # the page stays where it is
    assert found["stage"]["figure"]["layout"]["shapes"][2]["visible"]
    layout = found["stage"]["figure"]["layout"]
    named = [layout["meta"]["at"][tick] for tick in layout["xaxis"]["tickvals"]]
    assert found["pick"]["col"] in named, "the column that is asked about has its name"


def test_another_cell_may_be_chosen_at_a_stop(site):
    def sheets(**more) -> list[dict]:
        return [block for block in all_blocks(at_stop(site, "german_english", "weights", **more)[1]["blocks"]) if block["id"] == "sheet"]

    (chosen,), (asked,) = sheets(row=0, col=1), sheets()
    assert chosen["title"] != asked["title"]
    assert not chosen["still"]  # whoever chose it wants to see it
    assert not sheets(stage="memory")  # another stage is not asked about
