"""A server without threads: whoever simulates gives the turns, moves the clock, and decides what the disk and the processes do."""

from __future__ import annotations

import atexit
import errno
import os
import pathlib
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from playground.runs.disk import files
from playground.runs.engines import Lost
from playground.runs.engines.choice import Engines
from playground.runs.engines.host import Host
from playground.runs.limits import Limits
from playground.runs.registry import Runs
from playground.runs.runtime import Runtime, SteadyClock
from tests.runs.engines.links import Near
from tests.runs.tiny import CORPORA

LOOPS = ("worker", "watchdog", "housekeeper", "cut-off")  # threads whose work the simulation does by hand
TICK_S = 0.001  # that pass at each look at the clock
STEP_S = 60.0  # that a step may take
HANG_S = 86_400.0
LIMITS = Limits(cores=2, turn_seconds=0.02, save_seconds=0.1, step_seconds=STEP_S, replay_bytes=4_000_000, idle_seconds=600.0)


class Killed(BaseException):
    """The process ends here: nothing that comes after it reaches the disk."""


class Clock:
    """Two clocks: one that only goes forward, and the date, which a person may set."""

    def __init__(self) -> None:
        self.passed, self.offset = 0.0, time.time()

    def monotonic(self) -> float:
        self.passed += TICK_S
        return self.passed

    def wall(self) -> float:
        return self.passed + self.offset


class Disk:
    """Stands between the files module and the disk: counts operations, and refuses, tears or kills at one of them."""

    def __init__(self) -> None:
        self.dead = False
        self.kill_in: int | None = None  # operations until the process ends
        self.refusals = 0  # writes that still fail for want of space
        self._real = files._write_new, Path.rename

    def __enter__(self) -> Disk:
        real_write, real_rename = self._real

        def write(path: Path, data: bytes) -> None:
            try:
                self._operate(writes=True)
            except Killed:
                if not path.exists():
                    path.write_bytes(data[: len(data) // 2])  # torn
                raise
            real_write(path, data)

        def rename(path: Path, target: Path) -> Path:
            self._operate()
            return real_rename(path, target)

        files._write_new, pathlib.Path.rename = write, rename
        files.os = SimpleNamespace(**vars(os) | {"replace": self._guarded(os.replace), "link": self._guarded(os.link)})
        files.shutil = SimpleNamespace(**vars(shutil) | {"rmtree": self._guarded(shutil.rmtree)})
        return self

    def __exit__(self, *problem: object) -> None:
        files._write_new, pathlib.Path.rename = self._real
        files.os, files.shutil = os, shutil

    def heal(self) -> None:
        self.dead, self.kill_in, self.refusals = False, None, 0

    def _guarded(self, call: Callable) -> Callable:
        def guarded(*arguments: Any, **options: Any) -> Any:
            self._operate()
            return call(*arguments, **options)

        return guarded

    def _operate(self, writes: bool = False) -> None:
        if self.kill_in is not None:
            self.kill_in -= 1
            self.dead = self.dead or self.kill_in < 0
        if self.dead:
            raise Killed
        if writes and self.refusals:
            self.refusals -= 1
            raise OSError(errno.ENOSPC, "No space left on device")


class Process(Near):
    """A process beside the page's that trains; the simulation has it die, or hang in a step."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.host = world, Host(world.runtime)
        self.dies_in = self.hangs_in = None  # questions

    def ask(self, *question: Any) -> Any:
        if self._is_due("hangs_in"):
            host = self.host
            self.world.hang()
            if self.host is not host:  # it was given up
                raise Lost(guilty=True)
        if self._is_due("dies_in"):
            self.close()
            raise Lost(guilty=False)
        return super().ask(*question)

    def _is_due(self, name: str) -> bool:
        left = getattr(self, name)
        setattr(self, name, None if left is None or left <= 0 else left - 1)
        return left == 0

    def close(self) -> None:
        self.host = Host(self.world.runtime)


class World:
    """One server over a folder, which may be killed and started again."""

    def __init__(self, folder: Path, disk: Disk, processes: int = 0, limits: Limits = LIMITS) -> None:
        """With no `processes`, runs are trained in the page's."""
        self.folder, self.disk, self._count, self.limits = folder, disk, processes, limits
        self.clock = Clock()
        self.start()

    def start(self) -> None:
        self._left: list[Callable[[], object]] = []  # work of threads that end by themselves
        self.runtime = Runtime(self.clock.monotonic, SteadyClock(self.clock.wall, self.clock.monotonic), self._spawn, self._wait)
        self.processes = [Process(self) for _ in range(self._count)]
        self.runs = Runs(self.folder, None, self.limits, self.runtime, self._make_engines)
        self.runs.corpora._caches = CORPORA._caches  # a corpus never changes

    def end(self, killed: bool) -> None:
        """The server goes away, in order or not."""
        atexit.unregister(self.runs.close)
        if killed:
            self.runs.store.close()  # the system lets go of the lock
        else:
            self.runs.close()

    @property
    def is_busy(self) -> bool:
        """Whether a thread that ends by itself has something left to do."""
        return bool(self._left)

    def turn(self) -> bool:
        return self.scheduler.give_turn(blocking=False)

    def until(self, condition: Callable[[], object], turns: int = 1_000) -> None:
        """Turns, and a round now and then and where no turn is due, until the condition holds."""
        for number in range(turns):
            if condition():
                return
            if not self.turn() or number % 10 == 9:
                self.round()
        raise AssertionError("this never came true")

    def restart(self, killed: bool = True, **limits: Any) -> Runs:
        self.end(killed)
        self.limits = replace(self.limits, **limits)
        self.start()
        return self.runs

    def round(self) -> None:
        self.runs._workers._watchdog.check_turns()
        left, self._left = self._left, []
        for work in left:
            work()
        self.runs._cut_off.try_again()
        self.runs._housekeeper.run_round()

    def hang(self) -> None:
        """A step goes on for a day, and the watchdog looks."""
        self.clock.passed += HANG_S
        self.runs._workers._watchdog.check_turns()

    @property
    def scheduler(self) -> Any:
        return self.runs._workers._schedulers["cpu"]

    def _make_engines(self, corpora: Any, limits: Limits, grown: Callable, runtime: Runtime) -> Engines:
        engines = Engines(corpora, replace(limits, engine="here"), grown, runtime)
        engines.ready = list(self.processes)
        return engines

    def _spawn(self, work: Callable[[], object], name: str) -> Any:
        is_loop = name.startswith(LOOPS)
        if not is_loop:
            self._left.append(work)
        return SimpleNamespace(is_alive=lambda: is_loop, join=lambda timeout=None: None, name=name, ident=-1)

    def _wait(self, event: threading.Event, seconds: float) -> bool:
        until = self.clock.monotonic() + seconds
        while not event.is_set() and self.clock.monotonic() < until:
            if not self.turn():
                self.round()
            if self.disk.dead:
                raise Killed
        return event.is_set()
