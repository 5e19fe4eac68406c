"""The bug lab: common bugs, each trained beside the correct model, under two metrics: token accuracy with teacher forcing, and exact match
in free-running decoding."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

from playground.choices import BUGS
from playground.config import PAD
from playground.data.batches import Batch, collate
from playground.data.corpus import Corpus
from playground.lessons.controlled import Arms, ControlledExperiment, Measured, Results, above, is_measured, mean
from playground.lessons.lab import TextTable, Value
from playground.model.attention import head_widths
from playground.model.copies import shared_copy, trainable_copy
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.training.metrics import build_eval_set, validate
from playground.training.step import cross_entropy
from playground.variants import ALL, bugs, variant_of
from playground.words import say

BOTH = ("token_accuracy", "exact_match")
OUTCOMES = ("fine", "lies", "broken")
APART = 0.15  # a smaller difference between metrics is none
EXTRA = 24  # paddings, as if the batch had a longer sentence
SENTENCES, TOKENS = 64, 16  # with queries and keys from N(0, 1)
NUMBERS = 100_000  # put through dropout
HELDOUT = 64  # maximum number of sentences for the gradient


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


def zeros(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """Measures the fraction of zeros in training between a sublayer, of our model or one that ends in dropout, and the sum."""
    residual = shared_copy(model, torch.Generator()).train().encoder[0].residual
    added = residual(torch.zeros(1), torch.ones(NUMBERS))
    return {"zeros": float((added == 0).float().mean())}


def divisors(d_k: int, heads: int) -> dict[str, float]:
    """Returns the divisors of scores of d_k products: the paper's; applied twice; and `scale = (d_k // heads) ** -0.5` written after the
    split, when d_k is already the width of one head."""
    return {"√d_k": d_k**0.5, "√d_k · √d_k": d_k**0.5 * d_k**0.5, "√(d_k / H)": (d_k // heads) ** 0.5}


def show_divided(results: Arms) -> tuple[TextTable]:
    """Tabulates random queries and keys as before training, their scores divided by each divisor."""
    result = results[0][0]
    config = result.run.experiment.model
    d_k, heads = head_widths(config)[0], config.n_heads
    dice = torch.Generator().manual_seed(result.seed)
    q, k = torch.randn(2, SENTENCES, TOKENS, d_k, generator=dice)
    divided_by, rows = divisors(d_k, heads), []
    for formula, divisor in divided_by.items():
        scores = q @ k.mT / divisor
        largest = scores.softmax(dim=-1).amax(dim=-1).mean()
        rows.append((formula, f"{divisor:.2f}", f"{scores.std():.2f}", f"{largest:.2f}"))
    right, _, split = divided_by.values()
    caption = {"sentences": SENTENCES, "tokens": TOKENS, "d_k": d_k, "heads": heads, "times": right / split}
    return (TextTable("divided", ("divisor", "value", "deviation", "largest"), tuple(rows), caption),)


def inside(model: Transformer, corpus: Corpus) -> Measured:
    """Measures the number of parameters, and each decoder layer's gradient norm of the loss that it is trained with."""
    copy, variant = trainable_copy(model), variant_of(model.config)
    batch = collate(corpus.heldout[:HELDOUT])
    batch = variant.batch(batch) if variant.batch else batch
    loss = (variant.loss or cross_entropy)(copy(batch.src, batch.tgt_in).logits, batch.tgt_out, 0.0)
    loss.backward()
    squares = [sum(float(p.grad.square().sum()) for p in layer.parameters() if p.grad is not None) for layer in copy.decoder]
    return {"parameters": [sum(p.numel() for p in copy.parameters())], "gradients": [square**0.5 for square in squares]}


def show_inside(results: Arms) -> tuple[TextTable, ...]:
    """Tabulates what `inside` measures of each arm and seed, once all are trained."""
    if not is_measured(results):
        return ()
    every = [result for arm_results in results for result in arm_results]
    rows = tuple(
        (
            result.arm,
            str(result.seed),
            f"{result.profiles['parameters'][0]:,}",
            *(f"{norm:.3g}" for norm in result.profiles["gradients"]),
        )
        for result in every
    )
    layers = (f"layer_{number}" for number, _ in enumerate(every[0].profiles["gradients"], 1))
    return (TextTable("inside", ("arm", "seed", "parameters", *layers), rows, {"most": HELDOUT}),)


class BugLab(ControlledExperiment):
    """A model with a bug beside the correct one. Its arm is named by what was changed, and a curve by its arm and metric."""

    def find_key(self, language: str, key: str) -> str:
        if key == "name_broken" and self.arms:
            return f"knobs.variant.{self.arms['broken']['variant']}"
        return "lists.named" if key.endswith(BOTH) else super().find_key(language, key)

    def say(self, language: str, key: str, **values: Value) -> str:
        if key.endswith(BOTH):
            arm, metric = key.removeprefix("name_").split("_", 1)
            values = {"name": self.say(language, f"name_{arm}"), "value": say(language, f"glossary.{metric}.name")}
        return super().say(language, key, **values)


