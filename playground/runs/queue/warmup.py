"""Before the first Train: the first training step in a process imports and sets up for a second, and nobody should wait for that."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.runs.heap import keep_free_pages, leave_alone
from playground.runs.machine_speed import TINY, measured
from playground.training.loop import Training

log = logging.getLogger(__name__)
_once = threading.Lock()
_ready: set[str] = set()  # devices


def warm_up(device: str = "cpu") -> None:
    """Trains and validates the smallest model there, once in a process, in the thread that calls. A failure is logged and nothing more:
    only the first training takes longer then, or fails for the same reason and says so. The process keeps what steps free from now on,
    and what it has loaded."""
    torch.set_num_threads(1)
    keep_free_pages()
    with _once:
        if device not in _ready:
            try:
                _train_smallest(device)
                leave_alone()
                _ready.add(device)
            except Exception:
                log.exception("the warm-up failed")


def get_ready(device: str) -> None:
    """The same, and measures how fast this machine is: for a server, which tells visitors how long a training will take. In a thread that
    the interpreter waits for when it ends, unlike the one that calls: torch aborts an interpreter that tidies up around its work, and on a
    full machine this may still go on when the runs have been closed."""
    torch.set_num_threads(1)
    with ThreadPoolExecutor(1, "warm-up") as waited_for:
        waited_for.submit(lambda: (warm_up(device), measured(device))).result()


def smallest(device: str = "cpu") -> Training:
    """Of two steps, the smallest model."""
    small = Experiment().with_(**TINY, steps=2)
    return Training(small, build_corpus(small.data), device)


def _train_smallest(device: str) -> None:
    training = smallest(device)
    for _ in training.steps():
        training.validate()
