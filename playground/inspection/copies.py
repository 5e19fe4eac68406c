"""A model of one's own to look into: hooks on it disturb nobody, its numbers are the original's."""

from __future__ import annotations

import copy

from torch import nn

from playground.model.shared_copy import shared_copy
from playground.model.transformer import Transformer


def shadow_copy(model: Transformer) -> Transformer:
    """A new tree of modules over the very same tensors, in the same mode. Put hooks on it; never write to its parameters."""
    return shared_copy(model, model.generator)


def trainable_copy(model: Transformer) -> Transformer:
    """The same, but its parameters are new ones over the same numbers, and take gradients: those of the original get none."""
    fresh = {id(parameter): nn.Parameter(parameter.detach()) for parameter in model.parameters()}
    return copy.deepcopy(model, fresh | {id(thing): thing for thing in (*model.buffers(), model.generator)})
