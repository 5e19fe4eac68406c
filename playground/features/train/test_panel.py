"""The first tab: three numbers, the end told in a sentence, the replay of one head at one size, and the sentence that is always there."""

import numpy as np
import pytest

from playground.config import PRESETS, Experiment, preset
from playground.features.shared.view import View, percent
from playground.features.train.panel import _welcome, build_outcome, build_ways_on
from playground.features.train.settling import write_lead
from playground.inspection.heads import HeadScores, NamedHead
from playground.runs.forecast import forecast
from playground.runs.machine_speed import MachineSpeed, count_layers
from playground.runs.replay import Replay
from playground.runs.run import Run
from playground.ui.controls import describe_cost, draw_schedule, find_preset, sample_rates
from playground.words import LANGUAGES, duration, say, short
from tests.runs.tiny import tiny
from tests.ui.looking import block, ids

SHIPPED = ("reverse", "sort", "numbers_de", "numbers_zh", "german_english")
TYPED = {"numbers_de": "77", "numbers_zh": "1905", "german_english": "sucht ein Mädchen den Hund ?"}


def frames(site, run: str, text: str, every: int = 1, **more) -> dict[int, dict]:
    """The training tab at stops of the replay, the first and the last among them."""
    steps = site.runs.get(run).replay.steps
    return {step: site.panel("training", run=run, text=text, step=step, **more) for step in sorted({*steps[::every], steps[-1]})}


def picture(panel: dict) -> dict:
    return block(panel, "learn-cross")


def frame_of(drawn: dict) -> tuple:
    """All that must not change while the replay plays; the page also keeps the head, which the title names."""
    layout = drawn["figure"]["layout"]
    return layout["meta"]["rows"], layout["meta"]["columns"], layout["height"], layout["margin"], layout["xaxis"]["domain"]


@pytest.mark.parametrize("run", [SHIPPED[0], *(pytest.param(name, marks=pytest.mark.night) for name in SHIPPED[1:])])
def test_every_frame_has_one_size_and_sentence_matrix_and_probes_are_of_the_very_step(site, run):
    record = site.runs.get(run)
    texts = (record.replay.plan.probes[-2][0], TYPED.get(run, "playground"))
    for text in (*texts, "§ § §"):  # the last is no sentence of any task: the newest output is fed
        panels = frames(site, run, text, every=8 if run == SHIPPED[0] else 1)  # the night looks at all
        now = frame_of(picture(site.panel("training", run=run, text=text)))
        drawn = {step: picture(panel) for step, panel in panels.items() if "held" in panel}
        assert all(frame_of(figure) == now for figure in drawn.values())
        assert all(block(panel, "live-heads")["tall"] >= now[2] for step, panel in panels.items() if step not in drawn)
        for step, panel in panels.items() if text in texts else ():
            sentence, look = site.panel("sentence", run=run, text=text, step=step), site.reader.look(record, step, text, "reference")
            assert panel["step"] == look.step == site.reader.look(record, step, text).step == step
            np.testing.assert_allclose(block(panel, "live-heads")["weights"], look.cross, atol=0.006)
            if step in drawn:
                assert say("en", "page.caption_step", step=step) in drawn[step]["caption"]
                layer, head = map(int, panel["held"].split(".")[1:])
                np.testing.assert_allclose(drawn[step]["figure"]["data"][0]["z"], look.cross[layer - 1, head - 1], atol=1e-4)
            for source, probe in zip(record.replay.plan.probes, block(panel, "probes")["rows"], strict=True):
                if source[0] == text:
                    written = [token for token in probe["output"] if token != "<eos>"]
                    assert [token["text"] for token in sentence["output"]][: len(written)] == written
        first, *_, last = (np.array(block(panel, "live-heads")["weights"]) for panel in panels.values())
        assert text != texts[1] or np.abs(first - last).max() > 0.5


