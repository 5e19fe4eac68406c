"""What this server allows: how many runs, how much memory and disk, for how long. All from the environment."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import torch

from playground.config import Refusal

GB = 2**30
# The limits that the environment may set by their own names.
COUNTS = (
    *("runs_each", "runs_address", "runs_unfinished", "runs_elsewhere", "runs_kept", "bytes_kept", "bytes_each"),
    *("unseen_days", "shared_days", "recent_hours", "requests_each", "requests_address"),
    *("streams_each", "streams_address", "uploads_address", "upload_bytes_address", "upload_bytes", "calls_address"),
    *("connections", "connections_address", "head_seconds", "request_seconds", "unread_seconds"),
    *("body_bytes_address", "body_bytes", "step_seconds"),
)

NEVER, LASTING = "never", ("unseen_days", "shared_days")  # what those may be instead of a number
ENGINES = ("here", "processes", "auto")  # in the page's process, in processes beside it, or there where it has not the only core


@dataclass(frozen=True)
class Limits:
    """Everything a test or a server may want to be different."""

    devices: tuple[str, ...] = ("cpu",)
    cluster: str = ""  # the address of a Ray cluster that trains what this machine would
    engine: str = "here"  # where runs are trained, one of ENGINES; a server's is "auto" if nothing else is said
    cores: int = 2
    memory: int = 4 * GB  # bytes for all trainings together, and what is kept because it may be asked for, see memory.py
    runs_each: int = 6  # unfinished, per owner: an experiment has up to five
    runs_address: int = 90  # unfinished, of all owners who came last from the same address, such as a school's
    runs_unfinished: int = 150
    runs_elsewhere: int = 30  # of those, for other addresses than that of a class
    runs_kept: int = 500
    bytes_kept: int = 4 * GB
    bytes_each: int = 2 * GB  # of one owner's runs
    unseen_days: float = 365.0  # after which a run goes that nobody has looked at: a school year, so that a course finds its last one
    shared_days: float = 90.0  # for which one that others have opened makes no room: a term and its holidays
    recent_hours: float = 1.0  # for which none does that somebody has looked at: a lesson
    idle_seconds: float = 600.0  # an unfinished run at which nobody looks for so long is stopped
    save_seconds: float = 15.0  # of training between two saves
    turn_seconds: float = 0.1
    step_seconds: float = 120.0  # a step that takes longer, and longer than the run's own usually do, is given up, see queue/watchdog.py
    replay_bytes: int = 24_000_000
    bytes_loaded: int = GB // 16  # replays and weights of runs at rest held in memory; they are on the disk
    # What one visitor, and all at one address, may ask of the page: at an address sixty students are no crowd.
    requests_each: int = 1_200  # a minute
    requests_address: int = 7_200
    streams_each: int = 12  # open at a time
    streams_address: int = 360
    uploads_address: int = 600  # files an hour
    upload_bytes_address: int = 2 * GB  # an hour
    upload_bytes: int = GB // 2  # that lie on the disk: the oldest give way
    calls_address: int = 60  # in the queue at a time
    body_bytes_address: int = 40_000_000  # of requests that are still coming or being answered
    body_bytes: int = 200_000_000
    connections: int = 800
    connections_address: int = 400  # a browser has six at most: sixty students at one address fit
    head_seconds: float = 10.0  # until the head of a request has come whole
    request_seconds: float = 20.0  # until a request has come whole; a long one has more, see ui/connections.py
    unread_seconds: float = 30.0  # that an answer waits for a client who doesn't read it

    @classmethod
    def from_environment(cls) -> Limits:
        """PLAYGROUND_ and DEVICE, ENGINE, CORES, MEMORY, IDLE_MINUTES or the name of one of COUNTS in capitals, and RAY_ADDRESS; else the
        machine's, or as here."""
        return cls(
            devices=machine_devices(),
            cluster=os.environ.get("RAY_ADDRESS", ""),
            engine=wanted if (wanted := os.environ.get("PLAYGROUND_ENGINE")) in ENGINES else "auto",
            cores=int(_number("CORES", machine_cores())),
            memory=int(_number("MEMORY", 0.7 * free_memory())),
            idle_seconds=60 * _number("IDLE_MINUTES", cls.idle_seconds / 60),
            **{name: type(getattr(cls, name))(_number(name.upper(), getattr(cls, name))) for name in COUNTS},
        )

    @property
    def idle_minutes(self) -> str:
        return f"{self.idle_seconds / 60:g}"

    def nobody_looked(self, step: int) -> Refusal:
        """Why a run was stopped at this step."""
        return Refusal("runs.nobody_looked", minutes=self.idle_minutes, step=step)


def machine_devices() -> tuple[str, ...]:
    """Every GPU, else Apple's, else the CPU. PLAYGROUND_DEVICE names another choice."""
    if os.environ.get("PLAYGROUND_DEVICE"):
        return (os.environ["PLAYGROUND_DEVICE"],)
    if torch.cuda.is_available():
        return tuple(f"cuda:{n}" for n in range(torch.cuda.device_count()))
    return ("mps",) if torch.backends.mps.is_available() else ("cpu",)


def machine_cores() -> int:
    """The cores this process may use: what the operating system allows, less where the container's share is smaller."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, period, *_ = [*_read("/sys/fs/cgroup/cpu.max").split(), "", ""]
    if quota.isdigit() and period.isdigit():
        cores = min(cores, max(1, int(quota) // int(period)))
    return max(1, cores)


def free_memory() -> int:
    """Bytes this process may still take: the machine's, less where the container's share is smaller. 4 GB where nobody says."""
    free = [int(line.split()[1]) * 1024 for line in _read("/proc/meminfo").splitlines() if line.startswith("MemAvailable:")]
    most, used = _read("/sys/fs/cgroup/memory.max").strip(), _read("/sys/fs/cgroup/memory.current").strip()
    if most.isdigit() and used.isdigit():
        free.append(max(int(most) - int(used), 0))
    return min(free, default=4 * GB)


def _number(name: str, default: float) -> float:
    """An environment variable as a positive number; the default when it is missing or no such thing."""
    said = os.environ.get(f"PLAYGROUND_{name}", "")
    if said.lower() == NEVER and name.lower() in LASTING:
        return math.inf
    try:
        value = float(said)
    except ValueError:
        return default
    return value if 0 < value < math.inf else default


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
