"""The sentence under several runs: what each makes of it, and for two runs the same head of both."""

from __future__ import annotations

import numpy as np

from playground.config import Refusal
from playground.figures import runs as pictures
from playground.runs.run import Run
from playground.ui import blocks, compare
from playground.ui.blocks.general import Saved
from playground.ui.panels import head_choice
from playground.ui.panels.attention import axes, large, seen
from playground.ui.selected_runs import line_keys, names, ticked
from playground.ui.view import View, texts, tokens
from playground.words import paragraph

HEAD = ("name", "output", "verdict")


def panel(view: View) -> dict:
    runs = ticked(view).runs
    named, views = names(view, runs), [_of(view, run) for run in runs]
    rows = [_row(*one) for one in zip(views, named, line_keys(view, runs), strict=True)]
    title = view.say("compare.sentence", text=view.text)
    found = [blocks.outputs("outputs", title, [view.say(f"compare.{name}") for name in HEAD], rows)]
    if len(runs) == 2 and all(row["tokens"] and one.attends for row, one in zip(rows, views, strict=True)):
        found += _heads(views, named)
    return {"step": None, "blocks": found}


def _of(view: View, run: Run, **cursor: object) -> View:
    """The same view of another run."""
    parameters = {**view.parameters, "text": view.text, "run": run.id, **{name: str(value) for name, value in cursor.items()}}
    return View(view.runs, view.open_reader, parameters, view.token)


def _row(view: View, name: str, key: blocks.LineKey) -> blocks.OutputRow:
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
    should = view.say("page.should_be", text=" / ".join(look.references)) if correct is False else ""
    note = paragraph([should, view.step_note(look.step)])
    return row | {"tokens": tokens(output, look.right, look.probabilities), "correct": correct, "note": note}


def _heads(views: list[View], named: list[str]) -> list[dict]:
    """The head of the cursor, or the one that is worth a look in the first run, in both; the nearest where a model has fewer."""
    first, _ = views
    layer, head = head_choice.chosen(first, first.part)
    figures, same = [], [_of(view, view.run, layer=layer + 1, head=head + 1, follow="off") for view in views]
    for at, (view, name) in enumerate(zip(same, named, strict=True)):
        drawn, *cell = large(view, f"head-{at}", view.part)
        figures.append(blocks.column(f"side-{at}", drawn | {"title": f"{name} · {drawn['title']}"}, *cell))
    names = [compare.name(view.run, view.language, view.token) for view in views]
    return [blocks.row("sides", *figures, css="halves"), *_difference(same, names)]


def _difference(views: list[View], named: list[str]) -> list[dict]:
    """The head of the second run less that of the first, as far as both are asked the same: the same tokens along both sides; and, where
    their outputs part, the way to feed both decoders the same."""
    first, part = views[0], views[0].part
    (source, fed), others = ((texts(view.look.source), texts(view.look.fed)) for view in views)
    queries, other = (source, others[0]) if part == "encoder" else (fed, others[1])
    pairs = enumerate(zip(queries, other, strict=False))
    rows = next((at for at, (one, two) in pairs if one != two), min(len(queries), len(other)))
    if not rows or source != others[0]:
        return [blocks.text("difference-none", first.say("compare.no_difference"), css="pg-caption")]
    columns = rows if part == "decoder" else len(source)
    one, two = (getattr(view.look, part)[head_choice.chosen(view, part)][:rows, :columns] for view in views)
    mask = seen(first, part)[:rows, :columns]
    change = np.where(mask, two - one, 0.0)
    names, keys = (found[:most] for found, most in zip(axes(first, part), (rows, columns), strict=True))
    picture = first.draw(pictures.difference, change, names, keys, mask=mask, kind=part, share=2)
    q, k = np.unravel_index(int(np.abs(change).argmax()), change.shape)
    values = {"first": named[0], "second": named[1], "query_token": names[q], "key_token": keys[k]}
    moved, value = f"{50 * np.abs(change).sum(axis=1).mean():.0f}", f"{change[q, k]:+.2f}".replace("-", "−")
    said = [first.say("compare.difference_about", **values, moved=moved, value=value)]
    way = []
    if rows < max(len(queries), len(other)):
        said.append(first.say("compare.difference_cut", rows=rows))
        if first.look.references and not first.reference:
            way = [blocks.button("feed-reference", "move", first.say("compare.feed_reference"), to={"target": "reference"})]
    title = first.say("compare.difference_title", first=named[0], second=named[1])
    file: Saved = {"file": "head-difference", "run": ", ".join(named), "step": first.look.step, "arrays": None}
    return [blocks.figure("head-difference", picture, paragraph(said), title, saved=file), *way]
