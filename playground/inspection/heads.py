"""Names for heads: a head's attention pattern over many sentences, with the number that supports it; "unclear" without one.

A name is a place (see inspection/attention.py) that holds at least half of the head's weight, or the largest weight of most rows, and
clearly more than chance would put there. One lucky sentence doesn't suffice: rows of all sentences count alike, and most of them must
have the place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from playground.config import BOS, EOS
from playground.inspection import Fact, attention, percent
from playground.inspection.attention import ABOVE_CHANCE, EVEN, HALF, MIN_ROWS, SHARP
from playground.model.masks import padded
from playground.model.transformer import Transformer

COVER = 0.5  # a place counts when at least this share of the rows has it…
SURE = 0.9  # …and names a head with HALF of its weight there, and ABOVE_CHANCE times what chance would put; this is always enough.
# Less than half is enough where it is the largest weight of most rows (see `attention.holds`): such a diagonal is obvious in the figure.
CLOSE = 0.05  # of two places with weights this close, the more informative one gives the name
CELLS = 2_000_000  # most weights of one kind in a forward pass
# Places, the most informative first; "even", "sharp" and "unclear" are names as well, but no places.
PLACES = (
    "padding", "aligned", "left_of_aligned", "right_of_aligned", "previous", "next", "same", "two_back", "forward", "ahead", "behind",
    "backward", "backward_from_end", "first", "last", "same_token",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """One sentence with the weights of all heads of one kind. Columns of `weights` beyond the tokens in `columns` are padding."""

    weights: np.ndarray  # (L, H, Q, K), only the rows of the sentence itself
    rows: tuple[str, ...]  # Q query tokens
    columns: tuple[str, ...]  # at most K key tokens
    alignment: Sequence[int | None] | None = None


class AttentionPattern(NamedTuple):
    """A head's mean weight on a place, and `chance`, that of evenly spread weight, over the `rows` that have it; `share` of these rows have
    their largest weight there."""

    name: str
    mass: float
    chance: float
    rows: int
    share: float


@dataclass(frozen=True)
class NamedHead:
    """One head over all sentences. Entropy is in bits, over the rows with a choice."""

    name: str  # one of PLACES, "even", "sharp" or "unclear"
    number: float | None  # the name's evidence: mean weight on the place; entropy, of "even" as a share of the largest possible
    second: AttentionPattern | None  # the next best place with more weight than by chance
    entropy: float
    aligned: float | None  # mean weight on the task's alignment; None without one
    padding: float | None  # mean weight on padding, in the rows of sentences with padding; None without any


@dataclass(frozen=True)
class HeadScores:
    """All heads of one kind: [layer][head], over `sentences` sentences. `most` is the entropy of evenly spread weight."""

    heads: tuple[tuple[NamedHead, ...], ...]
    sentences: int
    most: float

    def commonest(self) -> tuple[str, int]:
        """Returns the most frequent name, the first of equals, and its count."""
        names = [head.name for layer in self.heads for head in layer]
        name = max(names, key=names.count)
        return name, names.count(name)


def score(samples: Sequence[Sample], kind: str) -> HeadScores:
    """Names every head of "encoder", "decoder" or "cross" attention. Raises ValueError without a sample."""
    if not samples:
        raise ValueError("no sentence to score heads on")
    layers, heads = samples[0].weights.shape[:2]
    mass, won = ({name: np.zeros((layers, heads)) for name in PLACES} for _ in range(2))
    chance, count = dict.fromkeys(PLACES, 0.0), dict.fromkeys(PLACES, 0)
    bits, evenness, most, free = np.zeros((layers, heads)), np.zeros((layers, heads)), 0.0, 0
    for sample in samples:
        weights = np.asarray(sample.weights, dtype=np.float64)
        allowed, by_name = _find_places(sample, kind)
        places = np.stack(list(by_name.values()))  # (P, Q, K)
        rows = places.any(axis=-1) & (allowed & ~places).any(axis=-1)  # (P, Q): other rows don't count
        places = places & rows[..., None]
        words = np.einsum("lhqk,pqk->plh", weights[..., : len(sample.columns)], places, optimize=True)
        largest = weights == weights.max(axis=-1, keepdims=True)
        inside = np.einsum("lhqk,pqk->plhq", largest[..., : len(sample.columns)], places.astype(np.float32), optimize=True)
        wins = (inside == largest.sum(axis=-1)).sum(axis=-1)  # a tie with another token counts for no place
        shares = (places.sum(axis=-1) / allowed.sum(axis=-1)).sum(axis=-1)
        for name, total, wins_of, share, n in zip(by_name, words, wins, shares, rows.sum(axis=-1), strict=True):
            mass[name] += total
            won[name] += wins_of
            chance[name], count[name] = chance[name] + float(share), count[name] + int(n)
        padding = weights[..., len(sample.columns) :]
        if padding.size and kind != "decoder":  # there padding comes after every row, so the causal mask hides it
            mass["padding"] += padding.sum(axis=(-2, -1))
            chance["padding"] += len(allowed) * padding.shape[-1] / weights.shape[-1]
            count["padding"] += len(allowed)
        choices = allowed.sum(axis=-1)
        possible = np.log2(choices[choices >= 2])
        entropy = attention.entropy(weights[:, :, choices >= 2])  # (L, H, rows)
        bits, evenness = bits + entropy.sum(axis=-1), evenness + (entropy / possible).sum(axis=-1)
        most, free = most + float(possible.sum()), free + len(possible)

    def name_head(layer: int, head: int) -> NamedHead:
        patterns = [
            AttentionPattern(name, float(mass[name][layer, head]) / n, chance[name] / n, n, float(won[name][layer, head]) / n)
            for name, n in count.items()
            if n
        ]
        of = {place.name: place.mass for place in patterns}
        # a pattern of few rows gives no name
        common = [place for place in patterns if place.rows >= COVER * free and attention.has_enough_rows(place.mass, place.rows)]
        entropy, even = (float(total[layer, head]) / max(free, 1) for total in (bits, evenness))
        name, number = _choose_name(common, even, entropy, free)
        rivals = [place for place in common if place.name != name and place.mass > place.chance]
        second = max(rivals, key=lambda place: place.mass - place.chance, default=None)
        return NamedHead(name, number, second, entropy, of.get("aligned"), of.get("padding"))

    named = tuple([tuple([name_head(layer, head) for head in range(heads)]) for layer in range(layers)])
    return HeadScores(named, len(samples), most / max(free, 1))


def _choose_name(places: Sequence[AttentionPattern], evenness: float, entropy: float, rows: int) -> tuple[str, float | None]:
    """Chooses the name of a head with its number, from measurements on `rows` rows."""
    good = [place for place in places if _is_held(place)]
    if good:
        best = max(place.mass for place in good)
        place = next(place for place in good if place.mass >= best - CLOSE)
        return place.name, place.mass
    if rows < MIN_ROWS or (entropy > SHARP and evenness < EVEN):
        return "unclear", None
    return ("even", evenness) if evenness >= EVEN else ("sharp", entropy)


def _is_held(place: AttentionPattern) -> bool:
    much = place.mass >= max(HALF, min(ABOVE_CHANCE * place.chance, SURE))
    return much or attention.holds(place.share, place.mass, place.chance, place.rows)


def _find_places(sample: Sample, kind: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns the mask without padding, (Q, K), and by name the places of one sentence, each (Q, K)."""
    shape = (sample.weights.shape[2], len(sample.columns))
    allowed = np.tri(*shape, dtype=bool) if kind == "decoder" else np.ones(shape, dtype=bool)
    places = attention.places(kind, shape, alignment=sample.alignment, rows=sample.rows, columns=sample.columns)
    return allowed, {name: place & allowed for name, place in places.items()}


