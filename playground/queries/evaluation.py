"""Scores: what a run writes for sentences it never saw, judged by sacrebleu, by exact match, and token by token."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.data.corpus import Corpus, Item, natural_unit
from playground.decoding import best
from playground.model.transformer import Transformer
from playground.queries.reader import Reader, most_written
from playground.queries.results import Piece, pieces_from, pieces_of
from playground.queries.time_slices import SLICE, affordable, in_slices
from playground.queries.validation import Evaluated, evaluate, evaluate_on
from playground.reading.uploads import Pairs
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.runs.tokens import tokens_correct
from playground.tasks.toy_tasks import TASKS

SPLITS = ("heldout", "test", "harder")
MIN_SENTENCES, MAX_SENTENCES = 4, 250  # of a slice
SIDE_BY_SIDE = 4  # times as many as token by token in a second are written in a slice's third of one, where many are written side by side
MAX_MISTAKES = 6  # mistakes
MAX_OF_A_FILE = 5000  # sources of an upload that are scored
RESAMPLES = 1000  # of the bootstrap, as many as sacrebleu's own command takes
WORDS = 4  # to a reference on average make sentences, of which BLEU says most; of less, exact match does
CHINESE = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")


class Measured(NamedTuple):
    """What sacrebleu says of a whole set of outputs: scores of 0 to 100, and how to compute them again.

    With a bootstrap: so much more or less may each score be on as many other sentences of the kind, in 95 of 100 cases.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    too_short: bool  # no output has four units in a row, so BLEU, which counts up to four, is 0 whatever was written
    length_ratio: float  # all outputs over their nearest references, in the units of BLEU
    bleu_reach: float | None = None
    chrf_reach: float | None = None


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]], tokenize: str, resamples: int = 1) -> Measured:
    """BLEU and chrF of outputs, each with all its right answers. `tokenize` is sacrebleu's: "13a", "zh", "char", …; with more than one
    of `resamples` its bootstrap says how far they are to be trusted (Koehn 2004).

    Raises ValueError when there are no outputs, or one of them has no reference.
    """
    from sacrebleu.metrics import BLEU, CHRF  # here, for it takes a while and the page is to open first

    if not outputs or len(outputs) != len(references) or not all(references):
        raise ValueError("sacrebleu needs at least one output, and a reference for each")
    streams = list(zip_longest(*references))  # all first references, all second ones, …; None where a sentence has fewer
    bleu = partial(BLEU, tokenize=tokenize, force=True)  # force: no warning about our tokens that stand apart
    found, signature, reach = _resampled(bleu, outputs, streams, resamples)
    characters, chrf_signature, chrf_reach = _resampled(CHRF, outputs, streams, resamples)
    _forget(bleu().tokenizer)
    scores, ratio = (float(found.score), float(characters.score)), found.sys_len / max(found.ref_len, 1)
    return Measured(*scores, signature, chrf_signature, found.totals[-1] == 0, ratio, reach, chrf_reach)


def _resampled(make: Callable[[], Any], outputs: Sequence[str], streams: list, resamples: int) -> tuple[Any, str, float | None]:
    """(score, signature, half of the interval) of a metric of sacrebleu."""
    metric = make()
    try:
        found = metric.corpus_score(outputs, streams, n_bootstrap=resamples)
    except TypeError:  # it can't average resamples of which some have nothing in common with the references: too little for a bootstrap
        metric, resamples = make(), 1
        found = metric.corpus_score(outputs, streams)
    return found, str(metric.get_signature()), float(found._ci) if resamples > 1 else None


def _forget(tokenizer: Any) -> None:
    """By itself sacrebleu keeps the last 65,536 sentences that it cut, of whomever they are."""
    for part in (tokenizer, *vars(tokenizer).values()):
        if hasattr(type(part).__call__, "cache_clear"):
            type(part).__call__.cache_clear()


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
    of_words: bool  # own sentences of several words: nobody writes them as one reference does, so BLEU says more than exact match
    unfinished: int  # outputs without an end
    unknown: int  # outputs with <unk>
    most_references: int  # right answers to one source
    wrong: int
    mistakes: tuple[Mistake, ...]  # the first of the wrong ones


def scores(
    reader: Reader, corpora: Corpora, run: Run, step: int | None, split: str, width: int = 1, length_penalty: float = 0.0
) -> Scores:  # fmt: skip
    """The scores of a run on one of SPLITS, decoded greedily or by a beam of this `width`, as far as they are known after a moment: who
    asks again knows more.

    Raises Refusal when the split is empty or the run has nothing to show yet.
    """
    corpus = corpora.get(run.experiment, run.pairs)
    items = getattr(corpus, split)
    if not items:
        raise Refusal("evaluation.no_sentences", split=split)
    evaluated = evaluate(reader, corpora, run, step, split)
    return _scores_on(reader, run, step, split, corpus, items, evaluated, width, length_penalty)


