"""Before the first Train: the first training step in a process imports and sets up for a second, and nobody should wait for that."""

from __future__ import annotations

import threading

import torch

from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.training.loop import Training

_once = threading.Lock()
_done = False


def warm_up() -> None:
    """Trains the smallest model for two steps, once in a process, in the thread that calls."""
    global _done
    torch.set_num_threads(1)
    with _once:
        if not _done:
            small = Experiment().with_(d_model=8, d_ff=8, n_heads=1, encoder_layers=1, decoder_layers=1, pairs=100, heldout=10, steps=2)
            training = Training(small, build_corpus(small.data))
            for _ in training.steps():
                training.validate()
            _done = True
