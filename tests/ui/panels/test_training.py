"""The first tab: three numbers, the end told in a sentence, the replay of one head at one size, and the sentence that is always there."""

from __future__ import annotations

import numpy as np
import pytest

from playground.queries.probes import first_right, probes_at
from playground.runs.replay import Replay
from playground.runs.run import Run, Snapshot
from playground.ui.measured import percent
from playground.ui.panels.outcome import outcome
from playground.ui.view import View
from playground.words import LANGUAGES, say
from tests.runs.tiny import tiny
from tests.ui.panels.looking import all_blocks, block, ids

SHIPPED = ("reverse", "sort", "numbers_de", "numbers_zh", "german_english")
TYPED = {"numbers_de": "77", "numbers_zh": "1905", "german_english": "sucht ein Mädchen den Hund ?"}
EACH = [SHIPPED[0], *(pytest.param(name, marks=pytest.mark.night) for name in SHIPPED[1:])]


def frames(site, run: str, text: str, every: int = 1, **more) -> dict[int, dict]:
    """The training tab at stops of the replay, the first and the last among them."""
    steps = site.runs.get(run).replay.steps
    return {step: site.panel("training", run=run, text=text, step=step, **more) for step in sorted({*steps[::every], steps[-1]})}


def picture(panel: dict) -> dict:
    return block(panel, "learn-cross")


def frame_of(drawn: dict) -> tuple:
    """All that must not change while the replay plays."""
    layout = drawn["figure"]["layout"]
    return drawn["title"], layout["meta"]["rows"], layout["meta"]["columns"], layout["height"], layout["margin"], layout["xaxis"]["domain"]


@pytest.mark.parametrize("run", EACH)
def test_every_frame_has_one_size_and_sentence_matrix_and_probes_are_of_the_very_step(site, run):
    record = site.runs.get(run)
    texts = (record.replay.plan.probes[-2][0], TYPED.get(run, "playground"))
    for text in (*texts, "§ § §"):  # the last is no sentence of any task: the newest output is fed
        shown = frames(site, run, text, every=4 if run == SHIPPED[0] else 1)  # the night looks at all
        now = frame_of(picture(site.panel("training", run=run, text=text)))
        assert all(frame_of(picture(panel)) == now for panel in shown.values())
        for step, panel in shown.items() if text in texts else ():
            sentence, look = site.panel("sentence", run=run, text=text, step=step), site.reader.look(record, step, text, "reference")
            assert panel["step"] == look.step == site.reader.look(record, step, text).step == step
            assert picture(panel)["caption"].startswith(say("en", "page.caption_step", step=step))
            layer, head = map(int, panel["held"].split(".")[1:])
            np.testing.assert_allclose(picture(panel)["figure"]["data"][0]["z"], look.cross[layer - 1, head - 1], atol=1e-4)
            for source, probe in zip(record.replay.plan.probes, block(panel, "probes")["rows"], strict=True):
                if source[0] == text:
                    written = [token for token in probe["output"] if token != "<eos>"]
                    assert [token["text"] for token in sentence["output"]][: len(written)] == written
        first, *_, last = (np.array(picture(panel)["figure"]["data"][0]["z"], dtype=float) for panel in shown.values())
        assert text != texts[1] or np.nanmax(np.abs(first - last)) > 0.5


def test_the_head_is_the_best_of_the_last_snapshot_unless_one_is_held_chosen_or_followed(site):
    asked = {"run": "reverse", "text": "playground"}
    last = site.panel("training", run="reverse", follow="on")["held"]
    assert {panel["held"] for panel in frames(site, **asked, every=4).values()} == {last}
    for tab in ("training", "attention"):
        for text in ("playground", "abba"):
            assert site.panel(tab, run="reverse", text=text, step=5, held="cross.1.2")["held"] == "cross.1.2"
    assert site.panel("training", run="reverse", held="cross.1.2", layer=2, head=4)["held"] == "cross.2.4"
    usual = site.panel("training", run="reverse")["held"]
    for held in ("encoder.1.2", "cross.0.1", "cross.9.1", "cross.1.9", "cross", "cross.1.2.3", "x" * 3000):
        assert site.panel("training", run="reverse", held=held)["held"] == usual, held
    followed = frames(site, **asked, follow="on", held="cross.1.2")
    assert len({panel["held"] for panel in followed.values()}) > 2
    for part in ("encoder", "decoder", "cross"):  # on the attention tab no step changes it
        assert len({site.panel("attention", run="reverse", part=part, step=step)["held"] for step in followed}) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_newest_picture_and_the_newest_probes_are_of_one_step_though_training_goes_on(site, monkeypatch, when):
    """A newer snapshot may come before the sentence is looked at, and after it: in both cases all is of one of the two."""
    run, look = site.runs.get("reverse"), site.reader.look
    snapshot, probes = run.snapshot, run.probes
    older, newer = (Snapshot(run.version, snapshot.step + at, snapshot.parameters, probes[:at]) for at in (1, 2))

    def train() -> None:
        run.history.probes, run.parts["snapshot"] = newer.probes, newer

    def look_and_train(*asked):
        if when == "before":
            train()
        answer = look(*asked)
        train()
        return answer

    monkeypatch.setattr(site.reader, "look", look_and_train)
    run.history.probes, run.parts["snapshot"] = older.probes, older
    try:
        panel = site.panel("training", run="reverse")
    finally:
        run.history.probes, run.parts["snapshot"] = probes, snapshot
    shown = {older.step: older, newer.step: newer}[panel["step"]]
    assert len(block(panel, "probes")["rows"]) == len(shown.probes)


