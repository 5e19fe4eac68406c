"""Activation patching: a corrupted sentence is run with one activation of a clean one, and how much of the clean answer comes back (Meng et
al. 2022, section 2; Wang et al. 2022, section 3).

All runs are rows of one batch through the model's own code: row 0 is the clean run, row 1 the corrupted one, and each further row is the
corrupted one into which hooks copy activations of row 0.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import BOS, EOS, ModelConfig
from playground.inspection.activations import run_once
from playground.inspection.interventions import PARTS
from playground.model.copies import shadow_copy
from playground.model.masks import padded
from playground.model.transformer import Transformer

CELLS = 8_000_000  # most attention weights of one layer in a pass
STREAMS = {"source": "encoder", "target": "decoder"}  # residual stream -> its stack
ONE_STREAM = {"target": "layers"}  # of a decoder-only model, through the source and the target
SUBLAYERS = {  # of a layer, with the module whose input is patched
    "encoder": {"encoder": "self_attention.W_o", "feed_forward": "feed_forward.W_2"},
    "decoder": {"decoder": "self_attention.W_o", "cross": "cross_attention.W_o", "feed_forward": "feed_forward.W_2"},
    "layers": {"decoder": "self_attention.W_o", "feed_forward": "feed_forward.W_2"},
}
MAX_CANDIDATES = 64  # corrupted sentences that are tried


class Patch(NamedTuple):
    """The input (B, L, D) of a module, by its name in the model, becomes that of the clean run: at one `place` or all, in the columns of
    one `head` or all. The input of W_o holds the heads' outputs side by side; that of W_2 decides the feed-forward sublayer's output."""

    module: str
    place: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Patching:
    """The next token after a prefix: the logit difference between the clean and the corrupted answer, in both runs and with each patch.

    `restored` is 0 at the corrupted run's difference and 1 at the clean one's: for each of STREAMS, or ONE_STREAM, (layers + 1, places),
    first the embeddings, last the output of the stack, which is the memory in the encoder; for each kind of attention (layers, H); and for
    "encoder_sublayers", "decoder_sublayers" or "layers_sublayers" (layers, sublayers in the order of SUBLAYERS). The places of ONE_STREAM
    are those of the source, then of the target.
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
    longest = 2 + len(clean) + len(prefix) if model.config.alteration.decoder_only else 1 + max(len(clean), len(prefix))
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
        copy.get_submodule(name).register_forward_pre_hook(make_hook(patches, model.config.n_heads))
    device = model.projection.weight.device
    src = padded([[*clean, EOS], *[[*corrupted, EOS]] * (1 + len(rows))]).to(device)
    return run_once(copy, src, padded([[BOS, *prefix]] * len(src)).to(device)).logits[:, -1]


def make_hook(patches: Sequence[tuple[int, Patch]], n_heads: int) -> Callable[[nn.Module, tuple], tuple]:
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
    grids, is_joint = {}, config.alteration.decoder_only
    for stream, stack in (ONE_STREAM if is_joint else STREAMS).items():
        layers, sublayers = [f"{stack}.{layer}" for layer in range(config.attention_layers(stack))], SUBLAYERS[stack]
        places, last = source + target if is_joint else source if stack == "encoder" else target, "decoder" if is_joint else stack
        grids[stream] = [[Patch(module, place) for place in range(places)] for module in (*layers, f"{last}_norm")]
        grids[f"{stack}_sublayers"] = [[Patch(f"{layer}.{module}") for module in sublayers.values()] for layer in layers]
        for kind in filter(PARTS.__contains__, sublayers):
            grids[kind] = [[Patch(f"{layer}.{sublayers[kind]}", head=head) for head in range(config.n_heads)] for layer in layers]
    return grids


@torch.inference_mode()
def find_different(model: Transformer, clean: Sequence[int], corrupted: Sequence[Sequence[int]], target: Sequence[int]) -> np.ndarray:
    """Returns (N, T): whether the likeliest token at each step differs between the clean source and each of N corrupted ones of its length,
    while the T tokens of `target`, EOS last, are forced."""
    device = model.projection.weight.device
    src = padded([[*ids, EOS] for ids in (clean, *corrupted)]).to(device)
    best = model(src, padded([[BOS, *target[:-1]]] * len(src)).to(device)).logits.argmax(dim=-1)
    return (best[1:] != best[:1]).cpu().numpy()


def list_corrupted(
    model: Transformer, clean: Sequence[int], target: Sequence[int], sentences: Iterable[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Lists sentences that differ from `clean` in one token and whose output differs from `target`, EOS last: first those whose output
    differs at the fewest steps. The other tokens are those of `sentences`, the ones that follow the same token there first."""
    pairs = sorted({pair for sentence in sentences for pair in zip((BOS, *sentence), sentence, strict=False)})
    options = [
        list(dict.fromkeys(new for _, new in sorted(pairs, key=lambda pair: pair[0] != before) if new != old))
        for before, old in zip((BOS, *clean), clean, strict=False)
    ]
    middle_first = sorted(range(len(clean)), key=lambda place: abs(place - len(clean) // 2))
    rounds = zip_longest(*(options[place] for place in middle_first))
    candidates = [
        (*clean[:place], new, *clean[place + 1 :])
        for round_of_new in islice(rounds, -(-MAX_CANDIDATES // len(clean)))
        for place, new in zip(middle_first, round_of_new, strict=True)
        if new is not None
    ]
    counts = find_different(model, clean, candidates, target).sum(axis=-1) if candidates else []
    return [candidate for count, candidate in sorted(zip(counts, candidates, strict=True), key=itemgetter(0)) if count]


def patch_all(model: Transformer, clean: Sequence[int], corrupted: Sequence[int], prefix: Sequence[int]) -> Patching | None:
    """Measures every patch of a picture; None if both runs answer the same. Raises ValueError for sources of unlike length."""
    grids = list_patches(model.config, len(clean) + 1, len(prefix) + 1)
    logits = run_patched(model, clean, corrupted, prefix, [[patch] for grid in grids.values() for row in grid for patch in row])
    right, wrong = logits[:2].argmax(dim=-1).tolist()
    if right == wrong:
        return None
    differences = (logits[:, right] - logits[:, wrong]).double().cpu().numpy()
    restored = (differences - differences[1]) / (differences[0] - differences[1])
    values, at = {}, 2
    for name, grid in grids.items():
        size = len(grid) * len(grid[0])
        values[name], at = restored[at : at + size].reshape(len(grid), -1), at + size
    return Patching((right, wrong), (float(differences[0]), float(differences[1])), values)
