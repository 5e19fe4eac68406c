"""One evaluation of a run at a step: loss, token accuracy and exact match on all of a split, the same for every panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from playground.data.corpus import Corpus, Item
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.time_slices import SLICE, affordable, in_slices
from playground.inspection.interventions import Change
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.training.metrics import Tally, Validation, build_eval_set, tally
from playground.variants import variant_of

MAX_SENTENCES = 250  # of a slice


@dataclass(frozen=True)
class Evaluated:
    """Scores of the parameters of `step` on the first `validation.pairs` of the `of` sentences of a split."""

    step: int
    validation: Validation
    of: int

    @property
    def whole(self) -> bool:
        """Tests whether all sentences were scored; else the numbers are those of a sample and must be labelled so."""
        return self.validation.pairs == self.of


def evaluate(reader: Reader, corpora: Corpora, run: Run, step: int | None, split: str = "heldout") -> Evaluated:
    """Returns training's own validation at this step if it covered all held-out sentences; else evaluates as far as the time budget goes,
    and a repeated call continues (see time_slices.py). Raises Refusal."""
    known = recorded(run, run.parameters_at(step)[0]) if split == "heldout" else None
    if known:
        return known
    corpus = corpora.get(run.experiment, run.pairs)
    return evaluate_on(reader, run, step, split, corpus, getattr(corpus, split))


def evaluate_on(reader: Reader, run: Run, step: int | None, name: str, corpus: Corpus, items: Sequence[Item]) -> Evaluated:
    """Evaluates these items, whose right answers the corpus knows; `name` identifies them in the cache."""
    size = slice_size(run, items)
    actual, tallies = in_slices(reader, run, step, ("evaluate", name), items, lambda model, part: tally_of(model, corpus, part), size)
    return Evaluated(actual, total(tallies).validation, len(items))


def evaluate_change(reader: Reader, corpora: Corpora, run: Run, step: int | None, change: Change) -> tuple[Evaluated, Evaluated]:
    """Evaluates before and after a change, on the same held-out sentences. An edit belongs to one sentence and is left out."""
    change = replace(change, edit=None).within(run.experiment.model)
    if not change:
        before = evaluate(reader, corpora, run, step)
        return before, before
    corpus = corpora.get(run.experiment, run.pairs)

    def work(model: Transformer, part: Sequence[Item]) -> tuple[Tally, Tally]:
        return tally_of(model, corpus, part), tally_of(change.apply(model), corpus, part)

    size = slice_size(run, corpus.heldout)
    actual, pairs = in_slices(reader, run, step, ("evaluate", change), corpus.heldout, work, size)
    before, after = (Evaluated(actual, total(tallies).validation, len(corpus.heldout)) for tallies in zip(*pairs, strict=True))
    return (recorded(run, actual) or before) if before.whole else before, after


def recorded(run: Run, step: int) -> Evaluated | None:
    """Returns the newest validation of this very step over all held-out sentences; None without one."""
    rows = zip(*run.history.validations.rows().values(), strict=True)
    complete = [row for row in rows if row[0] == step and row[-2] == row[-1]]
    if not complete:
        return None
    _, *numbers, pairs, every = complete[-1]
    return Evaluated(step, Validation(*numbers, int(pairs)), int(every))


def tally_of(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> Tally:
    """Measures these sentences as training does."""
    variant = variant_of(model.config)
    return tally(model, build_eval_set(corpus, tuple(items), change=variant.batch), written=not variant.argmax_is_greedy(model))


def total(tallies: Iterable[Tally]) -> Tally:
    return reduce(add, tallies)


def slice_size(run: Run, items: Sequence[Item]) -> int:
    """Returns the sentences of a time slice."""
    return affordable(run, sum(len(item.src_ids) + len(item.tgt_ids) for item in items) / len(items), MAX_SENTENCES, SLICE)
