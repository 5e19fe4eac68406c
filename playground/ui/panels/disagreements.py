"""Held-out sentences on which the ticked runs disagree; a press on one shows it under all of them."""

from __future__ import annotations

from playground.queries.disagreements import Disagreement, Disagreements, disagreements
from playground.runs.run import Run
from playground.ui import blocks
from playground.ui.compare import task_of
from playground.ui.selected_runs import brief_names, line_keys, names, ticked
from playground.ui.view import View
from playground.words import paragraph


def panel(view: View) -> dict:
    runs = ticked(view).runs
    if len(runs) < 2:
        return {"step": None, "blocks": []}
    heading = blocks.text("disagreements-title", view.say("compare.disagreements"), css="pg-heading")
    if len(set(map(task_of, runs))) > 1:
        return {"step": None, "blocks": [heading, blocks.text("disagreements-none", view.say("compare.no_common_task"), css="pg-caption")]}
    for run in runs:
        view.require_readable(run)
    found = disagreements(view.reader, view.runs.corpora, runs, view.step)
    more = found.tried < found.total
    return {
        "step": None,
        "more": more,
        "blocks": [
            heading,
            *([blocks.progress("tried", found.tried, found.total, view.say("compare.trying"))] if more else []),
            blocks.text("disagreements-caption", _caption(view, runs, found), css="pg-caption"),
            *([_table(view, runs, found)] if found.examples else []),
        ],
    }


def _caption(view: View, runs: list[Run], found: Disagreements) -> str:
    named = zip(brief_names(view, runs), found.right, strict=True)
    each = view.say("compare.between").join(view.say("compare.reached", name=name, value=right) for name, right in named)
    values = {"tried": found.tried, "found": found.some_right, "all": found.all_right, "none": found.none_right, "each": each}
    key = "disagreements_about" if found.some_right else "disagreements_nowhere"
    data = {run.experiment.data for run in runs}
    said = [view.say(f"compare.{key}", **values)]
    said += [view.say("compare.other_data")] if len(data) > 1 else []
    said += [view.say("compare.more_disagreements", shown=len(found.examples))] if found.some_right > len(found.examples) else []
    return paragraph(said)


def _table(view: View, runs: list[Run], found: Disagreements) -> dict:
    rows = [_row(one) for one in found.examples]
    return blocks.disagreements(
        "disagreeing", view.say("compare.disagreeing_source"), names(view, runs), line_keys(view, runs), view.say("page.reference"), rows
    )


def _row(found: Disagreement) -> blocks.DisagreeingRow:
    return {
        "source": found.source,
        "reference": found.references[0],
        "outputs": [{"text": output.text, "correct": output.correct} for output in found.outputs],
    }
