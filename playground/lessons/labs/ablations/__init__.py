"""Ablations: questions about parts of the Transformer, each answered by one controlled experiment."""

from collections.abc import Callable, Mapping
from typing import Any

from playground.lessons.controlled import SMALL, ControlledExperiment, measure_harder
from playground.lessons.labs.ablations import judges
from playground.model.attention import MultiHeadAttention, head_widths, scaled_dot_product_attention
from playground.model.layers import EncoderLayer, FeedForward, Residual
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from playground.model.transformer import Transformer, initialise
from playground.training.optimisers import learning_rate
from playground.training.step import cross_entropy
from playground.variants import alternatives


def ask(
    name: str, arms: Mapping[str, Mapping[str, Any]], *code: Callable, guesses: tuple[str, ...] = (), **more: Any
) -> ControlledExperiment:
    """Makes an experiment whose guesses are its arms and "same", unless given."""
    tasks = {(more.get("base", {}) | dict(knobs)).get("task", "reverse") for knobs in arms.values()}
    more.setdefault("family", "letters" if tasks <= {"reverse", "sort", "copy"} else "")
    return ControlledExperiment(name, guesses or (*arms, "same"), code=code, arms=arms, order=20, **more)


def pair(name: str, knob: str, value: Any, *code: Callable, **more: Any) -> ControlledExperiment:
    """Makes an experiment of two arms: with a part, and without it."""
    return ask(name, {"with": {}, "without": {knob: value}}, *code, family="pairs", **more)


OR_ELSE = ("both", "neither")
TWO_LAYERS, THREE_LAYERS = ({"encoder_layers": layers, "decoder_layers": layers} for layers in (2, 3))
ADAM = dict(optimiser="adam", learning_rate=0.02, zero_init=False, steps=220)
WIDE = {"d_model": 64, "n_heads": 1}
LATE = {"warmup": 40}
BEGINNINGS = {"small": {}, "root": {"embedding_std": SMALL["d_model"] ** -0.5}, "unit": {"embedding_std": 1.0}}
SCALED = {"with": {}, "without": {"embedding_scale": False}}
FEW = {"task": "numbers_en", "train_size": 300, "d_model": 64, "d_ff": 128, "steps": 400}  # few sentences, repeated often
SORT, NO_SCALE, OPEN, PRE = {"task": "sort"}, {"attention_scale": 0.0}, {"residual": False}, {"norm": "pre"}

