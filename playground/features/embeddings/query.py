"""A run's vectors along its replay: the embedding tables, and the encoder's and decoder's states of tokens in sentences."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.data.corpus import Corpus
from playground.features.shared.queries.reader import Reader
from playground.inspection.vectors import follow_axes, principal_axes, project, turn_axes
from playground.model.masks import padded, padding_mask
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.run import Run

TABLES, STATES = ("src", "tgt"), ("memory", "decoder")
TOKENS = 150  # displayed rows of a table
POINTS = 240  # states of held-out sentences
COUNTED = 2000  # training sentences in which tokens are counted
Pair = tuple[Sequence[int], Sequence[int]]  # source ids without EOS, and output ids, EOS last if it was written


@dataclass(frozen=True)
class Vectors:
    """N points that stay the same along the replay while their vectors move. The last `own` of them are the page's sentence.

    Of a table, ids are its rows and places are 0; of states, place 1 is a sentence's first. A decoder state is named by the token that it
    predicts.
    """

    step: int
    ids: tuple[int, ...]
    names: tuple[str, ...]
    places: tuple[int, ...]
    own: int
    vectors: np.ndarray  # (N, D) float32
    axes: np.ndarray  # (2, D): the same for all steps of a replay
    axes_step: int | None  # the step of these principal axes; None while the run trains, when each frame has its own
    xy: np.ndarray  # (N, 2) along the axes, the mean of all points but the sentence's own at 0
    limit: float  # the largest absolute coordinate in the whole replay


def vectors(reader: Reader, corpora: Corpora, run: Run, step: int | None, space: str, pair: Pair) -> Vectors:
    """Projects a `space`: "src" or "tgt", the embeddings; "memory" or "decoder", the states. `pair` is the page's sentence. Raises
    Refusal."""
    corpus = corpora.get(run.experiment, run.pairs)
    if space in TABLES:
        ids, places, own = _frequent_ids(corpus, space), (0,) * TOKENS, 0
        inputs: Sequence = ids
    else:
        inputs = [*_sentences(corpus), pair]
        ids, places = _list_points(space, inputs)
        own = len(_list_points(space, [pair])[0])
    steps = run.replay.parameter_steps

    def replay(model: Transformer, actual: int) -> tuple[np.ndarray, np.ndarray, float]:
        models = [reader.model_at(run, kept_step)[0] for kept_step in steps] or [model]
        frames = [_read(each, space, inputs if space in TABLES else inputs[:-1]) for each in models]
        followed = follow_axes(frames)
        axes = principal_axes(frames[-1], followed)
        return followed, axes, max(float(np.abs(project(points, axes)).max()) for points in frames)

    followed, axes, limit = reader.work(run, steps[-1] if steps else step, ("axes", space, steps), replay)
    key = ("vectors", space, tuple(map(tuple, pair)) if own else ())
    points, actual = reader.work(run, step, key, lambda model, actual: (_read(model, space, inputs), actual))
    cloud, axes_step = points[: len(points) - own], steps[-1] if steps else actual
    if run.working and step is None:  # the replay has no last step yet: every frame has its own axes, which follow the last ones
        axes, axes_step = turn_axes(principal_axes(cloud), followed), None
    xy = project(points, axes, cloud.astype(np.float64).mean(axis=0))
    tokenizer = run.tokenizers[space in ("tgt", "decoder")]
    names = tuple(map(tokenizer.piece, ids))
    limit = max(limit, float(np.abs(xy).max()))
    return Vectors(actual, tuple(ids), names, tuple(places[: len(ids)]), own, points, axes, axes_step, xy, limit)


def _frequent_ids(corpus: Corpus, space: str) -> tuple[int, ...]:
    """Returns the ids of a table: all of a small one, else the special tokens and the most frequent in training."""
    size = (corpus.src_tokenizer if space == "src" else corpus.tgt_tokenizer).size
    if size <= TOKENS:
        return tuple(range(size))
    side = "src_ids" if space == "src" else "tgt_ids"
    counts = Counter(token for item in corpus.train[:COUNTED] for token in getattr(item, side))
    special = range(len(SPECIAL_TOKENS))
    frequent = [token for token, _ in counts.most_common() if token not in special]
    return (*special, *frequent[: TOKENS - len(special)])


def _sentences(corpus: Corpus) -> list[Pair]:
    """Returns the first held-out sentences with their right answers, about `POINTS` tokens together."""
    pairs: list[Pair] = []
    room = POINTS
    for item in corpus.heldout:
        room -= max(len(item.src_ids), len(item.tgt_ids)) + 1
        if room < 0 and pairs:
            break
        pairs.append((item.src_ids, (*item.tgt_ids, EOS)))
    return pairs


def _list_points(space: str, pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """Returns (token ids, places from 1) of the states, sentence by sentence."""
    rows = [(*src, EOS) if space == "memory" else tuple(written) for src, written in pairs]
    return [token for row in rows for token in row], [place for row in rows for place in range(1, len(row) + 1)]


def _read(model: Transformer, space: str, inputs: Sequence) -> np.ndarray:
    """Reads the vectors (N, D) of these rows of a table, or of the states of these pairs."""
    if space in TABLES:
        return getattr(model, f"{space}_embedding").weight[list(inputs)].numpy().copy()
    return states(model, space, inputs)


@torch.inference_mode()
def states(model: Transformer, space: str, pairs: Sequence[Pair]) -> np.ndarray:
    """Computes the states of all tokens of these pairs, sentence by sentence: (N, D). "memory": of the source with its EOS, the input of
    cross-attention; "decoder": the projection's input at each output token, teacher-forced. Eval mode."""
    src = padded([(*source, EOS) for source, _ in pairs])
    memory, _ = model.encode(src)
    if space == "memory":
        return memory[src != PAD].numpy()
    tgt_in = padded([(BOS, *written[:-1]) for _, written in pairs])
    decoded = model.decode(tgt_in, memory, padding_mask(src))[0]
    lengths = torch.tensor([len(written) for _, written in pairs])  # a poor model may write PAD itself
    return decoded[torch.arange(tgt_in.shape[1]) < lengths[:, None]].numpy()
