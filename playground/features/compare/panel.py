"""The Compare tab: a table of runs, and the overlaid learning curves of the ticked ones."""

import time
from collections.abc import Sequence

from playground.config import Refusal
from playground.features.compare import build_table, format_number, format_reached
from playground.features.shared import blocks, naming, panels, selected_runs
from playground.features.shared.figures import runs as pictures
from playground.features.shared.queries.validation import Band, LearningCurve, band, common_end, learning_curve
from playground.features.shared.view import NARROW, View
from playground.runs.forecast import tokens_per_step
from playground.runs.housekeeping import megabytes
from playground.runs.run import Run
from playground.words import paragraph

AROUND, ROW, TALLEST_TABLE = 240, 47, 420  # px: around table and curves besides a stage's; of a row and the whole table (see runs.css)
SENTENCE_FIELDS = ("text", "step", "target", "part", "layer", "head", "follow", "q", "k")  # cursor fields of the compared sentence


@panels.declare("runs", "compare", 1)
def panel(view: View) -> dict:
    chosen = selected_runs.ticked(view)
    listed = selected_runs.group_runs(view, chosen.runs)
    for run in chosen.runs:
        run.mark_seen()  # keeps a training run from being stopped as unwatched
    is_training = any(run.working for runs in listed.values() for run in runs if run is not view.run)  # the page polls its own run anyway
    content = [
        blocks.text("about", view.say("compare.about", most=selected_runs.MAX_TICKED), css="pg-caption"),
        *_build_missing(view, chosen),
        *build_table(view, chosen.runs, listed),
        *_build_storage(view),
        *_build_curves(view, chosen.runs, _measure_height(view, chosen.runs, listed)),
        *_build_later(view, chosen.runs),
    ]
    run_names = ", ".join(selected_runs.brief_names(view, chosen.runs))
    return {"step": None, "of": run_names, "blocks": content, **({"more": True, "pause": selected_runs.POLL_MS} if is_training else {})}


def _build_missing(view: View, chosen: selected_runs.Ticked) -> list[dict]:
    """Builds a warning about runs of the link that can't be shown."""
    sentences = [view.say("compare.missing", count=chosen.missing)] if chosen.missing else []
    sentences += [view.say("compare.left_out", most=selected_runs.MAX_TICKED, count=chosen.left_out)] if chosen.left_out else []
    sentences += [view.say("compare.pin_missing")] if view.field("pin") and not selected_runs.pinned(view) else []
    return [blocks.text("lost", paragraph(sentences), css="pg-warning")] if sentences else []


def _build_storage(view: View) -> list[dict]:
    """Writes the storage of the visitor's runs on this server, and which of them is deleted next; nothing without runs."""
    share = view.runs.share(view.token)
    sentences = (
        [view.say("compare.kept", count=share.count, used=megabytes(share.used), most=megabytes(share.limit))] if share.count else []
    )
    if share.next:
        name = naming.name(share.next, view.language, view.token)
        date = time.strftime("%Y-%m-%d", time.gmtime(share.expires_at))
        sentences.append(view.say("compare.kept_crowded" if share.crowded else "compare.kept_next", name=name, date=date))
    return [blocks.text("kept", paragraph(sentences), css="pg-caption")] if sentences else []


# ---- the curves -------------------------------------------------------------------------------------------------------------------


def _measure_height(view: View, chosen: list[Run], listed: dict[str, list[Run]]) -> int:
    """Returns the pixels of the window below the table of runs, for the curves; 0 where they stand one above the other."""
    rows = 1 + sum(1 + len(runs) for runs in listed.values() if runs) + (len(chosen) > 1)  # with head, groups and the differences
    return 0 if view.width < NARROW else view.remaining_height(AROUND + min(rows * ROW, TALLEST_TABLE))


def _build_curves(view: View, chosen: list[Run], tall: int) -> list[dict]:
    over = view.choice("over")
    if not chosen:
        return []
    curves = {run: learning_curve(run, _count_tokens(view, run) if over == "tokens" else 0) for run in chosen}
    lines = _group_lines(view, chosen, curves)
    ends = [curves[run] for runs in lines for run in runs]
    common = common_end(ends, over)
    ends_differ = common is not None and len({curve.at(over)[-1] for curve in ends}) > 1
    options = {"end": common if ends_differ else None, "stage": tall}
    figures = [_draw_figure(view, column, lines, curves, over, common, **options) for column in ("exact_match", "validation_loss")]
    has_repeats = len(selected_runs.group_by_settings(chosen)) < len(chosen)
    second = {"tab": "training", "pin": chosen[0].id}  # with the first run pinned
    return [
        *([blocks.text("difference", selected_runs.describe_differences(view, chosen), css="pg-heading")] if len(chosen) > 1 else []),
        blocks.row(
            "controls",
            view.offer("over", "over", "compare.over"),
            view.offer("seeds", "seeds", "compare.seeds") if has_repeats else None,
            blocks.button("another", "move", view.say("compare.another"), to=second) if len(chosen) == 1 else None,
            *_build_repeats(view, chosen),
            css="controls",
        ),
        blocks.row("curves", *figures, css="halves"),
        blocks.text("curves-about", paragraph(_list_notes(view, chosen, over, ends_differ, has_repeats)), css="pg-caption"),
    ]


def _count_tokens(view: View, run: Run) -> float:
    """Returns the tokens read per step; NaN where unknown, such as for deleted sentences."""

    def read() -> float:
        try:
            return tokens_per_step(run.experiment, run.pairs)
        except Refusal:
            return float("nan")

    return view.open_reader.remember(run, ("tokens_per_step",), read)


