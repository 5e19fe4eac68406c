"""Choices that nobody has made yet, declared for the length of a test as a newcomer would declare them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from playground import choices, config
from playground.choices import Encoding, UpdateRule
from playground.config import TrainingConfig
from playground.training import optimisers


def offer(patch: pytest.MonkeyPatch, name: str, choice: str) -> None:
    """Adds a choice to a knob, as importing config.py does with what is declared by then."""
    knob = replace(config.limits(name), choices=(*config.limits(name).choices, choice))
    made = config._knob(config.default(name), **vars(knob))
    patch.setitem(config.KNOBS, name, made)


def declare_encoding(patch: pytest.MonkeyPatch, name: str = "learned_rotary", encoding: Encoding | None = None) -> str:
    patch.setitem(choices.ENCODINGS, name, encoding or Encoding("learned", rotary=True))
    offer(patch, "positions", name)
    return name


def sgd(groups: list[dict], config: TrainingConfig, device: torch.device) -> torch.optim.Optimizer:
    return torch.optim.SGD(groups, lr=config.learning_rate, momentum=config.beta1, weight_decay=config.weight_decay)


def declare_optimiser(patch: pytest.MonkeyPatch) -> str:
    """SGD with momentum: one number is kept for each, twice multiplied and added to."""
    patch.setitem(choices.OPTIMISERS, "sgd", UpdateRule(moments=1, operations=4))
    patch.setitem(optimisers.MAKERS, "sgd", sgd)
    offer(patch, "optimiser", "sgd")
    return "sgd"
