"""One evaluation of a run at a step: loss, token accuracy and exact match on all of a split, the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from playground.data.corpus import Corpus, Item
from playground.inspection.interventions import Change
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.queries.time_slices import SLICE, affordable, in_slices
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.training.metrics import Tally, Validation, build_eval_set, tally
from playground.variants import variant_of

SENTENCES = 250  # of a slice at most


@dataclass(frozen=True)
class Evaluated:
    """How good the parameters of `step` are on the first `validation.pairs` of the `of` sentences that the split has."""

    step: int
    validation: Validation
    of: int

    @property
    def whole(self) -> bool:
        """On all of them; else the numbers are those of a sample, and whoever shows them says so."""
        return self.validation.pairs == self.of


def evaluate(reader: Reader, corpora: Corpora, run: Run, step: int | None, split: str = "heldout") -> Evaluated:
    """What training measured at this step, where it asked all held-out sentences; else as much as is known after a moment: who asks again
    knows more (see time_slices.py). Raises Refusal."""
    known = recorded(run, run.parameters_at(step)[0]) if split == "heldout" else None
    if known:
        return known
    corpus = corpora.get(run.experiment, run.pairs)
    return evaluate_on(reader, run, step, split, corpus, getattr(corpus, split))


def evaluate_on(reader: Reader, run: Run, step: int | None, name: str, corpus: Corpus, items: Sequence[Item]) -> Evaluated:
    """The same of these items, whose right answers the corpus knows; `name` is theirs and nobody else's."""
    size = slice_size(run, items)
    actual, found = in_slices(reader, run, step, ("evaluate", name), items, lambda model, part: tally_of(model, corpus, part), size)
    return Evaluated(actual, total(found).validation, len(items))


def evaluate_change(reader: Reader, corpora: Corpora, run: Run, step: int | None, change: Change) -> tuple[Evaluated, Evaluated]:
    """Before and after a change, on the same held-out sentences. An edit is about one sentence and left out."""
    change = replace(change, edit=None).within(run.experiment.model)
    if not change:
        before = evaluate(reader, corpora, run, step)
        return before, before
    corpus = corpora.get(run.experiment, run.pairs)

    def work(model: Transformer, part: Sequence[Item]) -> tuple[Tally, Tally]:
        return tally_of(model, corpus, part), tally_of(change.apply(model), corpus, part)

    size = slice_size(run, corpus.heldout)
    actual, found = in_slices(reader, run, step, ("evaluate", change), corpus.heldout, work, size)
    before, after = (Evaluated(actual, total(tallies).validation, len(corpus.heldout)) for tallies in zip(*found, strict=True))
    return (recorded(run, actual) or before) if before.whole else before, after


def recorded(run: Run, step: int) -> Evaluated | None:
    """The newest validation of this very step, when it was of all held-out sentences."""
    rows = zip(*run.history.validations.rows().values(), strict=True)
    found = [row for row in rows if row[0] == step and row[-2] == row[-1]]
    if not found:
        return None
    _, *numbers, pairs, every = found[-1]
    return Evaluated(step, Validation(*numbers, int(pairs)), int(every))


def tally_of(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> Tally:
    """The same measurement that training makes, of these sentences."""
    variant = variant_of(model.config)
    return tally(model, build_eval_set(corpus, tuple(items), change=variant.batch), written=not variant.argmax_is_greedy(model))


def total(tallies: Iterable[Tally]) -> Tally:
    return reduce(add, tallies)


def slice_size(run: Run, items: Sequence[Item]) -> int:
    """How many sentences are asked before somebody else may ask."""
    return affordable(run, sum(len(item.src_ids) + len(item.tgt_ids) for item in items) / len(items), SENTENCES, SLICE)
