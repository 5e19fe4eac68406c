"""A trace: everything the model sees and thinks while it writes one given sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import BOS, EOS
from playground.decoding.model_decoder import check
from playground.model.transformer import Transformer


@dataclass(frozen=True)
class Trace:
    """What the model saw and thought while it wrote tgt_ids (T tokens) for src_ids (S tokens, EOS at the end).

    Row t belongs to the step that wrote tgt_ids[t]: probabilities (V), own attention over tgt_in, cross-attention over src_ids. L layers.
    """

    src_ids: tuple[int, ...]
    tgt_ids: tuple[int, ...]
    encoder: np.ndarray  # (L, H, S, S) float32; no layers of a model without any
    decoder: np.ndarray  # (L, H, T, T)
    cross: np.ndarray  # (L, H, T, S)
    probabilities: np.ndarray  # (T, V)

    @property
    def tgt_in(self) -> tuple[int, ...]:
        """The tokens the decoder was fed: BOS, and all of tgt_ids but the last."""
        return (BOS, *self.tgt_ids[:-1])


@torch.inference_mode()
def trace(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Trace:
    """One teacher-forced pass: what the model would have thought at each step of writing `target` (with EOS if that step is wanted).

    A model in which a token changes with what is written after it is asked anew at each step; the weights are those of the last one.
    Raises ValueError for an empty target.
    """
    if not target:
        raise ValueError("a trace needs at least one target token")
    check(model)
    src = torch.tensor([(*source, EOS)], device=model.projection.weight.device)
    tgt_in = torch.tensor([(BOS, *target[:-1])], device=src.device)
    output = model(src, tgt_in)
    if not model.cacheable:
        before = [model(src, tgt_in[:, :length]).logits[:, -1:] for length in range(1, tgt_in.shape[1])]
        output = output._replace(logits=torch.cat((*before, output.logits[:, -1:]), dim=1))
    sides = {"encoder": (src, src), "decoder": (tgt_in, tgt_in), "cross": (tgt_in, src)}
    encoder, decoder, cross = (_stacked(getattr(output, part), *map(len, (q[0], k[0]))) for part, (q, k) in sides.items())
    probabilities = output.logits[0].softmax(dim=-1).cpu().numpy()
    return Trace((*source, EOS), tuple(target), encoder, decoder, cross, probabilities)


def _stacked(weights: Sequence[torch.Tensor | None], queries: int, keys: int) -> np.ndarray:
    """Of all layers that attend (L, H, Q, K): none of a recurrent model."""
    found = [layer for layer in weights if layer is not None]
    return torch.cat(found).cpu().numpy() if found else np.zeros((0, 0, queries, keys), dtype=np.float32)
