"""A model of one's own to look into: hooks on it disturb nobody, its numbers are the original's."""

from __future__ import annotations

import copy

from playground.model.transformer import Transformer


def own(model: Transformer) -> Transformer:
    """A new tree of modules over the very same tensors, in the same mode. Put hooks on it; never write to its parameters."""
    shared = [*model.parameters(), *model.buffers(), model.generator]
    return copy.deepcopy(model, {id(thing): thing for thing in shared})
