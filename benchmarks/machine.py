"""The machine and versions of a benchmark, without which a time means nothing; and so many of its cores for a training."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import torch

from playground.runs.limits import machine_cores, machine_devices
from playground.runs.queue.parallel import Helpers, ParallelMap

PACKAGES = ("torch", "numpy", "gradio", "plotly", "playwright")


def machine() -> dict[str, object]:
    """Processor, cores this process may use, memory, device, versions, and how busy the machine was (mean of the last minute, in cores)."""
    return {
        "processor": _processor(),
        "cores": machine_cores(),
        "memory_gb": _memory_gb(),
        "device": _device(machine_devices()[0]),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES if find_spec(name)},
        "load_before": load(),
    }


def load() -> float | None:
    """How busy the machine is: the mean of the last minute, in cores."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


@contextmanager
def cores(count: int) -> Iterator[ParallelMap]:
    """Yields the map that works on the parts of a batch, on so many cores side by side as a run on a server does."""
    torch.set_num_threads(1)
    with Helpers(count - 1) as helpers:
        yield helpers.parallel_map(count)


def one_line(machine: dict) -> str:
    """The machine in a line for people."""
    versions = ", ".join(f"{name} {installed}" for name, installed in machine["versions"].items())
    busy = "" if machine["load_before"] is None else f" Load before: {machine['load_before']}."
    where = "" if machine["device"] == "cpu" else f" Trained on {machine['device']}."
    return f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}; {versions}.{where}{busy}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or sys.platform


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def _device(name: str) -> str:
    return torch.cuda.get_device_name(name) if name.startswith("cuda") else name

