"""Length generalisation: accuracy on sentences of every length up to three times those of training, or of the existing lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import MAX_POSITIONS, PAD
from playground.data.corpus import Corpus, Item
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.time_slices import SLICE, affordable, in_slices
from playground.inspection.lengths import Reach, reach
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.tasks.toy_tasks import TASKS, draw_of_length, units
from playground.training.metrics import build_eval_set

REACH = 3  # times the longest source of training
EACH, MIN_SENTENCES = 20, 2  # sentences of one length
MAX_SENTENCES = 800  # sentences of a task that can't generate any length
SEED = 1  # of the generated sentences: the same for every run


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
    src, tgt = corpus.src_tokenizer, corpus.tgt_tokenizer
    return [Item(src=e.src, tgt=e.tgt, src_ids=tuple(src.encode(e.src)), tgt_ids=tuple(tgt.encode(e.tgt))) for e in drawn]


def _collect(run: Run, corpus: Corpus) -> list[Item]:
    """Returns held-out and harder sentences in equal numbers, by length."""
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) for item in corpus.heldout) / len(corpus.heldout)
    half = affordable(run, tokens, MAX_SENTENCES, 2) // 2
    return sorted([*corpus.heldout[:half], *corpus.harder[:half]], key=lambda item: len(item.tgt_ids))
