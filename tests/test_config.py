"""Knobs: what they accept and what they refuse, and that lists which follow from them are made from them."""

import math
from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import KNOBS, LIVE_KNOBS, PARTS, TASK_STEPS, USUAL_STEPS, Refusal, check, default, limits
from playground.tasks.toy_tasks import TASKS
from playground.ui.controls import CONTROLLED, GROUPS, control
from playground.words import LANGUAGES
from tests.training.corpora import training_of

NUMBERS = [name for name in KNOBS if limits(name).low is not None]


@given(name=st.sampled_from(NUMBERS), share=st.floats(0, 1))
def test_a_number_is_accepted_in_its_range_and_on_its_steps(name, share):
    """Between two steps of a slider a link may ask for a dropout of 0.123; between two whole numbers is nothing."""
    knob, value = limits(name), limits(name).low + share * (limits(name).high - limits(name).low)
    if isinstance(default(name), float):
        value = min(value, knob.high)
        assert check(name, value) == check(name, repr(value)) == value
        return
    below = knob.low + int((value - knob.low) // knob.step) * knob.step
    for number in (below, float(below), str(below)):
        assert check(name, number) == below
        assert isinstance(check(name, number), int)
    above = below + knob.step
    for between in (below + 0.5, above - 0.25, *([below + 1] if knob.step > 1 else [])):
        if above <= knob.high:
            with pytest.raises(Refusal) as refusal:
                check(name, between)
            assert refusal.value.key == "config.off_step"
            assert (refusal.value.values["below"], refusal.value.values["above"]) == (below, above)


def test_what_is_no_number_of_the_range_is_refused():
    assert isinstance(check("dropout", 0), float)
    for name in NUMBERS:
        knob, beyond = limits(name), [limits(name).low - limits(name).step, limits(name).high + limits(name).step]
        highest = knob.high - (knob.high - knob.low) % knob.step if isinstance(default(name), int) else knob.high
        assert (check(name, knob.low), check(name, highest)) == (knob.low, highest)
        assert type(check(name, type(knob.low)(knob.low))) is type(default(name))
        for value in (math.nan, math.inf, -math.inf, "nan", "", "ten", None, True, [1], 10**400, *beyond):
            with pytest.raises(Refusal) as refusal:
                check(name, value)
            assert refusal.value.key == "config.not_in_range", (name, value)
            assert all(name in refusal.value.say(language) for language in LANGUAGES)


def test_what_a_task_says_of_its_steps_is_known_beside_the_knobs():
    assert {name: task.steps for name, task in TASKS.items() if task.steps} == TASK_STEPS
    assert {*TASK_STEPS.values(), default("steps")} <= USUAL_STEPS


def test_every_knob_but_the_free_text_has_its_place_on_the_page():
    placed = [name for first, more in GROUPS.values() for name in (*first, *more)]
    assert sorted(placed) == sorted(CONTROLLED) == sorted(name for name in KNOBS if not limits(name).text)
    for part, (first, more) in GROUPS.items():
        assert {*first, *more} <= {knob.name for knob in fields(PARTS[part])}
    for name in NUMBERS:
        assert type(control(name)).__name__ == ("Number" if limits(name).typed else "Slider"), name


@pytest.mark.parametrize("knob", LIVE_KNOBS)
def test_every_live_knob_acts_on_the_next_step(knob):
    other = {"memory_mode": "mean", "learning_rate": 0.001, "label_smoothing": 0.3, "max_grad_norm": 0.001}[knob]
    first, second = training_of(optimiser="adam"), training_of(optimiser="adam")
    assert asdict(first.live) == {name: first.experiment.flat()[name] for name in LIVE_KNOBS}
    second.live = replace(second.live, **{knob: other})
    for training in (first, second):
        for _ in zip(range(2), training.steps(), strict=False):
            pass
    assert not first.model.projection.weight.equal(second.model.projection.weight)
