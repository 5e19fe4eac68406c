"""A trace: attention weights and probabilities of a model at every step of one given sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import BOS, EOS
from playground.decoding.model_decoder import require_eval
from playground.model.transformer import Transformer


@dataclass(frozen=True)
class Trace:
    """Attention and probabilities while the model wrote tgt_ids (T tokens) for src_ids (S tokens, EOS at the end).

    Row t belongs to the step that wrote tgt_ids[t]: probabilities (V), self-attention over tgt_in, cross-attention over src_ids. L layers.
    """

    src_ids: tuple[int, ...]
    tgt_ids: tuple[int, ...]
    encoder: np.ndarray  # (L, H, S, S) float32; L = 0 for a model without attention layers
    decoder: np.ndarray  # (L, H, T, T)
    cross: np.ndarray  # (L, H, T, S)
    probabilities: np.ndarray  # (T, V)

    @property
    def tgt_in(self) -> tuple[int, ...]:
        """The tokens the decoder was fed: BOS, and all of tgt_ids but the last."""
        return (BOS, *self.tgt_ids[:-1])


@torch.inference_mode()
def trace(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Trace:
    """Traces one teacher-forced pass: the model at each step of writing `target` (with EOS to include that step).

    A model whose states depend on later tokens is run anew for each step; the weights are those of the last run. Raises ValueError for an
    empty target.
    """
    if not target:
        raise ValueError("a trace needs at least one target token")
    require_eval(model)
    src = torch.tensor([(*source, EOS)], device=model.projection.weight.device)
    tgt_in = torch.tensor([(BOS, *target[:-1])], device=src.device)
    output = model(src, tgt_in)
    if not model.cacheable:
        before = [model(src, tgt_in[:, :length]).logits[:, -1:] for length in range(1, tgt_in.shape[1])]
        output = output._replace(logits=torch.cat((*before, output.logits[:, -1:]), dim=1))
    sides = {"encoder": (src, src), "decoder": (tgt_in, tgt_in), "cross": (tgt_in, src)}
    encoder, decoder, cross = (_stack_layers(getattr(output, part), *map(len, (q[0], k[0]))) for part, (q, k) in sides.items())
    probabilities = output.logits[0].softmax(dim=-1).cpu().numpy()
    return Trace((*source, EOS), tuple(target), encoder, decoder, cross, probabilities)


def _stack_layers(weights: Sequence[torch.Tensor | None], queries: int, keys: int) -> np.ndarray:
    """Concatenates the weights of all attention layers (L, H, Q, K); a recurrent model has none."""
    layers = [layer for layer in weights if layer is not None]
    return torch.cat(layers).cpu().numpy() if layers else np.zeros((0, 0, queries, keys), dtype=np.float32)
