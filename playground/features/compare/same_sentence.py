"""The sentence decoded by several runs, and, for two runs, the same head of both."""

from __future__ import annotations

import numpy as np

from playground.config import Refusal
from playground.features.compare import kinds
from playground.features.shared import blocks, heads, naming as compare, panels
from playground.features.shared.blocks.general import Saved
from playground.features.shared.figures import runs as pictures
from playground.features.shared.heads import compute_mask, draw_large_head, name_axes
from playground.features.shared.selected_runs import line_keys, names, ticked
from playground.features.shared.view import View, texts, tokens
from playground.runs.run import Run
from playground.words import paragraph

HEAD = ("name", "output", "verdict")


@panels.declare("same_sentence")
def panel(view: View) -> dict:
    runs = ticked(view).runs
    run_names, views = names(view, runs), [_view_run(view, run) for run in runs]
    rows = [_build_row(*line) for line in zip(views, run_names, line_keys(view, runs), strict=True)]
    title = view.say("compare.sentence", text=view.text)
    content = [kinds.outputs("outputs", title, [view.say(f"compare.{name}") for name in HEAD], rows)]
    if len(runs) == 2 and all(row["tokens"] and run_view.attends for row, run_view in zip(rows, views, strict=True)):
        content += _build_heads(views, run_names)
    return {"step": None, "blocks": content}


def _view_run(view: View, run: Run, **cursor: object) -> View:
    """Returns the same view of another run."""
    parameters = {**view.parameters, "text": view.text, "run": run.id, **{name: str(value) for name, value in cursor.items()}}
    return View(view.runs, view.open_reader, parameters, view.token)


def _build_row(view: View, name: str, key: blocks.LineKey) -> kinds.OutputRow:
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
    names = [compare.name(view.run, view.language, view.token) for view in views]
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