def bug_lab(name: str, bug: str, *code: Callable, judge: Callable[[Results], str] = metrics, **more: Any) -> BugLab:
    """Makes the lab of a bug. Its code is that of the variant, then `code`: what the variant puts into the model; and its measurement."""
    variant = ALL[bug]
    code += (more["more"],) if "more" in more else ()
    changes = filter(None, (variant.part or variant.change, variant.batch, variant.loss))
    guesses = ("fine", "padding", "broken") if judge is neighbours else OUTCOMES
    arms = {"right": {}, "broken": {"variant": bug}}
    family, judged = ("padding_bugs", "padded") if judge is neighbours else ("bugs", "exact")
    more = {"more": padded} | more if judge is neighbours else more
    return BugLab(
        name, guesses, kind="bug", family=family, code=(*changes, *code), arms=arms, judge=judge, judged=judged, measures=BOTH, **more
    )


class Mystery(BugLab):
    """A hidden bug to recognise from its plots. The mystery's number, given by the teacher, is its seed and selects the bug."""

    def find_key(self, language: str, key: str) -> str:
        """Returns the key of a text; a guess is the title of that bug's own lab."""
        bug = key.removeprefix("guess_")
        titles = (f"{lab.area}.title" for lab in LABS if bug in MYSTERIES and lab.arms.get("broken", {}).get("variant") == bug)
        return next(titles, super().find_key(language, key))

    def arms_of(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        return {"right": {}, "broken": {"variant": bug_of(seed)}}


def bug_of(number: int) -> str:
    """Returns the bug of a mystery: each block of len(MYSTERIES) numbers is a permutation of them."""
    block, place = divmod(number - 1, len(MYSTERIES))
    order = list(MYSTERIES)
    random.Random(block).shuffle(order)
    return order[place]


def _revealed(results: Results) -> str:
    return results["broken"][0].run.experiment.model.variant


DROPS = dict(task="copy", dropout=0.2)
TWO = dict(decoder_layers=2)
UNTOLD = ("dropout_twice", "no_last_norm", "scale_by_d_model")  # a mystery's exhibits wouldn't tell these from others
MYSTERIES = tuple(bug for bug in BUGS if bug not in UNTOLD)
HIDDEN = dict(dropout=0.05, steps=250, decoder_layers=2)  # the same for every mystery: the settings must not reveal dropout

LABS = (
    bug_lab("bug_future", "no_causal_mask", bugs.NonCausal, expects="lies", starts=True, next=("bug_shift", "masks")),
    bug_lab("bug_source", "no_source_mask", bugs.UnmaskedAttention, judge=neighbours, expects="padding", next=("bug_memory", "masks")),
    bug_lab(
        "bug_memory", "no_memory_mask", bugs.UnmaskedAttention, judge=neighbours, expects="padding", next=("bug_source", "bug_inverted"),
    ),
    bug_lab("bug_shift", "unshifted", expects="lies", next=("bug_future", "bug_loss")),
    bug_lab("bug_axis", "softmax_over_queries", base={"steps": 250}, expects="lies", next=("softmax", "bug_norm")),
    bug_lab("bug_norm", "norm_over_positions", expects="lies", next=("norms", "batch_norm")),
    bug_lab("bug_last_norm", "no_last_norm", base={"norm": "pre"} | TWO, expects="fine", next=("norm_depth", "bug_norm")),
    bug_lab("bug_view", "view_for_transpose", expects="broken", next=("shapes", "heads")),
    bug_lab("bug_loss", "padding_in_loss", expects="broken", next=("loss", "bug_dropout")),
    bug_lab(
        "bug_dropout", "dropout_always", bugs.AlwaysDropout, base=DROPS, more=without_dropout, expects="broken",
        next=("attention_dropout", "bug_twice"),
    ),
    bug_lab("bug_twice", "dropout_twice", base=DROPS, more=zeros, expects="fine", next=("dropout", "bug_dropout")),
    bug_lab("bug_inverted", "inverted_mask", expects="lies", next=("masks", "mystery")),
    bug_lab("bug_fill", "tiny_fill", expects="broken", next=("masks", "bug_future")),
    bug_lab("bug_lengths", "wrong_lengths", expects="lies", next=("bug_memory", "bug_inference")),
    bug_lab(
        "bug_inference", "no_mask_at_inference", bugs.TrainingOnlyCausalAttention, base=TWO, expects="",
        next=("bug_future", "exposure_bias"),
    ),
    bug_lab("bug_scale", "scale_twice", divisors, shows=show_divided, expects="lies", next=("bug_width", "attention_scale")),
    bug_lab("bug_width", "scale_by_d_model", expects="", next=("bug_scale", "softmax")),
    bug_lab("bug_shared", "shared_attention", shows=show_inside, more=inside, expects="fine", next=("w_o", "bug_chain")),
    bug_lab(
        "bug_chain", "unchained_layers", bugs.UnchainedLayer, shows=show_inside, base=TWO, more=inside, expects="fine",
        next=("deep", "bug_shared"),
    ),
    bug_lab("bug_softmax", "softmax_in_loss", expects="broken", next=("loss", "vocabulary")),
    Mystery(
        "mystery",
        MYSTERIES,
        kind="bug",
        base=HIDDEN,
        judge=_revealed,
        measures=BOTH,
        more=examined,
        shows=show_inside,
        is_mystery=True,
        minutes=10,
        next=("bug_future", "bug_source"),
    ),
)  # fmt: skip