def test_the_head_is_the_best_of_the_last_snapshot_unless_one_is_held_chosen_or_followed(site):
    def held(tab: str = "training", **asked) -> str:
        return site.panel(tab, run="reverse", **asked)["held"]

    last = held(follow="on")
    asked = {"run": "reverse", "text": "playground"}
    first, *_, newest = frames(site, **asked, every=12).values()
    assert ("held" in first, newest["held"]) == (False, last)  # in a replay none is large before one follows a pattern
    for tab, step in (("training", ""), ("attention", 5)):
        assert held(tab, text="abba", step=step, held="cross.1.2") == "cross.1.2"
    assert held(held="cross.1.2", layer=2, head=4) == "cross.2.4"
    for odd in ("encoder.1.2", "cross.0.1", "cross.9.1", "cross.1.9", "cross", "cross.1.2.3", "x" * 3000):
        assert held(held=odd) == held(), odd
    followed = frames(site, **asked, every=6, follow="on", held="cross.1.2")
    assert len({panel["held"] for panel in followed.values()}) > 2
    for part in ("encoder", "decoder", "cross"):  # on the attention tab no step changes it
        assert len({held("attention", part=part, step=step) for step in followed}) == 1


def test_all_heads_are_watched_until_one_follows_a_pattern_which_then_stays_and_where_none_did_the_end_says_so(site):
    steps = site.runs.get("reverse").replay.steps
    panels = [site.panel("training", run="reverse", step=step) for step in steps]
    settled = [panel.get("settled", False) for panel in panels]
    assert settled == sorted(settled)
    assert settled[0] is False and settled[-1] is True  # noqa: PT018
    before, since = panels[settled.index(True) - 1], panels[settled.index(True)]
    waiting = say("en", "settling.waiting", step=before["step"], count=8, part=say("en", "page.part_cross"))
    assert block(before, "live-heads")["label"] == waiting
    assert (block(before, "live-heads")["layer"], "learn-cross" in ids(before)) == (None, False)
    layer, head = map(int, since["held"].split(".")[1:])
    sentence = say("en", "settling.begins", layer=layer, head=head, what=say("en", "settling.what_backward"))
    assert picture(since)["caption"].startswith(sentence)
    small = block(since, "live-heads")
    assert (small["layer"], small["head"], small["names"][layer - 1][head - 1][0]) == (layer - 1, head - 1, say("en", "heads.name_aligned"))
    assert "held" not in site.panel("training", run="reverse", step=0, held=since["held"])  # nor is it large before that in a replay
    panel = site.panel("training", run="reverse", text="abc" * 100)
    assert block(panel, "refused")["text"] == say("en", "runs.too_long", tokens=301, most=256)
    assert {"loss", "accuracy", "numbers"} <= ids(panel)
    for name, number, key in (("unclear", None, "none"), ("forward", 0.6, ""), ("last", 0.9, "none")):
        scored = HeadScores(((NamedHead(name, number, None, 1.0, None, None),),), 1, 3.0)
        view = View(site.runs, site.reader, {"run": "reverse"})
        assert write_lead(view, scored, (0, 0)) == (key and say("en", f"settling.{key}", layer=1, head=1))


@pytest.mark.parametrize(("status", "exact", "knob", "loss", "knobs"), [
    ("done", 0.98, "positions", 0.1, {}), ("done", 0.1, "steps", 0.4, {}), ("diverged", 0.9, "learning_rate", 0.4, {}),
    ("stopped", None, "steps", 0.4, {}), ("done", 0.1, "positions", 0.4, {"positions": "none"}),
    ("done", 0.1, "train_size", 0.1, {}), ("done", 0.1, "", 0.1, {"task": "own"}),  # known by heart
])  # fmt: skip
def test_the_end_leads_to_the_knob_that_is_next(site, status, exact, knob, loss, knobs):
    run = Run("some-run", "brisk-otter", tiny(steps=40, **knobs), status=status, step=40, seconds=12.3)
    run.parts["replay"] = Replay()
    run.history.steps.append(40, loss, 0.1, 0.5, 1234.5)
    if exact is not None:
        run.history.validations.append(30, 0.5, 0.9, exact, 50, 50)
    for language in LANGUAGES:
        view = View(site.runs, site.reader, {"run": "reverse", "lang": language})
        view.run = run
        text, ways = build_outcome(view), [way for way in build_ways_on(view, None)["blocks"] if way["act"] == "knob"]
        led = [(way["act"], way["knob"], say(language, f"knobs.{knob}.label") in way["label"]) for way in ways]
        assert (led, len(_welcome(view)[0]["blocks"])) == ([("knob", knob, True)][: len(knob)], 1)  # no replay without frames is offered
        for run.shipped, run.seconds in ((True, 12.3), (False, 0.0), (False, 12.3)):  # one that was opened, or shipped, has no time
            has_time = say(language, "outcome.time", time=duration(run.seconds, language)) in build_outcome(view)["text"]
            assert has_time == (not run.shipped and run.seconds > 0)
        assert (say(language, "outcome.by_heart", times=3) in text["text"]) == (knob in ("", "train_size"))
        assert exact is None or percent(exact) in build_outcome(view, site.runs.get("reverse"))["text"][:40]  # what changed may be long
        if status != "diverged":
            assert (say(language, "outcome.never_right") in text["text"]) == (exact is not None)  # what was not evaluated promises nothing


