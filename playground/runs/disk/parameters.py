"""Validates and reads the parameters of a model from a safetensors file."""

from __future__ import annotations

import math
from functools import lru_cache

import torch

from playground.config import ModelConfig, Refusal
from playground.model.costs import parameter_count
from playground.runs.disk import files
from playground.runs.disk.replay_file import Shape
from playground.runs.rounded import shapes_of
from playground.variants import build, variant_of


@lru_cache(maxsize=64)
def parameter_shapes(model: ModelConfig, src_vocab: int, tgt_vocab: int) -> dict[str, Shape]:
    """Returns name -> shape of every parameter of this model."""
    return shapes_of(dict(build(model, src_vocab, tgt_vocab).named_parameters()))


def read_parameters(data: bytes, model: ModelConfig, src_vocab: int, tgt_vocab: int, name: str) -> dict[str, torch.Tensor]:
    """Reads the parameters from the file `name`. Compares their number with the formula before building a model of that size. Raises
    Refusal("runs.not_a_run") for another model's."""
    shapes, _ = files.header(data, name)
    numbers = sum(math.prod(shape) for _, shape in shapes.values())
    if numbers != parameter_count(model, src_vocab, tgt_vocab) + variant_of(model).extra_parameters(model):
        raise Refusal("runs.not_a_run", what=name)
    expected = {name: ("F32", shape) for name, shape in parameter_shapes(model, src_vocab, tgt_vocab).items()}
    return files.read_safetensors(data, expected, name)
