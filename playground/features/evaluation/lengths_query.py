"""Length generalisation: accuracy on sentences of every length up to three times those of training, or of the existing lengths;
at each place of a target; and true sentences about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import MAX_POSITIONS, PAD
from playground.data.corpus import Corpus, Item, make_items
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.validation import SLICE, affordable, in_slices
from playground.inspection import Fact, percent
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.tasks.toy_tasks import TASKS, draw_of_length, units
from playground.training.metrics import build_eval_set

NAMED = 6  # listed lengths without a sentence
REACH = 3  # times the longest source of training
EACH, MIN_SENTENCES = 20, 2  # sentences of one length
MAX_SENTENCES = 800  # sentences of a task that can't generate any length
SEED = 1  # of the generated sentences: the same for every run


@dataclass(frozen=True)
class Reach:
    """Accuracy by length. Column n - 1 is for targets of n tokens (without EOS), row p for their token number p + 1; EOS is the last.

    Both shares (0 to 1) are NaN without a sentence or token.
    """

    counts: np.ndarray  # (N,) sentences
    exact: np.ndarray  # (N,) exact match: the share of sentences that is wholly right
    tokens: np.ndarray  # (N + 1, N) the share of tokens that is right


def reach(rows: Sequence[tuple[np.ndarray, bool]], longest: int) -> Reach:
    """Averages sentences of (which tokens are right (T,), EOS included; whether all are). N is `longest`, or more for a longer sentence."""
    longest = max([longest, *(len(right) - 1 for right, _ in rows)])
    counts, whole = np.zeros(longest, dtype=int), np.zeros(longest)
    hits, totals = np.zeros((longest + 1, longest)), np.zeros((longest + 1, longest))
    for right, is_right in rows:
        column = len(right) - 2
        counts[column] += 1
        whole[column] += is_right
        hits[: len(right), column] += right
        totals[: len(right), column] += 1
    with np.errstate(invalid="ignore"):
        return Reach(counts, whole / counts, hits / totals)


def exact_facts(accuracy: Reach, trained: tuple[int, int]) -> list[Fact]:
    """States exact match at the lengths of training, `trained` (shortest, longest); at the next one beyond; and the length from which on it
    is 0. Also exact match of sentences shorter than in training, and the lengths without a sentence."""
    low, high = trained
    facts = [Fact("evaluation.lengths_trained", {"percent": _exact_match(accuracy, low, high), "span": _format_span(low, high)})]
    facts += missing_facts(accuracy, high)
    if low > 1 and accuracy.counts[: low - 1].any():
        facts.append(Fact("evaluation.lengths_shorter", {"percent": _exact_match(accuracy, 1, low - 1), "low": low}))
    beyond = np.flatnonzero(accuracy.counts[high:]) + high + 1  # lengths with sentences
    if not len(beyond):
        return [*facts, Fact("evaluation.lengths_end", {})]
    values = {"length": int(beyond[0]), "percent": percent(accuracy.exact[beyond[0] - 1])}
    if len(beyond) == 1:
        return [*facts, Fact("evaluation.lengths_next", values)]
    alive = [int(length) for length in beyond if accuracy.exact[length - 1] > 0]
    if alive[-1:] == [int(beyond[-1])]:
        return [*facts, Fact("evaluation.lengths_alive", values | {"last": alive[-1], "left": percent(accuracy.exact[alive[-1] - 1])})]
    if not alive:
        return [*facts, Fact("evaluation.lengths_none", values)]
    return [*facts, Fact("evaluation.lengths_beyond", values | {"zero": int(next(length for length in beyond if length > alive[-1]))})]


def missing_facts(accuracy: Reach, longest: int) -> list[Fact]:
    """States which lengths, up to `longest` at least, have no sentence; nothing if all have one."""
    tried = {*(np.flatnonzero(accuracy.counts) + 1).tolist()}
    missing = [length for length in range(1, max(len(accuracy.counts), longest) + 1) if length not in tried]
    lengths = (*map(str, missing[:NAMED]), *["…"] * (len(missing) > NAMED))
    return [Fact("evaluation.lengths_missing", {"count": len(missing), "lengths": lengths})] if missing else []


def line_fact(accuracy: Reach, trained: tuple[int, int]) -> Fact:
    """States exact match in one line, for a run among others."""
    low, high = trained
    values = {"percent": _exact_match(accuracy, low, high), "span": _format_span(low, high)}
    beyond = np.flatnonzero(accuracy.counts[high:]) + high + 1
    if not len(beyond):
        return Fact("evaluation.line_end", values)
    return Fact("evaluation.line", values | {"length": int(beyond[0]), "next": percent(accuracy.exact[beyond[0] - 1])})


def token_facts(accuracy: Reach, trained: tuple[int, int]) -> list[Fact]:
    """States token accuracy at the lengths of training and beyond, and the hardest place at the first length beyond."""
    low, high = trained
    inside, beyond = _token_accuracy(accuracy, low, high), _token_accuracy(accuracy, high + 1, len(accuracy.counts))
    values, lengths = {"percent": percent(inside), "span": _format_span(low, high)}, np.flatnonzero(accuracy.counts[high:]) + high + 1
    if not len(lengths):
        return [Fact("evaluation.tokens_trained", values)]
    facts = [Fact("evaluation.tokens_beyond", values | {"beyond": percent(beyond)})]
    first = int(lengths[0])
    column = accuracy.tokens[: first + 1, first - 1]
    if column.min() < 1:
        place = int(column.argmin()) + 1
        facts.append(Fact("evaluation.tokens_hardest", {"length": first, "place": place, "percent": percent(column.min())}))
    return facts


def _format_span(low: int, high: int) -> str:
    return f"{low}–{high}" if low < high else str(low)


def _exact_match(accuracy: Reach, low: int, high: int) -> int:
    """Returns exact match of sentences of low to high tokens, in percent."""
    counts, exact = accuracy.counts[low - 1 : high], accuracy.exact[low - 1 : high]
    return percent(float(np.nansum(counts * exact) / max(counts.sum(), 1)))


def _token_accuracy(accuracy: Reach, low: int, high: int) -> float:
    """Returns token accuracy in sentences of low to high tokens."""
    counts, tokens = accuracy.counts[low - 1 : high], accuracy.tokens[:, low - 1 : high]
    totals = ~np.isnan(tokens) * counts
    return float(np.nansum(tokens * counts) / max(totals.sum(), 1))


@dataclass(frozen=True)
class Lengths:
    """Accuracy by length over the `sentences` tried so far, the shortest of the `total`.

    As in validation, a token is right when it is the likeliest, given the right ones before it, and a sentence when all its tokens are, in
    one of its right answers: then, and only then, greedy decoding writes it.
    """

    step: int
    sentences: int
    total: int
    generated: bool  # for every length; else the sentences are those of the held-out and harder splits
    trained: tuple[int, int]  # the shortest and the longest target of training, in tokens without EOS
    reach: Reach


def lengths(reader: Reader, corpora: Corpora, run: Run, step: int | None) -> Lengths:
    """Measures the parameters nearest to `step`, as far as the time budget goes; a repeated call continues.

    Raises Refusal when the run has nothing to show yet.
    """
    corpus = corpora.get(run.experiment, run.pairs)
    generated = _generate(run, corpus)
    items = generated or _collect(run, corpus)
    planned = items[:: -(-len(items) // SLICE)] if run.working else items
    actual, slices = in_slices(reader, run, step, ("lengths",), planned, lambda model, part: teacher_forced(model, corpus, part))
    rows = [row for part in slices for row in part]
    targets = [len(item.tgt_ids) for item in corpus.train]
    longest = max(len(item.tgt_ids) for item in planned)
    return Lengths(actual, len(rows), len(planned), bool(generated), (min(targets), max(targets)), reach(rows, longest))


@torch.inference_mode()
def teacher_forced(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> list[tuple[np.ndarray, bool]]:
    """Returns for each item which tokens of its right answer (T,), EOS last, are the likeliest under teacher forcing (of the answer with
    the largest share of them), and whether all tokens of one of its answers are. The model is in eval mode."""
    flags, best, whole = [np.zeros(0, dtype=bool)] * len(items), [(-1.0, False)] * len(items), [False] * len(items)
    for batch, question, own, spellable, _ in build_eval_set(corpus, tuple(items)).batches:
        right, real = model(batch.src, batch.tgt_in).logits.argmax(dim=-1) == batch.tgt_out, batch.tgt_out != PAD
        for row, item in enumerate(question.tolist()):
            correct = right[row, real[row]].numpy()
            share = (float(correct.mean()), bool(own[row]))  # a tie goes to the item's own answer
            if share > best[item]:
                flags[item], best[item] = correct, share
            whole[item] |= bool(correct.all() and spellable[row])
    return list(zip(flags, whole, strict=True))


def _generate(run: Run, corpus: Corpus) -> list[Item]:
    """Draws sentences of 1, 2, 3, … units; none for a task that can't."""
    task = TASKS.get(corpus.name)
    if task is None or task.draw_long is None:
        return []
    longest = min(REACH * max(len(units(item.src, task.src_unit)) for item in corpus.train), MAX_POSITIONS - 1)
    each = affordable(run, longest, EACH * longest, MIN_SENTENCES * longest) // longest  # source and target of a mean length together
    drawn = [example for length in range(1, longest + 1) for example in draw_of_length(task.name, length, each, SEED)]
    return [*make_items(drawn, (corpus.src_tokenizer, corpus.tgt_tokenizer))]


def _collect(run: Run, corpus: Corpus) -> list[Item]:
    """Returns held-out and harder sentences in equal numbers, by length."""
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) for item in corpus.heldout) / len(corpus.heldout)
    half = affordable(run, tokens, MAX_SENTENCES, 2) // 2
    return sorted([*corpus.heldout[:half], *corpus.harder[:half]], key=lambda item: len(item.tgt_ids))
