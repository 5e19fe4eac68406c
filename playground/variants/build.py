"""Building a model: the paper's, then its variant."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from playground.choices import VARIANTS
from playground.config import ModelConfig
from playground.knobs import declared
from playground.model.transformer import Transformer
from playground.variants.alternatives import ALTERNATIVES
from playground.variants.bugs import BUGS
from playground.variants.recurrent import RECURRENT
from playground.variants.variant import Variant


def joined(made: Mapping[str, Mapping[str, Variant]]) -> dict[str, Variant]:
    """All variants in the order of their declarations, from those made of each kind. Raises ValueError for one that is declared and not
    made, or made and not declared as this kind."""
    wanted = {(alteration.kind, name) for name, alteration in VARIANTS.items()}
    found = {(kind, name): variant for kind, variants in made.items() for name, variant in variants.items()}
    if wanted != found.keys():
        missing, extra = sorted(wanted - found.keys()), sorted(found.keys() - wanted)
        raise ValueError(f"declared and not made: {missing}; made and not declared: {extra}")
    return {name: found[alteration.kind, name] for name, alteration in VARIANTS.items()}


ALL = joined({"paper": {"none": Variant()}, "bug": BUGS, "alternative": ALTERNATIVES | RECURRENT})


def variant_of(config: ModelConfig) -> Variant:
    """How the variant of a model is made. Raises Refusal for an unknown one."""
    return declared("variant", ALL, config.variant)


def build(config: ModelConfig, src_vocab: int, tgt_vocab: int, generator: torch.Generator | None = None) -> Transformer:
    """A model as its configuration says, variant included. The parameters it shares with the untwisted one are the same, number by number.
    Raises ValueError and Refusal, as Transformer does."""
    model = Transformer(config, src_vocab, tgt_vocab, generator)
    with torch.no_grad():
        variant_of(config).change(model)
    return model
