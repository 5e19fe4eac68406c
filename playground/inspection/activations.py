"""Stages: everything the model computes for one pair of sentences, each array with its address, its shape in letters and its inputs.

Letters: S source length, T target length, L = S + T in a decoder-only model, H heads, D d_model, K = D / H, F d_ff, V vocabulary of the
target. The numbers are the running model's own: its modules' outputs, and the results inside of scaled_dot_product_attention.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from playground.config import BOS, EOS
from playground.inspection.edits import TensorEdit, apply
from playground.model.attention import MultiHeadAttention, head_widths, scaled_dot_product_attention
from playground.model.copies import shadow_copy
from playground.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from playground.model.positions import RotaryPositions
from playground.model.transformer import Output, Transformer
from playground.variants.decoder_only import DecoderOnly

Run = Callable[[Transformer, Tensor, Tensor], Output]


class Call(NamedTuple):
    """One call of a module: its arguments and its output."""

    inputs: tuple
    output: Tensor | tuple


@torch.inference_mode()
def module_calls(model: Transformer, src: Tensor, tgt_in: Tensor) -> tuple[dict[str, list[Call]], Output]:
    """src (B, S), tgt_in (B, T) -> each module's calls in order, by its name in the model ("encoder.0.norm_1"), and the model's output.

    The hooks are on a copy over the same tensors, so the shared model isn't touched.
    """
    return _run_hooked(shadow_copy(model), src, tgt_in, Transformer.__call__)


def _run_hooked(copy: Transformer, src: Tensor, tgt_in: Tensor, run: Run) -> tuple[dict[str, list[Call]], Output]:
    calls: dict[str, list[Call]] = {}

    def listen(name: str):
        return lambda module, inputs, output: calls.setdefault(name, []).append(Call(inputs, output))

    for name, module in copy.named_modules():
        module.register_forward_hook(listen(name))
    return calls, run(copy, src, tgt_in)


def run_once(model: Transformer, src: Tensor, tgt_in: Tensor) -> Output:
    """Runs a model with each of its layers called once: a decoder-only one reads source and target in one pass."""
    return model.forward_joined(src, tgt_in) if isinstance(model, DecoderOnly) else model(src, tgt_in)


@dataclass(frozen=True)
class Stage:
    """One array on the way from tokens to probabilities.

    `address` is unique ("decoder.1.cross_attention.W_o"), `name` its last part. `part` is "encoder", "decoder" or "cross", `layer` counts
    from 0 (None outside the layers). `axes` has one letter for each dimension of `values` (float32; ids int64; read-only). `mask`, of the
    stages "masked" and "weights", is True where a query (row) can attend. `inputs` are the addresses of the stages it is computed from,
    `source` is the function whose code computes it.
    """

    address: str
    name: str
    part: str
    layer: int | None
    axes: str
    values: np.ndarray
    mask: np.ndarray | None
    inputs: tuple[str, ...]
    source: Callable


def model_inputs(src_ids: Sequence[int], tgt_ids: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Builds the model's inputs: the source and EOS -> (1, S); BOS and all target tokens but the last -> (1, T)."""
    src = torch.tensor([[*src_ids, EOS]])
    tgt_in = torch.tensor([[BOS, *tgt_ids[:-1]]])
    return src, tgt_in


def distribution(logits: Tensor) -> Tensor:
    """(B, T, V) -> (B, T, V): the model's probabilities of the next token."""
    return logits.softmax(dim=-1)


@torch.inference_mode()
def record(model: Transformer, src_ids: Sequence[int], tgt_ids: Sequence[int], edits: Sequence[TensorEdit] = ()) -> dict[str, Stage]:
    """Records every stage by its address, in the order of computation. `src_ids` come without EOS, `tgt_ids` are the output, EOS last if
    it was written; `edits` are made in this pass. Operations that the model skips (a scale that is off, positions that add nothing, a
    residual that is off) have no stage.

    Raises ValueError for a model that is training or an empty target, Refusal for a sentence that is too long.
    """
    if model.training:
        raise ValueError("a model is recorded in eval mode")
    if not tgt_ids:
        raise ValueError("a recording needs at least one target token")
    src, tgt_in = (ids.to(model.projection.weight.device) for ids in model_inputs(src_ids, tgt_ids))
    inside: dict[str, Tensor] = {}
    calls, output = _run_hooked(apply(model, edits, inside.__setitem__), src, tgt_in, run_once)  # a copy, since it is watched
    return _Recording(model, calls, inside, output).all(src, tgt_in)


