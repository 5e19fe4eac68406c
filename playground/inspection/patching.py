"""Activation patching: a corrupted sentence is run with one activation of a clean one, and how much of the clean answer comes back (Meng et al.
2022, section 2; Wang et al. 2022, section 3).

All runs are rows of one batch through the model's own code: row 0 is the clean run, row 1 the corrupted one, and each further row is the
corrupted one into which hooks copy activations of row 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import BOS, EOS, ModelConfig
from playground.inspection.interventions import PARTS
from playground.model.copies import shadow_copy
from playground.model.packing import padded
from playground.model.transformer import Transformer

CELLS = 8_000_000  # most attention weights of one layer in a pass
STREAMS = ("source", "target")  # the residual streams of the encoder and of the decoder
ATTENTIONS = {"encoder": "encoder.{}.self_attention", "decoder": "decoder.{}.self_attention", "cross": "decoder.{}.cross_attention"}


class Patch(NamedTuple):
    """The input (B, L, D) of a module, by its name in the model, becomes that of the clean run: at one `place` or all, in the columns of
    one `head` or all. The input of W_o holds the heads' outputs side by side; that of W_2 decides the feed-forward sublayer's output."""

    module: str
    place: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Patching:
    """The next token after a prefix: the logit difference between the clean and the corrupted answer, in both runs and with each patch.

    `restored` is 0 at the corrupted run's difference and 1 at the clean one's: for each of STREAMS (layers + 1, places), first the
    embeddings, last the input of the stack's last norm, which is the memory in the encoder; for each kind of attention (layers, H + 1),
    the last column with all heads, which is the sublayer's output; for "encoder" and "decoder" one column more, of the feed-forward.
    """

    answers: tuple[int, int]  # token ids
    differences: tuple[float, float]
    restored: dict[str, np.ndarray]


@torch.inference_mode()
def run_patched(
    model: Transformer, clean: Sequence[int], corrupted: Sequence[int], prefix: Sequence[int], rows: Sequence[Sequence[Patch]]
) -> Tensor:
    """Returns the logits (2 + N, V) after `prefix`: of the clean run, of the corrupted one, and of N corrupted ones with the patches of a
    row each. Token ids come without BOS and EOS. The model is in eval mode. Raises ValueError for sources of unlike length."""
    if len(clean) != len(corrupted):
        raise ValueError(f"patches need sources of one length, not {len(clean)} and {len(corrupted)}")
    longest = 1 + max(len(clean), len(prefix))
    most = max(1, CELLS // (longest**2 * model.config.n_heads))
    logits = [_run_batch(model, clean, corrupted, prefix, rows[first : first + most]) for first in range(0, max(len(rows), 1), most)]
    return torch.cat([part[2 * bool(at) :] for at, part in enumerate(logits)])


def _run_batch(
    model: Transformer, clean: Sequence[int], corrupted: Sequence[int], prefix: Sequence[int], rows: Sequence[Sequence[Patch]]
) -> Tensor:
    copy, by_module = shadow_copy(model), {}
    for row, patches in enumerate(rows, start=2):
        for patch in patches:
            by_module.setdefault(patch.module, []).append((row, patch))
    for name, patches in by_module.items():
        copy.get_submodule(name).register_forward_pre_hook(_make_hook(patches, model.config.n_heads))
    device = model.projection.weight.device
    src = padded([[*clean, EOS], *[[*corrupted, EOS]] * (1 + len(rows))]).to(device)
    return copy(src, padded([[BOS, *prefix]] * len(src)).to(device)).logits[:, -1]


def _make_hook(patches: Sequence[tuple[int, Patch]], n_heads: int) -> Callable[[nn.Module, tuple], tuple]:
    """Returns a hook that copies row 0 of a module's input into the patched rows."""

    def copy_clean(module: nn.Module, inputs: tuple) -> tuple:
        x = inputs[0].clone()
        width = x.shape[-1] // n_heads
        for row, (_, place, head) in patches:
            cut = slice(None) if place is None else place, slice(None) if head is None else slice(head * width, (head + 1) * width)
            x[(row, *cut)] = x[(0, *cut)]
        return x, *inputs[1:]

    return copy_clean


def list_patches(config: ModelConfig, source: int, target: int) -> dict[str, list[list[Patch]]]:
    """Lists every patch of a picture, as `Patching.restored` arranges them, for `source` and `target` tokens with EOS and BOS."""
    grids = {}
    for stream, part, places in zip(STREAMS, PARTS, (source, target), strict=False):
        modules = [*(f"{part}.{layer}" for layer in range(config.attention_layers(part))), f"{part}_norm"]
        grids[stream] = [[Patch(module, place) for place in range(places)] for module in modules]
    for part, name in ATTENTIONS.items():
        grids[part] = [
            [Patch(f"{name.format(layer)}.W_o", head=head) for head in (*range(config.n_heads), None)]
            + ([Patch(f"{part}.{layer}.feed_forward.W_2")] if part != "cross" else [])
            for layer in range(config.attention_layers(part))
        ]
    return grids


def find_different(model: Transformer, clean: Sequence[int], corrupted: Sequence[Sequence[int]], target: Sequence[int]) -> np.ndarray:
    """Returns (N, T): whether the likeliest token at each step differs between the clean source and each of N corrupted ones of its length,
    while the T tokens of `target`, EOS last, are forced."""
    src = padded([[*ids, EOS] for ids in (clean, *corrupted)])
    with torch.inference_mode():
        device = model.projection.weight.device
        best = model(src.to(device), padded([[BOS, *target[:-1]]] * len(src)).to(device)).logits.argmax(dim=-1)
    return (best[1:] != best[:1]).cpu().numpy()


def patch_all(model: Transformer, clean: Sequence[int], corrupted: Sequence[int], prefix: Sequence[int]) -> Patching | None:
    """Measures every patch of a picture; None if both runs answer the same. Raises ValueError for sources of unlike length."""
    grids = list_patches(model.config, len(clean) + 1, len(prefix) + 1)
    logits = run_patched(model, clean, corrupted, prefix, [[patch] for grid in grids.values() for row in grid for patch in row])
    right, wrong = logits[:2].argmax(dim=-1).tolist()
    if right == wrong:
        return None
    differences = (logits[:, right] - logits[:, wrong]).double().cpu().numpy()
    restored, at = (differences - differences[1]) / (differences[0] - differences[1]), 2
    values = {}
    for name, grid in grids.items():
        shape = len(grid), len(grid[0])
        values[name], at = restored[at : at + shape[0] * shape[1]].reshape(shape), at + shape[0] * shape[1]
    return Patching((right, wrong), (float(differences[0]), float(differences[1])), values)
