"""Lines of a file: translated many at a time, in their order, and held against the lines of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.data.readable import unknown_tokens
from playground.decoding import best
from playground.model.transformer import Transformer
from playground.queries.copying import copied, looked_at
from playground.queries.evaluation import RESAMPLES, Measured, measure, tokenization
from playground.queries.reader import CHARACTERS, Reader, most_written
from playground.reading.text import normalise
from playground.runs.run import Run

CHUNK = 250  # lines that are worked on before the first of them is given back
Written = tuple[tuple[int, ...], tuple[int | None, ...]]  # ids, and the places in the source of what is copied


@dataclass(frozen=True)
class Line:
    """What is written for a line; `cut` when only its beginning was read, for it has more tokens than the model has positions."""

    output: str
    cut: bool
    unknown: bool  # its output holds <unk>
    finished: bool  # EOS came before the length limit
    copied: int = 0  # words that were taken from the source, where the model wrote <unk>
    unread: tuple[str, ...] = ()  # tokens of its source that are not in the vocabulary


def translate_lines(
    reader: Reader, run: Run, step: int | None, texts: Sequence[str], width: int = 1, length_penalty: float = 0.0,
    copy_unknown: bool = False,
) -> Iterator[Line]:  # fmt: skip
    """One for each text: what `translate` says of it, greedily or by a beam of this width. An empty line stays empty. Raises Refusal."""
    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    (src, tgt), room = run.tokenizers, MAX_POSITIONS - 1
    for start in range(0, len(texts), CHUNK):
        chunk = [normalise(text[:CHARACTERS]) for text in texts[start : start + CHUNK]]
        ids = [src.encode(text) for text in chunk]
        asked = [tuple(one[:room]) for one in ids if one]

        def write(model: Transformer, _: int, sources: list[tuple[int, ...]] = asked) -> list[Written]:
            limits = [most_written(run.longest_target, len(source)) for source in sources]
            found = best(model, sources, limits, width, length_penalty)
            return [(one, looked_at(model, source, one) if copy_unknown else ()) for source, one in zip(sources, found, strict=True)]

        key = ("lines", width, length_penalty, copy_unknown, tuple(asked))
        written = iter(reader.work(run, step, key, write)) if asked else iter(())
        for text, one in zip(chunk, ids, strict=True):
            found, places = next(written) if one else ((EOS,), ())
            words = copied(src, text, places)
            taken = sum(word is not None for word in words)
            output, unknown = tgt.decode(found, words), taken < found.count(UNK)
            unread = unknown_tokens(src, text) if UNK in one else ()
            yield Line(output, len(one) > room, unknown, found[-1:] == (EOS,), taken, unread)


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
