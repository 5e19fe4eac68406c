"""The tour through the map's own route: every stop opens its stage, asks for the model's own number, and says where it stands."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from playground.inspection.activations import record
from playground.lessons.tour import STOPS
from playground.lessons.tour_notes import NOTES, notes
from playground.queries.activations import SentenceActivations
from playground.ui.panels.map import tour
from playground.words import LANGUAGES, say
from tests.inspection.test_activations import build
from tests.lessons.test_tour import KINDS, SRC, TGT, by_hand
from tests.ui.panels.looking import all_blocks

HEAD = 2  # counted from 1; runs with fewer have their last
RUN = "german_english"


def at_stop(site, run: str, stop: str, **parameters) -> tuple[dict, dict]:
    """The block of the stop, and the drawing under it."""
    panel = site.panel("map", run=run, stop=stop, layer=1, head=HEAD, **parameters)
    assert "error" not in panel, panel
    return panel["blocks"]


@pytest.mark.parametrize("run", [RUN, pytest.param("numbers_zh", marks=pytest.mark.night)])
def test_each_number_is_the_model_s_framed_and_its_calculation_stands_beside_it(site, run):
    """Until another cell is chosen. The caption says no number, and nobody is asked twice."""
    record = site.runs.get(run)
    text, ids = site.reader.read(record, site.reader.examples(record, "heldout", 1)[0][0])
    written = [piece.id for piece in site.reader.look(record, None, text).asked]
    wanted = by_hand(site.reader.model_at(record, None)[0], ids, written, min(HEAD, record.experiment.model.n_heads) - 1)
    assert wanted.keys() == set(STOPS)
    for at, stop in enumerate(STOPS):
        block, drawing = at_stop(site, run, stop, text=text, target="output", lang=LANGUAGES[at % len(LANGUAGES)])
        assert block["answer"] == pytest.approx(wanted[stop], abs=2e-5, rel=2e-5), stop
        blocks = {block["id"]: block for block in all_blocks(drawing["blocks"])}
        assert (blocks["stage"]["caption"], {"source", "formula"} & blocks.keys()) == ("", set())
        assert ("sheet" in blocks) == (stop not in ("mask", "loop"))  # where cells are counted
        if "sheet" in blocks:
            assert blocks["sheet"]["answer"] == pytest.approx(block["answer"], abs=2e-5)
            assert (blocks["sheet"]["asks"], blocks["sheet"]["still"]) == (False, True)  # the page stays where it is
            layout = blocks["stage"]["figure"]["layout"]
            named = [layout["meta"]["at"][tick] for tick in layout["xaxis"]["tickvals"]]
            assert blocks["pick"]["col"] in named, "the column that is asked about has its name"


def test_another_stage_or_cell_may_be_chosen_on_the_way_and_the_stop_stays(site):
    block, drawing = at_stop(site, RUN, "weights", stage="memory")
    assert (block["stop"], drawing["open"]) == ("weights", "memory")
    assert at_stop(site, RUN, "weights")[1]["open"] == "encoder.0.self_attention.weights"
    blocks = all_blocks(at_stop(site, RUN, "weights", row=0, col=1)[1]["blocks"])
    assert not next(block for block in blocks if block["id"] == "sheet")["still"]  # whoever chose a cell wants to see it


OTHERS = [{"share_embeddings": "all"}, {"embedding_scale": False}, {"dropout": 0.1}, {"attention_scale": 1.0}]
PLAIN = ("normed", "rotated", "last_norm")  # notes without a number


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_model_has_words_at_every_stop_and_the_papers_needs_no_notes(language):
    pieces, noted = [SimpleNamespace(text=str(n)) for n in range(12)], set()
    for knobs in [*KINDS, *OTHERS]:
        model = build(**knobs)
        recorded = record(model, SRC, TGT)
        seen = SentenceActivations(0, tuple(pieces[: len(SRC) + 1]), tuple(pieces[: len(TGT)]), tuple(pieces[: len(TGT)]), recorded)
        run = SimpleNamespace(experiment=SimpleNamespace(model=model.config), tokenizers=[SimpleNamespace(piece=str)] * 2)
        for stop in STOPS:
            block = tour.block(SimpleNamespace(run=run, say=partial(say, language)), seen, stop, 0)
            assert all(block[name] and "{" not in block[name] for name in ("text", "formula", "ask"))
            assert all(say(language, f"tour.note_{name}") in block["text"] for name in notes(model.config, stop) if name in PLAIN)
            noted |= {(stop, name) for name in notes(model.config, stop)}
    assert noted == {(stop, name) for stop, names in NOTES.items() for name in names}
    assert not [stop for stop in STOPS if notes(build().config, stop)]
