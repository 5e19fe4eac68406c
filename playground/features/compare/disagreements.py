"""Held-out sentences on which runs disagree: some of them write a right answer, others don't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from playground.config import EOS, Refusal
from playground.data.corpus import Corpus
from playground.decoding import greedy
from playground.features.compare import kinds
from playground.features.shared import blocks, panels
from playground.features.shared.naming import task_of
from playground.features.shared.queries.reader import Reader, max_output_tokens
from playground.features.shared.queries.time_slices import SLICE, in_slices
from playground.features.shared.selected_runs import brief_names, line_keys, names, ticked
from playground.features.shared.view import View
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.runs.corpora import Corpora
from playground.runs.history import tokens_correct
from playground.runs.run import Run
from playground.words import paragraph

MAX_SENTENCES = 200  # to decode
MAX_EXAMPLES = 12


@panels.declare("disagreements")
def panel(view: View) -> dict:
    runs = ticked(view).runs
    if len(runs) < 2:
        return {"step": None, "blocks": []}
    heading = blocks.text("disagreements-title", view.say("compare.disagreements"), css="pg-heading")
    if len(set(map(task_of, runs))) > 1:
        return {"step": None, "blocks": [heading, blocks.text("disagreements-none", view.say("compare.no_common_task"), css="pg-caption")]}
    for run in runs:
        view.require_readable(run)
    tally = disagreements(view.reader, view.runs.corpora, runs, view.step)
    more = tally.tried < tally.total
    return {
        "step": None,
        "more": more,
        "blocks": [
            heading,
            *([blocks.progress("tried", tally.tried, tally.total, view.say("compare.trying"))] if more else []),
            blocks.text("disagreements-caption", _write_caption(view, runs, tally), css="pg-caption"),
            *([_build_table(view, runs, tally)] if tally.examples else []),
        ],
    }


def _write_caption(view: View, runs: list[Run], tally: Disagreements) -> str:
    run_counts = zip(brief_names(view, runs), tally.right, strict=True)
    counts = view.say("compare.between").join(view.say("compare.reached", name=name, value=right) for name, right in run_counts)
    values = {"tried": tally.tried, "found": tally.some_right, "all": tally.all_right, "none": tally.none_right, "each": counts}
    key = "disagreements_about" if tally.some_right else "disagreements_nowhere"
    data_configs = {run.experiment.data for run in runs}
    sentences = [view.say(f"compare.{key}", **values)]
    sentences += [view.say("compare.other_data")] if len(data_configs) > 1 else []
    sentences += [view.say("compare.more_disagreements", shown=len(tally.examples))] if tally.some_right > len(tally.examples) else []
    return paragraph(sentences)


def _build_table(view: View, runs: list[Run], tally: Disagreements) -> dict:
    rows = [_build_row(disagreement) for disagreement in tally.examples]
    return kinds.disagreements(
        "disagreeing", view.say("compare.disagreeing_source"), names(view, runs), line_keys(view, runs), view.say("page.reference"), rows
    )


def _build_row(disagreement: Disagreement) -> kinds.DisagreeingRow:
    return {
        "source": disagreement.source,
        "reference": disagreement.references[0],
        "outputs": [{"text": output.text, "correct": output.correct} for output in disagreement.outputs],
    }


class Written(NamedTuple):
    """One run's output for a sentence."""

    text: str
    correct: bool


class Disagreement(NamedTuple):
    """A sentence with its right answers and each run's output."""

    source: str
    references: tuple[str, ...]
    outputs: tuple[Written, ...]


class Disagreements(NamedTuple):
    """Counts over the first `tried` of `total` sentences that every run can read: how many all runs get right, none, or some, with
    examples of the last. `right` counts for each run."""

    total: int
    tried: int
    all_right: int
    none_right: int
    some_right: int
    right: tuple[int, ...]
    examples: tuple[Disagreement, ...]


def disagreements(reader: Reader, corpora: Corpora, runs: Sequence[Run], step: int | None) -> Disagreements:
    """Compares the runs on the held-out sentences of the first, as far as the time budget goes; a repeated call continues.

    The runs have learnt the same task. Raises Refusal when a run has nothing to show yet, or can't read any of the sentences.
    """
    if any(run.tokenizers is None or run.snapshot is None for run in runs):
        raise Refusal("runs.nothing_yet")
    corpus: Corpus = corpora.get(runs[0].experiment, runs[0].pairs)
    sources = [item.src for item in corpus.heldout[:MAX_SENTENCES]]
    sources = [source for source in sources if all(reader.can_read(run, source) for run in runs)]
    if not sources:
        raise Refusal("compare.none_readable")
    if any(run.working for run in runs):  # their parameters change: the first slice only
        sources = sources[:SLICE]
    answers = {source: tuple(corpus.references[source]) for source in sources}
    outputs = [_decode(reader, run, step, answers) for run in runs]
    written = zip(answers.items(), *outputs, strict=False)  # as many as every run has written
    rows = [Disagreement(source, references, tuple(texts)) for (source, references), *texts in written]
    counts = [sum(output.correct for output in row.outputs) for row in rows]
    split = [row for row, count in zip(rows, counts, strict=True) if 0 < count < len(runs)]
    return Disagreements(
        total=len(sources), tried=len(rows), all_right=counts.count(len(runs)), none_right=counts.count(0), some_right=len(split),
        right=tuple(sum(row.outputs[at].correct for row in rows) for at in range(len(runs))), examples=tuple(split[:MAX_EXAMPLES]),
    )  # fmt: skip


def _decode(reader: Reader, run: Run, step: int | None, answers: Mapping[str, Sequence[str]]) -> list[Written]:
    """Decodes the first of the sentences that are keys of `answers` greedily; its values are their right answers."""
    src, tgt = run.tokenizers

    def is_correct(source: str, ids: tuple[int, ...]) -> bool:
        return ids[-1] == EOS and any(all(tokens_correct(ids, [tgt.encode(answer)])) for answer in answers[source])

    def write(model: Transformer, part: Sequence[str]) -> list[Written]:
        ids = [src.encode(normalise(source)) for source in part]
        limits = [max_output_tokens(run.longest_target, len(source)) for source in ids]
        outputs = [hypothesis.ids[:limit] for hypothesis, limit in zip(greedy(model, ids, max(limits)), limits, strict=True)]
        return [Written(tgt.decode(output), is_correct(source, output)) for source, output in zip(part, outputs, strict=True)]

    sources = tuple(answers)
    _, parts = in_slices(reader, run, step, ("disagreements", sources), sources, write)
    return [output for part in parts for output in part]
