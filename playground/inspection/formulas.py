"""Formulas: for each stage the paper's formula, its shape in letters and numbers, and the lines of the running code that compute it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from playground.config import ModelConfig, Refusal
from playground.inspection.activations import Stage
from playground.inspection.edits import norm_module
from playground.model.positions import BASE

# kind of stage -> a substring of each line that computes it, in the stage's source
LINES = {
    "embedding": ("x = embedding(tokens)",),
    "scaled_embedding": ("x = x * math.sqrt(",),
    "positions_sinusoids": ("x + self.table",),
    "positions_learned": ("x + self.table",),
    "q": ("self.W_q(query)",),
    "k": ("self.W_k(key)",),
    "v": ("self.W_v(value)",),
    "turned": ("cos, sin = self.cos", "even, odd = x", "even * cos - odd * sin", "torch.cat("),
    "scores": ("q @ k.transpose(",),
    "scaled": ("/ q.shape[-1] ** power",),
    "masked": ("torch.where(mask",),
    "weights": ("scores.softmax(", "weights * mask"),
    "mixed": ("@ v, weights",),
    "concat": ("heads.transpose(",),
    "W_o": ("self.W_o(",),
    "residual": ("x + self.dropout(sublayer_of_x)",),
    "hidden": ("self.W_1(x)",),
    "activated": ("self.activation(",),
    "W_2": ("self.W_2(",),
    "memory": ("self.encoder_norm(x)",),
    "memory_mean": ("own = mask[", "own.sum("),
    "memory_cut": ("memory * 0",),
    "joined": ("torch.cat((source, target)",),
    "output": ("self.decoder_norm(x)",),
    "logits": ("self.projection(states)",),
    "probabilities": ("logits.softmax(",),
}


@dataclass(frozen=True)
class StageInfo:
    """A stage's description. `key` and `values` name its formula in words/; `letters` and `sizes` are its shape ("H", "T", "S" and 4, 5,
    6); `lines`, counted from 1, are those of inspect.getsource(source) that compute it."""

    key: str
    values: dict[str, str]
    letters: tuple[str, ...]
    sizes: tuple[int, ...]
    source: Callable
    lines: tuple[int, ...]


def describe(config: ModelConfig, stage: Stage) -> StageInfo:
    """Describes a stage without its numbers."""
    pieces = _find_pieces(config, stage)
    lines = tuple(n for n, line in enumerate(_source_lines(stage.source), 1) if any(piece in line for piece in pieces))
    return StageInfo(*formula(config, stage), tuple(stage.axes), stage.values.shape, stage.source, lines)


@cache
def _source_lines(source: Callable) -> tuple[str, ...]:
    """Returns the source lines of a function or class; cached, as they are slow to find."""
    return tuple(inspect.getsource(source).splitlines())


def kind(config: ModelConfig, stage: Stage) -> str:
    """Returns the kind of arithmetic of a stage: its name, or a more specific one where a name has several kinds.

    Raises Refusal for positions without a formula.
    """
    if stage.name == "positions":
        added = config.encoding.added
        if f"positions_{added}" not in LINES:
            raise Refusal("map.no_formula", name=config.positions, added=added)
        return f"positions_{added}"
    if stage.name == "scaled" and stage.layer is None:
        return "scaled_embedding"
    if stage.name == "memory" and config.memory_mode != "whole":
        return f"memory_{config.memory_mode}"
    return "turned" if stage.name.endswith("_turned") else stage.name


def formula(config: ModelConfig, stage: Stage) -> tuple[str, dict[str, str]]:
    """Returns the key of the stage's formula in words/, and its symbols: the input, and the bias if this model has one."""
    name, values = kind(config, stage), {}
    if name in ("q", "k", "v", "W_o", "hidden", "W_2", "logits"):
        values["bias"] = f" + {BIASES[name]}" if config.bias else ""
    if name in ("q", "k", "v"):
        values["x"] = "memory" if stage.inputs == ("memory",) else "x"
    if name == "turned":
        values["base"] = str(BASE)
    if name == "norm":
        values["bias"] = " + β" if config.bias else ""
    if name == "mixed":
        values["scale"] = f" / {divisor(config)}" if config.attention_scale else ""
    if name == "W_2":
        shape = {"relu": "max(0, {})", "gelu": "GELU({})", "none": "({})"}[config.activation]
        values["activated"] = shape.format("x W_1 + b_1" if config.bias else "x W_1")
    if name == "scaled":
        values["divisor"] = divisor(config)
    if name == "activated":
        name = f"activated_{config.activation}"
    if name == "output" and config.alteration.decoder_only:
        name = "output_joined"
    return f"map.formula_{name}", values


def divisor(config: ModelConfig) -> str:
    """Returns the divisor of the scores: the square root of d_k in the paper."""
    return {0.25: "∜d_k", 0.5: "√d_k", 1.0: "d_k"}[config.attention_scale]


BIASES = {"q": "b_Q", "k": "b_K", "v": "b_V", "W_o": "b_O", "hidden": "b_1", "W_2": "b_2", "logits": "b"}


def _find_pieces(config: ModelConfig, stage: Stage) -> tuple[str, ...]:
    """Returns substrings of the lines that compute a stage. Those of a norm and of the ids depend on its place in the model."""
    if stage.name == "ids":
        return ("src = torch.tensor(",) if stage.address == "src.ids" else ("tgt_in = torch.tensor(",)
    if stage.name == "norm":
        module = norm_module(stage.address).rpartition(".")[2]
        after = config.norm == "post" and stage.layer is not None
        return (f"self.{module}(self.residual(x",) if after else (f"self.{module}(x)",)
    return LINES[kind(config, stage)]
