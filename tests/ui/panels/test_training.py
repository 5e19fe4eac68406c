"""The first tab: three numbers that matter, the others folded away; and the replay: one head, the same rows and one size at every step,
and every part of the screen at that step."""

from __future__ import annotations

import numpy as np
import pytest

from playground.runs.run import Snapshot
from playground.words import say
from tests.ui.panels.looking import block
from tests.ui.test_routes import SHIPPED, blocks_of

TYPED = {
    "reverse": "playground",
    "sort": "playground",
    "numbers_de": "77",
    "numbers_zh": "1905",
    "german_english": "sucht ein Mädchen den Hund ?",
}


def frames(site, run: str, text: str, **more) -> dict[int, dict]:
    """The training tab at every stop of the replay."""
    return {step: site.panel("training", run=run, text=text, step=step, **more) for step in site.runs.get(run).replay.steps}


def picture(panel: dict) -> dict:
    return block(panel, "learn-cross")


def frame_of(drawn: dict) -> tuple:
    """All that must not change while the replay plays."""
    layout = drawn["figure"]["layout"]
    return drawn["title"], layout["meta"]["rows"], layout["meta"]["columns"], layout["height"], layout["margin"], layout["xaxis"]["domain"]


def sentences(site, run: str) -> list[str]:
    return [site.runs.get(run).replay.plan.probes[-2][0], TYPED[run]]


def test_three_numbers_are_in_sight_and_each_says_what_it_is(site):
    (numbers,) = [one for one in blocks_of(site.panel("training", run="reverse")["blocks"]) if one["kind"] == "numbers"]
    assert [one["id"] for one in numbers["items"]] == ["exact", "tokens", "loss"]
    assert [one["id"] for one in numbers["folded"]] == ["seconds", "left", "speed"]
    assert all(one["help"] and one["label"] for one in numbers["items"] + numbers["folded"])
    assert numbers["more"]


@pytest.mark.parametrize("run", [SHIPPED[0], *(pytest.param(name, marks=pytest.mark.night) for name in SHIPPED[1:])])
def test_every_frame_has_one_size_the_same_rows_and_the_same_head(site, run):
    for text in [*sentences(site, run), "§ § §"]:  # the last is no sentence of any task: the newest output is fed
        seen = [frame_of(picture(panel)) for panel in frames(site, run, text).values()]
        now = frame_of(picture(site.panel("training", run=run, text=text)))
        assert all(shape == now for shape in seen)


@pytest.mark.parametrize("run", [SHIPPED[0], *(pytest.param(name, marks=pytest.mark.night) for name in SHIPPED[1:])])
def test_sentence_matrix_and_probes_are_of_the_very_step(site, run):
    record = site.runs.get(run)
    for text in sentences(site, run):
        for step, panel in frames(site, run, text).items():
            line = site.panel("sentence", run=run, text=text, step=step)
            assert panel["step"] == step
            assert picture(panel)["caption"].startswith(say("en", "page.caption_step", step=step))
            assert line["note"] in ("", say("en", "page.unfinished"))
            look = site.reader.look(record, step, text, "reference")
            assert look.step == site.reader.look(record, step, text).step == step
            layer, head = map(int, panel["held"].split(".")[1:])
            np.testing.assert_allclose(picture(panel)["figure"]["data"][0]["z"], look.cross[layer - 1, head - 1], atol=1e-4)
            for source, probe in zip(record.replay.plan.probes, block(panel, "probes")["rows"], strict=True):
                if source[0] == text:
                    written = [token for token in probe["output"] if token != "<eos>"]
                    assert [token["text"] for token in line["output"]][: len(written)] == written


def test_the_weights_of_two_steps_differ(site):
    early, late = (picture(site.panel("training", run="reverse", step=step))["figure"]["data"][0]["z"] for step in (0, 77))
    assert np.abs(np.array(early) - np.array(late)).max() > 0.5


