"""What if: one sentence before and after a change to the model, and what each head is worth over the held-out sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby

import numpy as np

from playground.config import EOS, MAX_POSITIONS, Refusal
from playground.data.corpus import Corpus, Item
from playground.decoding import Trace, greedy, trace
from playground.inspection.copies import shadow_copy
from playground.inspection.interventions import Change, HeadId, heads, silence
from playground.inspection.probabilities import top
from playground.model.transformer import Transformer
from playground.queries import references
from playground.queries.reader import Reader, most_written, traced_parts
from playground.queries.results import Piece, SentenceTrace, pieces_from
from playground.queries.time_slices import BUDGET_S, affordable, in_slices
from playground.queries.validation import Evaluated, recorded, tally_of, total
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.training.metrics import Tally, Validation, build_eval_set, tally

MIN_SENTENCES = 10  # held-out sentences that are asked
FEW, FEW_S = 20, 0.3  # held-out sentences of a first estimate, and seconds that it may take, about
ALL_HEADS_S = 10.0  # of one core that is not busy, that all heads together may take, about
AT_ONCE = 3  # times as many operations a second as token by token, where all tokens of a sentence are known
TOP_TOKENS = 5


@dataclass(frozen=True)
class StepComparison:
    """One decoding step with an edit and without it, all else equal: its likeliest tokens on either side, with both probabilities."""

    tokens: tuple[Piece, ...]
    without: tuple[float, ...]
    edited: tuple[float, ...]


@dataclass(frozen=True)
class InterventionResult:
    """A sentence written by the model as it was trained, by the changed model, and by one changed in all but the edit of a row.

    `fed` is written by force in both: how likely each of its tokens is to either. Same parameters everywhere.
    """

    before: SentenceTrace
    after: SentenceTrace
    unedited: SentenceTrace  # `after` itself without an edit
    fed: tuple[Piece, ...]
    likely_before: tuple[float, ...]
    likely_after: tuple[float, ...]
    step: StepComparison | None  # of the edit, when there is one and the sentence comes so far
    change: Change  # what of the change concerns this model and this sentence
    memory: str  # how the decoder got its memory in training


@dataclass(frozen=True)
class Importance:
    """Validations over the same held-out sentences: of the model as it is (None before it is known), and with single heads switched off,
    the first of all `heads`. `estimate`: all heads on the first few sentences; None where these are all that are asked."""

    whole: Evaluated | None
    without: dict[HeadId, Validation]
    heads: int
    estimate: Importance | None = None


def outcome(reader: Reader, run: Run, step: int | None, text: str, change: Change, reference: bool = False) -> InterventionResult:
    """`reference`: compare the probabilities of the right answer's tokens, where one is known, instead of what was written before.

    Raises Refusal for text that is empty or too long.
    """
    text, ids = reader.read(run, text)
    right, tokenizer = references.references(run, text), run.tokenizers[1]
    most = most_written(run.longest_target, len(ids))

    def work(model: Transformer, actual: int) -> InterventionResult:
        def write(changed: Transformer) -> tuple[Trace, SentenceTrace]:
            found = trace(changed, ids, greedy(changed, [ids], most)[0].ids)
            return found, reader.inside(run, text, right, found.tgt_ids, *traced_parts(found), actual)

        asked = change.within(model.config)
        edit = asked.edit and (asked.edit.within(len(ids) + 1) or None)
        asked = replace(asked, edit=edit)
        changed = asked.apply(model)
        traced, before = write(model)
        edited, after = write(changed) if asked else (traced, before)
        plain, unedited = write(replace(asked, edit=None).apply(model)) if edit else (edited, after)
        fed = (*tokenizer.encode(right[0]), EOS) if reference and right else traced.tgt_ids
        likely = [traced_parts(trace(one, ids, fed))[2] for one in (model, changed)]
        at = edit.row if edit else MAX_POSITIONS
        shown = _step(run, plain.probabilities[at], edited.probabilities[at]) if at < len(plain.tgt_ids) else None
        return InterventionResult(before, after, unedited, pieces_from(tokenizer, fed), *likely, shown, asked, model.config.memory_mode)

    return reader.work(run, step, (text, reference, change, "what if"), work)


def importance(reader: Reader, corpora: Corpora, run: Run, step: int | None) -> Importance:
    """What each head is worth: every one is switched off alone. Answered are the layers that are known, and as many more as are begun
    within a moment, one slice at least: who asks again and again has all in the end, who leaves has stopped it, and others come in between.
    Who asks first has the estimate.

    Raises Refusal while the run trains and no step is chosen: the parameters would change from head to head.
    """
    if run.working and step is None:
        raise Refusal("interventions.while_training")
    corpus, every = corpora.get(run.experiment, run.pairs), heads(run.experiment.model)
    items, clock, worked = _asked(run, corpus, len(every)), run.runtime.monotonic, []
    end = clock() + BUDGET_S
    estimate, is_new = _estimate(reader, corpus, run, step, items)
    if is_new:
        return Importance(None, {}, len(every), estimate)
    known = recorded(run, run.parameters_at(step)[0]) if len(items) == len(corpus.heldout) else None
    whole, without, layers = known, {}, [tuple(layer) for _, layer in groupby(every, key=lambda head: head[:2])]

    def work(model: Transformer, part: Sequence[Item], silent: tuple[HeadId, ...]) -> list[Tally]:
        worked.append(silent)
        return _each(model, corpus, part, silent)

    for silent in layers if known else ((), *layers):
        actual, found = in_slices(reader, run, step, ("importance", silent), items, partial(work, silent=silent))
        tallies = [total(tallies) for tallies in zip(*found, strict=True)]
        if tallies[0].pairs < len(items):
            break
        if silent:
            without |= {head: one.validation for head, one in zip(silent, tallies, strict=True)}
        else:
            whole = Evaluated(actual, tallies[0].validation, len(corpus.heldout))
        if silent and worked and clock() > end:
            break
    return Importance(whole, without, len(every), estimate)


def _estimate(reader: Reader, corpus: Corpus, run: Run, step: int | None, items: Sequence[Item]) -> tuple[Importance | None, bool]:
    """What each head is worth on the first few of `items`, and whether that was not known before."""
    every, worked = heads(run.experiment.model), []
    few = items[: _affordable(run, corpus, len(every), FEW_S, 2)][:FEW]
    if len(few) == len(items):
        return None, False

    def work(model: Transformer, actual: int) -> Importance:
        worked.append(actual)
        (whole,), without = _each(model, corpus, few, ()), []
        for _, part in groupby(every, key=lambda head: head.part):
            without += _each(model, corpus, few, tuple(part))
        evaluated = Evaluated(actual, whole.validation, len(corpus.heldout))
        return Importance(evaluated, {head: one.validation for head, one in zip(every, without, strict=True)}, len(every))

    return reader.work(run, step, ("importance", "estimate", len(few)), work), bool(worked)


def _each(model: Transformer, corpus: Corpus, items: Sequence[Item], silent: tuple[HeadId, ...]) -> list[Tally]:
    """One measurement for each of these heads, while it is off; without any, one of the model as it is."""
    if not silent:
        return [tally_of(model, corpus, items)]
    questions, mine, found = build_eval_set(corpus, tuple(items)), shadow_copy(model), []
    if silent[0].part != "encoder":
        mine.encode = cache(mine.encode)  # what it says of a batch stays the same
    for head in silent:
        handles = silence(mine, [head])
        found.append(tally(mine, questions))
        for handle in handles:
            handle.remove()
    return found


def _asked(run: Run, corpus: Corpus, times: int) -> Sequence[Item]:
    """All held-out sentences, or as many of the first as can be asked so many times in about `ALL_HEADS_S`."""
    return corpus.heldout[: _affordable(run, corpus, times, ALL_HEADS_S, MIN_SENTENCES)]


def _affordable(run: Run, corpus: Corpus, times: int, seconds: float, least: int) -> int:
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) + 2 for item in corpus.heldout) / len(corpus.heldout)
    return affordable(run, times * tokens / (AT_ONCE * seconds), len(corpus.heldout), least)


def _step(run: Run, without: np.ndarray, edited: np.ndarray) -> StepComparison:
    """Two distributions (V,) of the same step: the likeliest tokens of the first, then those only the second finds likely."""
    ids = [id for id, _ in top(without, TOP_TOKENS)]
    ids += [id for id, _ in top(edited, TOP_TOKENS) if id not in ids]
    return StepComparison(pieces_from(run.tokenizers[1], tuple(ids)), tuple(without[ids].tolist()), tuple(edited[ids].tolist()))
