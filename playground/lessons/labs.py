"""All labs, by name, in display order."""

from __future__ import annotations

from playground.config import Refusal
from playground.lessons.ablations import ABLATIONS
from playground.lessons.bugs import BUG_LABS
from playground.lessons.exposure_bias import EXPOSURE_BIAS
from playground.lessons.lab import Lab
from playground.lessons.rule_or_list import RULE_OR_LIST
from playground.lessons.tensors import (
    bpe,
    dropout,
    feedforward,
    layer_norm,
    layouts,
    loss,
    masks,
    nn_transformer,
    norms,
    numbering,
    padding_sides,
    permutation,
    positions,
    products,
    residuals,
    rotary,
    shapes,
    softmax,
    vocabulary,
)
from playground.lessons.why_attention import WHY_ATTENTION

KINDS = ("bug", "ablation", "worked_example")
TENSORS = (
    softmax, masks, padding_sides, permutation, positions, numbering, rotary, shapes, products, vocabulary, bpe, feedforward, norms,
    layer_norm, residuals, dropout, loss, layouts, nn_transformer,
)  # fmt: skip

START = ("bug_future", "order", "softmax")  # one of each kind, informative within a few minutes

EXPERIMENTS = (*BUG_LABS, WHY_ATTENTION, *ABLATIONS, RULE_OR_LIST, EXPOSURE_BIAS)
LABS: dict[str, Lab] = {lab.name: lab for lab in (*EXPERIMENTS, *(module.LAB for module in TENSORS))}


def get(name: str) -> Lab:
    """Returns a lab by name. Raises Refusal for an unknown one."""
    if name not in LABS:
        raise Refusal("lessons.no_lab", name=name[:40], names=", ".join(LABS))
    return LABS[name]
