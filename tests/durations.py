"""Which test grew: the twenty slowest of the default run and of the slow one are kept in durations.json with their seconds.

After a run of all tests it names those that take more than three times as long as they did, and a second. A machine may be slower than the
one that wrote the list: its speed is the median of what the kept tests take now over what they took then. A test that is not in the list
took no longer than the last one there. With TEST_BUDGET_S in the environment a run that takes longer, at the speed of the list's machine,
fails. `pytest --renew-durations`, and the same with `-m slow`, writes the list anew.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

KEPT = Path(__file__).with_name("durations.json")
SLOWEST = 20
TIMES, MARGIN_S = 3.0, 1.0


class Grown(NamedTuple):
    """A test that took `seconds`, but should not have taken more than about `expected` on this machine."""

    test: str
    seconds: float
    expected: float


def slowest(seconds: Mapping[str, float]) -> dict[str, float]:
    found = sorted(seconds.items(), key=lambda item: -item[1])[:SLOWEST]
    return {test: round(took, 2) for test, took in found}


def slowness(kept: Mapping[str, float], now: Mapping[str, float]) -> float:
    """How many times as long as then everything takes now: 2.0 on a machine half as fast. 1.0 when too few tests are left to tell."""
    ratios = [now[test] / took for test, took in kept.items() if test in now]
    return median(ratios) if len(ratios) > len(kept) / 2 else 1.0


def grown(kept: Mapping[str, float], now: Mapping[str, float]) -> list[Grown]:
    """The tests that grew, the worst first."""
    slow, others = slowness(kept, now), min(kept.values(), default=0.0)
    expected = {test: slow * kept.get(test, others) for test in now}
    found = [Grown(test, took, expected[test]) for test, took in now.items() if took > TIMES * expected[test] + MARGIN_S]
    return sorted(found, key=lambda one: one.expected - one.seconds)


def over_budget(kept: Mapping[str, float], now: Mapping[str, float], took: float, budget: float) -> bool:
    """Whether a run that took so many seconds took longer than it may, at the speed of the machine that wrote the list."""
    return took / slowness(kept, now) > budget


class Durations:
    """Watches a run of all tests. The list is kept by what was chosen: "not slow" or "slow"."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.started, self.seconds = config, time.monotonic(), {}
        self.said: list[str] = []
        lists = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        self.lists, self.chosen = lists, config.option.markexpr

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":  # what is prepared for many tests is nobody's own time
            self.seconds[report.nodeid] = report.duration

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        took = time.monotonic() - self.started
        if self.config.option.renew_durations:
            self._renew(took, exitstatus)
        elif self.chosen in self.lists:
            self._compare(session, took)

    def _renew(self, took: float, exitstatus: int) -> None:
        if exitstatus:
            self.said.append(f"{KEPT.name} is as it was: a test failed.")
            return
        self.lists[self.chosen] = {"seconds": round(took), "tests": slowest(self.seconds)}
        KEPT.write_text(json.dumps(self.lists, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    def _compare(self, session: pytest.Session, took: float) -> None:
        kept = self.lists[self.chosen]["tests"]
        for one in grown(kept, self.seconds):
            self.said.append(f"{one.test} took {one.seconds:.1f} s; about {one.expected:.1f} s are usual here.")
        budget = float(os.environ.get("TEST_BUDGET_S", "inf"))
        if over_budget(kept, self.seconds, took, budget):
            slow = slowness(kept, self.seconds)
            self.said.append(f"All took {took:.0f} s on a machine {slow:.2f} times as slow: more than the budget of {budget:.0f} s.")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.said:
            terminalreporter.section("tests that grew")
            for line in self.said:
                terminalreporter.write_line(line)
