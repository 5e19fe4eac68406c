"""Teacher forcing and free running: fed the reference as in training, fed its own output as in use; and what one correction changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.decoding import greedy, trace
from playground.inspection import lens
from playground.model.transformer import Transformer
from playground.queries import references
from playground.queries.reader import Reader, most_written, traced_parts
from playground.queries.results import SentenceTrace
from playground.reading.text import normalise
from playground.runs.run import Run
from playground.runs.tokens import tokens_in_place

MAX_SENTENCES = 120  # sentences asked at once when one is sought that goes wrong
MAX_JUDGED = 24  # of which so many are decoded with teacher forcing too


@dataclass(frozen=True)
class Comparison:
    """One sentence, written up to three times with the same parameters. Without a reference nothing is forced."""

    forced: SentenceTrace | None  # fed the reference
    free: SentenceTrace  # fed what it wrote itself
    corrected: SentenceTrace | None  # like `free`, with one token of it replaced
    parted: int | None  # the first step at which `free` wrote another token than the reference
    recovered: int | None  # the first step from which on `corrected` writes the reference to its end

    @property
    def step(self) -> int:
        return self.free.step


def compare(reader: Reader, run: Run, step: int | None, text: str, reference: str = "", fix: tuple[int, int] | None = None) -> Comparison:
    """`reference`: what to force when nobody knows the right answer; `fix`: (step of the free life, token id to write there instead).

    A `fix` beyond the end of the sentence or the vocabulary is ignored. Raises Refusal for text that is empty or too long.
    """
    text, ids = reader.read(run, text)
    tokenizer, known = run.tokenizers[1], references.references(run, text)
    right = known or ((normalise(reference),) if reference.strip() else None)
    candidates = [(*tokenizer.encode(answer), EOS) for answer in right or ()]
    for candidate in candidates:
        if len(candidate) > MAX_POSITIONS:
            raise Refusal("runs.too_long", tokens=len(candidate), most=MAX_POSITIONS)
    most = most_written(run.longest_target, len(ids))

    def work(model: Transformer, actual: int) -> Comparison:
        def life(written: tuple[int, ...]) -> SentenceTrace:
            found = reader.inside(run, text, right, written, *traced_parts(trace(model, ids, written)), actual)
            in_place = tokens_in_place(written, [answer[:-1] for answer in candidates])  # decodings are compared step by step
            return replace(found, right=in_place) if right else found

        free = greedy(model, [ids], most)[0].ids
        wanted = max(candidates, key=lambda answer: sum(tokens_in_place(free, [answer[:-1]])), default=None)
        fixed = _fixed(free, fix, tokenizer.size)
        corrected = greedy(model, [ids], most, prefix=fixed)[0].ids if fixed else None
        return Comparison(
            life(wanted) if wanted else None, life(free), life(corrected) if corrected else None, _parted(free, wanted),
            _recovered(corrected, wanted, len(fixed)),
        )  # fmt: skip

    return reader.work(run, step, (text, right, fix, "teacher_forcing"), work)


def lens_of(reader: Reader, run: Run, step: int | None, text: str, written: Sequence[int]) -> np.ndarray:
    """`inspection.lens.probabilities` while these target ids are forced: (N + 1, T, V)."""
    text, ids = reader.read(run, text)
    return reader.work(run, step, (text, tuple(written), "lens"), lambda model, actual: lens.probabilities(model, ids, written))


def go_wrong(reader: Reader, run: Run, step: int | None, sentences: Sequence[tuple[str, str]]) -> list[str]:
    """Which of these (source, target) sentences free running gets wrong, of the first `MAX_SENTENCES` that the model can read. First those
    where teacher forcing does so much better: where most tokens that are wrong in free running are right once the reference is fed."""
    asked = [text for text, _ in sentences if _readable(reader, run, text)][:MAX_SENTENCES]
    sources = [reader.read(run, text)[1] for text in asked]
    most = most_written(run.longest_target, max(map(len, sources), default=0))

    def work(model: Transformer, actual: int) -> list[str]:
        saved = {}  # tokens that teacher forcing saves
        for text, source, found in zip(asked, sources, greedy(model, sources, most), strict=True):
            answers = [(*run.tokenizers[1].encode(answer), EOS) for answer in references.references(run, text) or ()]
            if found.ids in answers and UNK not in found.ids:
                continue
            wanted = max(answers, key=lambda answer: _agreement(found.ids, answer), default=None)
            judged = wanted is not None and len(wanted) <= MAX_POSITIONS and len(saved) < MAX_JUDGED
            saved[text] = _forced(model, source, wanted) - _agreement(found.ids, wanted) if judged else 0
        return sorted(saved, key=lambda text: -saved[text])

    return reader.work(run, step, (tuple(asked), "go wrong"), work)


def _agreement(ids: Sequence[int], answer: Sequence[int]) -> int:
    """How many of the tokens are right at their place."""
    return sum(tokens_in_place(ids, [answer[:-1]]))


def _forced(model: Transformer, source: Sequence[int], answer: Sequence[int]) -> int:
    """How many tokens of the answer are the most likely ones when all before them are fed."""
    return int((trace(model, source, answer).probabilities.argmax(axis=-1) == answer).sum())


def _readable(reader: Reader, run: Run, text: str) -> bool:
    try:
        return bool(reader.read(run, text))
    except Refusal:
        return False


def _fixed(free: tuple[int, ...], fix: tuple[int, int] | None, vocabulary: int) -> tuple[int, ...]:
    """The beginning of the free life with its last token replaced; empty when there is nothing to fix."""
    if fix is None or not 0 <= fix[0] < len(free) or not EOS <= fix[1] < vocabulary:
        return ()
    return (*free[: fix[0]], fix[1])


def _parted(free: tuple[int, ...], wanted: tuple[int, ...] | None) -> int | None:
    """The first place at which two sentences differ; None when they don't."""
    if wanted is None or free == wanted:
        return None
    return next((at for at, pair in enumerate(zip(free, wanted, strict=False)) if pair[0] != pair[1]), min(len(free), len(wanted)))


def _recovered(corrected: tuple[int, ...] | None, wanted: tuple[int, ...] | None, fixed: int) -> int | None:
    """The first step after the correction from which on both are the same; None when they differ at the very end."""
    if corrected is None or wanted is None or len(corrected) != len(wanted):
        return None
    wrong = [at for at, pair in enumerate(zip(corrected, wanted, strict=True)) if pair[0] != pair[1]]
    last = max(wrong, default=-1)
    return None if last == len(wanted) - 1 else max(last + 1, fixed)
