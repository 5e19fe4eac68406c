"""What a visitor begins with: links, of which what can't be used is named, their last run, and what is said of a run."""

import json

from hypothesis import HealthCheck, given, settings, strategies as st

from playground.config import KNOBS, Experiment, default, limits
from playground.cursor import FIELDS, FORMER_VALUES
from playground.features.shared.naming import CONTROLLED
from playground.knobs import MAX_TEXT, Number, Text
from playground.ui import boot
from playground.words import LANGUAGES, say
from tests.runs.tiny import done
from tests.ui.looking import TINY

FORMS = [name for name, field in FIELDS.items() if name == "run" or not isinstance(field, Text) or field.pattern]  # takes not any text
ME, OTHER = "d" * 32, "e" * 32
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
    assert boot.read_link(site.runs, query) == (experiment, {})
    assert set(query) == set(experiment.difference())


@QUICK
@given(good=experiments, bad=st.dictionaries(st.sampled_from([*FORMS, *CONTROLLED]), st.just("no such value")))
def test_what_is_bad_in_a_link_is_named_and_the_rest_holds(site, good, bad):
    experiment, ignored = boot.read_link(site.runs, good.query() | bad)
    assert set(ignored) == set(bad)
    flat = good.flat()
    assert experiment.flat() == {name: default(name) if name in bad else flat[name] for name in flat}
    for language in LANGUAGES:
        sentence = boot.explain_ignored(ignored, language)
        assert all(sentence.count(f"“{name}”") == 1 for name in bad if name != "run")
        assert bool(sentence) == bool(bad)


def test_no_field_passes_unchecked(site):
    for value in ("no such value\0", "-1e999 <b>"):
        reply = site.get("boot", **{name: value if name in FORMS else "x" * (MAX_TEXT + 1) for name in FIELDS}, d_model=128).json()
        assert sorted(reply["ignored"]) == sorted(FIELDS)
        for name in FIELDS:
            assert (say("en", "runs.unknown") if name == "run" else f"“{name}”") in reply["notice"], name
    for name, field in FIELDS.items():
        if isinstance(field, Number):
            assert [boot.read_link(site.runs, {name: str(end)})[1] for end in (field.low, field.high)] == [{}, {}], name
            for value in (str(field.low - 1), str(field.high + 1), "nan", "inf", " "):
                assert name in boot.read_link(site.runs, {name: value})[1], (name, value)
            assert boot.read_link(site.runs, {name: ""})[1] == {}, name


@QUICK
@given(query=st.dictionaries(st.sampled_from([*FIELDS, *KNOBS]), st.text(max_size=30)))
def test_no_link_breaks_the_page(site, query):
    answer = site.get("boot", **{name: value.encode("utf-8", "replace").decode() for name, value in query.items()})
    assert answer.status_code == 200
    assert set(json.loads(answer.text)["ignored"]) <= set(query)


def test_a_link_is_read_beside_the_run_it_shows(site):
    for asked, ignored, notice in (
        ({"d_model": "65", "n_heads": "8", "tab": "training"}, ["d_model"], "“d_model”"),
        ({"n_heads": "8"}, [], ""),
        ({"run": "reverse", "pin": "nobody"}, ["pin"], say("en", "compare.pin_missing")),
        ({"run": "reverse", "pin": "sort"}, [], ""),
    ):
        reply = site.get("boot", **asked).json()
        assert (reply["ignored"], reply["notice"].count(notice) == 1 if notice else reply["notice"] == "") == (ignored, True), asked
    assert reply["first"] == site.runs.shipped()[0].id
    assert boot.read_link(site.runs, {"run": "sort"}) == (site.runs.get("sort").experiment, {})
    assert boot.read_link(site.runs, {"run": "sort", "task": default("task")}) == (Experiment(), {}), "the defaults beside a run"
    assert boot.read_link(site.runs, {"run": "sort", "d_model": "128"}) == (Experiment().with_(d_model=128), {})
    for name, values in FORMER_VALUES.items():
        for former, now in values.items():
            assert boot.read_link(site.runs, {name: former}) == boot.read_link(site.runs, {name: now})


def card(site, run, **parameters):
    return site.get(f"run/{run.id}", **parameters).json()


def test_a_run_has_one_first_example_from_the_start_and_a_fork_says_where_it_comes_from(site):
    run = site.train(ME, {**TINY, "steps": 40})
    plan = run.replay.plan
    run.replay.plan = type(plan)()  # as before it was prepared
    early = card(site, run)["examples"]
    run.replay.plan = plan if plan.steps else run.replay.plan
    done(run)
    copy, fork = (site.runs.get(site.act(OTHER, action, run.id, step=20)["run"]) for action in ("copy", "fork"))
    assert [card(site, one)["examples"][0] for one in (run, copy, fork)] == [early[0]] * 3
    parent = {"run": run.id, "step": fork.first_step, "name": run.name, "until": fork.first_step}
    assert (card(site, fork)["parent"], fork.first_step > 0) == (parent, True)
    site.runs.delete(run.id, ME)
    assert card(site, fork)["parent"] == parent | {"name": ""}
    for one in (copy, fork):
        site.runs.delete(one.id, OTHER)


def test_what_was_carried_to_a_run_and_it_cannot_read_is_named(site):
    for place, lost in (
        ({"text": "playground", "layer": "2", "head": "4", "target": "reference"}, []),
        ({"text": " ", "head": "5", "layer": "1"}, ["text", "layer", "head"]),
        ({"text": "Hello", "layer": "3", "head": "1"}, ["text", "layer", "head"]),
        ({"text": "a" * 600}, ["text"]),
    ):
        assert card(site, site.runs.get("reverse"), **place)["unreadable"] == lost, place
