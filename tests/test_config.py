"""Knobs: what they accept and what they refuse, and that lists which follow from them are made from them."""

import math
from dataclasses import asdict, fields, replace

import pytest

from playground import config
from playground.config import KNOBS, LIVE_KNOBS, PARTS, PRESETS, TASK_STEPS, USUAL_STEPS, Refusal, check, default, limits, preset
from playground.tasks.toy_tasks import TASKS
from playground.training.loop import Live
from playground.ui.controls import CONTROLLED, GROUPS, control
from playground.words import LANGUAGES
from tests.training.corpora import training_of

NUMBERS = [name for name in KNOBS if limits(name).low is not None]
WHOLE = [name for name in NUMBERS if isinstance(default(name), int)]
CONTINUOUS = [name for name in NUMBERS if name not in WHOLE]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_between_two_steps_of_a_control_lie_values_too(name):
    """A link or the command line may ask for any of them: a dropout of 0.123, though the slider stops at 0.1 and 0.15."""
    knob = limits(name)
    for value in (knob.low, knob.high, knob.low + knob.step * 0.46, math.nextafter(knob.high, 0)):
        assert check(name, value) == check(name, repr(value)) == value
    assert isinstance(check("dropout", 0), float)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_go_in_steps_and_between_them_is_nothing(name):
    knob = limits(name)
    for number in (knob.low, knob.low + knob.step, knob.high - (knob.high - knob.low) % knob.step):
        assert check(name, number) == check(name, str(number)) == check(name, float(number)) == number
        assert isinstance(check(name, float(number)), int)
    for between in (knob.low + 0.5, knob.low + knob.step - 0.25, *([knob.low + 1] if knob.step > 1 else [])):
        with pytest.raises(Refusal) as refusal:
            check(name, between)
        assert refusal.value.key == "config.off_step"
        nearest = refusal.value.values["below"], refusal.value.values["above"]
        assert nearest == (knob.low, knob.low + knob.step)
        assert all(check(name, number) == number for number in nearest)


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_of_the_range_is_refused(name):
    knob = limits(name)
    for value in (math.nan, math.inf, -math.inf, "nan", "", "ten", None, True, [1], 10**400, knob.low - knob.step, knob.high + knob.step):
        with pytest.raises(Refusal) as refusal:
            check(name, value)
        assert refusal.value.key == "config.not_in_range"
        assert all(name in refusal.value.say(language) for language in LANGUAGES)


def test_a_preset_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(Refusal) as refusal:
        preset("best")
    assert all(name in str(refusal.value) for name in ("preset", "best", *PRESETS))


def test_what_a_task_says_of_its_steps_is_known_beside_the_knobs():
    assert {name: task.steps for name, task in TASKS.items() if task.steps} == TASK_STEPS
    assert {*TASK_STEPS.values(), default("steps")} <= USUAL_STEPS
    assert all(check("steps", steps) > default("steps") for steps in TASK_STEPS.values()), "or it would not need to say so"


def test_every_knob_but_the_free_text_has_its_place_on_the_page():
    placed = [name for first, more in GROUPS.values() for name in (*first, *more)]
    assert sorted(placed) == sorted(CONTROLLED) == sorted(name for name in KNOBS if not limits(name).text)
    assert set(GROUPS) == set(PARTS)
    for part, (first, more) in GROUPS.items():
        assert {*first, *more} <= {knob.name for knob in fields(PARTS[part])}
        assert all(limits(name).first for name in first)
        assert not any(limits(name).first for name in more)
        assert first, "each part has something for a first look"
    assert all(limits(name).low is not None for name in KNOBS if limits(name).typed)


@pytest.mark.parametrize("typed", [True, False])
def test_what_is_typed_is_said_in_the_knob(monkeypatch, typed):
    made = config._knob(default("dropout"), **vars(replace(limits("dropout"), typed=typed)))
    monkeypatch.setitem(KNOBS, "dropout", made)
    assert type(control("dropout")).__name__ == ("Number" if typed else "Slider")


def test_what_a_training_takes_between_two_steps_are_the_knobs_that_are_marked_live():
    assert tuple(field.name for field in fields(Live)) == LIVE_KNOBS
    training = training_of(memory_mode="mean", label_smoothing=0.1)
    assert asdict(training.live) == {name: training.experiment.flat()[name] for name in LIVE_KNOBS}


@pytest.mark.parametrize("knob", LIVE_KNOBS)
def test_every_live_knob_acts_on_the_next_step(knob):
    other = {"memory_mode": "mean", "learning_rate": 0.001, "label_smoothing": 0.3, "max_grad_norm": 0.001}[knob]
    first, second = training_of(optimiser="adam"), training_of(optimiser="adam")
    second.live = replace(second.live, **{knob: other})
    for training in (first, second):
        for _ in zip(range(2), training.steps(), strict=False):
            pass
    parameters = [training.model.projection.weight for training in (first, second)]
    assert not parameters[0].equal(parameters[1])
