"""A run's vectors along its replay: the embedding tables, and the states that encoder and decoder have for tokens in their sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.data.corpus import Corpus
from playground.inspection.vectors import followed_axes, principal_axes, project, turned
from playground.model.masks import padding_mask
from playground.model.padding import padded
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.runs.corpora import Corpora
from playground.runs.run import Run

TABLES, STATES = ("src", "tgt"), ("memory", "decoder")
TOKENS = 150  # of a table that are shown
POINTS = 240  # states of held-out sentences
COUNTED = 2000  # training sentences in which tokens are counted
Pair = tuple[Sequence[int], Sequence[int]]  # source ids without EOS, and what is written, EOS last if it came


@dataclass(frozen=True)
class Vectors:
    """N points that stay the same along the replay while their vectors move. The last `own` of them are the page's sentence.

    Of a table, ids are the rows shown and places are 0; of states, place 1 is a sentence's first. A decoder state is named by the token
    it is about to write.
    """

    step: int
    ids: tuple[int, ...]
    names: tuple[str, ...]
    places: tuple[int, ...]
    own: int
    vectors: np.ndarray  # (N, D) float32
    axes: np.ndarray  # (2, D): the same for all steps of a replay
    axes_step: int | None  # the step whose principal axes they are; None while the run trains, when each picture has its own
    xy: np.ndarray  # (N, 2) along the axes, the middle of all points but the sentence's own at 0
    limit: float  # the largest absolute coordinate in the whole replay


def vectors(reader: Reader, corpora: Corpora, run: Run, step: int | None, what: str, pair: Pair) -> Vectors:
    """`what`: "src" or "tgt", the embeddings; "memory" or "decoder", the states. `pair` is the page's sentence. Raises Refusal."""
    corpus = corpora.get(run.experiment, run.pairs)
    if what in TABLES:
        ids, places, own = _frequent(corpus, what), (0,) * TOKENS, 0
        asked: Sequence = ids
    else:
        asked = [*_sentences(corpus), pair]
        ids, places = _points(what, asked)
        own = len(_points(what, [pair])[0])
    kept = run.replay.parameter_steps

    def replay(model: Transformer, actual: int) -> tuple[np.ndarray, np.ndarray, float]:
        models = [reader.model_at(run, kept_step)[0] for kept_step in kept] or [model]
        frames = [_of(one, what, asked if what in TABLES else asked[:-1]) for one in models]
        followed = followed_axes(frames)
        axes = principal_axes(frames[-1], followed)
        return followed, axes, max(float(np.abs(project(points, axes)).max()) for points in frames)

    followed, axes, limit = reader.work(run, kept[-1] if kept else step, ("axes", what, kept), replay)
    key = ("vectors", what, tuple(map(tuple, pair)) if own else ())
    found, actual = reader.work(run, step, key, lambda model, actual: (_of(model, what, asked), actual))
    cloud, axes_step = found[: len(found) - own], kept[-1] if kept else actual
    if run.working and step is None:  # no replay yet to be seen from its end: every frame has its own axes, which follow the last ones
        axes, axes_step = turned(principal_axes(cloud), followed), None
    xy = project(found, axes, cloud.astype(np.float64).mean(axis=0))
    tokenizer = run.tokenizers[what in ("tgt", "decoder")]
    names = tuple(map(tokenizer.piece, ids))
    limit = max(limit, float(np.abs(xy).max()))
    return Vectors(actual, tuple(ids), names, tuple(places[: len(ids)]), own, found, axes, axes_step, xy, limit)


def _frequent(corpus: Corpus, what: str) -> tuple[int, ...]:
    """The ids of a table, all of them where they are few, else the special ones and those that training says most often."""
    size = (corpus.src_tokenizer if what == "src" else corpus.tgt_tokenizer).size
    if size <= TOKENS:
        return tuple(range(size))
    side = "src_ids" if what == "src" else "tgt_ids"
    counts = Counter(token for item in corpus.train[:COUNTED] for token in getattr(item, side))
    special = range(len(SPECIAL_TOKENS))
    frequent = [token for token, _ in counts.most_common() if token not in special]
    return (*special, *frequent[: TOKENS - len(special)])


def _sentences(corpus: Corpus) -> list[Pair]:
    """The first held-out sentences with their right answers: as many as have about `POINTS` tokens."""
    found: list[Pair] = []
    room = POINTS
    for item in corpus.heldout:
        room -= max(len(item.src_ids), len(item.tgt_ids)) + 1
        if room < 0 and found:
            break
        found.append((item.src_ids, (*item.tgt_ids, EOS)))
    return found


def _points(what: str, pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """(token ids, places from 1) of the states, sentence by sentence."""
    rows = [(*src, EOS) if what == "memory" else tuple(written) for src, written in pairs]
    return [token for row in rows for token in row], [place for row in rows for place in range(1, len(row) + 1)]


def _of(model: Transformer, what: str, asked: Sequence) -> np.ndarray:
    """The vectors (N, D) of these rows of a table, or of the states of these pairs."""
    if what in TABLES:
        return getattr(model, f"{what}_embedding").weight[list(asked)].numpy().copy()
    return states(model, what, asked)


@torch.inference_mode()
def states(model: Transformer, what: str, pairs: Sequence[Pair]) -> np.ndarray:
    """The states of all tokens of these pairs, sentence by sentence: (N, D). "memory": of the source with its EOS, as cross-attention
    reads them; "decoder": those that the projection turns into the written tokens, each fed the ones before it. Eval mode."""
    src = padded([(*source, EOS) for source, _ in pairs])
    memory, _ = model.encode(src)
    if what == "memory":
        return memory[src != PAD].numpy()
    tgt_in = padded([(BOS, *written[:-1]) for _, written in pairs])
    found = model.decode(tgt_in, memory, padding_mask(src))[0]
    lengths = torch.tensor([len(written) for _, written in pairs])  # a poor model may write PAD itself
    return found[torch.arange(tgt_in.shape[1]) < lengths[:, None]].numpy()
