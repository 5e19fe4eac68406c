"""Copies: one model, several trees of modules, so that hooks on one don't affect the others."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from playground.model.transformer import Transformer


def shared_copy(model: Transformer, generator: torch.Generator, fresh: Mapping[int, Tensor] | None = None) -> Transformer:
    """Copies the modules over the very same tensors, in the same mode; the copy's dropout draws from `generator`. Hooks on it and changes
    of its modules don't affect the original. `fresh` are tensors in the place of others, by their `id`."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, shared | {id(model.generator): generator} | dict(fresh or {}))


def shadow_copy(model: Transformer) -> Transformer:
    """Copies the modules over the very same tensors, in the same mode. Put hooks on it; never write to its parameters."""
    return shared_copy(model, model.generator)


def trainable_copy(model: Transformer) -> Transformer:
    """Copies the modules with new parameters over the same numbers, which have gradients of their own."""
    fresh = {id(parameter): nn.Parameter(parameter.detach()) for parameter in model.parameters()}
    return copy.deepcopy(model, fresh | {id(shared): shared for shared in (*model.buffers(), model.generator)})
