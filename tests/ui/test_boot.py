"""What a visitor begins with, and what is said of a run: its first example, where it comes from, and what it can read."""

from __future__ import annotations

import time

import pytest

from playground.ui import boot
from playground.ui.command import TOKEN
from tests.ui.test_actions import TINY, wait

NEWCOMER, ME, OTHER = "c" * 32, "d" * 32, "e" * 32


def card(site, run, **parameters):
    return site.get(f"run/{run.id}", **parameters).json()


def begins_with(site, token):
    return site.http.get("/gradio_api/playground/boot", headers={TOKEN: token}).json()["last"]


def test_a_newcomer_has_no_run_to_go_on_with(site):
    for token in (NEWCOMER, ""):
        assert begins_with(site, token) == ""


def test_whoever_comes_back_goes_on_with_their_own_last_run(site):
    first, second = (site.train(ME, {**TINY, "steps": 2}) for _ in range(2))
    for run in (first, second):
        wait(run, "done")
    site.runs.seen(second.id)
    assert begins_with(site, ME) == second.id
    time.sleep(0.01)
    site.runs.seen(first.id)
    assert begins_with(site, ME) == first.id
    busy = site.train(ME, {**TINY, "steps": 50_000})
    site.runs.seen(first.id)
    assert begins_with(site, ME) == busy.id  # one that trains comes first
    for run in (busy, first):
        site.runs.delete(run.id, ME)
    assert begins_with(site, ME) == second.id
    assert begins_with(site, OTHER) == ""
    site.runs.delete(second.id, ME)


def test_a_run_has_one_first_example_from_the_start(site, monkeypatch):
    """Before its replay is planned, while it trains, when it is over, and in a fork and a copy of it."""
    run = site.train(ME, {**TINY, "steps": 40})
    plan = run.replay.plan
    run.replay.plan = type(plan)()  # as before it was prepared
    early = card(site, run)["examples"]
    run.replay.plan = plan if plan.steps else run.replay.plan
    wait(run, "done")
    assert run.replay.plan.probes or not plan.steps
    late = card(site, run)["examples"]
    assert early[0] == late[0]
    copies = [site.runs.get(site.act(OTHER, action, run.id, step=0)["run"]) for action in ("copy", "fork")]
    for other in copies:
        assert card(site, other)["examples"][0] == late[0]
        site.runs.delete(other.id, OTHER)
    site.runs.delete(run.id, ME)


def test_a_fork_says_where_it_comes_from_also_when_that_is_gone(site):
    source = site.train(ME, {**TINY, "steps": 40})
    wait(source, "done")
    fork = site.runs.get(site.act(OTHER, "fork", source.id, step=20)["run"])
    at = fork.first_step
    assert at > 0
    assert card(site, fork)["parent"] == {"run": source.id, "step": at, "name": source.name, "until": at}
    site.runs.rename(source.id, ME, "my first")
    assert card(site, fork)["parent"]["name"] == "my first"
    site.runs.delete(source.id, ME)
    assert card(site, fork)["parent"] == {"run": source.id, "step": at, "name": "", "until": at}
    site.runs.delete(fork.id, OTHER)
    assert card(site, site.runs.get("reverse"))["parent"] is None


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


def test_it_is_known_before_the_run_is_prepared(site, monkeypatch):
    run = site.train(ME, {**TINY, "steps": 2})
    wait(run, "done")
    monkeypatch.setitem(run.parts, "tokenizers", None)
    for text, lost in (("abc", []), ("ABC", ["text"])):
        assert boot.unreadable(site.reader, run, {"text": text}) == lost
    monkeypatch.undo()
    site.runs.delete(run.id, ME)
