"""The Overview tab: cross-attention on the page's sentence, beside the run's curves and its outcome."""

from collections.abc import Sequence
from dataclasses import asdict

from playground.config import EOS, Refusal
from playground.features import train as kinds
from playground.features.shared import blocks, heads, panels
from playground.features.shared.figures import theme
from playground.features.shared.figures.theme import PLAIN, Style
from playground.features.shared.naming import label
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import REFERENCE
from playground.features.shared.selected_runs import build_comparison, describe_change, draw_behind, find_before
from playground.features.shared.view import View
from playground.features.train import settling
from playground.lessons.tour import STOPS
from playground.runs.history import Probe, get_pieces, tokens_correct
from playground.runs.orders import FINISHED
from playground.runs.recording import BRIEF
from playground.runs.run import Run
from playground.words import duration, paragraph

HISTORY = ("steps", "validations")  # its tables to download
TOO_LONG = "runs.too_long"  # refuses the sentence only, not the curves
MAX_TRIES = 3  # to read sentence and probes from one snapshot
PRESENTED_CAPTION, MIN_CURVE = 300, 150  # px: a presented figure's caption; least height of a legible curve
NUMBERS, FOLDED = ("exact", "loss"), ("tokens", "seconds", "left", "speed")
MIN_EXACT = 0.5  # below, a model should be trained better before it is examined
OVERFIT = 3  # validation / training loss above which a model has memorised its pairs
RECENT = 10  # steps averaged for the training loss


@panels.declare("training", "train", 1)
def panel(view: View) -> dict:
    empty_figures = view.draw(skeletons, steps=view.run.steps)
    if view.presented:  # leaves room for the caption
        empty_figures["accuracy"]["layout"]["height"] = min(max(view.page[1] - PRESENTED_CAPTION, MIN_CURVE), HEIGHT)
    figures = draw_behind(view, empty_figures, before := find_before(view))
    values = {"brief": min(BRIEF, view.run.experiment.data.validation_size)}
    curve = {
        name: blocks.figure(name, figures[name], view.say(f"page.caption_{name}", **values), view.say(f"page.curve_{name}"), live=True)
        for name in ("loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second")
    }
    numbers, folded = (
        [{"id": name, "label": view.say(f"page.number_{name}"), "help": view.say(f"page.number_{name}_help")} for name in names]
        for names in (NUMBERS, FOLDED)
    )
    files = [{"label": view.say(f"page.history_{table}"), "query": {"run": view.run.id, "table": table}} for table in HISTORY]
    numbers = kinds.numbers("numbers", numbers, view.say("page.numbers_more"), folded)
    curve_column = blocks.column("curves", *_welcome(view), build_outcome(view, before), numbers, curve["accuracy"])
    below = [
        blocks.row("more", curve["loss"], curve["learning_rate"], curve["grad_norm"], curve["tokens_per_second"], css="grids"),
        blocks.downloads("history", view.say("page.history_download"), "history", files),
    ]
    try:
        view.require_readable(view.run)
    except Refusal as refusal:  # the numbers reveal no sentence
        return {"step": None, "blocks": [blocks.text("private", refusal.say(view.language), css="pg-caption"), curve_column, *below]}
    view.reference = True  # the same rows at every step: only the weights change
    try:
        probes = _load_sentence(view)
    except Refusal as refusal:
        if refusal.key != TOO_LONG:
            raise
        refused = blocks.column("attention", blocks.text("refused", refusal.say(view.language), css="pg-error"))
        return {"step": None, "blocks": [blocks.row("top", refused, curve_column, css="stage"), *below]}
    attention_blocks, small_heads, held = [blocks.text("recurrent", view.say("training.recurrent"), css="pg-caption")], [], {}
    if view.attends:
        attention_blocks, small_heads, held = settling.build_attention(view)
        curve_column["blocks"] += [heads.build_view_choice(view), *small_heads]
    return {
        "step": view.look.step,
        **held,
        "blocks": [
            *([blocks.text("what", view.say("page.preview_about"))] if view.attends and not view.presented else []),
            blocks.row("top", blocks.column("attention", *attention_blocks), curve_column, css="stage"),
            build_ways_on(view, before),
            _build_probes(view, probes),
            *below,
        ],
    }


def _welcome(view: View) -> list[dict]:
    """Builds what a newcomer sees: the replay, and the tour, which only covers Transformers. It is hidden once the tour is begun."""
    if not view.attends:
        return []
    has_replay = view.run.may_be_read_by(view.token) and (view.run.status not in FINISHED or len(view.run.replay.steps) > 1)
    play = blocks.button("first-play", "play", view.say("outcome.play")) if has_replay else None
    tour = blocks.button("tour", "move", view.say("tour.open"), to={"tab": "map", "stop": next(iter(STOPS))})
    return [blocks.column("welcome", play, tour)]


