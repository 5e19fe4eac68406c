"""Sentences decoded by several runs: one, with the same head of two runs; and those on which runs disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from playground.config import EOS, Refusal
from playground.data.corpus import Corpus
from playground.decoding import greedy, limit_output
from playground.features import compare as kinds
from playground.features.shared import blocks, heads, naming, panels
from playground.features.shared.blocks import Saved
from playground.features.shared.figures import runs as pictures
from playground.features.shared.heads import compute_mask, draw_large_head, name_axes
from playground.features.shared.naming import task_of
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.validation import SLICE, in_slices
from playground.features.shared.selected_runs import brief_names, line_keys, names, ticked
from playground.features.shared.view import View, texts, tokens
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.runs.corpora import Corpora
from playground.runs.history import tokens_correct
from playground.runs.run import Run
from playground.words import paragraph

HEAD = ("name", "output", "verdict")
MAX_SENTENCES = 200  # to decode
MAX_EXAMPLES = 12


@panels.declare("same_sentence")
def build_same_sentence(view: View) -> dict:
    runs = ticked(view).runs
    run_names, views = names(view, runs), [_view_run(view, run) for run in runs]
    rows = [_build_output(*line) for line in zip(views, run_names, line_keys(view, runs), strict=True)]
    title = view.say("compare.sentence", text=view.text)
    content = [kinds.outputs("outputs", title, [view.say(f"compare.{name}") for name in HEAD], rows)]
    if len(runs) == 2 and all(row["tokens"] and run_view.attends for row, run_view in zip(rows, views, strict=True)):
        content += _build_heads(views, run_names)
    return {"step": None, "blocks": content}


def _view_run(view: View, run: Run, **cursor: object) -> View:
    """Returns the same view of another run."""
    parameters = {**view.parameters, "text": view.text, "run": run.id, **{name: str(value) for name, value in cursor.items()}}
    return View(view.runs, view.open_reader, parameters, view.token)


def _build_output(view: View, name: str, key: blocks.LineKey) -> kinds.OutputRow:
    row = {"name": name, "key": key, "tokens": [], "correct": None, "note": ""}
    try:
        unknown = dict.fromkeys(piece.text for piece in view.reader.pieces(view.run, view.text) if not piece.known)
        if unknown:
            return row | {"note": view.say("compare.unreadable", tokens=" ".join(unknown))}
        look = view.reader.look(view.run, view.step, view.text)
    except Refusal as refusal:
        return row | {"note": refusal.say(view.language)}
    output = look.targets[:-1] if look.finished else look.targets
    correct = None if look.references is None else look.finished and all(look.right or ()) and bool(look.right)
    expected = view.say("page.should_be", text=" / ".join(look.references)) if correct is False else ""
    note = paragraph([expected, view.step_note(look.step)])
    return row | {"tokens": tokens(output, look.right, look.probabilities), "correct": correct, "note": note}


def _build_heads(views: list[View], run_names: list[str]) -> list[dict]:
    """Builds the cursor's head, else the first run's default one, of both runs; a smaller model shows its nearest."""
    first, _ = views
    layer, head = heads.choose_head(first, first.part)
    figures, same = [], [_view_run(view, view.run, layer=layer + 1, head=head + 1, follow="off") for view in views]
    for at, (view, name) in enumerate(zip(same, run_names, strict=True)):
        figure, *cell = draw_large_head(view, f"head-{at}", view.part)
        figures.append(blocks.column(f"side-{at}", figure | {"title": f"{name} · {figure['title']}"}, *cell))
    names = [naming.name(view.run, view.language, view.token) for view in views]
    return [blocks.row("sides", *figures, css="halves"), *_build_difference(same, names)]


def _build_difference(views: list[View], run_names: list[str]) -> list[dict]:
    """Draws the second run's head minus the first's over the tokens both share; where outputs diverge, adds a button that feeds both
    decoders the reference."""
    first, part = views[0], views[0].part
    (source, fed), other_texts = ((texts(view.look.source), texts(view.look.fed)) for view in views)
    queries, other_queries = (source, other_texts[0]) if part == "encoder" else (fed, other_texts[1])
    pairs = enumerate(zip(queries, other_queries, strict=False))
    rows = next((at for at, (token, other_token) in pairs if token != other_token), min(len(queries), len(other_queries)))
    if not rows or source != other_texts[0]:
        return [blocks.text("difference-none", first.say("compare.no_difference"), css="pg-caption")]
    columns = rows if part == "decoder" else len(source)
    weights, other_weights = (getattr(view.look, part)[heads.choose_head(view, part)][:rows, :columns] for view in views)
    mask = compute_mask(first, part)[:rows, :columns]
    change = np.where(mask, other_weights - weights, 0.0)
    names, keys = (axis[:most] for axis, most in zip(name_axes(first, part), (rows, columns), strict=True))
    picture = first.draw(pictures.difference, change, names, keys, mask=mask, kind=part, share=2)
    q, k = np.unravel_index(int(np.abs(change).argmax()), change.shape)
    values = {"second": run_names[1], "query_token": names[q], "key_token": keys[k]}
    moved, value = f"{50 * np.abs(change).sum(axis=1).mean():.0f}", f"{change[q, k]:+.2f}".replace("-", "−")
    sentences = [first.say("compare.difference_about", **values, moved=moved, value=value)]
    feed_button = []
    if rows < max(len(queries), len(other_queries)):
        sentences.append(first.say("compare.difference_cut", rows=rows))
        if first.look.references and not first.reference:
            feed_button = [blocks.button("feed-reference", "move", first.say("compare.feed_reference"), to={"target": "reference"})]
    title = first.say("compare.difference_title", first=run_names[0], second=run_names[1])
    file: Saved = {"file": "head-difference", "run": ", ".join(run_names), "step": first.look.step, "arrays": None}
    return [blocks.figure("head-difference", picture, paragraph(sentences), title, saved=file), *feed_button]


@panels.declare("disagreements")
def build_disagreements(view: View) -> dict:
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
    rows: list[kinds.DisagreeingRow] = [
        {"source": source, "reference": right[0], "outputs": [output._asdict() for output in outputs]}
        for source, right, outputs in tally.examples
    ]
    return kinds.disagreements(
        "disagreeing", view.say("compare.disagreeing_source"), names(view, runs), line_keys(view, runs), view.say("page.reference"), rows
    )


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
        limits = [limit_output(run.longest_target, len(source)) for source in ids]
        outputs = [hypothesis.ids[:limit] for hypothesis, limit in zip(greedy(model, ids, max(limits)), limits, strict=True)]
        return [Written(tgt.decode(output), is_correct(source, output)) for source, output in zip(part, outputs, strict=True)]

    sources = tuple(answers)
    _, parts = in_slices(reader, run, step, ("disagreements", sources), sources, write)
    return [output for part in parts for output in part]
