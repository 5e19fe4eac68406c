"""Interventions: one sentence before and after a change to the model, activations patched from another sentence, and each head's importance
over the held-out sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby

import numpy as np

from playground.config import BOS, EOS, MAX_POSITIONS, Refusal
from playground.data.corpus import Corpus, Item
from playground.decoding import Trace, greedy, limit_output, trace
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import Reader, traced_parts
from playground.features.shared.queries.results import Piece, SentenceTrace, pieces_from, pieces_of
from playground.features.shared.queries.validation import BUDGET_S, Evaluated, affordable, in_slices, recorded, tally_of, total
from playground.inspection.interventions import Change, HeadId, heads, silence
from playground.inspection.logits import top
from playground.inspection.patching import Patching, find_different, list_corrupted, patch_all
from playground.model.copies import shadow_copy
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.training.metrics import Tally, Validation, build_eval_set, tally

MIN_SENTENCES = 10  # held-out sentences, whatever they cost
FEW, FEW_S = 20, 0.3  # held-out sentences of a first estimate, and its approximate limit in seconds
ALL_HEADS_S = 10.0  # approximate limit for all heads together, in seconds of one idle core
AT_ONCE = 3  # speed-up of teacher forcing over decoding token by token
TOP_TOKENS = 5


@dataclass(frozen=True)
class StepComparison:
    """One decoding step with and without an edit, all else equal: the likeliest tokens of either, with both probabilities."""

    tokens: tuple[Piece, ...]
    without: tuple[float, ...]
    edited: tuple[float, ...]


@dataclass(frozen=True)
class InterventionResult:
    """A sentence written by the trained model, by the changed model, and by one changed in all but the edit of a row.

    `likely_*`: the probability of each token of `fed` while it is forced. Same parameters everywhere.
    """

    before: SentenceTrace
    after: SentenceTrace
    unedited: SentenceTrace  # `after` itself without an edit
    fed: tuple[Piece, ...]
    likely_before: tuple[float, ...]
    likely_after: tuple[float, ...]
    step: StepComparison | None  # of the edit, if there is one and the sentence reaches its row
    change: Change  # the part of the change that applies to this model and this sentence
    memory: str  # the memory mode of training


@dataclass(frozen=True)
class Importance:
    """Validations over the same held-out sentences: `whole` of the unchanged model (None until known), and with single heads switched off,
    the first of all `heads`. `estimate`: all heads on the first few sentences; None where there are no more sentences."""

    whole: Evaluated | None
    without: dict[HeadId, Validation]
    heads: int
    estimate: Importance | None = None


def compare_outputs(reader: Reader, run: Run, step: int | None, text: str, change: Change, reference: bool = False) -> InterventionResult:
    """Compares the model's output for `text` before and after `change`; with `reference`, the probabilities are those of the right answer
    where one is known, else of the unchanged model's output. Raises Refusal for text that is empty or too long."""
    text, ids = reader.read(run, text)
    right, tokenizer = results.references(run, text), run.tokenizers[1]
    most = limit_output(run.longest_target, len(ids))

    def work(model: Transformer, actual: int) -> InterventionResult:
        def write(changed: Transformer) -> tuple[Trace, SentenceTrace]:
            traced = trace(changed, ids, greedy(changed, [ids], most)[0].ids)
            return traced, reader.build_trace(run, text, right, traced.tgt_ids, *traced_parts(traced), actual)

        applied = change.within(model.config)
        edit = applied.edit and (applied.edit.within(len(ids) + 1) or None)
        applied = replace(applied, edit=edit)
        changed = applied.apply(model)
        traced, before = write(model)
        edited, after = write(changed) if applied else (traced, before)
        plain, unedited = write(replace(applied, edit=None).apply(model)) if edit else (edited, after)
        fed = (*tokenizer.encode(right[0]), EOS) if reference and right else traced.tgt_ids
        likely = [traced_parts(trace(either, ids, fed))[2] for either in (model, changed)]
        at = edit.row if edit else MAX_POSITIONS
        comparison = _compare_step(run, plain.probabilities[at], edited.probabilities[at]) if at < len(plain.tgt_ids) else None
        mode = model.config.memory_mode
        return InterventionResult(before, after, unedited, pieces_from(tokenizer, fed), *likely, comparison, applied, mode)

    return reader.work(run, step, (text, reference, change, "what if"), work)


@dataclass(frozen=True)
class PatchedSentence:
    """A clean and a corrupted sentence, and all patches at one decoding step `at` of the clean output.

    `answers` are both outputs' tokens at each step at which they differ while the clean output is fed.
    """

    step: int
    corrupted_text: str
    clean: tuple[Piece, ...]  # S, EOS last
    corrupted: tuple[Piece, ...]
    answers: dict[int, tuple[Piece, Piece]]
    at: int
    fed: tuple[Piece, ...]  # at + 1, BOS first
    patching: Patching


