"""Shared copies: one model, several trees of modules."""

from __future__ import annotations

import copy

import torch

from playground.model.transformer import Transformer


def shared_copy(model: Transformer, generator: torch.Generator) -> Transformer:
    """Copies the modules over the very same tensors, in the same mode; the copy's dropout draws from `generator`. Hooks on it and changes
    of its modules don't affect the original."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, shared | {id(model.generator): generator})