def _group_lines(view: View, chosen: list[Run], curves: dict[Run, LearningCurve]) -> list[list[Run]]:
    """Groups runs that differ only in their seed into lines, or one run per line. A run without a validation is in no mean."""
    if view.choice("seeds") == "each":
        return [[run] for run in chosen]
    return [[run for run in runs if curves[run].steps] or runs[:1] for runs in selected_runs.group_by_settings(chosen)]


def _draw_figure(
    view: View, column: str, lines: list[list[Run]], curves: dict[Run, LearningCurve], over: str, common: float | None, **options: object
) -> dict:
    firsts = [runs[0] for runs in lines]
    full, short = selected_runs.names(view, firsts), selected_runs.brief_names(view, firsts)
    bands = [band([curves[run] for run in runs], column, over) if len(runs) > 1 else None for runs in lines]

    def name_lines(texts: list[str]) -> list[str]:
        counted = zip(texts, lines, strict=True)
        return [view.say("compare.mean_of", name=name, count=len(runs)) if len(runs) > 1 else name for name, runs in counted]

    places = [pooled.places if pooled else curves[run].at(over) for pooled, run in zip(bands, firsts, strict=True)]
    values = [pooled.mean if pooled else getattr(curves[run], column) for pooled, run in zip(bands, firsts, strict=True)]
    sides = [(pooled.low, pooled.high) if pooled else None for pooled in bands]
    picture = view.draw(pictures.overlay, column, places, values, name_lines(full), over=over, bands=sides, share=2, **options)
    caption = _write_caption(view, column, [curves[run] for run in firsts], bands, name_lines(short), over, common)
    return blocks.figure(column, picture, caption, view.say(f"compare.{column}"))


def _write_caption(
    view: View, column: str, curves: list[LearningCurve], bands: list[Band | None], names: list[str], over: str, end: float | None
) -> str:
    """Writes the values at the last point common to all curves, and at each curve's own end where it lies elsewhere."""
    if end is None:
        return view.say("compare.nothing_yet")

    def write_value(curve: LearningCurve, pooled: Band | None, row: int | None) -> str:
        if pooled is None or row is None:
            return format_reached(curve, column, row)
        mean, low, high = (format_number(column, part[row]) for part in (pooled.mean, pooled.low, pooled.high))
        return view.say("compare.mean_between", mean=mean, low=low, high=high)

    def write_values(rows: Sequence[int | None]) -> str:
        texts = [write_value(*line) for line in zip(curves, bands, rows, strict=True)]
        return view.say("compare.between").join(_name_values(view, names if len(names) > 1 or any(bands) else [], texts))

    def find_last_row(curve: LearningCurve, pooled: Band | None) -> int | None:
        if pooled is None:
            return curve.newest(over, end)
        return max((row for row, x in enumerate(pooled.places) if x <= end), default=len(pooled.places) - 1 if pooled.places else None)

    lines = list(zip(curves, bands, strict=True))
    rows = [find_last_row(*pair) for pair in lines]
    last_rows = [len(pooled.places if pooled else curve.steps) - 1 for curve, pooled in lines]
    caption = view.say(f"compare.after_{over}", place=f"{end:,.1f}" if over == "seconds" else f"{end:,.0f}", runs=write_values(rows))
    return caption if rows == last_rows else f"{caption} {view.say('compare.at_end', runs=write_values(last_rows))}"


def _list_notes(view: View, chosen: list[Run], over: str, ends_differ: bool, has_repeats: bool) -> list[str]:
    """Lists notes on the comparison. `ends_differ`: of the curves; `has_repeats`: some runs differ only in their seed."""
    has_tasks, has_bands = len(set(map(naming.task_of, chosen))) > 1, has_repeats and view.choice("seeds") == "band"
    keys = ["other_tasks"] * has_tasks + [f"{over}_about"] + ["band_about"] * has_bands + ["end_about"] * ends_differ
    return [view.say(f"compare.{key}") for key in keys]


def _build_repeats(view: View, chosen: list[Run]) -> list[dict]:
    """Builds the buttons that train the first run with other seeds, to show how much of a difference is chance."""
    names = [naming.name(chosen[0], view.language, view.token)] if len(chosen) > 1 else []
    values_by_id = {"seed": {"run": chosen[0].id}, "seeds": {"run": chosen[0].id, "all": True}}
    labels = {id: _name_values(view, names, [view.say(f"compare.again_{id}")])[0] for id in values_by_id}
    return [blocks.button(f"again-{id}", "command", labels[id], command="repeat", values=values) for id, values in values_by_id.items()]


def _name_values(view: View, names: list[str], values: list[str]) -> list[str]:
    """Adds to each value the name of its run; without names returns the values."""
    return [view.say("compare.reached", name=name, value=value) for name, value in zip(names, values, strict=True)] if names else values


# ---- one sentence decoded by all runs -------------------------------------------------------------------------------------------------


def _build_later(view: View, chosen: list[Run]) -> list[dict]:
    """Builds the deferred blocks: one sentence decoded by all runs, and the sentences on which they disagree."""
    if not chosen:
        return []
    cursor = [view.read_raw(name) for name in SENTENCE_FIELDS]
    runs = [f"{run.id} {run.step}" for run in chosen]
    appearance = [view.run.id, view.language, view.dark, view.width]
    deferred = []
    if chosen != [view.run]:  # its output is above
        key = " ".join(map(str, [*runs, *cursor, *appearance]))
        deferred.append(blocks.later("sentence", "same_sentence", view.say("compare.waiting"), key))
    if len(chosen) > 1:
        key = " ".join(map(str, [*runs, view.read_raw("step"), *appearance]))
        deferred.append(blocks.later("disagreements", "disagreements", view.say("compare.waiting_disagreements"), key))
    return deferred