def patch_sentence(reader: Reader, run: Run, step: int | None, text: str, corrupted_text: str, at: int | None) -> PatchedSentence:
    """Patches `corrupted_text` with activations of `text`, both fed the output of `text`, at step `at` or else the first at which both
    outputs differ; without a corrupted text, `text` with one token exchanged. Raises Refusal for sentences of unlike length, and for
    outputs that are the same."""
    text, ids = reader.read(run, text)
    corrupted_text, chosen = reader.read(run, corrupted_text) if corrupted_text else ("", [])
    if chosen and len(chosen) != len(ids):
        raise Refusal("interventions.patch_length", clean=len(ids), corrupted=len(chosen))
    (src, tgt), most = run.tokenizers, limit_output(run.longest_target, len(ids))
    sentences = [src.encode(source) for source, _ in reader.examples(run)]

    def work(model: Transformer, actual: int) -> PatchedSentence:
        target = greedy(model, [ids], most)[0].ids
        options = [chosen] if chosen else list_corrupted(model, ids, target, sentences)
        other = next((option for option in options if chosen or tuple(src.encode(src.decode(option))) == option), None)
        if other is None:
            raise Refusal("interventions.patch_none")
        steps = np.flatnonzero(find_different(model, ids, [other], target)[0]).tolist()
        place = at if at in steps else min(steps, default=0)
        patching = patch_all(model, ids, other, target[:place])
        if not steps or patching is None:
            raise Refusal("interventions.patch_same")
        forced = trace(model, other, target).probabilities.argmax(axis=-1)
        answers = {each: pieces_from(tgt, (target[each], int(forced[each]))) for each in steps}
        written = corrupted_text or src.decode(other)
        pieces = [pieces_of(src, sentence, end=True) for sentence in (text, written)]
        return PatchedSentence(actual, written, *pieces, answers, place, pieces_from(tgt, (BOS, *target[:place])), patching)

    return reader.work(run, step, (text, corrupted_text, at, "patching"), work)


def measure_importance(reader: Reader, corpora: Corpora, run: Run, step: int | None) -> Importance:
    """Measures head importance by ablation: each head is switched off alone. Returns the cached layers and as many more as begin within
    the time budget, at least one slice: repeated calls get them all, other requests run in between. The first call returns the estimate.

    Raises Refusal while the run trains and no step is chosen: the parameters would change from head to head.
    """
    if run.working and step is None:
        raise Refusal("interventions.while_training")
    corpus, every = corpora.get(run.experiment, run.pairs), heads(run.experiment.model)
    items = corpus.heldout[: _affordable(run, corpus, len(every), ALL_HEADS_S, MIN_SENTENCES)]
    clock, worked = run.runtime.monotonic, []
    end = clock() + BUDGET_S
    estimate, is_new = _estimate(reader, corpus, run, step, items)
    if is_new:
        return Importance(None, {}, len(every), estimate)
    known = recorded(run, run.parameters_at(step)[0]) if len(items) == len(corpus.heldout) else None
    whole, without, layers = known, {}, [tuple(layer) for _, layer in groupby(every, key=lambda head: head[:2])]

    def work(model: Transformer, part: Sequence[Item], silent: tuple[HeadId, ...]) -> list[Tally]:
        worked.append(silent)
        return _measure_each(model, corpus, part, silent)

    for silent in layers if known else ((), *layers):
        actual, slices = in_slices(reader, run, step, ("importance", silent), items, partial(work, silent=silent))
        tallies = [total(tallies) for tallies in zip(*slices, strict=True)]
        if tallies[0].pairs < len(items):
            break
        if silent:
            without |= {head: tally.validation for head, tally in zip(silent, tallies, strict=True)}
        else:
            whole = Evaluated(actual, tallies[0].validation, len(corpus.heldout))
        if silent and worked and clock() > end:
            break
    return Importance(whole, without, len(every), estimate)


def _estimate(reader: Reader, corpus: Corpus, run: Run, step: int | None, items: Sequence[Item]) -> tuple[Importance | None, bool]:
    """Returns the importance of all heads on the first few of `items`, and whether it wasn't in the cache."""
    every, worked = heads(run.experiment.model), []
    few = items[: _affordable(run, corpus, len(every), FEW_S, 2)][:FEW]
    if len(few) == len(items):
        return None, False

    def work(model: Transformer, actual: int) -> Importance:
        worked.append(actual)
        (whole,), without = _measure_each(model, corpus, few, ()), []
        for _, part in groupby(every, key=lambda head: head.part):
            without += _measure_each(model, corpus, few, tuple(part))
        evaluated = Evaluated(actual, whole.validation, len(corpus.heldout))
        return Importance(evaluated, {head: tally.validation for head, tally in zip(every, without, strict=True)}, len(every))

    return reader.work(run, step, ("importance", "estimate", len(few)), work), bool(worked)


def _measure_each(model: Transformer, corpus: Corpus, items: Sequence[Item], silent: tuple[HeadId, ...]) -> list[Tally]:
    """Measures the model with each of these heads switched off; without any, once unchanged."""
    if not silent:
        return [tally_of(model, corpus, items)]
    questions, tallies, encode = build_eval_set(corpus, tuple(items)), [], cache(model.encode)
    for head in silent:
        silence(copy := shadow_copy(model), [head])
        if head.part != "encoder" and not model.config.alteration.decoder_only:
            copy.encode = encode  # the encoder's output for a batch stays the same
        tallies.append(tally(copy, questions))
    return tallies


def _affordable(run: Run, corpus: Corpus, times: int, seconds: float, least: int) -> int:
    """Returns how many held-out sentences can be scored `times` times in about so many seconds, at least `least`."""
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) + 2 for item in corpus.heldout) / len(corpus.heldout)
    return affordable(run, times * tokens / (AT_ONCE * seconds), len(corpus.heldout), least)


def _compare_step(run: Run, without: np.ndarray, edited: np.ndarray) -> StepComparison:
    """Compares two distributions (V,) of a step: the likeliest tokens of the first, then those likely in the second only."""
    ids = [id for id, _ in top(without, TOP_TOKENS)]
    ids += [id for id, _ in top(edited, TOP_TOKENS) if id not in ids]
    return StepComparison(pieces_from(run.tokenizers[1], tuple(ids)), tuple(without[ids].tolist()), tuple(edited[ids].tolist()))
