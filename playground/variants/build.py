"""Building a model: the paper's, then its variant."""

from __future__ import annotations

import torch

from playground.config import ModelConfig
from playground.model.transformer import Transformer
from playground.variants.alternatives import VARIANTS
from playground.variants.bugs import BUGS
from playground.variants.variant import Variant

ALL: dict[str, Variant] = {"none": Variant(), **BUGS, **VARIANTS}


def variant_of(config: ModelConfig) -> Variant:
    return ALL[config.variant]


def build(config: ModelConfig, src_vocab: int, tgt_vocab: int, generator: torch.Generator | None = None) -> Transformer:
    """A model as its configuration says, variant included. The parameters it shares with the untwisted one are the same, number by number.
    Raises ValueError, as Transformer does."""
    model = Transformer(config, src_vocab, tgt_vocab, generator)
    with torch.no_grad():
        variant_of(config).change(model)
    return model
