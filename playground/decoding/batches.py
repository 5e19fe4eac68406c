"""Many sentences: the best output for each, written side by side with others of about its length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.decoding.beam import searches
from playground.decoding.sampling import greedy
from playground.model.transformer import Transformer

TOKENS = 2048  # of the sources that are written side by side: more are no faster, and their caches take memory


def best(
    model: Transformer, sources: Sequence[Sequence[int]], max_lengths: Sequence[int], width: int = 1, length_penalty: float = 0.0
) -> list[tuple[int, ...]]:  # fmt: skip
    """What greedy decoding writes for each source, or a beam of this width as its best; in the order of the sources, each with its own
    length limit. The same tokens as for one source after the other."""
    found: dict[int, tuple[int, ...]] = {}
    for places in _alike(sources, TOKENS // width):
        texts, limits = [sources[at] for at in places], [max_lengths[at] for at in places]
        if width == 1:
            written = (hypothesis.ids for hypothesis in greedy(model, texts, max(limits)))
        else:
            written = (one.hypotheses[0].ids for one in searches(model, texts, width, length_penalty, limits))
        found |= {at: ids[:limit] for at, ids, limit in zip(places, written, limits, strict=True)}
    return [found[at] for at in range(len(sources))]


def _alike(sources: Sequence[Sequence[int]], tokens: int) -> Iterator[list[int]]:
    """The places of all sources in batches of neighbours in length, of no more than so many tokens, padding included, if they are more
    than one."""
    batch: list[int] = []
    for at in sorted(range(len(sources)), key=lambda place: len(sources[place])):
        if batch and (len(batch) + 1) * (len(sources[at]) + 1) > tokens:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
