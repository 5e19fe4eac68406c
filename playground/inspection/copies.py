"""Private copies of a model, for hooks: they share the original's numbers and don't affect it."""

from __future__ import annotations

import copy

from torch import nn

from playground.model.shared_copy import shared_copy
from playground.model.transformer import Transformer


def shadow_copy(model: Transformer) -> Transformer:
    """Copies the modules over the very same tensors, in the same mode. Put hooks on it; never write to its parameters."""
    return shared_copy(model, model.generator)


def trainable_copy(model: Transformer) -> Transformer:
    """Copies the modules with new parameters over the same numbers, which have gradients of their own."""
    fresh = {id(parameter): nn.Parameter(parameter.detach()) for parameter in model.parameters()}
    return copy.deepcopy(model, fresh | {id(shared): shared for shared in (*model.buffers(), model.generator)})
