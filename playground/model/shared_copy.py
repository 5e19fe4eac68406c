"""Shared copies: one model, several trees of modules."""

from __future__ import annotations

import copy

import torch

from playground.model.transformer import Transformer


def shared_copy(model: Transformer, generator: torch.Generator) -> Transformer:
    """A new tree of modules over the very same tensors, in the same mode, whose dropout draws from `generator`. What is hung on it or
    changed in its modules is not in the original."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, shared | {id(model.generator): generator})
