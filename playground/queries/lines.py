"""Lines of a file: translated many at a time, in their order, and held against the lines of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.decoding import best
from playground.model.transformer import Transformer
from playground.queries.evaluation import RESAMPLES, Measured, measure, tokenization
from playground.queries.reader import CHARACTERS, Reader, most_written
from playground.reading.text import normalise
from playground.runs.run import Run

CHUNK = 250  # lines that are worked on before the first of them is given back


@dataclass(frozen=True)
class Line:
    """What is written for a line; `cut` when only its beginning was read, for it has more tokens than the model has positions."""

    output: str
    cut: bool
    unknown: bool  # it holds <unk>
    finished: bool  # EOS came before the length limit


def translate_lines(
    reader: Reader, run: Run, step: int | None, texts: Sequence[str], width: int = 1, length_penalty: float = 0.0
) -> Iterator[Line]:  # fmt: skip
    """One for each text: what `translate` says of it, greedily or by a beam of this width. An empty line stays empty. Raises Refusal."""
    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    (src, tgt), room = run.tokenizers, MAX_POSITIONS - 1
    for start in range(0, len(texts), CHUNK):
        ids = [src.encode(normalise(text[:CHARACTERS])) for text in texts[start : start + CHUNK]]
        asked = [tuple(one[:room]) for one in ids if one]

        def write(model: Transformer, _: int, sources: list[tuple[int, ...]] = asked) -> list[tuple[int, ...]]:
            limits = [most_written(run.longest_target, len(source)) for source in sources]
            return best(model, sources, limits, width, length_penalty)

        key = ("lines", width, length_penalty, tuple(asked))
        written = iter(reader.work(run, step, key, write)) if asked else iter(())
        for one in ids:
            found = next(written) if one else (EOS,)
            yield Line(tgt.decode(found), len(one) > room, UNK in found, found[-1:] == (EOS,))


@dataclass(frozen=True)
class Score:
    """Of all outputs, each against one reference as it stands in its file: so the `sacrebleu` program measures the same."""

    measured: Measured
    tokenize: str
    exact_match: float  # the share of outputs that are their reference, white space and hidden characters aside


def score_lines(outputs: Sequence[str], references: Sequence[str], tokenize: str | None = None) -> Score:
    """`tokenize` None: as these references are written. Raises ValueError when there is nothing to score."""
    tokenize = tokenize or tokenization(references)
    measured = measure(outputs, [[reference] for reference in references], tokenize, RESAMPLES)
    same = sum(output == normalise(reference) for output, reference in zip(outputs, references, strict=True))
    return Score(measured, tokenize, same / len(outputs))
