"""All labs, by name, in the order in which they are shown."""

from __future__ import annotations

from playground.config import Refusal
from playground.lessons.lab import Lab
from playground.lessons.tensors import softmax

LABS: dict[str, Lab] = {lab.name: lab for lab in (softmax.LAB,)}


def get(name: str) -> Lab:
    """Raises Refusal for a name that is none."""
    if name not in LABS:
        raise Refusal("lessons.no_lab", name=name[:40], names=", ".join(LABS))
    return LABS[name]
