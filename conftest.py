"""Fixtures of every test, in tests/ and beside the code: one torch thread, so that numbers don't depend on the machine, and the same
examples every time.

`pytest --hypothesis-profile=night` tries many more examples, and others every time.
"""

import gc
import logging
import os
from collections.abc import Iterator

import playground  # isort: skip # noqa: F401 (before numpy, whose threads it limits to one)
import pytest
import torch
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from playground.runs import machine_speed

torch.set_num_threads(1)
os.environ.setdefault("PLAYGROUND_ENGINE", "here")  # a server's processes take seconds to start; the stories' server has them
os.environ.setdefault("PLAYGROUND_NICENESS", "0")  # beside other tests they would hardly train
settings.register_profile("same", derandomize=True, database=None, deadline=None, max_examples=25)
settings.register_profile("night", deadline=None, max_examples=300)
settings.load_profile("same")

BROWSER = "tests/browser/"


class FileByFile(LoadFileScheduling):
    """Distributes whole files, so that module fixtures are built once. The first process begins with the stories, which share a browser and
    a server, the longest file, their last, first; the others begin with the rest. A process that is done takes from what is left."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        tells = node is self.nodes[0]
        queue = reversed(self.workqueue) if tells else self.workqueue
        first = next((file for file in queue if file.startswith(BROWSER) == tells), None)
        if first:
            self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FileByFile | None:
    return FileByFile(config, log) if config.option.dist == "loadfile" else None


def pytest_collection_finish() -> None:
    """Exempts imported and collected objects, which stay to the end, from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_power_cut() -> Iterator[None]:
    """Skips fsync: a test may kill a process, but not the machine. Gives the machine's speed, whose measurement takes two seconds; the
    stories' server measures it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_speed, "_measure_speed", lambda device: machine_speed.MachineSpeed(0.0018, 1.2e-11, 2.2e-9))
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(autouse=True)
def _same_dice() -> None:
    """Seeds draws without a generator of their own: no bound is missed once in a thousand runs."""
    torch.manual_seed(1)


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """Restores the log's handlers, which a test's server replaces."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names bytes after their argument: a packed file contains its time of packing, and all processes must agree on names."""
    return argname if isinstance(val, bytes) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lists the tests that failed once and were run again: a pass that took two tries is seen."""
    names = [report.nodeid for report in terminalreporter.stats.get("rerun", [])]
    if names:
        terminalreporter.write_line(f"tried twice: {len(names)}: {', '.join(names)}", yellow=True)
