"""Links: what a link is made of comes back from it, and what can't be used is named in one sentence while the rest holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.config import KNOBS, Experiment, default, limits
from playground.ui import links
from playground.ui.controls import CONTROLLED

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def knob_values(name: str) -> st.SearchStrategy:
    knob = limits(name)
    if knob.text:
        return st.text(max_size=20)
    if knob.choices:
        return st.sampled_from(knob.choices)
    if isinstance(default(name), int):
        return st.integers(0, int((knob.high - knob.low) // knob.step)).map(lambda steps: int(knob.low + steps * knob.step))
    return st.floats(knob.low, knob.high).map(lambda value: float(f"{value:.10g}"))


experiments = st.fixed_dictionaries({}, optional={name: knob_values(name) for name in KNOBS}).map(lambda knobs: Experiment().with_(**knobs))


@QUICK
@given(experiment=experiments)
def test_a_link_brings_back_the_experiment_it_was_made_of(site, experiment):
    query = experiment.query()
    assert links.read(site.runs, query) == (experiment, {})
    assert set(query) == set(experiment.difference())


@QUICK
@given(
    good=experiments,
    bad=st.dictionaries(st.sampled_from([*links.CHOICES, *links.WHOLE, *links.NUMBERS, "run", *CONTROLLED]), st.just("no such value")),
)
def test_what_is_bad_in_a_link_is_named_and_the_rest_holds(site, good, bad):
    experiment, ignored = links.read(site.runs, good.query() | bad)
    assert set(ignored) == set(bad)
    flat = good.flat()
    assert experiment.flat() == {name: default(name) if name in bad else flat[name] for name in flat}
    sentence = links.sentence(ignored, "en")
    assert all(name in sentence for name in bad if name != "run")
    assert bool(sentence) == bool(bad)


@QUICK
@given(query=st.dictionaries(st.sampled_from([*links.CHOICES, *links.WHOLE, *links.NUMBERS, "run", "text", *KNOBS]), st.text(max_size=30)))
def test_no_link_breaks_the_page(site, query):
    answer = site.get("boot", **{name: value.encode("utf-8", "replace").decode() for name, value in query.items()})
    assert answer.status_code == 200
    assert set(json.loads(answer.text)["ignored"]) <= set(query)


@pytest.mark.parametrize("name", sorted({*links.WHOLE, *links.NUMBERS}))
def test_the_ends_of_a_range_are_possible_in_a_link(site, name):
    low, high = (links.WHOLE | links.NUMBERS)[name]
    assert links.read(site.runs, {name: str(low)})[1] == links.read(site.runs, {name: str(high)})[1] == {}
    for value in (low - 1, high + 1, "nan", "inf", "", " "):
        assert (name in links.read(site.runs, {name: str(value)})[1]) == (value != "")
