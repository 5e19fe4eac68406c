"""Reasons for the next token: its probability, the prediction of each layer, and the share of each part.

The logit lens reads each decoder layer's prediction as if it were the last one (nostalgebraist, 2020). Direct logit attribution splits a
token's logit: with the scale of every norm fixed, a logit is a sum over the parts that write to the residual stream: embedding, positions,
every attention head, every feed-forward network, and the biases (Elhage et al. 2021).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import BOS, EOS
from playground.inspection import Fact
from playground.inspection.activations import Call, model_inputs, module_calls
from playground.model.copies import shadow_copy
from playground.model.costs import NORMS
from playground.model.transformer import Transformer


def top(probabilities: np.ndarray, count: int = 5) -> list[tuple[int, float]]:
    """Returns the `count` likeliest ids of a distribution (V,) with their probabilities, likeliest first; ties in the order of ids."""
    p = np.asarray(probabilities, dtype=np.float64)
    return [(int(i), float(p[i])) for i in np.argsort(-p, kind="stable")[:count]]


# --- the logit lens ---


@torch.inference_mode()
def logit_lens(model: Transformer, source: Sequence[int], target: Sequence[int]) -> np.ndarray:
    """Reads probabilities off each decoder layer while `target` is forced: (N + 1, T, V) for N layers and T target tokens.

    Row 0 is read off the embeddings before the first layer, row N is the model's output. Every row goes through the last norm and the
    output projection, which were trained on the last layer only. `source` comes without its EOS; the model is in eval mode. Raises
    ValueError for an empty target.
    """
    if not target:
        raise ValueError("a lens needs at least one target token")
    copy, states = shadow_copy(model), []
    layers = copy.layers if model.config.alteration.decoder_only else copy.decoder
    layers[0].register_forward_pre_hook(lambda layer, inputs: states.append(inputs[0]))
    for layer in layers:
        layer.register_forward_hook(lambda layer, inputs, output: states.append(output[0]))
    device = model.projection.weight.device
    copy(torch.tensor([(*source, EOS)], device=device), torch.tensor([(BOS, *target[:-1])], device=device))
    read_off = (copy.project(copy.decoder_norm(state))[0].softmax(dim=-1) for state in states[-1 - len(layers) :])  # (1, T, D) -> (T, V)
    return torch.stack(list(read_off)).cpu().numpy()


def decided(rows: np.ndarray) -> np.ndarray:
    """Returns for each step the first row of a lens (N + 1, T, V) from which on the likeliest token is the final one: (T,) in 0..N."""
    agrees = rows.argmax(axis=-1) == rows[-1].argmax(axis=-1)  # (N + 1, T)
    return len(rows) - np.cumprod(agrees[::-1], axis=0).sum(axis=0)


def lens_fact(lens: np.ndarray) -> Fact:
    """States the layer of the final answer: "teacher_forcing.lens_layer" with the {layer} that decides most steps, {steps} of {all}, and
    {early}, those decided by the embeddings; "teacher_forcing.lens_embedding" when most are decided before the first layer."""
    rows = decided(lens)
    counts = np.bincount(rows, minlength=len(lens))
    most = int(counts.argmax())
    values = {"layer": most, "steps": int(counts[most]), "all": len(rows), "early": int(counts[0])}
    return Fact("teacher_forcing.lens_layer" if most else "teacher_forcing.lens_embedding", values)


# --- direct logit attribution ---

ATTENTIONS = {"self_attention": "decoder", "cross_attention": "cross"}


class Part(NamedTuple):
    """A writer to the decoder's residual stream: "embedding", "positions", a head of "decoder" or "cross", "feed_forward", or "biases" (of
    linear maps and norms together). Layers and heads are counted from 0."""

    kind: str
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Attribution:
    """The projection's input as a sum over parts (C, T, D), in the order of computation, and the projection: weight (V, D), bias (V,)."""

    parts: tuple[Part, ...]
    vectors: np.ndarray
    weight: np.ndarray
    bias: np.ndarray

    def votes(self, at: int, token: int, other: int) -> np.ndarray:
        """Returns each part's share (C,) of logit(token) - logit(other) at target place `at`. The projection's own bias is in "biases"."""
        shares = self.vectors[:, at] @ (self.weight[token] - self.weight[other])
        shares[self.parts.index(Part("biases"))] += self.bias[token] - self.bias[other]
        return shares

    def path(self, at: int, token: int, other: int) -> np.ndarray:
        """Returns the stream's logit(token) and logit(other) after each part, each minus the mean of all logits, (C, 2)."""
        centred = self.weight - self.weight.mean(axis=0)
        steps = self.vectors[:, at] @ centred[[token, other]].T
        steps[self.parts.index(Part("biases"))] += (self.bias - self.bias.mean())[[token, other]]
        return steps.cumsum(axis=0)


