"""Scores: what a run writes for sentences it never saw, judged by sacrebleu, by exact match, and token by token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from playground.config import EOS, Refusal
from playground.data.corpus import Corpus, Item, natural_unit
from playground.decoding import greedy
from playground.model.transformer import Transformer
from playground.queries.reader import Reader, most_written
from playground.queries.results import Piece, pieces_from, pieces_of
from playground.queries.time_slices import SLICE, affordable, in_slices
from playground.queries.validation import Evaluated, evaluate
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.runs.tokens import tokens_correct
from playground.tasks.toy_tasks import TASKS

SPLITS = ("heldout", "test", "harder")
MIN_SENTENCES = 4  # of a slice
MAX_MISTAKES = 6  # mistakes
CHINESE = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")


class Measured(NamedTuple):
    """What sacrebleu says of a whole set of outputs: scores of 0 to 100, and how to compute them again."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    too_short: bool  # no output has four units in a row, so BLEU, which counts up to four, is 0 whatever was written


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]], tokenize: str) -> Measured:
    """BLEU and chrF of outputs, each with all its right answers. `tokenize` is sacrebleu's: "13a", "zh", "char", …

    Raises ValueError when there are no outputs, or one of them has no reference.
    """
    from sacrebleu.metrics import BLEU, CHRF  # here, for it takes a while and the page is to open first

    if not outputs or len(outputs) != len(references) or not all(references):
        raise ValueError("sacrebleu needs at least one output, and a reference for each")
    streams = list(zip_longest(*references))  # all first references, all second ones, …; None where a sentence has fewer
    bleu, chrf = BLEU(tokenize=tokenize, force=True), CHRF()  # force: no warning about our tokens that stand apart
    found, characters = bleu.corpus_score(outputs, streams), chrf.corpus_score(outputs, streams)
    signatures = str(bleu.get_signature()), str(chrf.get_signature())
    return Measured(found.score, characters.score, *signatures, found.totals[-1] == 0)


def tokenization(references: Sequence[str], unit: str | None = None) -> str:
    """How BLEU is to cut these sentences: Chinese by "zh"; what is written without spaces by "char", or what the task says is made of
    characters; and all else by sacrebleu's usual "13a", words and punctuation."""
    text = "".join("".join(references).split())
    if len(CHINESE.findall(text)) * 2 > len(text):
        return "zh"
    return "char" if (unit or natural_unit(references)) == "characters" else "13a"


@dataclass(frozen=True)
class Mistake:
    """An output that is no right answer, beside the right answer it agrees with most."""

    source: str
    output: tuple[Piece, ...]  # EOS last if it came
    right: tuple[bool, ...]  # of each token of the output, place by place
    reference: tuple[Piece, ...]


@dataclass(frozen=True)
class Scores:
    """How good the parameters of `step` are on a split. What is judged by the outputs is known of `sentences` so far, the first of the
    `asked` that will be written; all else is in `evaluated`."""

    step: int
    evaluated: Evaluated
    sentences: int
    asked: int
    measured: Measured
    tokenize: str  # how sacrebleu cut the sentences for BLEU
    length_ratio: float  # mean length of an output over that of its nearest reference, in tokens
    unfinished: int  # outputs without an end
    most_references: int  # right answers to one source
    wrong: int
    mistakes: tuple[Mistake, ...]  # the first of the wrong ones


def scores(reader: Reader, corpora: Corpora, run: Run, step: int | None, split: str) -> Scores:
    """The scores of a run on one of SPLITS, as far as they are known after a moment: who asks again knows more.

    Raises Refusal when the split is empty or the run has nothing to show yet.
    """
    corpus = corpora.get(run.experiment, run.pairs)
    items = getattr(corpus, split)
    if not items:
        raise Refusal("evaluation.no_sentences", split=split)
    length = sum(len(item.src_ids) for item in items) / len(items)
    asked = items[: SLICE // 2] if run.working else items
    size = affordable(run, length + most_written(run.longest_target, length), SLICE, MIN_SENTENCES)
    evaluated = evaluate(reader, corpora, run, step, split)
    actual, found = in_slices(reader, run, step, ("scores", split), asked, partial(_write, run.longest_target), size)
    outputs = [ids for written in found for ids in written]
    told = {"step": actual, "evaluated": evaluated, "asked": len(asked)}

    def judged(*_: object) -> Scores:
        return _scores(corpus, asked[: len(outputs)], outputs, told)

    return judged() if run.working else reader.work(run, step, ("scores", split, actual, evaluated.validation.pairs, len(outputs)), judged)


def _write(longest_target: int, model: Transformer, items: Sequence[Item]) -> list[tuple[int, ...]]:
    """Greedy outputs."""
    limits = [most_written(longest_target, len(item.src_ids)) for item in items]
    found = greedy(model, [item.src_ids for item in items], max(limits))
    return [hypothesis.ids[:limit] for hypothesis, limit in zip(found, limits, strict=True)]


def _scores(corpus: Corpus, items: Sequence[Item], outputs: Sequence[tuple[int, ...]], told: dict) -> Scores:
    tokenizer, task = corpus.tgt_tokenizer, TASKS.get(corpus.name)
    references = [corpus.references[item.src] for item in items]
    texts = [tokenizer.decode(ids) for ids in outputs]
    tokenize = tokenization([text for texts in references for text in texts], task.tgt_unit if task else None)
    ratios, mistakes = [], []
    for item, ids, answers in zip(items, outputs, references, strict=True):
        judged = {answer: tokens_correct(ids, [tokenizer.encode(answer)]) for answer in answers}
        nearest = max(answers, key=lambda answer: sum(judged[answer]))
        reference = pieces_of(tokenizer, nearest)
        ratios.append(sum(token != EOS for token in ids) / len(reference))
        if not (all(judged[nearest]) and ids[-1] == EOS):
            mistakes.append(Mistake(item.src, pieces_from(tokenizer, ids), judged[nearest], reference))
    return Scores(
        **told, sentences=len(items), measured=measure(texts, references, tokenize), tokenize=tokenize,
        length_ratio=sum(ratios) / len(ratios), unfinished=sum(ids[-1] != EOS for ids in outputs),
        most_references=max(map(len, references)), wrong=len(mistakes), mistakes=tuple(mistakes[:MAX_MISTAKES]),
    )  # fmt: skip
