"""Teacher forcing and free running: fed the reference as in training, fed its own output as in use; and the effect of one correction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from playground.config import EOS, MAX_POSITIONS, Refusal
from playground.decoding import greedy, limit_output, trace
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import Reader, traced_parts
from playground.features.shared.queries.results import SentenceTrace
from playground.inspection import logits
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.runs.history import tokens_in_place
from playground.runs.run import Run


@dataclass(frozen=True)
class Comparison:
    """One sentence, decoded up to three times with the same parameters. Without a reference nothing is forced."""

    forced: SentenceTrace | None  # fed the reference
    free: SentenceTrace  # fed its own output
    corrected: SentenceTrace | None  # like `free`, with one of its tokens replaced
    parted: int | None  # the first step at which `free` differs from the reference
    recovered: int | None  # the first step from which `corrected` is the reference to its end

    @property
    def step(self) -> int:
        return self.free.step


def compare(reader: Reader, run: Run, step: int | None, text: str, reference: str = "", fix: tuple[int, int] | None = None) -> Comparison:
    """Compares forced and free decoding. `reference`: the forced text where no right answer is known; `fix`: (step of the free output,
    token id to write there instead).

    A `fix` beyond the end of the sentence or the vocabulary is ignored. Raises Refusal for text that is empty or too long.
    """
    text, ids = reader.read(run, text)
    tokenizer, known = run.tokenizers[1], results.references(run, text)
    right = known or ((normalise(reference),) if reference.strip() else None)
    candidates = [(*tokenizer.encode(answer), EOS) for answer in right or ()]
    for candidate in candidates:
        if len(candidate) > MAX_POSITIONS:
            raise Refusal("runs.too_long", tokens=len(candidate), most=MAX_POSITIONS)
    most = limit_output(run.longest_target, len(ids))

    def work(model: Transformer, actual: int) -> Comparison:
        def build(written: tuple[int, ...]) -> SentenceTrace:
            sentence = reader.build_trace(run, text, right, written, *traced_parts(trace(model, ids, written)), actual)
            in_place = tokens_in_place(written, [answer[:-1] for answer in candidates])  # decodings are compared step by step
            return replace(sentence, right=in_place) if right else sentence

        free = greedy(model, [ids], most)[0].ids
        nearest = max(candidates, key=lambda answer: sum(tokens_in_place(free, [answer[:-1]])), default=None)
        fixed = _correct(free, fix, tokenizer.size)
        corrected = greedy(model, [ids], most, prefix=fixed)[0].ids if fixed else None
        return Comparison(
            build(nearest) if nearest else None, build(free), build(corrected) if corrected else None, _find_difference(free, nearest),
            _find_recovery(corrected, nearest, len(fixed)),
        )  # fmt: skip

    return reader.work(run, step, (text, right, fix, "teacher_forcing"), work)


def read_lens(reader: Reader, run: Run, step: int | None, text: str, written: Sequence[int]) -> np.ndarray:
    """Returns `inspection.logits.logit_lens` while these target ids are forced: (N + 1, T, V)."""
    text, ids = reader.read(run, text)
    return reader.work(run, step, (text, tuple(written), "lens"), lambda model, actual: logits.logit_lens(model, ids, written))


def _correct(free: tuple[int, ...], fix: tuple[int, int] | None, vocabulary: int) -> tuple[int, ...]:
    """Returns the prefix of the free output up to the corrected token; empty without a correction."""
    if fix is None or not 0 <= fix[0] < len(free) or not EOS <= fix[1] < vocabulary:
        return ()
    return (*free[: fix[0]], fix[1])


def _find_difference(free: tuple[int, ...], reference: tuple[int, ...] | None) -> int | None:
    """Returns the first place at which two sentences differ; None when they don't."""
    if reference is None or free == reference:
        return None
    return next((at for at, pair in enumerate(zip(free, reference, strict=False)) if pair[0] != pair[1]), min(len(free), len(reference)))


def _find_recovery(corrected: tuple[int, ...] | None, reference: tuple[int, ...] | None, fixed: int) -> int | None:
    """Returns the first step after the correction from which on both are the same; None when they differ at the very end."""
    if corrected is None or reference is None or len(corrected) != len(reference):
        return None
    wrong = [at for at, pair in enumerate(zip(corrected, reference, strict=True)) if pair[0] != pair[1]]
    last = max(wrong, default=-1)
    return None if last == len(reference) - 1 else max(last + 1, fixed)
