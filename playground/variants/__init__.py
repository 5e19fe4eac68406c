"""Model variants: deliberate changes outside the model's own code, which stays the paper's. The knob `variant` chooses one. Read in this
order:

variant (the base class) · bugs (common mistakes) · alternatives (other choices for parts of the paper's model) ·
recurrent (GRUs in the place of its layers) · decoder_only (one stack for source and target, which the knob `architecture` chooses) ·
build (here: the paper's model, then its change). All are declared in playground/choices.py.
"""

from collections.abc import Mapping

import torch

from playground.choices import ALTERATIONS
from playground.config import ModelConfig
from playground.knobs import declared
from playground.model.transformer import Transformer
from playground.variants.alternatives import ALTERNATIVES
from playground.variants.bugs import BUGS
from playground.variants.decoder_only import DECODER_ONLY
from playground.variants.recurrent import RECURRENT
from playground.variants.variant import Variant

__all__ = ["ALL", "Variant", "build", "variant_of"]


def merge(by_kind: Mapping[str, Mapping[str, Variant]]) -> dict[str, Variant]:
    """Merges the variants of each kind in the order of their declarations. Raises ValueError for one that is declared and not implemented,
    or implemented and not declared as this kind."""
    declarations = {(alteration.kind, name) for name, alteration in ALTERATIONS.items()}
    variants = {(kind, name): variant for kind, named in by_kind.items() for name, variant in named.items()}
    if declarations != variants.keys():
        missing, extra = sorted(declarations - variants.keys()), sorted(variants.keys() - declarations)
        raise ValueError(f"declared and not made: {missing}; made and not declared: {extra}")
    return {name: variants[alteration.kind, name] for name, alteration in ALTERATIONS.items()}


ALL = merge({"paper": {"none": Variant()}, "bug": BUGS, "alternative": ALTERNATIVES | RECURRENT, "architecture": DECODER_ONLY})


def variant_of(config: ModelConfig) -> Variant:
    """Returns the variant of a model, or its architecture. Raises Refusal for an unknown one, and for both at once."""
    return declared("variant", ALL, config.altered_by)


def build(config: ModelConfig, src_vocab: int, tgt_vocab: int, generator: torch.Generator | None = None) -> Transformer:
    """Builds the model of a configuration, variant included. The parameters shared with the paper's model are the same, number by number.
    Raises ValueError and Refusal, as Transformer does."""
    model = Transformer(config, src_vocab, tgt_vocab, generator)
    with torch.no_grad():
        variant_of(config).apply(model)
    return model
