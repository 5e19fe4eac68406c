"""The sentence under several runs: what each makes of it, and for two runs the same head of both."""

from __future__ import annotations

from playground.config import Refusal
from playground.figures import runs as pictures
from playground.runs.run import Run
from playground.ui import blocks
from playground.ui.panels import head_choice
from playground.ui.panels.attention import large
from playground.ui.selected_runs import names, ticked
from playground.ui.view import View, tokens

HEAD = ("name", "output", "verdict")


def panel(view: View) -> dict:
    runs = ticked(view).runs
    named, views = names(view, runs), [_of(view, run) for run in runs]
    rows = [_row(one, name, at) for at, (one, name) in enumerate(zip(views, named, strict=True))]
    title = view.say("compare.sentence", text=view.text)
    found = [blocks.outputs("outputs", title, [view.say(f"compare.{name}") for name in HEAD], rows)]
    if len(runs) == 2 and all(row["tokens"] for row in rows):
        found += _heads(views, named)
    return {"step": None, "blocks": found}


def _of(view: View, run: Run, **cursor: object) -> View:
    """The same view of another run."""
    parameters = {**view.parameters, "text": view.text, "run": run.id, **{name: str(value) for name, value in cursor.items()}}
    return View(view.runs, view.reader, parameters, view.token)


def _row(view: View, name: str, at: int) -> blocks.OutputRow:
    row = {"name": name, "key": blocks.LineKey(**pictures.key(at, view.dark)), "tokens": [], "correct": None, "note": ""}
    try:
        unknown = dict.fromkeys(piece.text for piece in view.reader.pieces(view.run, view.text) if not piece.known)
        if unknown:
            return row | {"note": view.say("compare.unreadable", tokens=" ".join(unknown))}
        look = view.reader.look(view.run, view.step, view.text)
    except Refusal as refusal:
        return row | {"note": refusal.say(view.language)}
    output = look.asked[:-1] if look.finished else look.asked
    correct = None if look.references is None else look.finished and all(look.right or ()) and bool(look.right)
    should = view.say("page.should_be", text=" / ".join(look.references)) if correct is False else ""
    note = " ".join(filter(None, [should, view.step_note(look.step)]))
    return row | {"tokens": tokens(output, look.right, look.probabilities), "correct": correct, "note": note}


def _heads(views: list[View], named: list[str]) -> list[dict]:
    """The head of the cursor, or the one that is worth a look in the first run, in both; the nearest where a model has fewer."""
    first, _ = views
    layer, head = head_choice.chosen(first, first.part)
    figures = []
    for at, (view, name) in enumerate(zip(views, named, strict=True)):
        same = _of(view, view.run, layer=layer + 1, head=head + 1, follow="off")
        drawn, *cell = large(same, f"head-{at}", same.part)
        figures.append(blocks.column(f"side-{at}", drawn | {"title": f"{name} · {drawn['title']}"}, *cell))
    return [blocks.row("sides", *figures, css="halves")]
