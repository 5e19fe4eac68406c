"""What passes in a training step, put aside by hooks that change nothing: what each module was given and the gradient of what it gave, and
inside of the sublayers, which own no parameter, the queries, keys and values of each attention and the sum of each residual connection."""

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

KINDS = (nn.Linear, nn.Embedding, nn.LayerNorm, LearnedPositions)  # of modules that own parameters
STOCK = (training_attention, fused_attention, scaled_dot_product_attention)  # the paper's attention; another one has another gradient


class Flow(NamedTuple):
    """What went through one module for one part of the batch: `given` the numbers (B, L, in), or ids of tokens or positions (B, L); and the
    gradient of what it gave, (B, L, out)."""

    given: Tensor
    gradient: Tensor


class Attended(NamedTuple):
    """One attention for one part of the batch: q (B, H, Q, K), k (B, H, L, K) and v (B, H, L, U) as they were multiplied, mask (B, 1, Q, L)
    True where a query attends, what dropout multiplied the weights by (B, H, Q, L; None without), and the gradient of what the heads gave
    (B, H, Q, U). Scores were divided by K ^ power."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor
    kept: Tensor | None
    gradient: Tensor
    power: float


class Summed(NamedTuple):
    """One residual connection for one part of the batch: the gradient of the sum x + Sublayer(x), (B, L, D), and of x itself, which is more
    by what comes back through the sublayer."""

    of_sum: Tensor
    of_x: Tensor


class WatchedPart:
    """What is put aside of one part of the batch."""

    def __init__(self) -> None:
        self.flows: dict[str, tuple[Tensor, Tensor]] = {}  # by module: what it was given, and what it gave
        self.attentions: dict[str, tuple] = {}  # by sublayer: an Attended whose gradient is not known yet
        self.sums: dict[str, tuple[Tensor, Tensor]] = {}  # by sublayer: x, and the sum
        self.gradients: dict[str, Tensor] = {}
        self.logits = torch.empty(0)

    def note(self, name: str) -> Callable[[nn.Module, tuple, Tensor], None]:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            given = inputs[1].expand(output.shape[:2]) if isinstance(module, LearnedPositions) else inputs[0]
            self.flows[name] = given.detach(), output.detach()
            if name == "projection":
                self.logits = output.detach().float()
            self._await(name, output)

        return hook

    def note_sum(self, layer: str, names: Sequence[str]) -> Callable[[nn.Module, tuple, Tensor], None]:
        """A layer has one residual module, which runs once for each of its sublayers, in their order."""

        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            name = next(one for one in (f"{layer}.{sublayer}" for sublayer in names) if one not in self.sums)
            self.sums[name] = inputs[0].detach(), output.detach()
            self._await(f"{name} x", inputs[0])
            self._await(f"{name} sum", output)

        return hook

    @contextmanager
    def attending(self, name: str, attention: MultiHeadAttention) -> Iterator[None]:
        """Attention computes as before, and its arguments are put aside."""
        attend = attention.attend

        def noted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor | None]:
            before = dropout.generator.get_state() if dropout.active else None
            heads, weights = attend(q, k, v, mask, power, dropout)
            kept = None if before is None else _kept(dropout, before, (*q.shape[:-1], k.shape[-2]))
            self.attentions[name] = q.detach(), k.detach(), v.detach(), mask.expand(*q.shape[:1], 1, q.shape[-2], k.shape[-2]), kept, power
            self._await(f"{name} heads", heads)
            return heads, weights

        attention.attend = noted
        try:
            yield
        finally:
            attention.attend = attend

    def _await(self, name: str, tensor: Tensor) -> None:
        """Its gradient is put aside when it comes: the whole of it, from all that the tensor was used for."""
        if tensor.requires_grad:
            tensor.register_hook(lambda gradient: self.gradients.update({name: gradient.detach()}))

    def flow(self, name: str) -> Flow:
        given, gave = self.flows[name]
        return Flow(given, self.gradients.get(name, torch.zeros_like(gave)))

    def attended(self, name: str) -> Attended:
        q, k, v, mask, kept, power = self.attentions[name]
        nothing = v.new_zeros(*q.shape[:-1], v.shape[-1])
        return Attended(q, k, v, mask, kept, self.gradients.get(f"{name} heads", nothing), power)

    def summed(self, name: str) -> Summed:
        x, total = self.sums[name]
        return Summed(self.gradients.get(f"{name} sum", torch.zeros_like(total)), self.gradients.get(f"{name} x", torch.zeros_like(x)))


def _kept(dropout: Dropout, state: Tensor, shape: tuple[int, ...]) -> Tensor:
    """What Dropout multiplied by, drawn once more from the state in which its generator was."""
    after = dropout.generator.get_state()
    dropout.generator.set_state(state)
    kept = dropout.multipliers(torch.empty(shape, device=dropout.generator.device))
    dropout.generator.set_state(after)
    return kept


@contextmanager
def watched(micro_batches: Sequence[MicroBatch]) -> Iterator[list[WatchedPart]]:
    """One for each part of a batch, filled inside. The hooks are gone afterwards."""
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
                    hooks.enter_context(part.attending(name, module))
        yield parts
