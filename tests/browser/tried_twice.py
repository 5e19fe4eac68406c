"""A list of the tests that failed once and were run again, at the end of each run of the tests: a pass that took two tries is seen."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    names = [report.nodeid for report in terminalreporter.stats.get("rerun", [])]
    if names:
        terminalreporter.write_line(f"tried twice: {len(names)}: {', '.join(names)}", yellow=True)
