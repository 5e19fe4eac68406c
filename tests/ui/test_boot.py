"""What a visitor begins with, and what is said of a run: its first example, where it comes from, and what it can read."""

from __future__ import annotations

import pytest

from playground.ui import boot
from playground.ui.assets import PREFIX
from playground.ui.command import TOKEN
from tests.ui.test_actions import TINY, wait

ME, OTHER = "d" * 32, "e" * 32


def card(site, run, **parameters):
    return site.get(f"run/{run.id}", **parameters).json()


def test_a_visitor_goes_on_with_their_own_last_run(site, monkeypatch):
    """One that trains comes first."""

    def last(token):
        return site.http.get(f"{PREFIX}/boot", headers={TOKEN: token}).json()["last"]

    first, second = (site.train(ME, {**TINY, "steps": 2}) for _ in range(2))
    for run in (first, second):
        wait(run, "done")
    for looked_at, run in enumerate((second, first), 10**10):
        monkeypatch.setattr(run, "looked_at", looked_at)
        assert last(ME) == run.id
    busy = site.train(ME, {**TINY, "steps": 50_000})
    monkeypatch.setattr(busy, "looked_at", 0)
    assert last(ME) == busy.id
    assert last(OTHER) == last("") == ""
    for run in (busy, first):
        site.runs.delete(run.id, ME)
    assert last(ME) == second.id
    site.runs.delete(second.id, ME)


def test_a_run_has_one_first_example_from_the_start(site):
    """Before its replay is planned, when it is over, and in a fork and a copy of it, which say where they come from."""
    run = site.train(ME, {**TINY, "steps": 40})
    plan = run.replay.plan
    run.replay.plan = type(plan)()  # as before it was prepared
    early = card(site, run)["examples"]
    run.replay.plan = plan if plan.steps else run.replay.plan
    wait(run, "done")
    assert run.replay.plan.probes or not plan.steps
    late = card(site, run)["examples"]
    copy, fork = (site.runs.get(site.act(OTHER, action, run.id, step=20)["run"]) for action in ("copy", "fork"))
    firsts = [examples[0] for examples in (early, late, *(card(site, one)["examples"] for one in (copy, fork)))]
    assert firsts == [early[0]] * 4

    at = fork.first_step
    assert at > 0
    assert card(site, fork)["parent"] == {"run": run.id, "step": at, "name": run.name, "until": at}
    site.runs.rename(run.id, ME, "my first")
    assert card(site, fork)["parent"]["name"] == "my first"
    site.runs.delete(run.id, ME)
    assert card(site, fork)["parent"] == {"run": run.id, "step": at, "name": "", "until": at}
    assert card(site, site.runs.get("reverse"))["parent"] is None
    for one in (copy, fork):
        site.runs.delete(one.id, OTHER)


@pytest.mark.parametrize(
    ("place", "lost"),
    [
        ({}, []),
        ({"text": "playground", "layer": "2", "head": "4", "target": "reference"}, []),
        ({"text": "Hello world", "layer": "1", "head": "1"}, ["text"]),
        ({"text": "Hello", "target": "reference"}, ["text"]),
        ({"text": " ", "head": "5", "layer": "1"}, ["text", "layer", "head"]),
        ({"text": "abc", "layer": "3", "head": "1"}, ["layer", "head"]),
        ({"text": "a" * 600}, ["text"]),
    ],
)
def test_what_was_carried_to_a_run_and_it_cannot_read_is_named(site, place, lost):
    assert card(site, site.runs.get("reverse"), **place)["unreadable"] == lost


def test_what_a_run_can_read_is_known_before_it_is_prepared(site, monkeypatch):
    run = site.train(ME, {**TINY, "steps": 2})
    wait(run, "done")
    with monkeypatch.context() as patch:
        patch.setitem(run.parts, "tokenizers", None)
        assert [boot.unreadable(site.reader, run, {"text": text}) for text in ("abc", "ABC")] == [[], ["text"]]
    site.runs.delete(run.id, ME)


def test_the_page_knows_the_knobs_by_group_with_their_bounds_and_choices(site):
    told = site.get("boot").json()
    assert sorted(name for names in told["groups"].values() for name in names) == sorted(told["knobs"])
    assert told["bounds"]["d_model"] == {"low": 8, "high": 512, "step": 8}
    assert told["bounds"]["learning_rate"]["step"] == 0
    assert set(told["choices"]["bias"]) == {"on", "off"}
    assert told["first"] == site.runs.shipped()[0].id
