"""Batched decoding: the best output for each of many sentences, batched with others of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.decoding.beam import searches
from playground.decoding.sampling import greedy
from playground.model.transformer import Transformer

TOKENS = 2048  # source tokens per batch: more are no faster, and their caches take memory


def best(
    model: Transformer, sources: Sequence[Sequence[int]], max_lengths: Sequence[int], width: int = 1, length_penalty: float = 0.0
) -> list[tuple[int, ...]]:  # fmt: skip
    """Returns the greedy output for each source, or the best of a beam of this width; in the order of the sources, each with its own
    length limit. The same tokens as for one source after the other."""
    outputs: dict[int, tuple[int, ...]] = {}
    for places in _batch_by_length(sources, TOKENS // width):
        texts, limits = [sources[at] for at in places], [max_lengths[at] for at in places]
        if width == 1:
            written = (hypothesis.ids for hypothesis in greedy(model, texts, max(limits)))
        else:
            written = (search.hypotheses[0].ids for search in searches(model, texts, width, length_penalty, limits))
        outputs |= {at: ids[:limit] for at, ids, limit in zip(places, written, limits, strict=True)}
    return [outputs[at] for at in range(len(sources))]


def _batch_by_length(sources: Sequence[Sequence[int]], tokens: int) -> Iterator[list[int]]:
    """Yields the indices of all sources in batches of neighbours in length, each of one source or of at most `tokens` tokens with
    padding."""
    batch: list[int] = []
    for at in sorted(range(len(sources)), key=lambda place: len(sources[place])):
        if batch and (len(batch) + 1) * (len(sources[at]) + 1) > tokens:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