@pytest.mark.parametrize(("run", "text", "named", "use"), [
    ("reverse", "Hello world", ("H and ␣: read", "a–z"), "helloworld"),
    ("german_english", "die frau liebt den Konig", ("frau and Konig", "111 words"), "die Frau liebt den König"),
    ("reverse", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ("A, B, C, D and 22 more: read",), "abcdefghijklmnopqrstuvwxyz"),
])  # fmt: skip
def test_unknown_tokens_are_named_and_a_readable_sentence_offered(site, run, text, named, use):
    unknown, readable = (site.panel("sentence", run=run, text=one)["unknown"] for one in (text, use))
    assert (unknown["use"], use in unknown["label"], readable) == (use, True, None)
    assert [words in unknown["told"] for words in named] == [True] * len(named)
    offered = {near["word"]: near["text"] for one in unknown["words"] for near in one["nearest"]}
    if "frau" in text:
        assert (offered["Frau"], offered["König"]) == ("die Frau liebt den Konig", "die frau liebt den König")


@pytest.fixture(autouse=True)
def pace(monkeypatch):
    """A machine of which we know how fast it is."""
    monkeypatch.setattr("playground.runs.forecast.measure_speed", lambda device: MachineSpeed(layer=0.001, operation=1e-11, element=1e-9))


@pytest.mark.night
def test_a_preset_is_known_and_explained(site):
    for name in PRESETS:
        experiment = preset(name, Experiment().with_(task="sort") if "task" not in PRESETS[name] else None)
        assert (find_preset(experiment), find_preset(experiment.with_(seed=7))) == (name, None)
        for language in LANGUAGES:
            text, result = describe_cost(site.runs, language, experiment.flat())
            assert result == name
            assert say(language, f"knobs.preset_about.{name}") in text
            assert say(language, "page.own_settings") in describe_cost(site.runs, language, experiment.with_(seed=7).flat())[0]
    assert describe_cost(site.runs, "en", {"task": "own"})[0] == say("en", "page.no_upload_yet")


def test_the_time_is_that_of_calls_operations_and_elements_and_the_schedule_drawn_is_the_one_recorded(site):
    experiment = Experiment().with_(encoder_layers=1, decoder_layers=3)
    result = forecast(experiment)
    assert count_layers(experiment) == 11
    assert result.step_seconds == pytest.approx(0.011 + 1e-11 * result.work.operations + 1e-9 * result.work.elements)
    assert result.seconds == pytest.approx(experiment.training.steps * result.step_seconds)
    plain, wide = Experiment().with_(steps=200), Experiment().with_(steps=200, d_model=128)
    factors = dict(forecast(wide).choices)
    assert factors["d_model"] == pytest.approx(forecast(wide).seconds / forecast(plain).seconds)
    assert factors["steps"] == pytest.approx(200 / Experiment().training.steps)
    assert dict(forecast(Experiment().with_(packing=False)).choices)["packing"] > 1.1
    assert forecast(Experiment().with_(label_smoothing=0.1)).choices == ()  # costs nothing worth saying
    assert short(factors["d_model"]) in describe_cost(site.runs, "en", wide.flat())[0].partition("128")[2]
    for run in map(site.runs.get, ("reverse", "german_english")):
        history = run.history.steps.rows()
        recorded, drawn = dict(zip(history["step"], history["learning_rate"], strict=True)), sample_rates(run.experiment)
        assert len(drawn) > 60
        assert {1, run.experiment.training.steps} <= set(drawn)
        assert drawn == {step: pytest.approx(recorded[step], rel=1e-6) for step in drawn}
    experiment = Experiment().with_(schedule="paper", learning_rate=1.0, warmup=37, steps=10_000)
    rates, drawing = sample_rates(experiment), draw_schedule("zh", experiment.flat())
    assert (max(rates, key=rates.get), len(rates) < 200) == (37, True)
    assert say("zh", "page.schedule", peak=short(rates[37]), step=37, last=short(rates[10_000]), steps="10,000") in drawing
    assert draw_schedule("en", {"steps": "<b>"}) == ""