def build_ways_on(view: View, before: Run | None) -> dict:
    """Builds the buttons below the picture: after a training the replay, the comparison with the run `before`, the export, a knob to try;
    for models without a variant one step in slow motion."""
    buttons = []
    if view.run.status in FINISHED:
        if len(view.run.replay.steps) > 1:
            buttons.append(blocks.button("play", "play", view.say("outcome.play")))
        buttons += build_comparison(view, before)
        if view.run.snapshot and view.run.snapshot.step and not view.run.secret:
            buttons.append(blocks.button("take", "take", view.say("page.take_home")))
            buttons.append(blocks.button("tune", "tune", view.say("page.tune")))
        if knob := _suggest_knob(view):
            buttons.append(blocks.button("change", "knob", view.say("outcome.change", knob=label(knob, view.language)), knob=knob))
    if view.run.experiment.model.alteration.is_built_of_layers:
        buttons.append(blocks.button("slow", "move", view.say("step.see"), to={"tab": "step"}))
    return blocks.row("ways", *buttons, css="ways")


def _load_sentence(view: View) -> tuple[Probe, ...]:
    """Sets `view.look` and returns the newest probes, both of the same step: retried when a newer snapshot was made in between."""
    for _ in range(MAX_TRIES):
        snapshot = view.run.snapshot
        view.look = view.reader.look(view.run, view.step, view.text, REFERENCE)
        if view.step is not None or (snapshot and snapshot.step == view.look.step):
            break
    return (snapshot and snapshot.probes) or view.run.probes


def _build_probes(view: View, newest: tuple[Probe, ...]) -> dict:
    """Builds the probe sentences: the newest, or those of a replay step."""
    joiner = " " if view.reader.units(view.run)[0] == "words" else ""
    if view.step is None:
        probes, caption = newest, view.say("page.probes_caption")
    else:
        at, probes = read_probes(view.run, view.step)
        caption = paragraph([view.say("page.probes_at", step=at), view.rounding_note(at)])
    return kinds.probes("probes", view.say("page.probes"), caption, joiner, [asdict(probe) for probe in probes])


def build_outcome(view: View, before: Run | None = None) -> dict:
    """Builds the line above the curve: a progress bar in training, then what changed since the run `before`, and the outcome."""
    if view.run.status not in FINISHED:
        return kinds.outcome("outcome", "")
    return kinds.outcome("outcome", paragraph([*describe_change(view, before), _write_outcome(view)]))


def _write_outcome(view: View) -> str:
    """Writes how long the training was, and the step of the first fully right sample output."""
    run, last = view.run, view.run.history.validations.last()
    time = "" if run.shipped or not run.seconds else view.say("outcome.time", time=duration(run.seconds, view.language))
    values = {"step": f"{run.step:,}", "time": time}
    if run.status in ("failed", "diverged") or last is None:
        return view.say("outcome.broken" if run.status in ("failed", "diverged") else "outcome.unmeasured", **values)
    reached = time and view.say("outcome.reached", **values)  # else the replay tells its steps
    first_step = view.open_reader.remember(run, ("first_right", run.step, run.status), lambda: find_first_right(run))
    first = view.say("outcome.never_right") if first_step is None else view.say("outcome.first_right", step=f"{first_step:,}")
    best = run.replay.best and view.say("outcome.best", step=f"{run.replay.best[0]:,}")
    return paragraph([reached, first, best or "", view.say("outcome.by_heart", times=OVERFIT) if _has_overfit(run) else ""])


def _has_overfit(run: Run) -> bool:
    """Returns whether the model overfits: little is right, and validation loss far exceeds training loss, so more steps are useless."""
    losses, last = run.history.steps.column("loss")[-RECENT:], run.history.validations.last()
    return bool(losses) and last is not None and last["exact_match"] < MIN_EXACT and last["loss"] > OVERFIT * sum(losses) / len(losses)


def _suggest_knob(view: View) -> str:
    """Suggests the knob to try next: a lower learning rate after divergence, more pairs after overfitting ("" if there are no more),
    positions for a model without them, more steps for a short run, else positions."""
    run, last = view.run, view.run.history.validations.last()
    if run.status in ("failed", "diverged"):
        return "learning_rate"
    if _has_overfit(run):
        return "" if run.experiment.data.task == "own" else "train_size"
    is_short = not last or last["exact_match"] < MIN_EXACT
    return "steps" if is_short and run.experiment.model.positions != "none" else "positions"


