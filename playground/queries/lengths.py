"""How far a run's skill reaches: sentences of every length up to three times those of its training, or of the lengths there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import MAX_POSITIONS, PAD
from playground.data.corpus import Corpus, Item
from playground.inspection.lengths import Reach, reach
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.queries.time_slices import SLICE, affordable, in_slices
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.tasks.toy_tasks import TASKS, draw_of_length, units
from playground.training.metrics import build_eval_set

REACH = 3  # times the longest source of training
EACH, MIN_SENTENCES = 20, 2  # sentences of one length
MAX_SENTENCES = 800  # sentences of a task that can't make them to measure
SEED = 1  # of the sentences made here: the same for every run


@dataclass(frozen=True)
class Lengths:
    """What is right at which length, in the `sentences` tried so far, the shortest of the `asked` that will be.

    As in validation, a token is right when it is the likeliest, given the right ones before it, and a sentence when all its tokens are, in
    one of its right answers: then, and only then, greedy decoding writes it.
    """

    step: int
    sentences: int
    asked: int
    made: bool  # sentences were made for every length; else they are those of the held-out and harder splits
    trained: tuple[int, int]  # the shortest and the longest target of training, in tokens without EOS
    reach: Reach


def lengths(reader: Reader, corpora: Corpora, run: Run, step: int | None) -> Lengths:
    """Of the parameters nearest to `step`, as far as it is known after a moment: who asks again knows more.

    Raises Refusal when the run has nothing to show yet.
    """
    corpus = corpora.get(run.experiment, run.pairs)
    made = _made(run, corpus)
    items = made or _existing(run, corpus)
    asked = items[:: -(-len(items) // SLICE)] if run.working else items
    actual, found = in_slices(reader, run, step, ("lengths",), asked, lambda model, part: forced(model, corpus, part))
    rows = [row for part in found for row in part]
    targets = [len(item.tgt_ids) for item in corpus.train]
    longest = max(len(item.tgt_ids) for item in asked)
    return Lengths(actual, len(rows), len(asked), bool(made), (min(targets), max(targets)), reach(rows, longest))


@torch.inference_mode()
def forced(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> list[tuple[np.ndarray, bool]]:
    """For each item, which tokens of its right answer (T,), EOS last, are the likeliest given those before: of the answer with the largest
    share of them, where it has several. And whether one of its answers is right as a whole. The model is in eval mode."""
    flags, best, whole = [np.zeros(0, dtype=bool)] * len(items), [(-1.0, False)] * len(items), [False] * len(items)
    for batch, question, own, spellable, _ in build_eval_set(corpus, tuple(items)).batches:
        right, real = model(batch.src, batch.tgt_in).logits.argmax(dim=-1) == batch.tgt_out, batch.tgt_out != PAD
        for row, item in enumerate(question.tolist()):
            found = right[row, real[row]].numpy()
            share = (float(found.mean()), bool(own[row]))  # its own answer, when another one is as good
            if share > best[item]:
                flags[item], best[item] = found, share
            whole[item] |= bool(found.all() and spellable[row])
    return list(zip(flags, whole, strict=True))


def _made(run: Run, corpus: Corpus) -> list[Item]:
    """Sentences of 1, 2, 3, … units; none when the task doesn't make them to measure."""
    task = TASKS.get(corpus.name)
    if task is None or task.draw_long is None:
        return []
    longest = min(REACH * max(len(units(item.src, task.src_unit)) for item in corpus.train), MAX_POSITIONS - 1)
    each = affordable(run, longest, EACH * longest, MIN_SENTENCES * longest) // longest  # both sides of a mean length together
    found = [example for length in range(1, longest + 1) for example in draw_of_length(task.name, length, each, SEED)]
    src, tgt = corpus.src_tokenizer, corpus.tgt_tokenizer
    return [Item(src=e.src, tgt=e.tgt, src_ids=tuple(src.encode(e.src)), tgt_ids=tuple(tgt.encode(e.tgt))) for e in found]


def _existing(run: Run, corpus: Corpus) -> list[Item]:
    """As many held-out as harder ones, in order of length."""
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) for item in corpus.heldout) / len(corpus.heldout)
    half = affordable(run, tokens, MAX_SENTENCES, 2) // 2
    return sorted([*corpus.heldout[:half], *corpus.harder[:half]], key=lambda item: len(item.tgt_ids))
