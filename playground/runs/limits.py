"""Limits of this server on runs, memory, disk and time, from environment variables; and rate limits by name, such as an address, a visitor
or a room's guessed code."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from pathlib import Path

import torch

from playground.config import Refusal
from playground.runs.memory import LRU

GB = 2**30
NEVER, UNLIMITED_NAMES = "never", ("unseen_days", "shared_days")  # a word accepted instead of a number, and by which limits
OTHER_NUMBERS = (  # without an environment variable of the same name
    "cores", "memory", "idle_seconds", "save_seconds", "turn_seconds", "replay_bytes", "bytes_loaded",
)  # fmt: skip
ENGINES = ("here", "processes", "auto")  # in the page's process, in separate processes, or "auto": separate if there are several cores


@dataclass(frozen=True)
class Limits:
    """All settings that a test or a server may override."""

    devices: tuple[str, ...] = ("cpu",)
    cluster: str = ""  # address of a Ray cluster that trains instead of this machine
    engine: str = "here"  # one of ENGINES; a server's default is "auto"
    cores: int = 2
    memory: int = 4 * GB  # bytes for all trainings and caches together, see memory.py
    runs_each: int = 6  # unfinished, per owner: an experiment has up to five
    runs_address: int = 90  # unfinished, of all owners last seen at one address, such as a school's
    runs_unfinished: int = 150
    runs_elsewhere: int = 30  # of those, reserved for other addresses than a class's
    runs_kept: int = 500
    bytes_kept: int = 4 * GB
    bytes_each: int = 2 * GB  # of one owner's runs
    unseen_days: float = 365.0  # unviewed runs expire then: a school year, so that a course finds its last one
    shared_days: float = 90.0  # protection of a run opened by others: a term and its holidays
    recent_hours: float = 1.0  # protection of any run after a view: a lesson
    idle_seconds: float = 600.0  # an unfinished run without a view for this long is stopped
    save_seconds: float = 15.0  # of training between two saves
    turn_seconds: float = 0.1
    step_seconds: float = 120.0  # timeout of a step, unless the run's own usually take longer, see queue/workers.py
    replay_bytes: int = 24_000_000
    bytes_loaded: int = GB // 16  # replays and weights of resting runs held in memory; they are on the disk
    # Rate limits per visitor and per address: sixty students at an address are no crowd.
    requests_each: int = 1_200  # per minute
    requests_address: int = 7_200
    streams_each: int = 12  # open at a time
    streams_address: int = 360
    uploads_address: int = 600  # files per hour
    upload_bytes_address: int = 2 * GB  # per hour
    upload_bytes: int = GB // 2  # on the disk: the oldest are evicted
    calls_address: int = 60  # in the queue at a time
    body_bytes_address: int = 40_000_000  # of request bodies being received or answered
    body_bytes: int = 200_000_000
    connections: int = 800
    connections_address: int = 400  # a browser has six at most: sixty students at one address fit
    head_seconds: float = 10.0  # timeout of a request's headers
    request_seconds: float = 20.0  # timeout of a whole request; longer for a long one, see ui/network.py
    unread_seconds: float = 30.0  # timeout of a client that doesn't read its response

    @classmethod
    def from_environment(cls) -> Limits:
        """Reads PLAYGROUND_ and DEVICE, ENGINE, CORES, MEMORY, IDLE_MINUTES or a name of COUNTS in capitals, and RAY_ADDRESS; otherwise the
        machine's values, or the defaults here."""
        return cls(
            devices=machine_devices(),
            cluster=os.environ.get("RAY_ADDRESS", ""),
            engine=engine if (engine := os.environ.get("PLAYGROUND_ENGINE")) in ENGINES else "auto",
            cores=int(_number("CORES", machine_cores())),
            memory=int(_number("MEMORY", 0.7 * free_memory())),
            idle_seconds=60 * _number("IDLE_MINUTES", cls.idle_seconds / 60),
            **{name: type(getattr(cls, name))(_number(name.upper(), getattr(cls, name))) for name in COUNTS},
        )

    @property
    def idle_minutes(self) -> str:
        return f"{self.idle_seconds / 60:g}"

    def idle_message(self, step: int) -> Refusal:
        """Returns the message of a run stopped at this step because it was idle."""
        return Refusal("runs.nobody_looked", minutes=self.idle_minutes, step=step)


# Limits with an environment variable of the same name.
COUNTS = tuple(limit.name for limit in fields(Limits) if isinstance(limit.default, int | float) and limit.name not in OTHER_NUMBERS)


def machine_devices() -> tuple[str, ...]:
    """Returns every GPU, otherwise Apple's, otherwise the CPU. PLAYGROUND_DEVICE overrides it."""
    if os.environ.get("PLAYGROUND_DEVICE"):
        return (os.environ["PLAYGROUND_DEVICE"],)
    if torch.cuda.is_available():
        return tuple(f"cuda:{n}" for n in range(torch.cuda.device_count()))
    return ("mps",) if torch.backends.mps.is_available() else ("cpu",)


def machine_cores() -> int:
    """Returns the cores available to this process: CPU affinity, or less by the container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, period, *_ = [*_read("/sys/fs/cgroup/cpu.max").split(), "", ""]
    if quota.isdigit() and period.isdigit():
        cores = min(cores, max(1, int(quota) // int(period)))
    return max(1, cores)


def free_memory() -> int:
    """Returns the bytes still available to this process: the machine's, or less by the container's limit. 4 GB when unknown."""
    free = [int(line.split()[1]) * 1024 for line in _read("/proc/meminfo").splitlines() if line.startswith("MemAvailable:")]
    limit, used = _read("/sys/fs/cgroup/memory.max").strip(), _read("/sys/fs/cgroup/memory.current").strip()
    if limit.isdigit() and used.isdigit():
        free.append(max(int(limit) - int(used), 0))
    return min(free, default=4 * GB)


def _number(name: str, default: float) -> float:
    """Reads an environment variable as a positive number; returns the default when it is missing or invalid."""
    text = os.environ.get(f"PLAYGROUND_{name}", "")
    if text.lower() == NEVER and name.lower() in UNLIMITED_NAMES:
        return math.inf
    try:
        value = float(text)
    except ValueError:
        return default
    return value if 0 < value < math.inf else default


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


MAX_NAMES = 10_000  # the most recently used names kept


class RateLimit:
    """A token bucket per name: holds `most` tokens and refills in `seconds`. Not thread-safe: for the event loop, or under a lock."""

    def __init__(self, most: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._rate, self._clock = most, most / seconds, clock
        self._tokens = LRU(most=MAX_NAMES)  # name -> (tokens left, time of the last request)

    def take(self, name: Hashable, cost: float = 1.0) -> float:
        """Takes `cost` tokens. Returns 0, or the seconds until there are enough, having taken none."""
        seconds, tokens = self.wait(name, cost), self._count(name)
        self._tokens.put(name, (tokens if seconds else tokens - cost, self._clock()))
        return seconds

    def wait(self, name: Hashable, cost: float = 1.0) -> float:
        """Returns the seconds until there are `cost` tokens, 0 if there are, and takes none."""
        return max(0.0, cost - self._count(name)) / self._rate

    def _count(self, name: Hashable) -> float:
        tokens, updated = self._tokens.get(name) or (self._capacity, self._clock())
        return min(self._capacity, tokens + (self._clock() - updated) * self._rate)
