"""Lines of a file, translated in batches, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.data.readable import unknown_tokens
from playground.decoding import best, limit_output
from playground.features.shared.queries.reader import CHARACTERS, Reader
from playground.features.translate.query import align_unknown, copy_words
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.runs.run import Run

CHUNK = 250  # lines of a batch
Written = tuple[tuple[int, ...], tuple[int | None, ...]]  # ids, and the source places of the copied words


@dataclass(frozen=True)
class Line:
    """The translation of a line; `cut` when it has more tokens than the model has positions, and only its beginning was read."""

    output: str
    cut: bool
    unknown: bool  # the output holds <unk>
    finished: bool  # EOS came before the length limit
    copied: int = 0  # source words in the places of <unk>
    unread: tuple[str, ...] = ()  # tokens of the source that are not in the vocabulary


def translate_lines(
    reader: Reader, run: Run, step: int | None, texts: Sequence[str], width: int = 1, length_penalty: float = 0.0,
    copy_unknown: bool = False,
) -> Iterator[Line]:  # fmt: skip
    """Translates each text as `translate` does, greedily or by a beam of this width. An empty line stays empty. Raises Refusal."""
    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    (src, tgt), room = run.tokenizers, MAX_POSITIONS - 1
    for start in range(0, len(texts), CHUNK):
        chunk = [normalise(text[:CHARACTERS]) for text in texts[start : start + CHUNK]]
        ids = [src.encode(text) for text in chunk]
        batch = [tuple(source[:room]) for source in ids if source]

        def write(model: Transformer, _: int, sources: list[tuple[int, ...]] = batch) -> list[Written]:
            limits = [limit_output(run.longest_target, len(source)) for source in sources]
            outputs = best(model, sources, limits, width, length_penalty)
            pairs = zip(sources, outputs, strict=True)
            return [(output, align_unknown(model, source, output) if copy_unknown else ()) for source, output in pairs]

        key = ("lines", width, length_penalty, copy_unknown, tuple(batch))
        written = iter(reader.work(run, step, key, write)) if batch else iter(())
        for text, source in zip(chunk, ids, strict=True):
            tokens, places = next(written) if source else ((EOS,), ())
            words = copy_words(src, text, places)
            copied = sum(word is not None for word in words)
            output, unknown = tgt.decode(tokens, words), copied < tokens.count(UNK)
            unread = unknown_tokens(src, text) if UNK in source else ()
            yield Line(output, len(source) > room, unknown, tokens[-1:] == (EOS,), copied, unread)
