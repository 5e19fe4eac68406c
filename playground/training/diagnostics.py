"""Diagnostics: what one training step does in every part of the model, read off while it is done.

A row of numbers by address: a route (model/sublayers.py) and a quantity, as in "encoder.0.self_attention/gradient". The quantities:
  gradient   length of the gradient of the batch's loss, before clipping
  weight     length of the parameters before the step
  update     length of the step, as a share of that
  mean, std  of the numbers that a sublayer adds to the stream (embeddings: with positions; projection: the logits)
  dead       share of the inner units of a feed-forward network that were above 0 at no token
  entropy.N  of the attention weights of head N, as a share of the most there could be
"memory/gradient" is the length of the gradient that arrives at the encoder's output; "encoder/gradient" and "decoder/gradient" are those
of all layers of a stack. All are of the step's own batch (mean, std and entropy of its first ROWS), padding left out, and nothing that
training computes is changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import PAD
from playground.data.batches import Batch
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.parts import Dropout, Linear
from playground.model.sublayers import sublayer_of, sublayers
from playground.model.transformer import Transformer

ROWS = 8  # are enough to tell a mean by


class StepDiagnostics:
    """Examines one training step: `watch` the forward and backward pass of its parts, and take the `row` once the parameters have moved.

    Hooks put a little of what passes aside; it is worked out at the end, all layers at once, which is what makes it cheap.
    """

    def __init__(self, first: Transformer, parameters: Mapping[Tensor, str]) -> None:
        """`first` computes the first part; `parameters` are the model's, each with its name."""
        self._first, self._parameters = first, parameters
        self._owners = list(map(sublayer_of, parameters.values()))
        self._batch: Batch | None = None  # of the first part
        self._outputs: dict[str, Tensor] = {}  # of each route, for the first rows (B, L, D)
        self._weights: dict[str, Tensor] = {}  # of each attention, for the first rows (B, H, Q, L)
        self._masks: dict[str, Tensor] = {}  # of each kind of attention, for the first rows (B, 1, Q, L)
        self._parts: list[dict[str, Tensor]] = []  # of each part: what is summed over all of them

    @contextmanager
    def watch(self, model: Transformer, batch: Batch) -> Iterator[None]:
        """One part. Hooks are on the model only inside."""
        part: dict[str, Tensor] = {}
        self._parts.append(part)
        real = {"encoder": (batch.src != PAD).float().flatten(), "decoder": (batch.tgt_in != PAD).float().flatten()}  # (B L,)
        with ExitStack() as hooks:

            def after(module: nn.Module, look: Callable[[Any, Any], None]) -> None:
                hooks.callback(module.register_forward_hook(lambda _, inputs, output: look(inputs[0], output)).remove)

            for route in sublayers(model.config):
                if route.endswith("feed_forward"):
                    after(model.get_submodule(route).W_2, partial(self._units, part, route, real[route.partition(".")[0]]))
            after(model.encoder_norm, partial(self._follow, part))
            if model is self._first:
                self._batch = batch
                after(model.decoder_norm, partial(self._project, model.projection))
                for route in sublayers(model.config):
                    if not route.endswith(("_norm", "projection")):
                        after(model.get_submodule(route.replace("_embedding", "_positions")), partial(self._hold, route))
                    if route.endswith("attention"):
                        hooks.enter_context(self._look(route, model.get_submodule(route)))
            yield

    def _hold(self, route: str, _: Tensor, output: Tensor | tuple[Tensor, Tensor]) -> None:
        self._outputs[route] = (output[0] if isinstance(output, tuple) else output)[:ROWS].detach().float().clone()

    def _project(self, projection: Linear, _: Tensor, states: Tensor) -> None:
        """The logits of the first rows: those of all are not even there in a step that takes its loss chunk by chunk."""
        with torch.no_grad():
            self._outputs["projection"] = F.linear(states[:ROWS], projection.weight, projection.bias).float()

    def _units(self, part: dict[str, Tensor], route: str, real: Tensor, hidden: Tensor, _: Tensor) -> None:
        hidden = hidden.float()
        above = hidden.detach() if self._first.config.activation == "relu" else hidden.detach().clamp(min=0)  # (B, L, d_ff)
        part[route] = real @ above.flatten(0, 1)  # how much each unit was, over all tokens (d_ff,)

    def _follow(self, part: dict[str, Tensor], _: Tensor, memory: Tensor) -> None:
        memory.register_hook(lambda gradient: part.update(memory=gradient.norm()))

    @contextmanager
    def _look(self, route: str, attention: MultiHeadAttention) -> Iterator[None]:
        """The weights of the first rows, also where attention doesn't return them."""
        attend = attention.attend

        def look(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor | None]:
            found, weights = attend(q, k, v, mask, power, dropout)
            if weights is None:
                with torch.no_grad():
                    _, weights = scaled_dot_product_attention(q[:ROWS], k[:ROWS], v[:ROWS], mask[:ROWS], power)
            self._weights[route], self._masks[_kind(route)] = weights[:ROWS].detach().float(), mask[:ROWS]
            return found, weights

        attention.attend = look
        try:
            yield
        finally:
            attention.attend = attend

    @torch.no_grad()
    def row(self, gradients: list[Tensor], before: list[Tensor]) -> dict[str, float]:
        """Every number by its address. For each parameter: the length of its gradient before clipping, and its value before the step."""
        arrived = math.hypot(*(part["memory"].item() for part in self._parts if "memory" in part))
        found = self._activations() | self._attention() | {"memory/gradient": arrived}
        lengths = self._lengths(gradients)
        found |= {f"{route}/gradient": length for route, length in lengths.items()}
        for stack in ("encoder", "decoder"):
            found[f"{stack}/gradient"] = math.hypot(*(length for route, length in lengths.items() if route.startswith(stack)))
        weights = self._lengths(torch._foreach_norm(before))
        steps = self._lengths(torch._foreach_norm(torch._foreach_sub(list(self._parameters), before)))
        for route, weight in weights.items():
            found |= {f"{route}/weight": weight, f"{route}/update": steps[route] / weight if weight else math.nan}
        return found

    def _lengths(self, lengths: list[Tensor]) -> dict[str, float]:
        """From the lengths of all parameters to those of the routes."""
        found: dict[str, list[float]] = {}
        for owner, length in zip(self._owners, torch.stack(lengths).tolist(), strict=True):
            found.setdefault(owner, []).append(length)
        return {route: math.hypot(*lengths) for route, lengths in found.items()}

    def _activations(self) -> dict[str, float]:
        """Mean and std of what each sublayer, embedding and the projection put out, and the dead units."""
        networks = [route for route in self._parts[0] if route != "memory"]
        found = {f"{route}/dead": (sum(part[route] for part in self._parts) == 0).float().mean().item() for route in networks}
        sides = (self._batch.src, ("src", "encoder")), (self._batch.tgt_in, ("tgt", "decoder")), (self._batch.tgt_in, ("projection",))
        for tokens, names in sides:
            real = (tokens[:ROWS] != PAD).float()  # (B, L)
            outputs = {route: x for route, x in self._outputs.items() if route.startswith(names)}
            x = (torch.stack(list(outputs.values())) * real[..., None]).flatten(1)  # (routes, B L D), padding 0
            count = x.shape[1] * real.mean()
            means, squares = x.sum(dim=1) / count, x.square().sum(dim=1) / count
            stds = (squares - means.square()).clamp(min=0).sqrt()
            for route, mean, std in zip(outputs, means.tolist(), stds.tolist(), strict=True):
                found |= {f"{route}/mean": mean, f"{route}/std": std}
        return found

    def _attention(self) -> dict[str, float]:
        """How evenly each head spreads its attention."""
        asks = {"encoder": self._batch.src[:ROWS] != PAD, "decoder": self._batch.tgt_in[:ROWS] != PAD}
        kinds: dict[str, list[str]] = {}
        for route in self._weights:
            kinds.setdefault(_kind(route), []).append(route)
        found = {}
        for kind, attentions in kinds.items():
            weights = torch.stack([self._weights[route] for route in attentions])
            shares = normalised_entropy(weights, self._masks[kind], asks[attentions[0].partition(".")[0]]).tolist()
            for route, heads in zip(attentions, shares, strict=True):
                found |= {f"{route}/entropy.{head}": share for head, share in enumerate(heads)}
        return found


def _kind(route: str) -> str:
    """Attentions of one kind have one mask: "decoder.1.cross_attention" -> "decoder.cross_attention"."""
    stack, _, name = route.split(".")
    return f"{stack}.{name}"


def normalised_entropy(weights: Tensor, mask: Tensor, asks: Tensor) -> Tensor:
    """Entropy of attention as a share of the largest possible: 0 all weight on one token, 1 spread evenly over all that may be seen.

    weights (layers, B, H, Q, L), mask broadcast to (B, 1, Q, L), asks (B, Q) True for real tokens -> (layers, H): the mean over the real
    tokens that may look at two others or more, NaN when there are none.
    """
    bits = -(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)  # (layers, B, H, Q)
    seen = mask.sum(dim=-1).expand(-1, 1, asks.shape[1])  # (B, 1, Q)
    choice = (seen > 1) & asks[:, None]
    shares = choice / seen.clamp(min=2).log2()
    return (bits * shares).sum(dim=(1, 3)) / choice.sum()