class _Recording:
    """Converts the modules' outputs to stages, following the model's forward from top to bottom.

    Methods that compute take the address of their input x and return the address of their result.
    """

    def __init__(self, model: Transformer, calls: dict[str, list[Call]], inside: dict[str, Tensor], output: Output) -> None:
        self.model, self.config, self.calls, self.inside, self.output = model, model.config, calls, inside, output
        self.stages: dict[str, Stage] = {}

    def all(self, src: Tensor, tgt_in: Tensor) -> dict[str, Stage]:
        x, source = self.one_stack(src, tgt_in) if isinstance(self.model, DecoderOnly) else self.two_stacks(src, tgt_in)
        states = self.calls["projection"][0].inputs[0]
        x = self.add("decoder.output", "decoder", None, "TD", states, (x,), source)
        logits = self.add("logits", "decoder", None, "TV", self.output.logits, (x,), Transformer.project)
        self.add("probabilities", "decoder", None, "TV", distribution(self.output.logits), (logits,), distribution)
        return self.stages

    def one_stack(self, src: Tensor, tgt_in: Tensor) -> tuple[str, Callable]:
        """Records a decoder-only model; returns the address of its last states, and the function that computes them."""
        sides = self.embed("src", "encoder", "S", src), self.embed("tgt", "decoder", "T", tgt_in)
        x = self.add("joined", "decoder", None, "LD", self.calls["layers.0"][0].inputs[0], sides, DecoderOnly.read_joined)
        for n in range(len(self.model.layers)):
            x = self.attention(f"layers.{n}.self_attention", n, "decoder", x, x, "norm_1")
            x = self.feed_forward(f"layers.{n}.feed_forward", n, "decoder", x, "norm_2")
        return self.last_norm("decoder", "L", x, DecoderOnly.read_joined), DecoderOnly.read_joined

    def two_stacks(self, src: Tensor, tgt_in: Tensor) -> tuple[str, Callable]:
        """Records the paper's encoder and decoder; returns the same."""
        x = self.embed("src", "encoder", "S", src)
        for n in range(self.config.encoder_layers):
            x = self.attention(f"encoder.{n}.self_attention", n, "encoder", x, x, "norm_1")
            x = self.feed_forward(f"encoder.{n}.feed_forward", n, "encoder", x, "norm_2")
        x = self.last_norm("encoder", "S", x, Transformer.encode)
        received = self.calls["decoder.0.cross_attention"][0].inputs[1]  # the whole memory, its mean, or nothing, by the memory mode
        source = Transformer.encode if self.config.memory_mode == "whole" else Transformer.apply_memory_mode
        memory = self.add("memory", "encoder", None, "SD", received, (x,), source)
        x = self.embed("tgt", "decoder", "T", tgt_in)
        for n in range(self.config.decoder_layers):
            x = self.attention(f"decoder.{n}.self_attention", n, "decoder", x, x, "norm_1")
            x = self.attention(f"decoder.{n}.cross_attention", n, "cross", x, memory, "norm_2")
            x = self.feed_forward(f"decoder.{n}.feed_forward", n, "decoder", x, "norm_3")
        return self.last_norm("decoder", "T", x, Transformer.decode), Transformer.decode

    def embed(self, side: str, part: str, letter: str, ids: Tensor) -> str:
        """Records Transformer.embed: token ids, their embeddings, times sqrt(d_model), plus position."""
        add = partial(self.add, part=part, layer=None)
        x = add(f"{side}.ids", axes=letter, values=ids, inputs=(), source=model_inputs)
        positions = (self.calls.get(f"{side}_positions") or self.calls["src_positions"])[0 if side == "src" else -1]  # one table or two
        x = add(f"{side}.embedding", axes=f"{letter}D", values=self.output_of(f"{side}_embedding"), inputs=(x,), source=Transformer.embed)
        if self.config.embedding_scale:
            x = add(f"{side}.scaled", axes=f"{letter}D", values=positions.inputs[0], inputs=(x,), source=Transformer.embed)
        if self.config.encoding.added:
            kind = type(getattr(self.model, f"{side}_positions"))
            x = add(f"{side}.positions", axes=f"{letter}D", values=positions.output, inputs=(x,), source=kind.forward)
        return x

    def attention(self, at: str, layer: int, part: str, x: str, memory: str, norm: str) -> str:
        """Records one attention sublayer: queries are made of `x`, keys and values of `memory`, which is x itself in self-attention."""
        add, rows, columns = partial(self.add, part=part, layer=layer), self.letter(x), self.letter(memory)
        module = self.model.get_submodule(at)
        queries = self.norm(at, layer, part, x, norm, pre=True)
        memory = queries if memory == x else memory
        turns = self.calls.get(f"{at}.rotary")
        d_k, d_v = head_widths(self.config)
        heads, wide = [], "K" if d_k == d_v else "U"
        for name, source, letter in (("q", queries, rows), ("k", memory, columns), ("v", memory, columns)):
            heads.append(module.split(self.output_of(f"{at}.W_{name}")))  # (1, H, L, K or U)
            axes = f"H{letter}{wide if name == 'v' else 'K'}"
            computed_by = MultiHeadAttention.forward if name == "q" else MultiHeadAttention.keys_values
            add(f"{at}.{name}", axes=axes, values=heads[-1], inputs=(source,), source=computed_by)
        last = (f"{at}.q", f"{at}.k")
        if turns:
            last = tuple(
                add(f"{name}_turned", axes=f"H{letter}K", values=turn.output, inputs=(name,), source=RotaryPositions.forward)
                for name, letter, turn in zip(last, (rows, columns), turns, strict=True)
            )
        mask = self.calls[at][0].inputs[3]  # (1, 1, 1 or T, S)
        visible = mask[0].expand(-1, heads[0].shape[-2], -1)  # (1, T, S)
        for name in ("scores", "scaled", "masked", "weights") if self.config.attention_scale else ("scores", "masked", "weights"):
            values, shown_mask = self.inside[f"{at}.{name}"], visible if name in ("masked", "weights") else None
            axes, source = f"H{rows}{columns}", scaled_dot_product_attention
            last = (add(f"{at}.{name}", axes=axes, values=values, inputs=last, source=source, mask=shown_mask),)
        values = self.inside[f"{at}.mixed"]
        mixed = add(f"{at}.mixed", axes=f"H{rows}{wide}", values=values, inputs=(*last, f"{at}.v"), source=source)

        values, source = self.calls[f"{at}.W_o"][0].inputs[0], MultiHeadAttention.concat
        last = add(f"{at}.concat", axes=f"{rows}D", values=values, inputs=(mixed,), source=source)
        source = MultiHeadAttention.forward
        last = add(f"{at}.W_o", axes=f"{rows}D", values=self.output_of(f"{at}.W_o"), inputs=(last,), source=source)
        return self.close(at, layer, part, x, last, norm)

    def feed_forward(self, at: str, layer: int, part: str, x: str, norm: str) -> str:
        """Records one feed-forward sublayer."""
        letter, add = self.letter(x), partial(self.add, part=part, layer=layer, source=FeedForward.forward)
        y = self.norm(at, layer, part, x, norm, pre=True)
        y = add(f"{at}.hidden", axes=f"{letter}F", values=self.output_of(f"{at}.W_1"), inputs=(y,))
        y = add(f"{at}.activated", axes=f"{letter}F", values=self.calls[f"{at}.W_2"][0].inputs[0], inputs=(y,))
        y = add(f"{at}.W_2", axes=f"{letter}D", values=self.output_of(f"{at}.W_2"), inputs=(y,))
        return self.close(at, layer, part, x, y, norm)

    def close(self, at: str, layer: int, part: str, x: str, y: str, norm: str) -> str:
        """Records the end of a sublayer: x + y, and in post-norm models the norm of the sum."""
        if self.config.residual:
            number = int(norm[-1]) - 1  # the layer's only residual module runs once for each sublayer, in the order of the norms
            values = self.calls[f"{at.rpartition('.')[0]}.residual"][number].output
            y = self.add(f"{at}.residual", part, layer, self.stages[y].axes, values, (x, y), Residual.forward)
        return self.norm(at, layer, part, y, norm, pre=False)

    def norm(self, at: str, layer: int, part: str, x: str, name: str, pre: bool) -> str:
        """Records the norm before a sublayer (`pre`) or after it; returns x itself where this model has the other kind."""
        if self.config.norm != ("pre" if pre else "post"):
            return x
        source = DecoderLayer.forward if at.startswith("decoder") else EncoderLayer.forward
        values = self.output_of(f"{at.rpartition('.')[0]}.{name}")
        return self.add(f"{at}.norm", part, layer, self.stages[x].axes, values, (x,), source)

    def last_norm(self, part: str, letter: str, x: str, source: Callable) -> str:
        """Records the norm at the end of a stack, which only a pre-norm model has."""
        if self.config.norm != "pre":
            return x
        return self.add(f"{part}.norm", part, None, f"{letter}D", self.output_of(f"{part}_norm"), (x,), source)

    def add(
        self, address: str, part: str, layer: int | None, axes: str, values: Tensor, inputs: tuple[str, ...],
        source: Callable, mask: Tensor | None = None,
    ) -> str:  # fmt: skip
        """Adds one stage and returns its address. `values` (1, ...) lose the batch dimension."""
        name, visible = address.rpartition(".")[2], None if mask is None else _freeze(mask)
        self.stages[address] = Stage(address, name, part, layer, axes, _freeze(values), visible, inputs, source)
        return address

    def output_of(self, name: str) -> Tensor:
        """Returns the output of the module of this name."""
        return self.calls[name][0].output

    def letter(self, address: str) -> str:
        """Returns "S", "T" or "L": the side whose tokens are the rows of this stage, or both."""
        return self.stages[address].axes[0]


def _freeze(values: Tensor) -> np.ndarray:
    """(1, ...) -> (...), contiguous and read-only."""
    array = np.ascontiguousarray(values[0].cpu().numpy())
    array.flags.writeable = False
    return array
