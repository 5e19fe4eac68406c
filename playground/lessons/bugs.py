"""The bug lab: common bugs, each trained beside the correct model, under two metrics: token accuracy with teacher forcing, and exact match
in free-running decoding."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

from playground.choices import BUGS
from playground.config import PAD
from playground.data.batches import Batch
from playground.data.corpus import Corpus
from playground.lessons.bug_exhibits import DividedScores, InsideTable, divisors, inside
from playground.lessons.controlled import ControlledExperiment, Measured, Results, above, mean
from playground.model.copies import shared_copy
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.training.metrics import build_eval_set, validate
from playground.variants import bugs, variant_of

BOTH = ("token_accuracy", "exact_match")
OUTCOMES = ("fine", "lies", "broken")
APART = 0.15  # a smaller difference between metrics is none
EXTRA = 24  # paddings, as if the batch had a longer sentence


def metrics(results: Results) -> str:
    """Compares both metrics of the broken model with those of the correct one."""
    right, broken = results["right"], results["broken"]
    if not above(right, broken, "exact", APART):
        return "fine"
    return "broken" if above(right, broken, "tokens", APART) else "lies"


def neighbours(results: Results) -> str:
    """Whether a model's output depends on the padding of its sentence."""
    broken = results["broken"]
    if mean(broken, "exact") - mean(broken, "padded") > APART:
        return "padding"
    return "fine" if metrics(results) == "fine" else "broken"


def padded(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """Measures exact match with EXTRA more PAD at the end of every source."""

    def widened(batch: Batch) -> Batch:
        return batch._replace(src=F.pad(batch.src, (0, EXTRA), value=PAD))

    eval_set = build_eval_set(corpus, corpus.heldout, change=widened)
    return {"padded": validate(model, eval_set, written=not variant_of(model.config).argmax_is_greedy(model)).exact_match}


def examined(model: Transformer, corpus: Corpus) -> Measured:
    """Measures the evidence for a mystery."""
    return {**padded(model, corpus), **inside(model, corpus)}


def without_dropout(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """Measures exact match of the same parameters without dropout."""
    silent = shared_copy(model, torch.Generator())
    silent.dropout.__class__ = Dropout
    return {"quiet": validate(silent, build_eval_set(corpus, corpus.heldout)).exact_match}


def bug_lab(
    name: str,
    bug: str,
    *code: Callable,
    judge: Callable[[Results], str] = metrics,
    kind: type[ControlledExperiment] = ControlledExperiment,
    **more: Any,
) -> ControlledExperiment:
    guesses = ("fine", "padding", "broken") if judge is neighbours else OUTCOMES
    arms, judged = {"right": {}, "broken": {"variant": bug}}, "padded" if judge is neighbours else "exact"
    return kind(name, "bug", guesses, code=code, arms=arms, judge=judge, judged=judged, measures=BOTH, **more)


class Mystery(InsideTable):
    """A hidden bug to recognise from its plots. The mystery's number, given by the teacher, is its seed and selects the bug."""

    def arms_of(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        return {"right": {}, "broken": {"variant": bug_of(seed)}}


def bug_of(number: int) -> str:
    """Returns the bug of a mystery: each block of len(BUGS) numbers is a permutation of all bugs."""
    block, place = divmod(number - 1, len(BUGS))
    order = list(BUGS)
    random.Random(block).shuffle(order)
    return order[place]


def _revealed(results: Results) -> str:
    return results["broken"][0].run.experiment.model.variant


DROPS = dict(task="copy", dropout=0.2)
TWO = dict(decoder_layers=2)
HIDDEN = dict(dropout=0.05, steps=250, decoder_layers=2)  # the same for every mystery: the settings must not reveal dropout

BUG_LABS = (
    bug_lab("bug_future", "no_causal_mask", bugs.NonCausal, bugs.no_causal_mask, expects="lies", next=("bug_shift", "masks")),
    bug_lab(
        "bug_source",
        "no_source_mask",
        bugs.UnmaskedAttention,
        bugs.no_source_mask,
        judge=neighbours,
        more=padded,
        expects="padding",
        next=("bug_memory", "masks"),
    ),
    bug_lab(
        "bug_memory",
        "no_memory_mask",
        bugs.UnmaskedAttention,
        bugs.no_memory_mask,
        judge=neighbours,
        more=padded,
        expects="padding",
        next=("bug_source", "bug_inverted"),
    ),
    bug_lab("bug_shift", "unshifted", bugs.unshifted, expects="lies", next=("bug_future", "bug_loss")),
    bug_lab("bug_axis", "softmax_over_queries", bugs.over_queries, base={"steps": 250}, expects="lies", next=("softmax", "bug_norm")),
    bug_lab("bug_norm", "norm_over_positions", bugs.PositionNorm, expects="lies", next=("norms", "batch_norm")),
    bug_lab("bug_view", "view_for_transpose", bugs.ViewedAttention, expects="broken", next=("shapes", "heads")),
    bug_lab("bug_loss", "padding_in_loss", bugs.with_padding, expects="broken", next=("loss", "bug_dropout")),
    bug_lab(
        "bug_dropout",
        "dropout_always",
        bugs.AlwaysDropout,
        bugs.dropout_always,
        base=DROPS,
        more=without_dropout,
        expects="broken",
        next=("attention_dropout", "mystery"),
    ),
    bug_lab("bug_inverted", "inverted_mask", bugs.inverted, bugs.inverted_mask, expects="lies", next=("masks", "mystery")),
    bug_lab("bug_fill", "tiny_fill", bugs.tiny_filled, expects="broken", next=("masks", "bug_future")),
    bug_lab(
        "bug_lengths",
        "wrong_lengths",
        bugs.WrongLengthsLayer,
        bugs.wrong_lengths,
        expects="lies",
        next=("bug_memory", "bug_inference"),
    ),
    bug_lab(
        "bug_inference",
        "no_mask_at_inference",
        bugs.TrainingOnlyCausalAttention,
        bugs.no_mask_at_inference,
        base=TWO,
        expects="",
        next=("bug_future", "exposure_bias"),
    ),
    bug_lab(
        "bug_scale",
        "scale_twice",
        bugs.scaled_twice,
        divisors,
        kind=DividedScores,
        expects="lies",
        next=("softmax", "attention_scale"),
    ),
    bug_lab(
        "bug_shared",
        "shared_attention",
        bugs.shared_attention,
        inside,
        kind=InsideTable,
        more=inside,
        expects="fine",
        next=("w_o", "bug_chain"),
    ),
    bug_lab(
        "bug_chain",
        "unchained_layers",
        bugs.UnchainedLayer,
        bugs.unchained_layers,
        inside,
        kind=InsideTable,
        base=TWO,
        more=inside,
        expects="fine",
        next=("deep", "bug_shared"),
    ),
    bug_lab("bug_softmax", "softmax_in_loss", bugs.with_softmax, expects="broken", next=("loss", "vocabulary")),
    Mystery(
        "mystery",
        "bug",
        BUGS,
        base=HIDDEN,
        judge=_revealed,
        measures=BOTH,
        more=examined,
        is_mystery=True,
        minutes=10,
        next=("bug_future", "bug_source"),
    ),
)