def read_probes(run: Run, step: int) -> tuple[int, tuple[Probe, ...]]:
    """Returns (step, probes) of the last frame at or before `step`; no probes from an empty replay."""
    frame = run.replay.frame(step)
    if frame is None or run.tokenizers is None:
        return step, ()
    src, tgt = run.tokenizers
    probes = []
    for (source, target), completion in zip(run.replay.plan.probes, frame.completions, strict=True):
        right = tokens_correct(completion.ids, map(tgt.encode, results.references(run, source) or (target,)))
        pieces = (get_pieces(src, src.encode(source)), get_pieces(tgt, tgt.encode(target)), get_pieces(tgt, completion.ids))
        probes.append(Probe(*pieces, right, completion.ids[-1] == EOS))
    return frame.step, tuple(probes)


def find_first_right(run: Run) -> int | None:
    """Returns the first step of the replay at which a probe was right as a whole, EOS included; None without one."""
    frames = ((step, read_probes(run, step)[1]) for step in run.replay.steps)
    return next((step for step, probes in frames if any(probe.finished and all(probe.right) for probe in probes)), None)


# ---- figures: empty curves that the page fills as the numbers arrive ----
#
# Each trace's meta names the columns of the history it draws, and the colour of a fork's part from its parent:
# {"x": "step", "y": "loss", "past_color": "#8a94a3"}. Losses, learning rates and the like are recorded at each step ("step", "loss",
# "learning_rate", "grad_norm", "tokens_per_second"), validation less often, with steps of its own ("validation_step", "validation_loss",
# "token_accuracy", "exact_match").

HEIGHT, SMALL = 220, 150  # px
VALIDATION = "validation_step"
# figure: (height, share of 0..1?, [(column, its steps, colour, dash, marker)])
_FIGURES = {
    "loss": (HEIGHT, False, [("loss", "step", "first", "solid", None), ("validation_loss", VALIDATION, "second", "dash", "circle")]),
    "accuracy": (
        HEIGHT, True,
        [("token_accuracy", VALIDATION, "second", "dot", "diamond"), ("exact_match", VALIDATION, "first", "solid", "circle")],
    ),
    "learning_rate": (SMALL, False, [("learning_rate", "step", "first", "solid", None)]),
    "grad_norm": (SMALL, False, [("grad_norm", "step", "first", "solid", None)]),
    "tokens_per_second": (SMALL, False, [("tokens_per_second", "step", "first", "solid", None)]),
}  # fmt: skip


def skeletons(*, steps: int | None = None, style: Style = PLAIN) -> dict[str, dict]:
    """Draws a run's five figures without numbers: "loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second".

    With `steps`, the run's planned number, the axis shows them all from the start; else it follows the curve.
    layout.shapes[0] is the cursor of the replay: a vertical line, invisible until the page gives it a step.
    """
    return {name: _empty(*spec, steps=steps, style=style) for name, spec in _FIGURES.items()}


def _empty(height: int, share: bool, lines: Sequence[tuple], *, steps: int | None, style: Style) -> dict:
    top = 14 + 18 * len(lines) + 14 * share  # the legend has a line for each curve at any width, and for "(teacher-forced)"
    y = style.axis("", nticks=5 if height == HEIGHT else 4, rangemode="tozero", exponentformat="SI", minexponent=3)
    y |= {"range": [-0.03, 1.03], "tickvals": [0, 0.5, 1], "tickformat": ".0%"} if share else {"autorange": True}
    x = style.axis(style.word("step"), rangemode="tozero", showgrid=False, showline=True, nticks=6)
    x |= {"range": [0, steps], "autorange": False} if steps else {"autorange": True}
    layout = style.layout(
        height, (40 if share else 52, 12, top, 44),
        xaxis=x | {"fixedrange": False}, yaxis=y | {"fixedrange": False}, hovermode="x unified", showlegend=True, dragmode="zoom",
        legend=theme.legend_column(), shapes=[style.step_cursor(None)],
    )  # fmt: skip
    return {"data": [_draw_line(*line, share=share, style=style) for line in lines], "layout": layout}


def _draw_line(column: str, steps: str, color: str, dash: str, marker: str | None, *, share: bool, style: Style) -> dict:
    shade = style.colors[color]
    line = {
        "type": "scatter", "mode": "lines+markers" if marker else "lines",
        "name": style.word(f"line_{column}").replace(" (", "<br>("),
        "x": [], "y": [], "meta": {"x": steps, "y": column, "past_color": style.colors["line"]},
        "line": {"color": shade, "width": 2 if marker else 1.3, "dash": dash},
        "hovertemplate": "%{y:.1%}" if share else "%{y:.4~g}", "connectgaps": False, "cliponaxis": not share,
    }  # fmt: skip
    return line | ({"marker": {"symbol": marker, "size": 6, "color": shade}} if marker else {})
