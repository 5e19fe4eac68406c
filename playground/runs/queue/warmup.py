"""Before the first Train: the first training step in a process imports and sets up for a second, and nobody should wait for that."""

from __future__ import annotations

import threading

import torch

from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.runs.machine_speed import TINY, measured
from playground.training.loop import Training

_once = threading.Lock()
_done = False


def warm_up() -> None:
    """Trains and validates the smallest model, once in a process, in the thread that calls."""
    global _done
    torch.set_num_threads(1)
    with _once:
        if not _done:
            small = Experiment().with_(**TINY, steps=2)
            training = Training(small, build_corpus(small.data))
            for _ in training.steps():
                training.validate()
            _done = True


def get_ready() -> None:
    """The same, and measures how fast this machine is: for a server, which tells visitors how long a training will take."""
    warm_up()
    measured()
