"""model.py: one file with the same logits, to the bit, whatever was chosen or changed in the model."""

import re
import sys
import types

import pytest
import torch

from playground.choices import ENCODINGS, VARIANTS
from playground.config import ModelConfig
from playground.export.sources import Part, Piece, join, model_file
from playground.variants import build

SMALL = {"d_model": 16, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 8}


def executed(source: str) -> types.ModuleType:
    module = types.ModuleType("model_of_a_run")
    sys.modules[module.__name__] = module  # dataclasses look there
    exec(compile(source, "model.py", "exec"), module.__dict__)
    return module


def drawn(parameters):
    """Every parameter with numbers of its own, positive so that a variance is one."""
    generator = torch.Generator().manual_seed(1)
    return {name: torch.rand(p.shape, generator=generator) for name, p in parameters}


GATE = (
    {"norm": "pre", "activation": "gelu", "bias": False, "d_k": 2, "share_embeddings": "output"},
    {"norm": "none", "activation": "none", "attention_scale": 1.0, "share_embeddings": "all", "positions": "rotary"},
    {"memory_mode": "mean", "attention_scale": 0.0, "embedding_scale": False, "residual": False},
    {"memory_mode": "cut"}, {"variant": "additive"},
)  # fmt: skip
NIGHT = (*({"variant": name} for name in VARIANTS if name != "additive"), *({"positions": name} for name in ENCODINGS))


@pytest.mark.parametrize("knobs", [*GATE, *(pytest.param(variant, marks=pytest.mark.night) for variant in NIGHT)], ids=str)
def test_the_logits_are_the_same_to_the_bit(knobs):
    ours = build(ModelConfig(**SMALL, **knobs), 9, 9).eval()
    source = model_file(ModelConfig(**SMALL, **knobs))
    assert not re.search(r"^\s*(from|import) playground", source, re.MULTILINE)
    alone = executed(source)
    theirs = alone.build(alone.ModelConfig(**SMALL, **knobs), 9, 9).eval()
    values = drawn(ours.named_parameters())
    src, tgt_in = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]]), torch.tensor([[1, 4, 5], [1, 8, 0]])
    for model in (ours, theirs):
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(values[name])
        model.generator.manual_seed(3)
    with torch.inference_mode():
        for output, other in zip(ours(src, tgt_in), theirs(src, tgt_in), strict=True):
            pairs = zip(output, other, strict=True) if isinstance(output, tuple) else [(output, other)]
            assert all(ours is theirs or torch.equal(ours, theirs) for ours, theirs in pairs)  # a GRU has no weights: None


def test_a_file_that_would_not_run_is_an_error():
    with pytest.raises(ValueError, match=r"playground\.config is neither here nor elsewhere"):
        join("About.", [Piece("playground.model.masks")])
    with pytest.raises(ValueError, match="PAD"):  # two definitions of one name
        join("About.", [Piece("playground.config", ("PAD",)), Part("", (), "PAD = 1")])
