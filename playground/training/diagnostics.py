"""Diagnostics: norms and statistics of every part of the model in one training step, recorded while it runs.

A row of numbers by address: a sublayer (model/costs.py) and a quantity, as in "encoder.0.self_attention/gradient". The quantities:
  gradient   norm of the gradient of the batch's loss, before clipping
  weight     norm of the parameters before the step
  update     norm of the step, as a fraction of `weight`
  mean, std  of the numbers that a sublayer adds to the stream (embeddings: with positions; projection: the logits)
  dead       fraction of the hidden units of a feed-forward network that were above 0 at no token
  entropy.N  of the attention weights of head N, as a fraction of the maximum
"memory/gradient" is the norm of the gradient at the encoder's output; "encoder/gradient" and "decoder/gradient" are those of all layers of
a stack. A decoder-only model has none of the three, and its layers are called twice: with the source, then with the target. All are of the
step's own batch (mean, std and entropy of its first ROWS) without padding. Training itself is unchanged.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import PAD
from playground.data.batches import Batch
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.costs import sublayer_of, sublayers
from playground.model.parts import Linear
from playground.model.transformer import Transformer

ROWS = 8  # enough to estimate a mean


class StepDiagnostics:
    """Examines one training step: `watch` the forward and backward pass of its parts, then take the `row` once the parameters have moved.

    Hooks store a few tensors; the numbers are computed at the end for all layers at once, which makes it cheap.
    """

    def __init__(self, first: Transformer, parameters: Mapping[Tensor, str]) -> None:
        """`first` computes the first part; `parameters` maps the model's parameters to their names."""
        self._first, self._parameters = first, parameters
        self._owners = list(map(sublayer_of, parameters.values()))
        self._batch: Batch | None = None  # of the first part
        self._is_joint = first.config.alteration.decoder_only
        self._outputs: dict[str, list[Tensor]] = {}  # of each call of a sublayer, for the first rows (B, L, D)
        self._weights: dict[str, list[Tensor]] = {}  # of each call of an attention, for the first rows (B, H, Q, L)
        self._masks: dict[str, list[Tensor]] = {}  # the same (B, 1, Q, L)
        self._parts: list[dict[str, Tensor]] = []  # of each part: the tensors that are summed over all parts

    @contextmanager
    def watch(self, model: Transformer, batch: Batch) -> Iterator[None]:
        """Watches one part. Hooks are on the model only inside the block."""
        part: dict[str, Tensor] = {}
        self._parts.append(part)
        src, tgt = (batch.src != PAD).float().flatten(), (batch.tgt_in != PAD).float().flatten()  # (B L,)
        real = {"encoder": [src], "decoder": [tgt], "layers": [src, tgt]}  # of each call
        with ExitStack() as hooks:

            def after(module: nn.Module, look: Callable[[Any, Any], None]) -> None:
                hooks.callback(module.register_forward_hook(lambda _, inputs, output: look(inputs[0], output)).remove)

            for sublayer in sublayers(model.config):
                if sublayer.endswith("feed_forward"):
                    after(model.get_submodule(sublayer).W_2, partial(self._units, part, sublayer, iter(real[sublayer.partition(".")[0]])))
            after(model.encoder_norm, partial(self._follow, part))
            if model is self._first:
                self._batch = batch
                after(model.decoder_norm, partial(self._project, model.projection))
                for sublayer in sublayers(model.config):
                    if not sublayer.endswith(("_norm", "projection")):
                        after(model.get_submodule(sublayer.replace("_embedding", "_positions")), partial(self._hold, sublayer))
                    if sublayer.endswith("attention"):
                        hooks.enter_context(self._look(sublayer, model.get_submodule(sublayer)))
            yield

    def _hold(self, sublayer: str, _: Tensor, output: Tensor | tuple[Tensor, Tensor]) -> None:
        rows = (output[0] if isinstance(output, tuple) else output)[:ROWS].detach().float().clone()
        self._outputs.setdefault(sublayer, []).append(rows)

    def _project(self, projection: Linear, _: Tensor, states: Tensor) -> None:
        """Stores the logits of the first rows: a chunked loss never holds those of all."""
        with torch.no_grad():
            self._outputs["projection"] = [F.linear(states[:ROWS], projection.weight, projection.bias).float()]

    def _units(self, part: dict[str, Tensor], sublayer: str, real: Iterator[Tensor], hidden: Tensor, _: Tensor) -> None:
        hidden = hidden.float()
        above = hidden.detach() if self._first.config.activation == "relu" else hidden.detach().clamp(min=0)  # (B, L, d_ff)
        part[sublayer] = part.get(sublayer, 0) + next(real) @ above.flatten(0, 1)  # sum of each unit over all tokens (d_ff,)

    def _follow(self, part: dict[str, Tensor], _: Tensor, memory: Tensor) -> None:
        memory.register_hook(lambda gradient: part.update(memory=gradient.norm()))

    @contextmanager
    def _look(self, sublayer: str, attention: MultiHeadAttention) -> Iterator[None]:
        """Records the attention weights of the first rows within the block; computes them where fast attention returns none."""
        attend = attention.attend_heads

        def look(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor | None]:
            heads, weights = attend(q, k, v, mask)
            if weights is None:
                with torch.no_grad():
                    _, weights = scaled_dot_product_attention(q[:ROWS], k[:ROWS], v[:ROWS], mask[:ROWS], attention.power)
            self._weights.setdefault(sublayer, []).append(weights[:ROWS].detach().float())
            self._masks.setdefault(sublayer, []).append(mask[:ROWS])
            return heads, weights

        attention.attend_heads = look
        try:
            yield
        finally:
            del attention.attend_heads

    @torch.no_grad()
    def row(self, gradients: list[Tensor], before: list[Tensor]) -> dict[str, float]:
        """Returns every number by its address. `gradients`: each parameter's gradient norm before clipping; `before`: its value before the
        step."""
        arrived = math.hypot(*(part["memory"].item() for part in self._parts if "memory" in part))
        row = self._activations() | self._attention() | ({} if self._is_joint else {"memory/gradient": arrived})
        lengths = self._lengths(gradients)
        row |= {f"{sublayer}/gradient": length for sublayer, length in lengths.items()}
        for stack in () if self._is_joint else ("encoder", "decoder"):
            row[f"{stack}/gradient"] = math.hypot(*(length for sublayer, length in lengths.items() if sublayer.startswith(stack)))
        weights = self._lengths(torch._foreach_norm(before))
        steps = self._lengths(torch._foreach_norm(torch._foreach_sub(list(self._parameters), before)))
        for sublayer, weight in weights.items():
            row |= {f"{sublayer}/weight": weight, f"{sublayer}/update": steps[sublayer] / weight if weight else math.nan}
        return row

    def _lengths(self, lengths: list[Tensor]) -> dict[str, float]:
        """Combines the norms of all parameters to one per sublayer."""
        by_sublayer: dict[str, list[float]] = {}
        for owner, length in zip(self._owners, torch.stack(lengths).tolist(), strict=True):
            by_sublayer.setdefault(owner, []).append(length)
        return {sublayer: math.hypot(*lengths) for sublayer, lengths in by_sublayer.items()}

    def _activations(self) -> dict[str, float]:
        """Returns mean and std of the output of each sublayer, embedding and the projection, and the fraction of dead units."""
        networks = [sublayer for sublayer in self._parts[0] if sublayer != "memory"]
        statistics = {f"{sublayer}/dead": (sum(part[sublayer] for part in self._parts) == 0).float().mean().item() for sublayer in networks}
        src, tgt_in = self._batch.src[:ROWS], self._batch.tgt_in[:ROWS]
        both = torch.cat((src, tgt_in), dim=1)
        for tokens, names in ((src, ("src", "encoder")), (tgt_in, ("tgt", "decoder")), (both, ("layers",)), (tgt_in, ("projection",))):
            real = (tokens != PAD).float()  # (B, L)
            outputs = {sublayer: self._join_calls(sublayer) for sublayer in self._outputs if sublayer.startswith(names)}
            if not outputs:
                continue
            x = (torch.stack(list(outputs.values())) * real[..., None]).flatten(1)  # (sublayers, B L D), padding 0
            count = x.shape[1] * real.mean()
            means, squares = x.sum(dim=1) / count, x.square().sum(dim=1) / count
            stds = (squares - means.square()).clamp(min=0).sqrt()
            for sublayer, mean, std in zip(outputs, means.tolist(), stds.tolist(), strict=True):
                statistics |= {f"{sublayer}/mean": mean, f"{sublayer}/std": std}
        return statistics

    def _join_calls(self, sublayer: str) -> Tensor:
        """Returns the output of a sublayer, of a decoder-only model's layer for both sides; its embeddings share a module of positions."""
        calls = self._outputs[sublayer]
        return torch.cat(calls, dim=1) if sublayer.startswith("layers") else calls[0 if sublayer.startswith("src") else -1]

    def _attention(self) -> dict[str, float]:
        """Returns the normalised entropy of each head."""
        src, tgt_in = self._batch.src[:ROWS] != PAD, self._batch.tgt_in[:ROWS] != PAD
        queries = {"encoder": src, "decoder": tgt_in, "layers": torch.cat((src, tgt_in), dim=1)}
        kinds: dict[str, list[str]] = {}
        for sublayer in self._weights:
            kinds.setdefault(_kind(sublayer), []).append(sublayer)
        entropies = {}
        for kind, attentions in kinds.items():
            weights = torch.stack([_join_rows(self._weights[sublayer]) for sublayer in attentions])
            calls = zip(self._masks[attentions[0]], self._weights[attentions[0]], strict=True)
            masks = [mask.expand(-1, -1, rows.shape[2], -1) for mask, rows in calls]
            shares = normalised_entropy(weights, _join_rows(masks), queries[kind.partition(".")[0]]).tolist()
            for sublayer, heads in zip(attentions, shares, strict=True):
                entropies |= {f"{sublayer}/entropy.{head}": share for head, share in enumerate(heads)}
        return entropies


