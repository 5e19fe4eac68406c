"""Hooks that record a training step without changing it: the input of each module and the gradient of its output, and inside the
sublayers, which own no parameter, the queries, keys and values of each attention and the sum of each residual connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from playground.model.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from playground.model.layers import Residual
from playground.model.parts import Dropout
from playground.model.positions import LearnedPositions
from playground.model.sublayers import SUBLAYERS
from playground.training.attention import training_attention
from playground.training.loop import MicroBatch

KINDS = (nn.Linear, nn.Embedding, nn.LayerNorm, LearnedPositions)  # modules that own parameters
STOCK = (training_attention, fused_attention, scaled_dot_product_attention)  # the paper's attention; variants have other gradients


class Flow(NamedTuple):
    """One module and one part of the batch: its `input` (B, L, in), or ids of tokens or positions (B, L); and the gradient of its output
    (B, L, out)."""

    input: Tensor
    gradient: Tensor


class Attended(NamedTuple):
    """One attention and one part of the batch: q (B, H, Q, K), k (B, H, L, K) and v (B, H, L, U) as they were multiplied, mask (B, 1, Q, L)
    True where a query attends, the `multipliers` that dropout applied to the weights (B, H, Q, L; None without), and the gradient of the
    heads' output (B, H, Q, U). Scores were divided by K ^ power."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor
    multipliers: Tensor | None
    gradient: Tensor
    power: float


class Summed(NamedTuple):
    """One residual connection and one part of the batch: the gradients of the sum x + Sublayer(x), (B, L, D), and of x itself, which adds
    the gradient that comes back through the sublayer."""

    of_sum: Tensor
    of_x: Tensor


class WatchedPart:
    """The recordings of one part of the batch."""

    def __init__(self) -> None:
        self.flows: dict[str, tuple[Tensor, Tensor]] = {}  # by module: its input and its output
        self.attentions: dict[str, tuple] = {}  # by sublayer: the fields of an Attended but the gradient
        self.sums: dict[str, tuple[Tensor, Tensor]] = {}  # by sublayer: x, and the sum
        self.gradients: dict[str, Tensor] = {}
        self.logits = torch.empty(0)

    def note(self, name: str) -> Callable[[nn.Module, tuple, Tensor], None]:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            input = inputs[1].expand(output.shape[:2]) if isinstance(module, LearnedPositions) else inputs[0]
            self.flows[name] = input.detach(), output.detach()
            if name == "projection":
                self.logits = output.detach().float()
            self._record_gradient(name, output)

        return hook

    def note_sum(self, layer: str, names: Sequence[str]) -> Callable[[nn.Module, tuple, Tensor], None]:
        """Returns a hook for a layer's one residual module, which runs once for each of its sublayers, in their order."""

        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            name = next(name for name in (f"{layer}.{sublayer}" for sublayer in names) if name not in self.sums)
            self.sums[name] = inputs[0].detach(), output.detach()
            self._record_gradient(f"{name} x", inputs[0])
            self._record_gradient(f"{name} sum", output)

        return hook

    @contextmanager
    def record_attention(self, name: str, attention: MultiHeadAttention) -> Iterator[None]:
        """Records the arguments of an attention, which computes as before."""
        attend = attention.attend

        def record(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor | None]:
            before = dropout.generator.get_state() if dropout.active else None
            heads, weights = attend(q, k, v, mask, power, dropout)
            multipliers = None if before is None else _redraw_multipliers(dropout, before, (*q.shape[:-1], k.shape[-2]))
            whole_mask = mask.expand(*q.shape[:1], 1, q.shape[-2], k.shape[-2])
            self.attentions[name] = q.detach(), k.detach(), v.detach(), whole_mask, multipliers, power
            self._record_gradient(f"{name} heads", heads)
            return heads, weights

        attention.attend = record
        try:
            yield
        finally:
            attention.attend = attend

    def _record_gradient(self, name: str, tensor: Tensor) -> None:
        """Records the tensor's gradient when it is computed: the whole of it, summed over all uses."""
        if tensor.requires_grad:
            tensor.register_hook(lambda gradient: self.gradients.update({name: gradient.detach()}))

    def flow(self, name: str) -> Flow:
        input, output = self.flows[name]
        return Flow(input, self.gradients.get(name, torch.zeros_like(output)))

    def attended(self, name: str) -> Attended:
        q, k, v, mask, multipliers, power = self.attentions[name]
        zeros = v.new_zeros(*q.shape[:-1], v.shape[-1])
        return Attended(q, k, v, mask, multipliers, self.gradients.get(f"{name} heads", zeros), power)

    def summed(self, name: str) -> Summed:
        x, total = self.sums[name]
        return Summed(self.gradients.get(f"{name} sum", torch.zeros_like(total)), self.gradients.get(f"{name} x", torch.zeros_like(x)))


def _redraw_multipliers(dropout: Dropout, state: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Draws the multipliers of a past dropout again, from the state its generator had then."""
    after = dropout.generator.get_state()
    dropout.generator.set_state(state)
    multipliers = dropout.multipliers(torch.empty(shape, device=dropout.generator.device))
    dropout.generator.set_state(after)
    return multipliers


@contextmanager
def watch_parts(micro_batches: Sequence[MicroBatch]) -> Iterator[list[WatchedPart]]:
    """Yields a recording for each part of a batch, filled inside the block. The hooks are removed afterwards."""
    parts = [WatchedPart() for _ in micro_batches]
    with ExitStack() as hooks:
        for micro_batch, part in zip(micro_batches, parts, strict=True):
            for name, module in micro_batch.replica.named_modules():
                layer, _, _ = name.rpartition(".")
                if isinstance(module, KINDS):
                    hooks.callback(module.register_forward_hook(part.note(name)).remove)
                elif isinstance(module, Residual):
                    names = SUBLAYERS[layer.partition(".")[0]]
                    hooks.callback(module.register_forward_hook(part.note_sum(layer, names)).remove)
                elif isinstance(module, MultiHeadAttention) and module.attend in STOCK:
                    hooks.enter_context(part.record_attention(name, module))
        yield parts
