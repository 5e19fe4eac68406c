"""Scores of a run's outputs for sentences it never saw: sacrebleu's, exact match, and token accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.data.corpus import Corpus, Item, make_items
from playground.decoding import best, limit_output
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.results import Piece, pieces_from, pieces_of
from playground.features.shared.queries.validation import SLICE, Evaluated, affordable, evaluate, evaluate_on, in_slices
from playground.model.transformer import Transformer
from playground.reading.pairs import Pairs
from playground.runs.corpora import Corpora
from playground.runs.history import tokens_correct
from playground.runs.run import Run
from playground.tasks import Example
from playground.tasks.toy_tasks import TASKS
from playground.training.bleu import Measured, is_of_words, measure, tokenization

SPLITS = ("heldout", "test", "harder")
MIN_SENTENCES, MAX_SENTENCES = 4, 250  # of a slice
SIDE_BY_SIDE = 4  # a slice's third of a second writes this many times a token-by-token second's output, as sentences are batched
MAX_MISTAKES = 6
MAX_OF_A_FILE = 5000  # scored sources of an upload
RESAMPLES = 1000  # of the bootstrap, the default of sacrebleu's own command


@dataclass(frozen=True)
class Mistake:
    """A wrong output, with the right answer it agrees with most."""

    source: str
    output: tuple[Piece, ...]  # EOS last if it was written
    right: tuple[bool, ...]  # of each token of the output, place by place
    reference: tuple[Piece, ...]


@dataclass(frozen=True)
class Scores:
    """Scores of the parameters of `step` on a split. Scores of outputs cover the first `sentences` of the `total` to be decoded so far;
    all others are in `evaluated`."""

    step: int
    evaluated: Evaluated
    sentences: int
    total: int
    measured: Measured
    tokenize: str  # how sacrebleu cut the sentences for BLEU
    of_words: bool  # own sentences of several words have many right translations, so BLEU says more than exact match
    unfinished: int  # outputs without an end
    unknown: int  # outputs with <unk>
    most_references: int  # right answers to one source
    wrong: int
    mistakes: tuple[Mistake, ...]  # the first of the wrong ones


def scores(
    reader: Reader, corpora: Corpora, run: Run, step: int | None, split: str, width: int = 1, length_penalty: float = 0.0
) -> Scores:  # fmt: skip
    """Scores a run on one of SPLITS, decoded greedily or by a beam of this `width`, as far as the time budget goes; a repeated call
    continues.

    Raises Refusal when the split is empty or the run has nothing to show yet.
    """
    corpus = corpora.get(run.experiment, run.pairs)
    items = getattr(corpus, split)
    if not items:
        raise Refusal("evaluation.no_sentences", split=split)
    evaluated = evaluate(reader, corpora, run, step, split)
    return _score_items(reader, run, step, split, corpus, items, evaluated, width, length_penalty)


def score_upload(
    reader: Reader, corpora: Corpora, run: Run, step: int | None, own: str, pairs: Pairs, width: int = 1, length_penalty: float = 0.0
) -> Scores:  # fmt: skip
    """Scores a run on the upload `own`: its first sources, each with all its targets. Raises Refusal when the run can read none."""
    corpus = reader.remember(run, ("file", own), lambda: _make_corpus(run, corpora.get(run.experiment, run.pairs), pairs))
    if not corpus.test:
        raise Refusal("evaluation.file_too_long")
    evaluated = evaluate_on(reader, run, step, own, corpus, corpus.test)
    return _score_items(reader, run, step, own, corpus, corpus.test, evaluated, width, length_penalty)


def _make_corpus(run: Run, corpus: Corpus, pairs: Pairs) -> Corpus:
    """Returns the corpus with an upload as its test split, in the run's tokens."""
    tokenizers = run.tokenizers or (corpus.src_tokenizer, corpus.tgt_tokenizer)
    examples = (Example(source, target) for source, (target, *_) in islice(pairs.references.items(), MAX_OF_A_FILE))
    items = make_items(examples, tokenizers)
    fitting = tuple(item for item in items if max(len(item.src_ids), len(item.tgt_ids)) < MAX_POSITIONS and item.src_ids)
    return replace(corpus, test=fitting, references=pairs.references)


def _score_items(
    reader: Reader, run: Run, step: int | None, name: str, corpus: Corpus, items: Sequence[Item], evaluated: Evaluated, width: int,
    length_penalty: float,
) -> Scores:  # fmt: skip
    """Decodes and scores items; `name` identifies them in the cache."""
    length = sum(len(item.src_ids) for item in items) / len(items)
    planned = items[: SLICE // 2] if run.working else items
    length += limit_output(run.longest_target, length)
    size = affordable(run, width * length / SIDE_BY_SIDE, MAX_SENTENCES, MIN_SENTENCES)
    beam = (width, length_penalty) if width > 1 else (1, 0.0)
    write = partial(_write, run.longest_target, beam)
    actual, slices = in_slices(reader, run, step, ("scores", name, *beam), planned, write, size)
    outputs = [ids for written in slices for ids in written]
    progress = {"step": actual, "evaluated": evaluated, "total": len(planned)}

    def judge(*_: object) -> Scores:
        return _judge_outputs(corpus, planned[: len(outputs)], outputs, progress)

    key = ("scores", name, *beam, actual, evaluated.validation.pairs, len(outputs))
    return judge() if run.working else reader.work(run, step, key, judge)


def _write(longest_target: int, beam: tuple[int, float], model: Transformer, items: Sequence[Item]) -> list[tuple[int, ...]]:
    sources = [item.src_ids for item in items]
    return best(model, sources, [limit_output(longest_target, len(ids)) for ids in sources], *beam)


def _judge_outputs(corpus: Corpus, items: Sequence[Item], outputs: Sequence[tuple[int, ...]], progress: dict) -> Scores:
    tokenizer, task = corpus.tgt_tokenizer, TASKS.get(corpus.name)
    references = [corpus.references[item.src] for item in items]
    texts = [tokenizer.decode(ids) for ids in outputs]
    tokenize = tokenization([text for texts in references for text in texts], task.tgt_unit if task else None)
    of_words = task is None and is_of_words(references, tokenize)
    resamples = RESAMPLES if len(outputs) == progress["evaluated"].of else 1  # too slow to repeat after each slice
    mistakes = []
    for item, ids, answers in zip(items, outputs, references, strict=True):
        flags = {answer: tokens_correct(ids, [tokenizer.encode(answer)]) for answer in answers}
        nearest = max(answers, key=lambda answer: sum(flags[answer]))
        reference = pieces_of(tokenizer, nearest)
        if not (all(flags[nearest]) and ids[-1] == EOS):
            mistakes.append(Mistake(item.src, pieces_from(tokenizer, ids), flags[nearest], reference))
    return Scores(
        **progress, sentences=len(items), measured=measure(texts, references, tokenize, resamples), tokenize=tokenize, of_words=of_words,
        unfinished=sum(ids[-1] != EOS for ids in outputs), unknown=sum(UNK in ids for ids in outputs),
        most_references=max(map(len, references)), wrong=len(mistakes), mistakes=tuple(mistakes[:MAX_MISTAKES]),
    )  # fmt: skip
