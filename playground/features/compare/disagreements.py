"""Held-out sentences on which the ticked runs disagree; a click on one decodes it with all of them."""

from __future__ import annotations

from playground.features.compare import kinds
from playground.features.compare.disagreements_query import Disagreement, Disagreements, disagreements
from playground.features.shared import blocks, panels
from playground.features.shared.naming import task_of
from playground.features.shared.selected_runs import brief_names, line_keys, names, ticked
from playground.features.shared.view import View
from playground.runs.run import Run
from playground.words import paragraph


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
