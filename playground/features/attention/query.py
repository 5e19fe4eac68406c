"""The heads of a run: their names over held-out sentences, how their attention developed in training, all heads side by side, and rollout.

Attention rollout (Abnar & Zuidema 2020, https://aclanthology.org/2020.acl-main.385) multiplies raw weights through the layers. In the
second layer a place no longer holds its token but a mixture of tokens. Rollout mixes the mixtures: the mean of a layer's heads, half and
half with the identity for the residual connection, multiplied through the layers. It treats all heads alike and ignores values, norms and
feed-forward networks: it shows where information could have come from, not what mattered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from playground.config import BOS, EOS, MAX_POSITIONS, SPECIAL_TOKENS
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import Reader
from playground.inspection import Fact, attention, percent
from playground.inspection.heads import HeadScores, Sample, read_weights, score
from playground.model.transformer import Transformer
from playground.runs.replay import Frame
from playground.runs.run import Run

Stacks = Mapping[str, np.ndarray]  # kind of attention -> weights (L, H, Q, K)
SENTENCES = 32
KINDS = ("encoder", "decoder", "cross")


class HeadAt(NamedTuple):
    """One head of one kind, counted from 0."""

    kind: str
    layer: int
    head: int


@dataclass(frozen=True)
class Overview:
    """`effective`: the mean number of tokens that a query attends to, 2 to the entropy; `diagonal`: mean weight on the diagonal;
    `on_one_key`: the heads with most of their weight on a single column. All over the rows with a choice."""

    effective: dict[HeadAt, float]
    diagonal: dict[HeadAt, float]
    on_one_key: tuple[HeadAt, ...]

    @property
    def sharpest(self) -> HeadAt:
        return min(self.effective, key=self.effective.__getitem__)

    @property
    def widest(self) -> HeadAt:
        return max(self.effective, key=self.effective.__getitem__)

    @property
    def most_diagonal(self) -> HeadAt:
        return max(self.diagonal, key=self.diagonal.__getitem__)


def overview(stacks: Stacks, masks: Mapping[str, np.ndarray]) -> Overview:
    """Compares all heads in one sentence. Masks are (Q, K), True where a query can attend. Ignores a kind in which no row has a choice."""
    effective, diagonal, on_one_key = {}, {}, []
    for at, weights in each(stacks):
        free = np.asarray(masks[at.kind]).sum(axis=-1) >= 2
        if not free.any():
            continue
        rows = np.asarray(weights, dtype=np.float64)[free]
        effective[at] = float(np.mean(2 ** attention.entropy(rows)))
        diagonal[at] = attention.mass(rows, attention.offset(*weights.shape, 0)[free])
        if rows.mean(axis=0).max() > attention.HALF and len(rows) >= attention.MIN_ROWS:
            on_one_key.append(at)
    return Overview(effective, diagonal, tuple(on_one_key))


def each(stacks: Stacks) -> Iterator[tuple[HeadAt, np.ndarray]]:
    """Yields every head with its weights (Q, K), kind by kind, layer by layer."""
    for kind, stack in stacks.items():
        for layer, heads in enumerate(stack):
            for head, weights in enumerate(heads):
                yield HeadAt(kind, layer, head), weights


# --- attention rollout ---


def layer(weights: np.ndarray, residual: bool = True) -> np.ndarray:
    """Averages one layer (H, Q, Q) -> (Q, Q) over its heads and, with a residual connection, half of that and half the token itself."""
    mean = np.asarray(weights, dtype=np.float64).mean(axis=0)
    return (mean + np.eye(len(mean))) / 2 if residual else mean


def rollout(stack: np.ndarray, residual: bool = True) -> np.ndarray:
    """Multiplies a stack of self-attention (L, H, Q, Q), first layer first -> (Q, Q): the shares of the input tokens in the last layer's
    rows, which sum to 1."""
    flow = np.eye(np.shape(stack)[-1])
    for weights in stack:
        flow = layer(weights, residual) @ flow
    return flow


def cross(encoder: np.ndarray, decoder: np.ndarray, cross: np.ndarray, residual: bool = True) -> tuple[np.ndarray, float]:
    """(L, H, S, S), (L, H, T, T) and (L, H, T, S) -> (T, S), and a row's share from the source.

    Each decoder layer mixes its rows by self-attention, then adds the memory through cross-attention, half and half. The other share comes
    from the tokens fed so far; it is the same in every row, and the returned rows are divided by the source's share, so that they sum to 1.
    """
    memory = rollout(encoder, residual)
    flow, share = np.zeros(np.shape(cross)[-2:]), 0.0
    for own, over in zip(decoder, cross, strict=True):
        flow, from_memory = layer(own, residual) @ flow, np.asarray(over, dtype=np.float64).mean(axis=0) @ memory
        flow, share = ((flow + from_memory) / 2, (share + 1) / 2) if residual else (from_memory, 1.0)
    return flow / share, share


def own(flow: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Fact:
    """States the mean share of a place's own token in self-attention (Q, Q), {own}, and the largest share of another, as in `strongest`;
    for a single token, only that."""
    if len(flow) == 1:
        return strongest(flow, rows, columns)
    fact = strongest(np.where(np.eye(len(flow), dtype=bool), 0.0, flow), rows, columns)
    return Fact("heads.rollout_own", fact.values | {"own": percent(float(np.trace(flow)) / len(flow))})


def strongest(flow: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Fact:
    """States the largest share: {query_token} in {row} and {key_token} in {column}, counted from 1, and {percent}."""
    q, k = np.unravel_index(int(np.argmax(flow)), flow.shape)
    tokens = {"query_token": rows[q], "row": int(q) + 1, "key_token": columns[k], "column": int(k) + 1}
    return Fact("heads.rollout_strongest", tokens | {"percent": percent(float(flow[q, k]))})


def name_heads(reader: Reader, run: Run, step: int | None, actual: int, kind: str) -> HeadScores:
    """Names all heads of one kind at the requested `step`, for which the page shows the step `actual`.

    Scored on held-out sentences with their right answers, in padded batches, by the parameters of that step. A frame of the replay has
    no parameters: then on the replay's own sentences, as recorded, without padding.
    """
    if step is not None and run.parameters_at(step)[0] != actual:
        return _name_in_replay(run, actual, kind)
    examples = reader.examples(run, "heldout", SENTENCES)

    def work(model: Transformer, _: int) -> HeadScores:
        src, tgt = run.tokenizers
        pairs = [(source, target, src.encode(source), tgt.encode(target)) for source, target in examples]
        pairs = [pair for pair in pairs if pair[2] and max(len(pair[2]), len(pair[3])) < MAX_POSITIONS]
        stacks = read_weights(model, [pair[2:] for pair in pairs], kind)
        return score([_label_sample(run, kind, *pair[:2], pair[3], stack) for pair, stack in zip(pairs, stacks, strict=True)], kind)

    return reader.work(run, step, ("heads named", kind), work)


def _name_in_replay(run: Run, step: int, kind: str) -> HeadScores:
    tgt, samples = run.tokenizers[1], []
    for (source, _), completion in zip(run.replay.plan.probes, run.replay.frame(step).completions, strict=True):
        if completion.cross is not None:
            ids, weights = completion.ids, getattr(completion, kind).astype(np.float32)
            samples.append(_label_sample(run, kind, source, tgt.decode(ids), ids, weights))
    return score(samples, kind)


def _label_sample(run: Run, kind: str, source: str, target: str, ids: Sequence[int], weights: np.ndarray) -> Sample:
    """Labels the attention weights of a sentence with their tokens. `ids` are the target, with EOS or without."""
    src, tgt = run.tokenizers
    source_tokens = (*[text for text, _ in src.pieces(source)], SPECIAL_TOKENS[EOS])
    if kind == "encoder":
        return Sample(weights, source_tokens, source_tokens)
    written = (*[tgt.piece(i) for i in ids], SPECIAL_TOKENS[EOS])[: weights.shape[2]]
    if kind == "decoder":
        return Sample(weights, written, (SPECIAL_TOKENS[BOS], *written[:-1]))
    return Sample(weights, written, source_tokens, results.alignment(run, source, target, len(written)))


@dataclass(frozen=True)
class Curves:
    """Two numbers of every head of one kind at each step of the replay: (L, H, steps)."""

    steps: tuple[int, ...]
    entropy: np.ndarray  # bits, mean over the rows with a choice
    aligned: np.ndarray | None  # mean weight on the task's alignment; None without one
    sentences: int


def measure_curves(reader: Reader, run: Run, kind: str) -> Curves | None:
    """Measures all heads of a kind over the replay, on its own sentences; None while it has no frame with attention.

    The rows of a wrong output are compared with the right answer place by place: the third output token should attend to the source of
    the answer's third token.
    """
    frames = run.replay.frames
    if not any(run.replay.plan.attention) or not frames or run.tokenizers is None:
        return None
    return reader.remember(run, ("curves", kind, len(frames), frames[-1].step), lambda: _measure_curves(run, frames, kind))


def _measure_curves(run: Run, frames: Sequence[Frame], kind: str) -> Curves:
    probes = [at for at, recorded in enumerate(run.replay.plan.attention) if recorded]
    entropy, aligned, tgt, pairs = [], [], run.tokenizers[1], run.replay.plan.probes
    references = {at: results.alignment(run, *pairs[at], len(tgt.encode(pairs[at][1])) + 1) for at in probes if kind == "cross"}

    @cache
    def align(at: int, ids: tuple[int, ...]) -> tuple[int | None, ...] | None:
        """Aligns the rows of an output of a probe: as it is where that is a right answer, else as the reference."""
        return references[at] and (results.alignment(run, pairs[at][0], tgt.decode(ids), len(ids)) or references[at])

    for frame in frames:
        completions = [(at, frame.completions[at]) for at in probes]
        entropy.append(_average([_sum_entropy(getattr(completion, kind), kind) for _, completion in completions]))
        masses = [_sum_aligned(c.cross, places) for at, c in completions if kind == "cross" and (places := align(at, c.ids)) is not None]
        aligned += [_average(masses)] if masses else []
    return Curves(tuple(f.step for f in frames), np.stack(entropy, axis=-1), np.stack(aligned, axis=-1) if aligned else None, len(probes))


def _sum_aligned(stack: np.ndarray, places: tuple[int | None, ...]) -> tuple[np.ndarray, int]:
    """Sums the weights on aligned places (L, H), and counts the rows that have one."""
    place = attention.aligned(*stack.shape[2:], places)
    return (stack * place).sum(axis=(-2, -1), dtype=np.float64), int(place.any(axis=1).sum())


def _sum_entropy(stack: np.ndarray, kind: str) -> tuple[np.ndarray, int]:
    """Sums the entropies (L, H) in bits over the rows with a choice, and counts these rows."""
    first = 1 if kind == "decoder" else 0
    return attention.entropy(stack[:, :, first:]).sum(axis=-1), stack.shape[2] - first


def _average(parts: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """Averages (L, H) sums over some rows each to a mean over all rows."""
    return sum(total for total, _ in parts) / max(sum(rows for _, rows in parts), 1)