def file_scores(
    reader: Reader, corpora: Corpora, run: Run, step: int | None, own: str, pairs: Pairs, width: int = 1, length_penalty: float = 0.0
) -> Scores:  # fmt: skip
    """The same on an upload of this id: the first of its sources, each with all its targets. Raises Refusal when the run can read none."""
    corpus = reader.remember(run, ("file", own), lambda: _corpus_of(run, corpora.get(run.experiment, run.pairs), pairs))
    if not corpus.test:
        raise Refusal("evaluation.file_too_long")
    evaluated = evaluate_on(reader, run, step, own, corpus, corpus.test)
    return _scores_on(reader, run, step, own, corpus, corpus.test, evaluated, width, length_penalty)


def _corpus_of(run: Run, corpus: Corpus, pairs: Pairs) -> Corpus:
    """A corpus whose test is an upload, in the tokens of a run."""
    src, tgt = run.tokenizers or (corpus.src_tokenizer, corpus.tgt_tokenizer)
    items = []
    for source, (target, *_) in islice(pairs.references.items(), MAX_OF_A_FILE):
        item = Item(source, target, tuple(src.encode(source)), tuple(tgt.encode(target)))
        if max(len(item.src_ids), len(item.tgt_ids)) < MAX_POSITIONS and item.src_ids:
            items.append(item)
    return replace(corpus, test=tuple(items), references=pairs.references)


def _scores_on(
    reader: Reader, run: Run, step: int | None, name: str, corpus: Corpus, items: Sequence[Item], evaluated: Evaluated, width: int,
    length_penalty: float,
) -> Scores:  # fmt: skip
    """Of items with a `name` of their own."""
    length = sum(len(item.src_ids) for item in items) / len(items)
    asked = items[: SLICE // 2] if run.working else items
    length += most_written(run.longest_target, length)
    size = affordable(run, width * length / SIDE_BY_SIDE, MAX_SENTENCES, MIN_SENTENCES)
    way = (width, length_penalty) if width > 1 else (1, 0.0)
    write = partial(_write, run.longest_target, way)
    actual, found = in_slices(reader, run, step, ("scores", name, *way), asked, write, size)
    outputs = [ids for written in found for ids in written]
    told = {"step": actual, "evaluated": evaluated, "asked": len(asked)}

    def judged(*_: object) -> Scores:
        return _scores(corpus, asked[: len(outputs)], outputs, told)

    key = ("scores", name, *way, actual, evaluated.validation.pairs, len(outputs))
    return judged() if run.working else reader.work(run, step, key, judged)


def _write(longest_target: int, way: tuple[int, float], model: Transformer, items: Sequence[Item]) -> list[tuple[int, ...]]:
    sources = [item.src_ids for item in items]
    return best(model, sources, [most_written(longest_target, len(ids)) for ids in sources], *way)


def _words(references: Sequence[Sequence[str]]) -> float:
    """Of a mean first reference; in Chinese each character counts."""
    return sum(len(first.split()) + len(CHINESE.findall(first)) for first, *_ in references) / len(references)


def _scores(corpus: Corpus, items: Sequence[Item], outputs: Sequence[tuple[int, ...]], told: dict) -> Scores:
    tokenizer, task = corpus.tgt_tokenizer, TASKS.get(corpus.name)
    references = [corpus.references[item.src] for item in items]
    texts = [tokenizer.decode(ids) for ids in outputs]
    tokenize = tokenization([text for texts in references for text in texts], task.tgt_unit if task else None)
    of_words = task is None and tokenize != "char" and _words(references) >= WORDS
    resamples = RESAMPLES if len(outputs) == told["evaluated"].of else 1  # of a part that grows, nobody waits for it
    mistakes = []
    for item, ids, answers in zip(items, outputs, references, strict=True):
        judged = {answer: tokens_correct(ids, [tokenizer.encode(answer)]) for answer in answers}
        nearest = max(answers, key=lambda answer: sum(judged[answer]))
        reference = pieces_of(tokenizer, nearest)
        if not (all(judged[nearest]) and ids[-1] == EOS):
            mistakes.append(Mistake(item.src, pieces_from(tokenizer, ids), judged[nearest], reference))
    return Scores(
        **told, sentences=len(items), measured=measure(texts, references, tokenize, resamples), tokenize=tokenize, of_words=of_words,
        unfinished=sum(ids[-1] != EOS for ids in outputs), unknown=sum(UNK in ids for ids in outputs),
        most_references=max(map(len, references)), wrong=len(mistakes), mistakes=tuple(mistakes[:MAX_MISTAKES]),
    )  # fmt: skip
