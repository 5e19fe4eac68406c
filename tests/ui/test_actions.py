"""What a visitor does to runs: an owner's actions, what everybody may do, and every value checked again in the core."""

from __future__ import annotations

from math import inf, nan

import pytest

from playground.config import KNOBS, LIVE_KNOBS, Refusal, default, limits
from playground.ui.actions import Command, act, answer
from playground.words import say
from tests.runs.tiny import at_step
from tests.ui.panels.looking import TINY

MINE, THEIRS = "a" * 32, "b" * 32


@pytest.fixture
def run(site):
    run = at_step(site.train(MINE, {**TINY, "steps": 5000}), 2)
    yield run
    if site.runs.find(run.id):
        site.runs.delete(run.id, MINE)


def refusal(site, message):
    """The key of the refusal of a command as the page would send it, and the control that it names."""
    answered = answer("en", lambda: act(site.runs, Command.parse(message, MINE, "en")))
    assert answered["error"].endswith((".", ")"))
    return answered["key"], answered["knob"]


def test_live_knobs_move_on_ones_own_run_alone(site, run):
    live = {name: default(name) for name in LIVE_KNOBS}
    changed = {"memory_mode": "cut", "learning_rate": 0.5, "label_smoothing": 0.3, "max_grad_norm": 2.0}
    assert tuple(changed) == LIVE_KNOBS
    for name, value in changed.items():
        assert site.act(THEIRS, "control", run.id, knob=name, value=value) == {}
        assert run.live == live
        assert site.act(MINE, "control", run.id, knob=name, value=value) == {}
        live[name] = value
        assert run.live == live
    assert site.act(MINE, "live", run.id, knob="memory_mode", value="mean") == {"again": True}
    for knob, value in (("memory_mode", "half"), ("d_model", 16), (None, 1), ("max_grad_norm", nan)):
        with pytest.raises(Refusal):
            site.act(MINE, "live", run.id, knob=knob, value=value)
    assert run.live == live | {"memory_mode": "mean"}
    assert site.act(MINE, "control", knob="learning_rate", value=0.1) == {}, "without a run it means the next one"


def test_new_runs_are_the_callers_and_carry_the_place(site, run):
    """A fork and a training begin at another step; a copy stays at the same, whether it rests or not."""
    made = {
        "train": site.act(THEIRS, "train", knobs={**TINY, "steps": 2, "minutes": None}),
        "fork": site.act(THEIRS, "fork", run.id, step=0),
        "copy": site.act(THEIRS, "copy", run.id),
        "copy at rest": site.act(THEIRS, "copy", "reverse"),
    }
    runs = {name: site.runs.get(opened["run"]) for name, opened in made.items()}
    assert all(site.runs.owns(one.id, THEIRS) and not site.runs.owns(one.id, MINE) for one in runs.values())
    assert (runs["copy"].status, runs["copy at rest"].status) == ("paused", "done")
    assert ["paused" in made[name]["notice"] for name in ("copy", "copy at rest")] == [True, False]
    for name, opened in made.items():
        assert {"text", "head", "q"} <= set(opened["carry"])
        assert ("step" in opened["carry"]) == ("tab" not in opened) == name.startswith("copy")
        assert ("other" in opened) == (name == "train")
        site.runs.delete(opened["run"], THEIRS)


NO_COMMANDS = (
    None, [], "", {}, {"action": "pause"}, {"run": "x"}, {"action": 1, "run": "x"}, {"action": "format", "run": "x"},
    {"action": "__init__", "run": "x"}, {"action": ["fork"], "run": "x"}, {"action": "rename", "run": {"a": 1}},
    {"action": "train", "run": ""}, {"action": "train", "run": "", "knobs": []}, {"action": "rename", "run": "RUN", "label": ["a"]},
    {"action": "live", "run": "RUN", "knob": ["learning_rate"]}, {"action": "control", "run": "RUN", "knob": 7},
    {"action": "experiment", "run": "", "lab": ["skip"], "seed": 1}, {"action": "experiment", "run": "", "lab": "softmax", "seed": 1},
)  # fmt: skip


def test_what_is_no_command_is_refused(site, run):
    for message in NO_COMMANDS:
        own = {"run": run.id} if isinstance(message, dict) and message.get("run") == "RUN" else {}
        assert refusal(site, message | own if own else message) == ("page.not_a_command", None), message
    assert run.label == ""


def test_no_knob_takes_nonsense(site):
    numbers = [name for name in KNOBS if not limits(name).text]
    for name in numbers:
        for value in (nan, inf, "nonsense", [], {}, 1e300, -1):
            key, knob = refusal(site, {"action": "train", "run": "", "knobs": {**TINY, name: value}})
            assert (key.partition(".")[0], knob) == ("config", name), (name, value)
    assert refusal(site, {"action": "train", "run": "", "knobs": {**TINY, "magic": 1}}) == ("config.unknown", None)
    assert refusal(site, {"action": "train", "run": "", "knobs": {**TINY, "task": "own"}})[1] == "task"
    huge = {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "batch_size": 16384, "n_heads": 8}
    assert refusal(site, {"action": "train", "run": "", "knobs": huge})[0] == "model.too_large"
    for step in ("soon", inf, nan, [1], -1):
        assert refusal(site, {"action": "fork", "run": "reverse", "step": step})[0].startswith("config."), step


def test_a_key_of_another_browser_makes_the_runs_of_both_its_own(site, run):
    key = "c" * 32
    there = site.train(key, {**TINY, "steps": 2})
    for entered, sentence in {"": "not_a_key", "c" * 31: "not_a_key", "C" * 32: "not_a_key", "d" * 32: "key_unknown"}.items():
        assert refusal(site, {"action": "take_key", "run": "", "key": entered})[0] == f"page.{sentence}", entered
    assert site.act(MINE, "take_key", key=key) == {"notice": say("en", "page.key_taken", count=2)}
    assert (set(site.runs.mine(key)), site.runs.mine(MINE)) == ({run, there}, [])
    for one in (run, there):
        site.runs.delete(one.id, key)