@torch.inference_mode()
def attribute(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Attribution:
    """Attributes the logits while `target` is forced, in float64, so that the sum is the logit to rounding. `source` comes without its EOS;
    the model is in eval mode and as in the paper, no variant of it. Raises ValueError for an empty target."""
    if not target:
        raise ValueError("an attribution needs at least one target token")
    src, tgt_in = (ids.to(model.projection.weight.device) for ids in model_inputs(source, target))
    calls, _ = module_calls(model, src, tgt_in)
    return _Stream(model, calls).attribution()


class _Stream:
    """The decoder's residual stream, split by its writers: every part has its own (T, D). A decoder-only model calls its modules with the
    source first, and last with the target."""

    def __init__(self, model: Transformer, calls: dict[str, list[Call]]) -> None:
        self.model, self.config, self.calls = model, model.config, calls
        self.sums: dict[Part, Tensor] = {}

    def attribution(self) -> Attribution:
        self._embed()
        stack = "layers" if self.config.alteration.decoder_only else "decoder"
        for layer in range(self.config.attention_layers("decoder")):
            for norm, name in NORMS[stack].items():
                self._sublayer(layer, f"{stack}.{layer}", name, norm)
        if self.config.norm == "pre":
            self._norm("decoder_norm")
        parts = (*(part for part in self.sums if part.kind != "biases"), Part("biases"))
        vectors = torch.stack([self.sums.get(part, torch.zeros_like(self.sums[parts[0]])) for part in parts])
        projection = self.model.projection
        bias = torch.zeros(projection.out_features) if projection.bias is None else projection.bias
        return Attribution(parts, *(tensor.cpu().double().numpy() for tensor in (vectors, projection.weight, bias)))

    def _embed(self) -> None:
        call = (self.calls.get("tgt_positions") or self.calls["src_positions"])[-1]  # of a table for both sides
        self.sums[Part("embedding")] = call.inputs[0][0].double()
        if self.config.encoding.added:
            self.sums[Part("positions")] = (call.output - call.inputs[0])[0].double()

    def _sublayer(self, layer: int, place: str, name: str, norm: str) -> None:
        """Adds a sublayer's output; without the residual connection it replaces all before it. A post-norm rescales all."""
        if not self.config.residual:
            self.sums = {}
        at = f"{place}.{name}"
        if name == "feed_forward":
            output = self.model.get_submodule(f"{at}.W_2")
            self._write(Part(name, layer), self.calls[at][-1].output[0].double() - _bias_of(output))
        else:
            output = self.model.get_submodule(f"{at}.W_o")
            heads = self.calls[f"{at}.W_o"][-1].inputs[0][0].double().chunk(self.config.n_heads, dim=-1)  # H times (T, K)
            matrices = output.weight.double().chunk(self.config.n_heads, dim=1)  # H times (D, K)
            for head, (mixed, matrix) in enumerate(zip(heads, matrices, strict=True)):
                self._write(Part(ATTENTIONS[name], layer, head), mixed @ matrix.T)
        self._write(Part("biases"), _bias_of(output).expand_as(next(iter(self.sums.values()))))
        if self.config.norm == "post":
            self._norm(f"{place}.{norm}")

    def _norm(self, name: str) -> None:
        """(x - mean) / sqrt(var + eps) * gain + bias, with the variance that the whole sum had: linear in every part of it."""
        norm = self.model.get_submodule(name)
        assert isinstance(norm, nn.LayerNorm)
        whole = self.calls[name][-1].inputs[0][0].double()
        scale = norm.weight.double() / (whole.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
        self.sums = {part: (x - x.mean(dim=-1, keepdim=True)) * scale for part, x in self.sums.items()}
        if norm.bias is not None:
            self._write(Part("biases"), norm.bias.double().expand_as(whole))

    def _write(self, part: Part, x: Tensor) -> None:
        self.sums[part] = self.sums[part] + x if part in self.sums else x


def _bias_of(linear: nn.Linear) -> Tensor:
    """Returns the bias (D,); zeros without one."""
    return linear.weight.new_zeros(linear.out_features).double() if linear.bias is None else linear.bias.double()