def _kind(sublayer: str) -> str:
    """Returns the kind of an attention, one per mask: "decoder.1.cross_attention" -> "decoder.cross_attention"."""
    stack, _, name = sublayer.split(".")
    return f"{stack}.{name}"


def _join_rows(calls: Sequence[Tensor]) -> Tensor:
    """Joins the rows of all calls (..., Q, L); those of earlier calls can't see the keys of later ones."""
    width = calls[-1].shape[-1]
    return torch.cat([F.pad(rows, (0, width - rows.shape[-1])) for rows in calls], dim=-2)


def normalised_entropy(weights: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
    """Returns the entropy of attention as a fraction of its maximum: 0 all weight on one token, 1 spread evenly over all visible tokens.

    weights (layers, B, H, Q, L), mask broadcast to (B, 1, Q, L), queries (B, Q) True for real tokens -> (layers, H): the mean over the real
    queries with at least two visible keys, NaN when there are none.
    """
    bits = -(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)  # (layers, B, H, Q)
    visible = mask.sum(dim=-1).expand(-1, 1, queries.shape[1])  # (B, 1, Q)
    choice = (visible > 1) & queries[:, None]
    shares = choice / visible.clamp(min=2).log2()
    return (bits * shares).sum(dim=(1, 3)) / choice.sum()
