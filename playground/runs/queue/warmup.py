"""Warms up a process: its first training step imports and initialises for a second, which no visitor should wait for."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.runs.cache import freeze_objects, keep_free_pages
from playground.runs.machine_speed import TINY, measure_speed
from playground.training.loop import Training

log = logging.getLogger(__name__)
_once = threading.Lock()
_ready: set[str] = set()  # devices


def warm_up(device: str = "cpu") -> None:
    """Trains and validates the smallest model on the device, once per process, in the calling thread. Errors are only logged: the first
    training is slower then, or reports the same error. From then on the process keeps freed pages, and what it has loaded is exempt from
    garbage collection."""
    torch.set_num_threads(1)
    keep_free_pages()
    with _once:
        if device not in _ready:
            try:
                _train_smallest(device)
                freeze_objects()
                _ready.add(device)
            except Exception:
                log.exception("the warm-up failed")


def warm_up_and_measure(device: str) -> None:
    """Warms up and measures the machine's speed, for the server's forecasts. Runs in a thread that the interpreter joins at exit, unlike
    the calling one: torch aborts an interpreter that is finalised during its work, and on a loaded machine this may outlast the runs."""
    torch.set_num_threads(1)
    with ThreadPoolExecutor(1, "warm-up") as waited_for:
        waited_for.submit(lambda: (warm_up(device), measure_speed(device))).result()


def build_smallest(device: str = "cpu") -> Training:
    """Builds a training of the smallest model with two steps."""
    small = Experiment().with_(**TINY, steps=2)
    return Training(small, build_corpus(small.data), device)


def _train_smallest(device: str) -> None:
    training = build_smallest(device)
    for _ in training.steps():
        training.validate()