# ---- from a model ----


@torch.inference_mode()
def read_weights(model: Transformer, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], kind: str) -> Iterator[np.ndarray]:
    """Yields the weights (L, H, Q, K) of all heads of a kind for each pair of (source, target) ids without BOS and EOS, teacher-forced.

    Sentences are read in padded batches as in training: rows are the pair's own (EOS counted), columns those of the longest in its batch.
    The model is in eval mode.
    """
    config, device = model.config, model.projection.weight.device
    longest = 1 + max(max(len(src), len(tgt)) for src, tgt in pairs)
    batch_size = max(2, CELLS // (longest**2 * config.n_heads * max(map(config.attention_layers, ("encoder", "decoder")))))
    for start in range(0, len(pairs), batch_size):
        batch = pairs[start : start + batch_size]
        src = padded([[*ids, EOS] for ids, _ in batch]).to(device)
        output = model(src, padded([[BOS, *ids] for _, ids in batch]).to(device))
        stack = torch.stack(getattr(output, kind), dim=1).nan_to_num().cpu().numpy()  # (B, L, H, Q, K)
        for at, pair in enumerate(batch):
            yield stack[at, :, :, : len(pair[kind != "encoder"]) + 1]


# ---- over training ----


def first_aligned_fact(steps: Sequence[int], masses: np.ndarray) -> Fact:
    """States the first head with half of its weight on the right place: masses (L, H, steps).

    "heads.found_first", or "heads.found_at_once" at the first step, with {layer}, {head} (from 1), {step}, {percent} there and {last} at
    the last step; "heads.found_none" with the head that has most at the last step.
    """
    there = (masses >= HALF).any(axis=(0, 1))
    at = int(there.argmax()) if there.any() else len(steps) - 1
    layer, head = map(int, np.unravel_index(int(masses[:, :, at].argmax()), masses.shape[:2]))
    values = {"layer": layer + 1, "head": head + 1, "step": steps[at], "percent": percent(masses[layer, head, at])}
    if not there.any():
        return Fact("heads.found_none", values)
    return Fact("heads.found_first" if at else "heads.found_at_once", values | {"last": percent(masses[layer, head, -1])})


def entropy_change_fact(entropies: np.ndarray) -> Fact:
    """States the largest change of a head's entropy (L, H, steps), in bits, from the first step to the last: {layer}, {head}, {first},
    {last}."""
    change = np.abs(entropies[:, :, -1] - entropies[:, :, 0])
    layer, head = map(int, np.unravel_index(int(change.argmax()), change.shape))
    first, last = (f"{entropies[layer, head, at]:.2f}" for at in (0, -1))
    return Fact("heads.settled", {"layer": layer + 1, "head": head + 1, "first": first, "last": last})
