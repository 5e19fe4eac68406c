"""Building a model: the paper's, then its twist."""

from __future__ import annotations

import torch

from playground.config import ModelConfig
from playground.model.transformer import Transformer
from playground.variants.alternatives import VARIANTS
from playground.variants.bugs import BUGS
from playground.variants.variant import Twist

TWISTS: dict[str, Twist] = {"none": Twist(), **BUGS, **VARIANTS}


def twist_of(config: ModelConfig) -> Twist:
    return TWISTS[config.twist]


def build(config: ModelConfig, src_vocab: int, tgt_vocab: int, generator: torch.Generator | None = None) -> Transformer:
    """A model as its configuration says, twist included. The parameters it shares with the untwisted one are the same, number by number.
    Raises ValueError, as Transformer does."""
    model = Transformer(config, src_vocab, tgt_vocab, generator)
    with torch.no_grad():
        twist_of(config).change(model)
    return model
