"""Translating a sentence in any way of decoding: what comes out, what it cost, and what became of the right answer in a beam."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.decoding import Hypothesis, Search, Verdict, greedy, judge, multiplications, sample, search, trace
from playground.model.transformer import Transformer
from playground.runs import answers
from playground.runs.reader import CHARACTERS, FREER, Reader, traced_parts
from playground.runs.run import Run
from playground.runs.tokens import judge as judge_tokens
from playground.runs.views import Candidate, Look, Piece, pieces_from, pieces_of

METHODS = ("greedy", "beam", "sample")
WIDEST = 10  # beam
TRIES = 3  # the shortest time of so many is compared


@dataclass(frozen=True)
class Way:
    """How a sentence is decoded. `width` and `length_penalty` are for a beam; `temperature`, `top_k`, `top_p` and `seed` for sampling;
    the output begins with `prefix`. Without `cache` everything is computed anew for each token, and compared."""

    method: str = "greedy"
    width: int = 4
    length_penalty: float = 0.6
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    prefix: str = ""
    cache: bool = True


PLAIN = Way()


@dataclass(frozen=True)
class Work:
    """What it took: multiplications by formula and milliseconds as measured here, with the cache and without. `anew_ms` and `same`, whether
    the same tokens came out, are None unless it was tried without."""

    cached: int
    anew: int
    cached_ms: float
    anew_ms: float | None
    same: bool | None


@dataclass(frozen=True)
class Translation:
    """A sentence translated with the parameters of `step`, which is the kept step nearest to the one asked for."""

    step: int
    source: tuple[Piece, ...]
    prefix: tuple[Piece, ...]
    candidates: tuple[Candidate, ...]  # best first
    references: tuple[str, ...] | None
    work: Work
    search: Search | None  # of a beam
    verdict: Verdict | None  # of a beam, where a right answer is known


def translate(reader: Reader, run: Run, step: int | None, text: str, way: Way = PLAIN) -> Translation:
    """`step` None: the newest parameters. Raises Refusal for text that is empty or too long, or an unknown method."""
    if way.method not in METHODS:
        raise Refusal("runs.no_method", name=way.method[:40])
    text, ids = reader.read(run, text)
    src, tgt = run.tokenizers
    prefix = tuple(tgt.encode(way.prefix[:CHARACTERS]))
    if len(prefix) >= MAX_POSITIONS:
        raise Refusal("decoding.prefix_too_long", tokens=len(prefix), most=MAX_POSITIONS - 1)
    most = min(MAX_POSITIONS, len(prefix) + 2 * len(ids) + FREER)

    def work(model: Transformer, actual: int) -> Translation:
        right = answers.references(run, text)
        write = _writer(model, ids, way, prefix, most)
        (written, found), cached_ms = _timed(lambda: write(True), 1 if way.cache else TRIES)
        anew_ms = same = None
        if not way.cache:
            kept, ((written, found), anew_ms) = written, _timed(lambda: write(False), TRIES)
            same = [hypothesis.ids for hypothesis in kept] == [hypothesis.ids for hypothesis in written]
        growing = found.growing if found else [1] * (len(written[0].ids) - len(prefix))
        cost = [multiplications(model.config, model.tgt_vocab, len(ids) + 1, growing, len(prefix), cache) for cache in (True, False)]
        whole = [(*encoded, EOS) for answer in right or () if UNK not in (encoded := tgt.encode(answer))]
        return Translation(
            actual, pieces_of(src, text), pieces_of(tgt, way.prefix) if prefix else (),
            tuple(_candidate(run, hypothesis, right) for hypothesis in written), right,
            Work(*cost, cached_ms, anew_ms, same), found, judge(model, ids, found, whole) if found else None,
        )  # fmt: skip

    return reader.work(run, step, (text, way), work)


def look_at(reader: Reader, run: Run, step: int | None, text: str, written: tuple[int, ...]) -> Look:
    """Everything inside the model while it writes these very tokens for `text`."""
    text, ids = reader.read(run, text)
    right = answers.references(run, text)

    def work(model: Transformer, actual: int) -> Look:
        return reader.inside(run, text, right, written, *traced_parts(trace(model, ids, written)), actual)

    return reader.work(run, step, (text, written, "written"), work)


def _writer(
    model: Transformer, ids: list[int], way: Way, prefix: tuple[int, ...], most: int
) -> Callable[[bool], tuple[list[Hypothesis], Search | None]]:
    """A function of `cache` that writes the sentence once: hypotheses, best first, and the search if it is one."""

    def write(cache: bool) -> tuple[list[Hypothesis], Search | None]:
        if way.method == "beam":
            found = search(model, ids, min(max(way.width, 1), WIDEST), way.length_penalty, most, prefix, cache)
            return list(found.hypotheses), found
        if way.method == "sample":
            temperature = max(way.temperature, 0.01)
            return [sample(model, ids, temperature, most, way.seed, prefix, way.top_k, way.top_p, cache)], None
        return greedy(model, [ids], most, prefix, cache), None

    return write


def _timed(work: Callable, tries: int) -> tuple:
    """What `work` returns, and the shortest time it took in milliseconds."""
    times = []
    for _ in range(tries):
        begin = time.perf_counter()
        found = work()
        times.append(1000 * (time.perf_counter() - begin))
    return found, min(times)


def _candidate(run: Run, hypothesis: Hypothesis, references: tuple[str, ...] | None) -> Candidate:
    tokenizer, probabilities = run.tokenizers[1], tuple(np.exp(hypothesis.logprobs).tolist())
    text, right, correct = tokenizer.decode(hypothesis.ids), None, None
    if references is not None:
        right = judge_tokens(hypothesis.ids, map(tokenizer.encode, references))
        correct = hypothesis.finished and all(right)
    pieces = pieces_from(tokenizer, hypothesis.ids)
    return Candidate(text, pieces, probabilities, hypothesis.score, hypothesis.finished, right, correct)
