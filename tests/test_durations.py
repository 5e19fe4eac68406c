"""Which test grew, told of numbers that are made up."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tests import durations
from tests.durations import SLOWEST, Durations, Grown, grown, over_budget, slowest, slowness

KEPT = {f"tests/test_this.py::test_{n}": 10.0 - n for n in range(8)}  # 10 s to 3 s
A, B, *_, LAST = KEPT


def times(factor: float, **others: float) -> dict[str, float]:
    """Every kept test after so many times its seconds, and others."""
    return {test: factor * took for test, took in KEPT.items()} | others


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 3.7])
def test_a_machine_of_another_speed_makes_no_test_grow(factor):
    assert slowness(KEPT, times(factor)) == pytest.approx(factor)
    assert grown(KEPT, times(factor, quick=0.1 * factor)) == []


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_test_that_grew_is_named_whatever_the_speed(factor):
    now = times(factor) | {B: 4 * factor * KEPT[B], LAST: 2.9 * factor * KEPT[LAST]}
    assert grown(KEPT, now) == [Grown(B, 4 * factor * KEPT[B], pytest.approx(factor * KEPT[B]))]


def test_the_one_that_grew_most_comes_first():
    assert [one.test for one in grown(KEPT, times(1.0) | {B: 50.0, A: 60.0})] == [A, B]


def test_a_test_that_is_not_in_the_list_took_no_longer_than_the_last_one_there():
    """And is allowed as much, for it may well have taken that."""
    assert grown(KEPT, times(1.0, new=3 * KEPT[LAST] + 0.9)) == []
    assert [one.test for one in grown(KEPT, times(1.0, new=3 * KEPT[LAST] + 1.1))] == ["new"]


def test_a_second_more_is_nothing():
    kept = dict.fromkeys(KEPT, 0.1)
    assert grown(kept, kept | {A: 1.2}) == []
    assert [one.test for one in grown(kept, kept | {A: 1.4})] == [A]


def test_of_half_the_list_no_speed_is_told():
    assert slowness(KEPT, dict.fromkeys(list(KEPT)[:4], 20.0)) == 1.0
    assert slowness({}, {"new": 5.0}) == 1.0


def test_the_budget_is_of_the_machine_that_wrote_the_list():
    assert not over_budget(KEPT, times(2.0), took=399.0, budget=200.0)
    assert over_budget(KEPT, times(2.0), took=401.0, budget=200.0)
    assert over_budget(KEPT, times(1.0), took=201.0, budget=200.0)


def test_only_the_slowest_are_kept():
    found = slowest({f"test_{n}": n / 7 for n in range(100)})
    assert len(found) == SLOWEST
    assert list(found) == [f"test_{n}" for n in range(99, 99 - SLOWEST, -1)]
    assert found["test_99"] == 14.14


class Run:
    """A run of all tests: as much of pytest as is asked, and a list of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, file, chosen: str = "not slow", renew: bool = False) -> None:
        monkeypatch.setattr(durations, "KEPT", file)
        self.watch = Durations(SimpleNamespace(option=SimpleNamespace(markexpr=chosen, renew_durations=renew)))
        self.session, self.lines = SimpleNamespace(exitstatus=0), []

    def end(self, seconds: dict[str, float], exitstatus: int = 0) -> str:
        """What is said at the end, after tests of these seconds."""
        for test, took in seconds.items():
            for when, duration in (("setup", 1e3), ("call", took), ("teardown", 1e3)):
                self.watch.pytest_runtest_logreport(SimpleNamespace(when=when, nodeid=test, duration=duration))
        self.watch.pytest_sessionfinish(self.session, exitstatus)
        terminal = SimpleNamespace(section=lambda title: None, write_line=self.lines.append)
        self.watch.pytest_terminal_summary(terminal)
        return "\n".join(self.lines)


def test_a_list_is_written_and_compared_with(monkeypatch, tmp_path):
    file = tmp_path / "durations.json"
    assert Run(monkeypatch, file, renew=True).end(KEPT) == ""
    assert Run(monkeypatch, file, "slow", renew=True).end({"long": 100.0}) == ""
    assert json.loads(file.read_text()) == {"not slow": {"seconds": 0, "tests": KEPT}, "slow": {"seconds": 0, "tests": {"long": 100.0}}}
    assert Run(monkeypatch, file).end(times(2.0)) == ""
    assert Run(monkeypatch, file).end(times(2.0) | {A: 80.0}) == f"{A} took 80.0 s; about 20.0 s are usual here."
    assert Run(monkeypatch, file, "trust").end({A: 80.0}) == ""


def test_a_run_that_failed_writes_no_list(monkeypatch, tmp_path):
    assert "a test failed" in Run(monkeypatch, tmp_path / "durations.json", renew=True).end(KEPT, exitstatus=1)
    assert not (tmp_path / "durations.json").exists()


@pytest.mark.parametrize(("budget", "fails"), [("0", True), ("1e9", False), (None, False)])
def test_a_run_over_its_budget_fails_where_there_is_one(monkeypatch, tmp_path, budget, fails):
    monkeypatch.delenv("TEST_BUDGET_S", raising=False)
    if budget:
        monkeypatch.setenv("TEST_BUDGET_S", budget)
    Run(monkeypatch, tmp_path / "durations.json", renew=True).end(KEPT)
    run = Run(monkeypatch, tmp_path / "durations.json")
    assert ("the budget of 0 s" in run.end(times(2.0))) == fails
    assert bool(run.session.exitstatus) == fails