class TestHead:
    def test_it_is_the_best_of_the_last_snapshot(self, site):
        last = site.panel("training", run="reverse", follow="on")["held"]
        assert {panel["held"] for panel in frames(site, "reverse", "playground").values()} == {last}

    def test_one_that_is_shown_stays_in_both_tabs_and_for_another_sentence(self, site):
        for tab in ("training", "attention"):
            for text in ("playground", "abba"):
                assert site.panel(tab, run="reverse", text=text, step=5, held="cross.1.2")["held"] == "cross.1.2"

    def test_a_person_chooses_another(self, site):
        assert site.panel("training", run="reverse", held="cross.1.2", layer=2, head=4)["held"] == "cross.2.4"

    @pytest.mark.parametrize("held", ["encoder.1.2", "cross.0.1", "cross.9.1", "cross.1.9", "cross", "cross.1.2.3", "x" * 3000])
    def test_what_this_run_does_not_have_is_no_head(self, site, held):
        assert site.panel("training", run="reverse", held=held)["held"] == site.panel("training", run="reverse")["held"]

    def test_who_follows_the_best_one_sees_it_change(self, site):
        shown = frames(site, "reverse", "playground", follow="on", held="cross.1.2")
        assert len({panel["held"] for panel in shown.values()}) > 2
        assert block(shown[0], "follow")["value"] == "on"

    def test_a_much_clearer_one_is_named_now_and_not_while_the_replay_plays(self, site):
        layer, head = map(int, site.panel("training", run="reverse", follow="on")["held"].split(".")[1:])
        said = say("en", "page.clearer_head", layer=layer, head=head)
        poor = {"run": "reverse", "layer": 1, "head": 1}
        assert said in picture(site.panel("training", **poor))["caption"]
        assert said not in picture(site.panel("training", **poor, step=77))["caption"]
        assert said not in picture(site.panel("training", run="reverse", layer=layer, head=head))["caption"]

    @pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
    def test_on_the_attention_tab_no_step_changes_it(self, site, part):
        steps = site.runs.get("reverse").replay.steps
        assert len({site.panel("attention", run="reverse", part=part, step=step)["held"] for step in steps}) == 1


def test_rounded_parameters_are_said_to_be(site):
    said = say("en", "page.rounded", most="0.01")
    for tab, id, field in (("training", "probes", "caption"), ("attention", "what", "text")):
        assert said in block(site.panel(tab, run="reverse", step=16), id)[field]
        assert said not in block(site.panel(tab, run="reverse", step=90), id)[field]  # the run's own weights
        assert said not in block(site.panel(tab, run="reverse"), id)[field]


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_newest_picture_and_the_newest_probes_are_of_one_step_though_training_goes_on(site, monkeypatch, when):
    """A newer snapshot may come before the sentence is looked at, and after it: in both cases all is of one of the two."""
    run, look = site.runs.get("reverse"), site.reader.look
    kept, probes = run.snapshot, run.probes
    older, newer = (Snapshot(run.version, kept.step + at, kept.parameters, probes[:at]) for at in (1, 2))

    def train() -> None:
        run.history.probes, run.parts["snapshot"] = newer.probes, newer

    def look_and_train(*asked):
        if when == "before":
            train()
        found = look(*asked)
        train()
        return found

    monkeypatch.setattr(site.reader, "look", look_and_train)
    run.history.probes, run.parts["snapshot"] = older.probes, older
    try:
        panel = site.panel("training", run="reverse")
    finally:
        run.history.probes, run.parts["snapshot"] = probes, kept
    shown = {older.step: older, newer.step: newer}[panel["step"]]
    assert len(block(panel, "probes")["rows"]) == len(shown.probes)


def test_a_sentence_that_is_too_long_leaves_the_curves(site):
    panel = site.panel("training", run="reverse", text="abc" * 100)
    assert block(panel, "refused")["text"] == say("en", "runs.too_long", tokens=301, most=256)
    assert {"loss", "accuracy", "numbers"} <= {one["id"] for one in blocks_of(panel["blocks"])}
