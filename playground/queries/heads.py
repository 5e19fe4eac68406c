"""The heads of a run: their names over many sentences nobody trained on, and how they came to look where they look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.config import BOS, EOS, MAX_POSITIONS, SPECIAL_TOKENS
from playground.inspection import attention
from playground.inspection.heads import HeadScores, Sample, read, score
from playground.model.transformer import Transformer
from playground.queries import references
from playground.queries.reader import Reader
from playground.runs.replay import Completion, Frame
from playground.runs.run import Run

SENTENCES = 32
KINDS = ("encoder", "decoder", "cross")


def named(reader: Reader, run: Run, step: int | None, shown: int, kind: str) -> HeadScores:
    """All heads of one kind, at the step a look asked for (`step`) and got (`shown`).

    They are scored on held-out sentences with their right answers, in padded batches, by the parameters of that step. A look at a picture
    of the replay has no parameters: then on the replay's own sentences, as pictured, without padding.
    """
    if step is not None and run.parameters_at(step)[0] != shown:
        return _named_in_replay(run, shown, kind)
    examples = reader.examples(run, "heldout", SENTENCES)

    def work(model: Transformer, _: int) -> HeadScores:
        src, tgt = run.tokenizers
        pairs = [(source, target, src.encode(source), tgt.encode(target)) for source, target in examples]
        pairs = [pair for pair in pairs if pair[2] and max(len(pair[2]), len(pair[3])) < MAX_POSITIONS]
        looks = read(model, [pair[2:] for pair in pairs], kind)
        return score([_sample(run, kind, *pair[:2], pair[3], look) for pair, look in zip(pairs, looks, strict=True)], kind)

    return reader.work(run, step, ("heads named", kind), work)


def _named_in_replay(run: Run, step: int, kind: str) -> HeadScores:
    tgt, samples = run.tokenizers[1], []
    for (source, _), done in zip(run.replay.plan.probes, run.replay.frame(step).completions, strict=True):
        if done.cross is not None:
            samples.append(_sample(run, kind, source, tgt.decode(done.ids), done.ids, getattr(done, kind).astype(np.float32)))
    return score(samples, kind)


def _sample(run: Run, kind: str, source: str, target: str, ids: Sequence[int], weights: np.ndarray) -> Sample:
    """One sentence as this kind of attention meets it. `ids` are the target, with EOS or without."""
    src, tgt = run.tokenizers
    asks = (*[text for text, _ in src.pieces(source)], SPECIAL_TOKENS[EOS])
    if kind == "encoder":
        return Sample(weights, asks, asks)
    written = (*[tgt.piece(i) for i in ids], SPECIAL_TOKENS[EOS])[: weights.shape[2]]
    if kind == "decoder":
        return Sample(weights, written, (SPECIAL_TOKENS[BOS], *written[:-1]))
    return Sample(weights, written, asks, references.alignment(run, source, target, len(written)))


@dataclass(frozen=True)
class Curves:
    """Two numbers of every head of one kind at each step of the replay: (L, H, steps)."""

    steps: tuple[int, ...]
    entropy: np.ndarray  # bits, mean over the rows with a choice
    aligned: np.ndarray | None  # mean weight where the task says to look; None where it doesn't say
    sentences: int


def curves(reader: Reader, run: Run, kind: str) -> Curves | None:
    """Over the replay, on its own sentences; None while it has no picture of attention.

    While a model still writes nonsense, its rows are held against the right answer, place by place: the third token that is written should
    look where the third token of the answer comes from.
    """
    frames = run.replay.frames
    if not any(run.replay.plan.attention) or not frames or run.tokenizers is None:
        return None
    return reader.remember(run, ("curves", kind, len(frames), frames[-1].step), lambda: _curves(run, frames, kind))


def _curves(run: Run, frames: Sequence[Frame], kind: str) -> Curves:
    kept = [at for at, wanted in enumerate(run.replay.plan.attention) if wanted]
    ways = {at: _Ways(run, *run.replay.plan.probes[at]) for at in kept} if kind == "cross" else {}
    entropy, aligned = [], []
    for frame in frames:
        done = [(at, frame.completions[at]) for at in kept]
        entropy.append(_mean([_entropy(getattr(completion, kind), kind) for _, completion in done]))
        found = [ways[at].mass(completion) for at, completion in done if ways and ways[at].known]
        aligned += [_mean(found)] if found else []
    steps = tuple([frame.step for frame in frames])
    return Curves(steps, np.stack(entropy, axis=-1), np.stack(aligned, axis=-1) if aligned else None, len(kept))


class _Ways:
    """Where one probe's rows should look: as for what was written where that is a right answer, else as for the reference."""

    def __init__(self, run: Run, source: str, target: str) -> None:
        self.run, self.source = run, source
        self.reference = references.alignment(run, source, target, len(run.tokenizers[1].encode(target)) + 1)
        self.known = self.reference is not None
        self.seen: dict[tuple[int, ...], tuple[int | None, ...]] = {}

    def mass(self, done: Completion) -> tuple[np.ndarray, int]:
        """The sum (L, H) of the weights on the right places, and how many rows have one."""
        if done.ids not in self.seen:
            text = self.run.tokenizers[1].decode(done.ids)
            self.seen[done.ids] = references.alignment(self.run, self.source, text, len(done.ids)) or self.reference
        place = attention.aligned(*done.cross.shape[2:], self.seen[done.ids])
        return (done.cross * place).sum(axis=(-2, -1), dtype=np.float64), int(place.any(axis=1).sum())


def _entropy(stack: np.ndarray, kind: str) -> tuple[np.ndarray, int]:
    """The sum (L, H) of entropies in bits over the rows with a choice, and how many these are."""
    first = 1 if kind == "decoder" else 0
    return attention.entropy(stack[:, :, first:]).sum(axis=-1), stack.shape[2] - first


def _mean(parts: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """The mean (L, H) over all rows of sums (L, H) over some."""
    return sum(total for total, _ in parts) / max(sum(rows for _, rows in parts), 1)
