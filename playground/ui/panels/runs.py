"""Runs beside one another: a table of them, and the learning curves of those that are ticked laid over each other."""

from __future__ import annotations

import time
from collections.abc import Sequence

from playground.config import Refusal
from playground.cursor import choices
from playground.figures import runs as pictures
from playground.queries.learning_curves import Band, LearningCurve, band, common_end, learning_curve
from playground.runs.forecast import tokens_per_step
from playground.runs.retention import megabytes
from playground.runs.run import Run
from playground.ui import blocks, compare, seeds
from playground.ui.panels.run_table import reached, table, written
from playground.ui.selected_runs import MAX_TICKED, Ticked, brief_names, difference, groups, names, pinned, ticked
from playground.ui.view import View
from playground.words import paragraph

POLL_MS = 1500  # milliseconds before a page asks again how far the runs are that train
LOOK = ("text", "step", "target", "part", "layer", "head", "follow", "q", "k")  # what one sentence depends on besides the runs


def panel(view: View) -> dict:
    chosen = ticked(view)
    listed = groups(view, chosen.runs)
    for run in chosen.runs:
        run.mark_seen()  # else one that trains would be stopped because nobody looks at it
    works = any(run.working for runs in listed.values() for run in runs if run is not view.run)  # for that one the page asks by itself
    shown = [
        blocks.text("about", view.say("compare.about", most=MAX_TICKED), css="pg-caption"),
        *_lost(view, chosen),
        *table(view, chosen.runs, listed),
        *_kept(view),
        *_curves(view, chosen.runs),
        *_later(view, chosen.runs),
    ]
    together = ", ".join(brief_names(view, chosen.runs))
    return {"step": None, "of": together, "blocks": shown, **({"more": True, "pause": POLL_MS} if works else {})}


def _lost(view: View, chosen: Ticked) -> list[dict]:
    """What of the address can't be shown, in a sentence."""
    said = [view.say("compare.missing", count=chosen.missing)] if chosen.missing else []
    said += [view.say("compare.left_out", most=MAX_TICKED, count=chosen.left_out)] if chosen.left_out else []
    said += [view.say("compare.pin_missing")] if view.field("pin") and not pinned(view) else []
    return [blocks.text("lost", paragraph(said), css="pg-warning")] if said else []


def _kept(view: View) -> list[dict]:
    """What the visitor's runs take on this server, and which of them goes first; nothing for whoever has none."""
    share = view.runs.share(view.token)
    said = [view.say("compare.kept", count=share.count, used=megabytes(share.used), most=megabytes(share.limit))] if share.count else []
    if share.next:
        name = compare.name(share.next, view.language, view.token)
        if share.crowded:
            said.append(view.say("compare.kept_crowded", name=name))
        else:
            said.append(view.say("compare.kept_next", name=name, date=time.strftime("%Y-%m-%d", time.gmtime(share.expires_at))))
    return [blocks.text("kept", paragraph(said), css="pg-caption")] if said else []


# ---- the curves -------------------------------------------------------------------------------------------------------------------


def _curves(view: View, chosen: list[Run]) -> list[dict]:
    over = view.choice("over")
    if not chosen:
        return []
    curves = {run: learning_curve(run, _tokens(view, run) if over == "tokens" else 0) for run in chosen}
    lines = _lines(view, chosen, curves)
    ends = [curves[run] for runs in lines for run in runs]
    end = common_end(ends, over)
    apart = end is not None and len({curve.at(over)[-1] for curve in ends}) > 1
    figures = [_figure(view, column, lines, curves, over, end, apart) for column in ("exact_match", "validation_loss")]
    options = [{"value": value, "label": view.say(f"compare.over_{value}")} for value in choices("over")]
    many = len(seeds.grouped(chosen)) < len(chosen)
    shades = [{"value": value, "label": view.say(f"compare.seeds_{value}")} for value in choices("seeds")]
    return [
        blocks.text("difference", difference(view, chosen), css="pg-heading"),
        blocks.row(
            "controls",
            blocks.choice("over", "over", view.say("compare.over"), options, over),
            blocks.choice("seeds", "seeds", view.say("compare.seeds"), shades, view.choice("seeds")) if many else None,
            *_one_alone(view, chosen),
            *_again(view, chosen[0]),
            css="controls",
        ),
        blocks.row("curves", *figures, css="halves"),
        blocks.text("curves-about", paragraph(_notes(view, chosen, over, apart, many)), css="pg-caption"),
    ]


def _tokens(view: View, run: Run) -> float:
    """How many tokens a step reads; NaN where that isn't known, such as of sentences that are gone."""

    def read() -> float:
        try:
            return tokens_per_step(run.experiment, run.pairs)
        except Refusal:
            return float("nan")

    return view.open_reader.remember(run, ("tokens_per_step",), read)


