"""Health: what one training step does in every part of the model, read off while it is done.

A row of numbers by address: a route (model/routes.py) and a quantity, as in "encoder.0.self_attention/gradient". The quantities:
  gradient   length of the gradient of the batch's loss, before clipping
  weight     length of the parameters before the step
  update     length of the step, as a share of that
  mean, std  of the numbers that a sublayer adds to the stream (embeddings: with positions; projection: the logits)
  dead       share of the inner units of a feed-forward network that were above 0 at no token
  entropy.N  of the attention weights of head N, as a share of the most there could be
"memory/gradient" is the length of the gradient that arrives at the encoder's output; "encoder/gradient" and "decoder/gradient" are those
of all layers of a stack. All are of the step's own batch (mean, std and entropy of its first SENTENCES), padding left out: nothing is
computed twice, and nothing that training computes is changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import PAD
from playground.data.batches import Batch
from playground.model.masks import padding_mask, target_mask
from playground.model.routes import route_of, routes
from playground.model.transformer import Output, Transformer

SENTENCES = 8  # are enough to tell a mean by


class Checkup:
    """Examines one training step: `watch` its forward and backward pass, and take the `row` once the parameters have moved.

    Hooks put a little of what passes aside; it is worked out at the end, all layers at once, which is what makes it cheap.
    """

    def __init__(self, model: Transformer, parameters: Mapping[Tensor, str], batch: Batch) -> None:
        """`parameters` are the model's, each with its name."""
        self._model, self._batch, self._parameters = model, batch, parameters
        self._owners = list(map(route_of, parameters.values()))
        self._real = {"encoder": (batch.src != PAD).float().flatten(), "decoder": (batch.tgt_in != PAD).float().flatten()}  # (B L,)
        self._outputs: dict[str, Tensor] = {}  # of each route, for the first sentences (B, L, D)
        self._active: dict[str, Tensor] = {}  # of each feed-forward network, how much each unit was, over all tokens (d_ff,)
        self._arrived = torch.zeros(())  # length of the gradient at the encoder's output

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Hooks are on the model only inside."""
        with ExitStack() as hooks:

            def after(module: nn.Module, look: Callable[[Any, Any], None]) -> None:
                hooks.callback(module.register_forward_hook(lambda _, inputs, output: look(inputs[0], output)).remove)

            for route in routes(self._model.config):
                if not route.endswith("_norm"):
                    module = self._model.get_submodule(route.replace("_embedding", "_positions"))
                    after(module, partial(self._hold, route))
                if route.endswith("feed_forward"):
                    after(module.W_2, partial(self._units, route))
            after(self._model.encoder_norm, self._follow)
            yield

    def _hold(self, route: str, _: Tensor, output: Tensor | tuple[Tensor, Tensor]) -> None:
        self._outputs[route] = (output[0] if isinstance(output, tuple) else output)[:SENTENCES].detach().clone()

    def _units(self, route: str, hidden: Tensor, _: Tensor) -> None:
        above = hidden.detach() if self._model.config.activation == "relu" else hidden.detach().clamp(min=0)  # (B, L, d_ff)
        self._active[route] = self._real[route.partition(".")[0]] @ above.flatten(0, 1)

    def _follow(self, _: Tensor, memory: Tensor) -> None:
        memory.register_hook(self._arrives)

    def _arrives(self, gradient: Tensor) -> None:
        self._arrived = gradient.norm()

    @torch.no_grad()
    def row(self, output: Output, gradients: list[Tensor], before: list[Tensor]) -> dict[str, float]:
        """Every number by its address. For each parameter: the length of its gradient before clipping, and its value before the step."""
        found = self._activations() | self._attention(output) | {"memory/gradient": self._arrived.item()}
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
        found = {f"{route}/dead": (active == 0).float().mean().item() for route, active in self._active.items()}
        sides = (self._batch.src, ("src", "encoder")), (self._batch.tgt_in, ("tgt", "decoder")), (self._batch.tgt_in, ("projection",))
        for tokens, names in sides:
            real = (tokens[:SENTENCES] != PAD).float()  # (B, L)
            outputs = {route: x for route, x in self._outputs.items() if route.startswith(names)}
            x = (torch.stack(list(outputs.values())) * real[..., None]).flatten(1)  # (routes, B L D), padding 0
            count = x.shape[1] * real.mean()
            means, squares = x.sum(dim=1) / count, x.square().sum(dim=1) / count
            stds = (squares - means.square()).clamp(min=0).sqrt()
            for route, mean, std in zip(outputs, means.tolist(), stds.tolist(), strict=True):
                found |= {f"{route}/mean": mean, f"{route}/std": std}
        return found

    def _attention(self, output: Output) -> dict[str, float]:
        """How evenly each head spreads its attention."""
        src, tgt_in = self._batch.src[:SENTENCES], self._batch.tgt_in[:SENTENCES]
        kinds = (
            ("encoder.{}.self_attention", output.encoder, padding_mask(src), src),
            ("decoder.{}.self_attention", output.decoder, target_mask(tgt_in), tgt_in),
            ("decoder.{}.cross_attention", output.cross, padding_mask(src), tgt_in),
        )
        found = {}
        for name, layers, mask, asks in kinds:
            shares = evenness(torch.stack([weights[:SENTENCES] for weights in layers]), mask, asks != PAD).tolist()
            for layer, heads in enumerate(shares):
                found |= {f"{name.format(layer)}/entropy.{head}": share for head, share in enumerate(heads)}
        return found


def evenness(weights: Tensor, mask: Tensor, asks: Tensor) -> Tensor:
    """Entropy of attention as a share of the largest possible: 0 all weight on one token, 1 spread evenly over all that may be seen.

    weights (layers, B, H, Q, L), mask broadcast to (B, 1, Q, L), asks (B, Q) True for real tokens -> (layers, H): the mean over the real
    tokens that may look at two others or more, NaN when there are none.
    """
    bits = -(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)  # (layers, B, H, Q)
    seen = mask.sum(dim=-1).expand(-1, 1, asks.shape[1])  # (B, 1, Q)
    choice = (seen > 1) & asks[:, None]
    shares = choice / seen.clamp(min=2).log2()
    return (bits * shares).sum(dim=(1, 3)) / choice.sum()