LABS = (
    ask(
        "embedding_scale", {f"{start}_{way}": knobs | scale for start, knobs in BEGINNINGS.items() for way, scale in SCALED.items()},
        Transformer.embed, initialise, guesses=("small", "all", "turns", "none", "other"), base={"steps": 250}, judge=judges.factor,
        decisive=("small_with", "small_without", "unit_with", "unit_without"), expects="turns", next=("attention_scale", "vocabulary"),
    ),
    ask(
        "attention_scale", {"narrow_with": {}, "narrow_without": NO_SCALE, "wide_with": WIDE, "wide_without": WIDE | NO_SCALE},
        scaled_dot_product_attention, guesses=("wide", "narrow", *OR_ELSE), judge=judges.which("narrow", "wide"),
        decisive=("wide_with", "wide_without"), expects="wide", next=("softmax", "scores"),
    ),
    ask(
        "order",
        {"reverse_with": {}, "reverse_without": {"positions": "none"}, "sort_with": SORT, "sort_without": SORT | {"positions": "none"}},
        SinusoidalPositions, guesses=("reverse", "sort", *OR_ELSE), judge=judges.which("reverse", "sort"),
        decisive=("reverse_with", "reverse_without"), expects="reverse", starts=True, next=("encodings", "beyond"),
    ),
    ask(
        "encodings",
        {
            "interleaved": {},
            "concatenated": {"variant": "concatenated"},
            "learned": {"positions": "learned"},
            "rotary": {"positions": "rotary"},
        },
        SinusoidalPositions, alternatives.concatenated, LearnedPositions, RotaryPositions, guesses=("order", "kind", "same"),
        judge=judges.layout, expects="kind", next=("positions", "beyond"),
    ),
    ask(
        "beyond",
        {"sinusoids": {}, "learned": {"positions": "learned"}, "rotary": {"positions": "rotary"}, "without": {"positions": "none"}},
        LearnedPositions, RotaryPositions, guesses=("added", "rotary", "without", "both", "none"), base=SORT, judge=judges.farther,
        judged="harder", more=measure_harder, expects="both", next=("positions", "order"),
    ),
    ask(
        "warmup", {"post_with": LATE, "post_without": {"warmup": 0}, "pre_with": LATE | PRE, "pre_without": {"warmup": 0} | PRE},
        EncoderLayer.forward, learning_rate, guesses=("post", "pre", *OR_ELSE), base=SORT | ADAM | TWO_LAYERS,
        judge=judges.which("post", "pre"), decisive=("post_with", "post_without"), expects="post", next=("norm_depth", "batch_norm"),
    ),
    judges.NORM_DEPTH,
    ask(
        "skip", {"with": {}, "without": OPEN}, Residual, guesses=("never", "later", "same"),
        base={"zero_init": False, "steps": 600, "eval_every": 30}, early=150, judge=judges.in_time, expects="later",
        next=("deep", "residuals"),
    ),
    ask(
        "deep", {"one_with": {}, "one_without": OPEN, "three_with": THREE_LAYERS, "three_without": THREE_LAYERS | OPEN}, Residual,
        judges.probe_positions, guesses=("one", "three", *OR_ELSE), base={"task": "copy", "zero_init": False, "steps": 200},
        judge=judges.which("one", "three"), decisive=("three_with", "three_without"), more=judges.probe_positions, shows=judges.show_probe,
        expects="three", next=("residuals", "depth"),
    ),
    pair(
        "w_o", "variant", "identity_output", MultiHeadAttention, alternatives.identity_output, base={"zero_init": False}, expects="",
        next=("heads", "products"),
    ),
    ask(
        "qkv", {"own": {}, "shared": {"variant": "shared_query_key"}, "none": {"variant": "no_projections"}}, MultiHeadAttention,
        alternatives.shared_query_key, alternatives.no_projections, judges.asymmetry, guesses=("shared", "none", *OR_ELSE),
        judge=judges.which(shared=("own", "shared"), none=("own", "none")), more=judges.asymmetry, expects="none", next=("products", "w_o"),
    ),
    ask(
        "heads", {"one": {"n_heads": 1}, "two": {"n_heads": 2}, "four": {"n_heads": 4}, "eight": {"n_heads": 8}}, MultiHeadAttention,
        guesses=("one", "between", "more"), base={"task": "numbers_en", "d_model": 64, "d_ff": 128, "steps": 100}, judge=judges.between,
        judged="loss", nearest=judges.number_of_heads, decisive=("one", "eight"), expects="more", next=("w_o", "attention_scale"),
    ),
    ask(
        "key_size", {"one": {"d_k": 1}, "two": {"d_k": 2}, "eight": {}, "many": {"d_k": 32}}, MultiHeadAttention, head_widths,
        guesses=("narrow", "wide", *OR_ELSE), judge=judges.which(narrow=("eight", "one"), wide=("many", "eight")),
        decisive=("one", "eight"), expects="narrow", next=("heads", "products"),
    ),
    pair("no_ffn", "variant", "no_feed_forward", FeedForward, alternatives.no_feed_forward, expects="with", next=("feedforward", "depth")),
    ask(
        "shared", {"none": {}, "output": {"share_embeddings": "output"}, "all": {"share_embeddings": "all"}}, Transformer.__init__,
        base=FEW | {"task": "reverse"}, judge=judges.lowest, judged="loss", expects="", next=("vocabulary", "embedding_scale"),
    ),
    pair(
        "smoothing", "label_smoothing", 0.0, cross_entropy, base=FEW | {"label_smoothing": 0.1}, expects="", next=("loss", "bug_loss")
    ),
    ask(
        "depth", {"one": {}, "two": TWO_LAYERS}, EncoderLayer, base={"task": "addition", "steps": 400}, judge=judges.lowest, judged="loss",
        expects="", next=("no_ffn", "deep"),
    ),
    ask(
        "scores",
        {
            "scaled": {},
            "dot": NO_SCALE,
            "additive": {"variant": "additive"},
            "bilinear": {"variant": "bilinear"},
            "cosine": {"variant": "cosine"},
            "location": {"variant": "location"},
        },
        scaled_dot_product_attention, alternatives.Additive, alternatives.Bilinear, alternatives.cosine_attention, alternatives.Location,
        expects="same", next=("attention_scale", "products"),
    ),
    ask(
        "batch_norm", {"layer": {}, "batch": {"variant": "batch_norm"}}, alternatives.BatchNorm, judge=judges.lowest, judged="loss",
        expects="batch", next=("norms", "bug_norm"),
    ),
    pair(
        "attention_dropout", "variant", "no_attention_dropout", alternatives.no_attention_dropout, base=FEW | {"dropout": 0.2},
        expects="without", next=("bug_dropout", "smoothing"),
    ),
    judges.RULE_OR_LIST,
    ask(
        "forgetting", {arm: {"task": f"dates_{arm}"} for arm in ("later", "rehearsed", "mixed")}, judges.measure_second_form,
        judges.forgets, guesses=("later", "rehearsed", *OR_ELSE), base={"steps": 200}, judge=judges.forgets,
        decisive=("later", "rehearsed"), early=100, more=judges.measure_second_form, expects="later", next=("rule_or_list", "smoothing"),
    ),
)  # fmt: skip