def test_a_sentence_that_is_too_long_leaves_the_curves(site):
    panel = site.panel("training", run="reverse", text="abc" * 100)
    assert block(panel, "refused")["text"] == say("en", "runs.too_long", tokens=301, most=256)
    assert {"loss", "accuracy", "numbers"} <= ids(panel)


# ---- the end ------------------------------------------------------------------------------------------------------------------------


def told(site, run: Run, language: str = "en") -> list[dict]:
    view = View(site.runs, site.reader, {"run": "reverse", "lang": language})
    view.run = run
    return outcome(view)["blocks"]


@pytest.fixture
def ended():
    """A run of a few steps, of which only the record is looked at."""
    run = Run("some-run", "brisk-otter", tiny(steps=40), status="done", step=40, seconds=12.3)
    run.parts["replay"] = Replay()
    return run


def test_the_end_of_a_shipped_run_says_what_its_history_and_its_replay_say(site):
    for at, name in enumerate(SHIPPED):
        run, language = site.runs.get(name), LANGUAGES[at % len(LANGUAGES)]
        text, *ways = block(site.panel("training", run=name, lang=language), "ended")["blocks"]
        right = min(step for step in run.replay.steps if any(one.finished and all(one.right) for one in probes_at(run, step)[1]))
        assert first_right(run) == right > 0
        assert say(language, "outcome.first_right", step=f"{right:,}") in text["text"]
        assert percent(run.exact_match) in text["text"]
        assert f"{run.step:,}" in text["text"]
        assert [way["act"] for way in ways] == ["play", "take", "knob"]


@pytest.mark.parametrize(
    ("status", "exact", "knob"),
    [("done", 0.98, "positions"), ("done", 0.1, "steps"), ("diverged", 0.9, "learning_rate"), ("stopped", None, "steps")],
)
def test_the_end_leads_to_the_knob_that_is_next(site, ended, status, exact, knob):
    ended.status = status
    if exact is not None:
        ended.history.validations.append(30, 0.5, 0.9, exact, 50, 50)
    for language in LANGUAGES:
        text, way = told(site, ended, language)
        assert (way["act"], way["knob"], say(language, f"knobs.{knob}.label") in way["label"]) == ("knob", knob, True)
        if status == "diverged":
            assert text["text"] == say(language, "outcome.broken", step="40", time=say(language, "page.outlook_seconds", count="12"))
        else:
            assert ("%" in text["text"]) == (exact is not None)  # what was not evaluated promises nothing
            assert exact is None or percent(exact) in text["text"]
            assert exact is None or say(language, "outcome.never_right") in text["text"]


def test_samples_are_those_of_the_run_and_the_model_is_offered_but_for_a_riddle(site, monkeypatch):
    run = site.runs.get("reverse")
    probes = next(one for one in all_blocks(site.panel("training", run="reverse")["blocks"]) if one["kind"] == "probes")
    assert [(tuple(row["output"]), tuple(row["right"])) for row in probes["rows"]] == [(probe.output, probe.right) for probe in run.probes]
    assert "take" in [one.get("act") for one in told(site, run)]
    monkeypatch.setattr(run, "secret", True)
    assert "take" not in [one.get("act") for one in told(site, run)]


# ---- the sentence that is always there ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "text", "named", "use"),
    [
        ("reverse", "Hello world", ("H and ␣ are unknown", "a to z"), "helloworld"),
        ("reverse", "helloX", ("X is unknown",), "hellox"),
        ("numbers_de", "3a", ("a is unknown", "0 to 9"), "3"),
        ("german_english", "Die Frau liebt den Konig", ("Die and Konig", "111 words"), "die Frau liebt den König"),
        ("reverse", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ("A, B, C, D and 22 more are unknown",), "abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_unknown_tokens_are_named_and_a_readable_sentence_offered(site, run, text, named, use):
    unknown, readable, chinese = (
        site.panel("sentence", run=run, **asked)["unknown"] for asked in ({"text": text}, {"text": use}, {"text": text, "lang": "zh"})
    )
    assert (unknown["use"], use in unknown["label"], readable) == (use, True, None)
    assert [words in unknown["told"] for words in named] == [True] * len(named)
    assert chinese["told"] != unknown["told"]


def test_known_words_are_offered_for_each_unknown_one_and_nothing_that_is_empty(site):
    unknown = site.panel("sentence", run="german_english", text="die frau liebt den Konig")["unknown"]
    offered = {one["word"]: one["text"] for one in unknown["words"]}
    assert (offered["Frau"], offered["König"]) == ("die Frau liebt den Konig", "die frau liebt den König")
    assert "111" in unknown["all"]
    letters, chinese = (site.panel("sentence", run="reverse", text=text)["unknown"] for text in ("Hello", "你好"))
    assert (letters["words"], letters["all"], chinese["use"]) == ([], "", "")