def _lines(view: View, chosen: list[Run], curves: dict[Run, LearningCurve]) -> list[list[Run]]:
    """The runs of each line: one, or those that differ only in their seed. One without a validation isn't yet part of any mean."""
    if view.choice("seeds") == "each":
        return [[run] for run in chosen]
    found = []
    for runs in seeds.grouped(chosen):
        begun = [run for run in runs if curves[run].steps]
        found.append(begun or runs[:1])
    return found


def _figure(
    view: View, column: str, lines: list[list[Run]], curves: dict[Run, LearningCurve], over: str, end: float | None, apart: bool
) -> dict:
    firsts = [runs[0] for runs in lines]
    named, brief = names(view, firsts), brief_names(view, firsts)
    bands = [band([curves[run] for run in runs], column, over) if len(runs) > 1 else None for runs in lines]

    def called(texts: list[str]) -> list[str]:
        counted = zip(texts, lines, strict=True)
        return [view.say("compare.mean_of", name=name, count=len(runs)) if len(runs) > 1 else name for name, runs in counted]

    places = [found.places if found else curves[run].at(over) for found, run in zip(bands, firsts, strict=True)]
    values = [found.mean if found else getattr(curves[run], column) for found, run in zip(bands, firsts, strict=True)]
    sides = [(found.low, found.high) if found else None for found in bands]
    picture = view.draw(
        pictures.overlay, column, places, values, called(named), over=over, end=end if apart else None, bands=sides, share=2
    )
    said = _caption(view, column, [curves[run] for run in firsts], bands, called(brief), over, end)
    return blocks.figure(column, picture, said, view.say(f"compare.{column}"))


def _caption(
    view: View, column: str, curves: list[LearningCurve], bands: list[Band | None], named: list[str], over: str, end: float | None
) -> str:
    """What the runs have come to where all of them are, and at their own ends where these lie elsewhere."""
    if end is None:
        return view.say("compare.nothing_yet")

    def value(curve: LearningCurve, found: Band | None, row: int | None) -> str:
        if found is None or row is None:
            return reached(curve, column, row)
        mean, low, high = (written(column, part[row]) for part in (found.mean, found.low, found.high))
        return view.say("compare.mean_between", mean=mean, low=low, high=high)

    def values(rows: Sequence[int | None]) -> str:
        found = [value(*one) for one in zip(curves, bands, rows, strict=True)]
        return view.say("compare.between").join(
            view.say("compare.reached", name=name, value=text) for name, text in zip(named, found, strict=True)
        )

    def last_until(curve: LearningCurve, found: Band | None) -> int | None:
        if found is None:
            return curve.newest(over, end)
        return max((row for row, place in enumerate(found.places) if place <= end), default=len(found.places) - 1 if found.places else None)

    pairs = list(zip(curves, bands, strict=True))
    rows = [last_until(*pair) for pair in pairs]
    last = [len(found.places if found else curve.steps) - 1 for curve, found in pairs]
    said = view.say(f"compare.after_{over}", place=f"{end:,.1f}" if over == "seconds" else f"{end:,.0f}", runs=values(rows))
    return said if rows == last else f"{said} {view.say('compare.at_end', runs=values(last))}"


def _notes(view: View, chosen: list[Run], over: str, apart: bool, many: bool) -> list[str]:
    """What has to be known to compare these runs; `apart`: their lines end in different places; `many`: some differ only in their seed."""
    several, banded = len(set(map(compare.task_of, chosen))) > 1, many and view.choice("seeds") == "band"
    keys = ["other_tasks"] * several + [f"{over}_about"] + ["band_about"] * banded + ["end_about"] * apart
    return [view.say(f"compare.{key}") for key in keys]


def _one_alone(view: View, chosen: list[Run]) -> list[dict]:
    """The way to a second run, with the first one pinned."""
    if len(chosen) != 1:
        return []
    return [blocks.button("another", "move", view.say("compare.another"), to={"tab": "training", "pin": chosen[0].id})]


def _again(view: View, run: Run) -> list[dict]:
    """The same run with other seeds, which shows how much of a difference is chance."""
    name = compare.name(run, view.language, view.token)
    wanted = {"seed": {"run": run.id}, "seeds": {"run": run.id, "all": True}}
    return [
        blocks.button(f"again-{id}", "command", view.say(f"compare.again_{id}", name=name), command="repeat", values=values)
        for id, values in wanted.items()
    ]


# ---- one sentence under all of them -------------------------------------------------------------------------------------------------


def _later(view: View, chosen: list[Run]) -> list[dict]:
    """One sentence under all of them, and the sentences on which they disagree."""
    if not chosen:
        return []
    where = [view.said(name) for name in LOOK]
    runs = [f"{run.id} {run.step}" for run in chosen]
    screen = [view.run.id, view.language, view.dark, view.width]
    found = [blocks.later("sentence", "same_sentence", view.say("compare.waiting"), " ".join(map(str, [*runs, *where, *screen])))]
    if len(chosen) > 1:
        key = " ".join(map(str, [*runs, view.said("step"), *screen]))
        found.append(blocks.later("disagreements", "disagreements", view.say("compare.waiting_disagreements"), key))
    return found
