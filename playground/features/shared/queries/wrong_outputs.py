"""Sentences that a model gets wrong when it decodes freely."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.decoding import greedy, trace
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import Reader, max_output_tokens
from playground.model.transformer import Transformer
from playground.runs.history import tokens_in_place
from playground.runs.run import Run

MAX_SENTENCES = 120  # sentences of one search for wrong outputs
MAX_JUDGED = 24  # of these, sentences decoded with teacher forcing too


def find_wrong(reader: Reader, run: Run, step: int | None, sentences: Sequence[tuple[str, str]]) -> list[str]:
    """Lists the (source, target) sentences that free running gets wrong, of the first `MAX_SENTENCES` that the model can read, by exposure
    bias: first those with the most tokens that are wrong in free running and right once the reference is fed."""
    texts = [text for text, _ in sentences if _is_readable(reader, run, text)][:MAX_SENTENCES]
    sources = [reader.read(run, text)[1] for text in texts]
    most = max_output_tokens(run.longest_target, max(map(len, sources), default=0))

    def work(model: Transformer, actual: int) -> list[str]:
        gains = {}  # tokens that are right with teacher forcing only
        for text, source, output in zip(texts, sources, greedy(model, sources, most), strict=True):
            answers = [(*run.tokenizers[1].encode(answer), EOS) for answer in results.references(run, text) or ()]
            if output.ids in answers and UNK not in output.ids:
                continue
            nearest = max(answers, key=lambda answer: _count_right(output.ids, answer), default=None)
            judged = nearest is not None and len(nearest) <= MAX_POSITIONS and len(gains) < MAX_JUDGED
            gains[text] = _count_forced(model, source, nearest) - _count_right(output.ids, nearest) if judged else 0
        return sorted(gains, key=lambda text: -gains[text])

    return reader.work(run, step, (tuple(texts), "go wrong"), work)


def _count_right(ids: Sequence[int], answer: Sequence[int]) -> int:
    """Counts the tokens that are right at their place."""
    return sum(tokens_in_place(ids, [answer[:-1]]))


def _count_forced(model: Transformer, source: Sequence[int], answer: Sequence[int]) -> int:
    """Counts the tokens of the answer that are the likeliest under teacher forcing."""
    return int((trace(model, source, answer).probabilities.argmax(axis=-1) == answer).sum())


def _is_readable(reader: Reader, run: Run, text: str) -> bool:
    try:
        return bool(reader.read(run, text))
    except Refusal:
        return False
