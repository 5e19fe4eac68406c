"""Ablations: what learners ask about the parts of the Transformer, each answered by one controlled experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.data.corpus import Corpus
from playground.lessons.controlled import ControlledExperiment, Result, Results, above, mean
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.layers import EncoderLayer, FeedForward, Residual
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from playground.model.transformer import Transformer
from playground.training.loss import cross_entropy
from playground.training.metrics import build_eval_set, validate
from playground.training.schedule import learning_rate
from playground.variants import alternatives

CLEAR = 0.2  # a part whose absence costs so much is needed
FEWER = 1.25  # losses that are less than so many times as large are alike
HARDER = 100  # longer sentences that are tried


def which(*pairs: str) -> Callable[[Results], str]:
    """A judge of two pairs of arms, `<pair>_with` and `<pair>_without`: which of the two needs the part, "both" or "neither"."""

    def judge(results: Results) -> str:
        found = [pair for pair in pairs if above(results[f"{pair}_with"], results[f"{pair}_without"], "exact", CLEAR)]
        return found[0] if len(found) == 1 else "both" if found else "neither"

    return judge


def factor(results: Results) -> str:
    """For which embeddings the factor √d_model raises exact match, and for which it lowers it."""

    def clearly(start: str, one: str, other: str) -> bool:
        return above(results[f"{start}_{one}"], results[f"{start}_{other}"], "exact", CLEAR)

    helps, harms = ([start for start in BEGINNINGS if clearly(start, *ways)] for ways in (("with", "without"), ("without", "with")))
    if "small" in helps and "unit" in harms:
        return "turns"
    if harms:
        return "other"
    return {0: "none", len(BEGINNINGS): "all"}.get(len(helps), "small" if helps == ["small"] else "other")


def lowest(results: Results) -> str:
    """The arm with the lowest loss, when no other comes near it; else "same"."""
    first, second, *_ = sorted(results, key=lambda arm: mean(results[arm], "loss"))
    return first if worse(results[second], results[first]) else "same"


def worse(one: Sequence[Result], other: Sequence[Result]) -> bool:
    """Whether the loss of one arm is clearly higher than that of another."""
    return above(one, other, "loss", (FEWER - 1) * mean(other, "loss"))


def layout(results: Results) -> str:
    """Whether the order of the columns matters, or only the kind of positions."""

    def apart(arm: str) -> bool:
        pair = results["interleaved"], results[arm]
        return above(*pair, "exact", CLEAR) or above(*reversed(pair), "exact", CLEAR)

    return "order" if apart("concatenated") else "kind" if apart("learned") or apart("rotary") else "same"


def between(results: Results) -> str:
    """Whether one head is enough, more are always better, or the best number lies between."""
    least = min(results.values(), key=lambda found: mean(found, "loss"))
    if not worse(results["one"], least):
        return "one"
    return "between" if worse(results["eight"], least) else "more"


def farther(results: Results) -> str:
    """Who writes longer sentences than training had."""
    reach = {arm: mean(found, "harder") for arm, found in results.items()}
    able = [arm for arm, share in reach.items() if share > 1 - CLEAR]
    return able[0] if len(able) == 1 else "some" if able else "none"


def harder(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """The share of longer sentences that are right."""
    return {"harder": validate(model, build_eval_set(corpus, corpus.harder[:HARDER])).exact_match}


def ask(
    name: str, arms: Mapping[str, Mapping[str, Any]], *code: Callable, guesses: tuple[str, ...] = (), **more: Any
) -> ControlledExperiment:
    """An experiment whose guesses are its arms and "same", unless others are given."""
    return ControlledExperiment(name, "ablation", guesses or (*arms, "same"), code=code, arms=arms, **more)


def pair(name: str, knob: str, value: Any, *code: Callable, **more: Any) -> ControlledExperiment:
    """Two arms: the model with a part, and without it."""
    return ask(name, {"with": {}, "without": {knob: value}}, *code, **more)


OR_ELSE = ("both", "neither")
TWO_LAYERS, THREE_LAYERS = ({"encoder_layers": layers, "decoder_layers": layers} for layers in (2, 3))
ADAM = dict(optimiser="adam", learning_rate=0.02, zero_init=False, steps=220)
WIDE = {"d_model": 64, "n_heads": 1}
LATE = {"warmup": 40}
BEGINNINGS = {"small": {}, "root": {"variant": "root_embeddings"}, "unit": {"variant": "unit_embeddings"}}
SCALED = {"with": {}, "without": {"embedding_scale": False}}
FEW = {"task": "numbers_en", "train_size": 300, "d_model": 64, "d_ff": 128, "steps": 400}  # sentences, seen again and again
SORT, NO_SCALE, OPEN = {"task": "sort"}, {"attention_scale": False}, {"residual": False}

ABLATIONS = (
    ask(
        "embedding_scale",
        {f"{start}_{way}": knobs | scale for start, knobs in BEGINNINGS.items() for way, scale in SCALED.items()},
        Transformer.embed,
        alternatives.root_embeddings,
        alternatives.unit_embeddings,
        guesses=("small", "all", "turns", "none", "other"),
        base={"steps": 250},
        judge=factor,
        next=("attention_scale", "vocabulary"),
    ),
    ask(
        "attention_scale",
        {"narrow_with": {}, "narrow_without": NO_SCALE, "wide_with": WIDE, "wide_without": WIDE | NO_SCALE},
        scaled_dot_product_attention,
        guesses=("wide", "narrow", *OR_ELSE),
        judge=which("narrow", "wide"),
        next=("softmax", "scores"),
    ),
    ask(
        "order",
        {"reverse_with": {}, "reverse_without": {"positions": "none"}, "sort_with": SORT, "sort_without": SORT | {"positions": "none"}},
        SinusoidalPositions,
        guesses=("reverse", "sort", *OR_ELSE),
        judge=which("reverse", "sort"),
        next=("encodings", "beyond"),
    ),
    ask(
        "encodings",
        {
            "interleaved": {},
            "concatenated": {"variant": "concatenated"},
            "learned": {"positions": "learned"},
            "rotary": {"positions": "rotary"},
        },
        SinusoidalPositions,
        alternatives.concatenated,
        LearnedPositions,
        RotaryPositions,
        guesses=("order", "kind", "same"),
        judge=layout,
        next=("positions", "beyond"),
    ),
    ask(
        "beyond",
        {"sinusoids": {}, "learned": {"positions": "learned"}, "rotary": {"positions": "rotary"}},
        LearnedPositions,
        RotaryPositions,
        guesses=("sinusoids", "learned", "rotary", "some", "none"),
        base=SORT,
        judge=farther,
        judged="harder",
        more=harder,
        next=("positions", "order"),
    ),
    ask(
        "warmup",
        {"post_with": LATE, "post_without": {"warmup": 0}, "pre_with": LATE | {"norm": "pre"}, "pre_without": {"warmup": 0, "norm": "pre"}},
        EncoderLayer.forward,
        learning_rate,
        guesses=("post", "pre", *OR_ELSE),
        base=SORT | ADAM | TWO_LAYERS,
        judge=which("post", "pre"),
        next=("skip", "batch_norm"),
    ),
    pair("skip", "residual", False, Residual, base={"zero_init": False}, next=("deep", "residuals")),
    ask(
        "deep",
        {"one_with": {}, "one_without": OPEN, "three_with": THREE_LAYERS, "three_without": THREE_LAYERS | OPEN},
        Residual,
        guesses=("one", "three", *OR_ELSE),
        base={"task": "copy", "zero_init": False, "steps": 200},
        judge=which("one", "three"),
        next=("residuals", "depth"),
    ),
    pair(
        "w_o",
        "variant",
        "identity_output",
        MultiHeadAttention,
        alternatives.identity_output,
        base={"zero_init": False},
        next=("heads", "products"),
    ),
    ask(
        "heads",
        {"one": {"n_heads": 1}, "two": {"n_heads": 2}, "four": {"n_heads": 4}, "eight": {"n_heads": 8}},
        MultiHeadAttention,
        guesses=("one", "between", "more"),
        base={"task": "numbers_en", "d_model": 64, "d_ff": 128, "steps": 100},
        judge=between,
        judged="loss",
        next=("w_o", "attention_scale"),
    ),
    pair("no_ffn", "variant", "no_feed_forward", FeedForward, alternatives.no_feed_forward, next=("feedforward", "depth")),
    ask(
        "shared",
        {"none": {}, "output": {"share_embeddings": "output"}, "all": {"share_embeddings": "all"}},
        Transformer.__init__,
        base=FEW | {"task": "reverse"},
        judge=lowest,
        judged="loss",
        next=("vocabulary", "embedding_scale"),
    ),
    pair("smoothing", "label_smoothing", 0.0, cross_entropy, base=FEW | {"label_smoothing": 0.1}, next=("loss", "bug_loss")),
    ask(
        "depth",
        {"one": {}, "two": TWO_LAYERS},
        EncoderLayer,
        base={"task": "addition", "steps": 400},
        judge=lowest,
        judged="loss",
        next=("no_ffn", "deep"),
    ),
    ask(
        "scores",
        {
            "scaled": {},
            "dot": NO_SCALE,
            "additive": {"variant": "additive"},
            "bilinear": {"variant": "bilinear"},
            "cosine": {"variant": "cosine"},
        },
        scaled_dot_product_attention,
        alternatives.Additive,
        alternatives.Bilinear,
        alternatives.cosine_attention,
        next=("attention_scale", "products"),
    ),
    ask(
        "batch_norm",
        {"layer": {}, "batch": {"variant": "batch_norm"}},
        alternatives.BatchNorm,
        judge=lowest,
        judged="loss",
        next=("norms", "bug_norm"),
    ),
    pair(
        "attention_dropout",
        "variant",
        "no_attention_dropout",
        alternatives.no_attention_dropout,
        base=FEW | {"dropout": 0.2},
        next=("bug_dropout", "smoothing"),
    ),
)
