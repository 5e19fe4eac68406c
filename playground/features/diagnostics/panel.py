"""The Diagnostics tab: the gradient that reaches the encoder through memory, measures of every sublayer, and its parameters and cost."""

from collections.abc import Mapping, Sequence

import numpy as np

from playground.config import limits
from playground.features.diagnostics import query
from playground.features.diagnostics.query import Diagnostics
from playground.features.shared import blocks, panels
from playground.features.shared.figures import sublayers as pictures
from playground.features.shared.naming import classify_sublayer, name_sublayer
from playground.features.shared.view import View
from playground.inspection import Fact
from playground.model.costs import flops, sublayers
from playground.training.diagnostics import StepDiagnostics
from playground.words import listed, named, paragraph, printed

QUANTITIES = {"gradient": "gradient", "update": "update", "activation": "std", "dead": "dead", "entropy": "entropy"}
REACHING = {"memory": "cross", "encoder": "encoder", "decoder": "decoder"}  # column "<name>/gradient" -> hue
AROUND = 138  # px: above and below the curves, beyond what is around a stage


@panels.declare("diagnostics", "train", 4, panels.FORMULA)
def panel(view: View) -> dict:
    diagnostics = query.diagnostics(view.reader, view.run, view.step)
    return {
        "step": diagnostics.step,
        "recorded": not diagnostics.sentences,
        "blocks": [
            *([] if view.run.experiment.model.alteration.decoder_only else _build_memory(view, diagnostics)),
            blocks.text("parts", view.say("diagnostics.parts"), css="pg-heading"),
            *_build_parts(view, diagnostics),
            blocks.text("source", _write_source(view, diagnostics), css="pg-caption"),
            blocks.text("costs", view.say("diagnostics.costs"), css="pg-heading"),
            *_build_costs(view),
            blocks.code("measured", StepDiagnostics),
            blocks.code("formula", flops),
        ],
    }


def _write_source(view: View, diagnostics: Diagnostics) -> str:
    """Writes whether the numbers were recorded in training or computed anew."""
    if not diagnostics.sentences:
        return view.say("diagnostics.told", step=f"{diagnostics.step:,}")
    sentence = view.say("diagnostics.anew", step=f"{diagnostics.step:,}", sentences=diagnostics.sentences)
    return paragraph([sentence, view.step_note(diagnostics.step)])


# ---- memory ----


def _build_memory(view: View, diagnostics: Diagnostics) -> list[dict]:
    """Builds the encoder's gradient over training, beside the memory knob; a table of memory modes if the run isn't training."""
    numbers, memory_mode = diagnostics.numbers, view.run.memory_mode_at(diagnostics.step)
    reaching = query.reaching(memory_mode, *(numbers[f"{name}/gradient"] for name in REACHING))
    events = [(after, value) for after, knob, value in view.run.history.events if knob == "memory_mode"]
    changes = [view.say(f"diagnostics.changed_{value}", step=f"{after:,}") for after, value in events[-2:]]
    sentences = [_write_fact(view, reaching), *changes]
    if records := view.run.history.diagnostics:
        steps = [int(step) for step in records.column("step")]
        picture = view.draw(
            pictures.over_training,
            steps,
            np.array([records.column(f"{name}/gradient", 0, len(steps)) for name in REACHING]),
            [view.say(f"diagnostics.column_{name}") for name in REACHING],
            list(REACHING.values()),
            measure="gradient",
            strong=range(len(REACHING)),
            last=view.run.steps,
            changes=[(after, view.say(f"diagnostics.memory_{value}")) for after, value in events],
            step=view.step,
            stage=view.remaining_height(AROUND),
        )
        main_blocks = [blocks.figure("reaching", picture, paragraph(sentences), view.say("diagnostics.reaching"))]
        side_blocks = [*_build_knob(view), *([] if view.run.working else [_build_memory_table(view)])]
    else:
        main_blocks = [_build_memory_table(view), blocks.text("reaching-said", paragraph(sentences), css="pg-caption")]
        side_blocks = [*_build_knob(view), blocks.text("no-curves", view.say("diagnostics.no_curves"), css="pg-caption")]
    return [blocks.row("memory", blocks.column("shown", *main_blocks), blocks.column("side", *side_blocks), css="large-small")]


def _build_knob(view: View) -> list[dict]:
    """Builds the live knob of the run on screen; a visitor who can't turn it gets a way to train a run with these settings."""
    run, is_owner = view.run, view.runs.owns(view.run.id, view.token)
    can_turn = is_owner and (run.unfinished or run.resumable)
    options = [{"value": value, "label": view.say(f"diagnostics.memory_{value}")} for value in limits("memory_mode").choices]
    knob = blocks.live("live", "memory_mode", view.say("diagnostics.knob"), options, run.live["memory_mode"], not can_turn)
    if can_turn:
        return [knob, blocks.text("knob-about", view.say("diagnostics.knob_open"), css="pg-caption")]
    about = blocks.text("knob-about", view.say("diagnostics.knob_ended" if is_owner else "diagnostics.knob_not_yours"), css="pg-caption")
    retrain = blocks.button("again", "command", view.say("diagnostics.again"), command="train", values={"knobs": run.experiment.flat()})
    return [knob, about, retrain]


def _build_memory_table(view: View) -> dict:
    """Builds a table of the same sentences and parameters under each memory mode."""
    by_mode = query.recompute(view.reader, view.run, view.step)
    rows = [
        [
            view.say(f"diagnostics.memory_{memory_mode}"),
            *(_format_number(diagnostics.numbers[f"{name}/gradient"]) for name in REACHING),
            f"{diagnostics.numbers['loss']:.3f}",
        ]
        for memory_mode, diagnostics in by_mode.items()
    ]
    head = ["", *(view.say(f"diagnostics.column_{name}") for name in REACHING), view.say("diagnostics.column_loss")]
    return blocks.table("three", head, rows, view.say("diagnostics.three", step=f"{by_mode['whole'].step:,}"), rowheads=True)


# ---- sublayer by sublayer ----


def _build_parts(view: View, diagnostics: Diagnostics) -> list[dict]:
    gauges = tuple(gauge for gauge in QUANTITIES if gauge != "update" or not diagnostics.sentences)
    gauge = view.choice("gauge", gauges)
    series = _collect_series(view, diagnostics, gauge)
    chosen = view.number("route", len(series) - 1) or 0
    course = _draw_course(view, gauge, list(series), chosen)
    now = _draw_current(view, diagnostics, gauge, series, chosen if course else None)
    slider = blocks.slider("route", "route", view.say("diagnostics.part"), chosen, len(series) - 1, first=1)
    return [
        blocks.row("choose", view.offer("gauge", "gauge", "diagnostics.gauge", gauges, gauge), css="controls"),
        blocks.text("gauge-about", view.say(f"diagnostics.about_{gauge}"), css="pg-caption"),
        blocks.row("now-and-course", now, *([blocks.column("over", course, slider)] if course else []), css="halves" if course else ""),
    ]


def _collect_series(view: View, diagnostics: Diagnostics, gauge: str) -> dict[str, np.ndarray]:
    """Collects the sublayers that have this measure, in the order of computation: one number per head for entropy, else one."""
    config, numbers = view.run.experiment.model, diagnostics.numbers
    if gauge == "entropy":
        attentions = [name for name in sublayers(config) if name.endswith("attention")]
        return {name: np.array([numbers[f"{name}/entropy.{head}"] for head in range(config.n_heads)]) for name in attentions}
    quantity = QUANTITIES[gauge]
    return {name: np.array([numbers[f"{name}/{quantity}"]]) for name in sublayers(config) if f"{name}/{quantity}" in numbers}


def _draw_current(view: View, diagnostics: Diagnostics, gauge: str, series: Mapping[str, np.ndarray], chosen: int | None) -> dict:
    """Draws all sublayers at one step."""
    names, config = [name_sublayer(view, name) for name in series], view.run.experiment.model
    room = {"share": None if chosen is None else 2, "gap": 13}
    title = view.say(f"diagnostics.title_{gauge}", step=f"{diagnostics.step:,}")
    if gauge == "entropy":
        picture = view.draw(pictures.evenness, np.stack(list(series.values())), names, **room)
        caption = _write_fact(view, query.spread({name: row.tolist() for name, row in series.items()}))
        return blocks.figure("evenness", picture, caption, title)
    values = {name: float(row[0]) for name, row in series.items()}
    fact = query.dead(values, config.d_ff) if gauge == "dead" else query.extremes(values, f"diagnostics.{gauge}")
    sentences = [_write_fact(view, fact)]
    if gauge == "update" and any(values[name] and not diagnostics.numbers[f"{name}/gradient"] for name in values):
        sentences.append(view.say("diagnostics.momentum"))
    picture = view.draw(
        pictures.parts,
        list(values.values()),
        names,
        [classify_sublayer(name) for name in values],
        [f"{round(value * config.d_ff)} / {config.d_ff}" if gauge == "dead" else _format_number(value) for value in values.values()],
        measure=gauge,
        chosen=chosen,
        second=[diagnostics.numbers[f"{name}/mean"] for name in values] if gauge == "activation" else None,
        **room,
    )
    return blocks.figure("parts-now", picture, paragraph(sentences), title)


def _draw_course(view: View, gauge: str, parts: Sequence[str], chosen: int) -> dict | None:
    """Draws the measure over training as far as it was recorded; an attention's entropy is the mean over its heads."""
    records = view.run.history.diagnostics
    if not records:
        return None
    steps = [int(step) for step in records.column("step")]
    heads, quantity = range(view.run.experiment.model.n_heads), QUANTITIES[gauge]
    columns = [[f"{part}/{quantity}.{head}" for head in heads] if gauge == "entropy" else [f"{part}/{quantity}"] for part in parts]
    values = np.array([np.mean([records.column(name, 0, len(steps)) for name in names], axis=0) for names in columns])
    picture = view.draw(
        pictures.over_training,
        steps,
        values,
        [name_sublayer(view, part) for part in parts],
        [classify_sublayer(part) for part in parts],
        measure=gauge,
        strong=[chosen],
        last=view.run.steps,
        step=view.step,
    )
    name = name_sublayer(view, parts[chosen])
    caption = named(view.language, f"{name[:1].upper()}{name[1:]}", _write_fact(view, query.course(steps, values[chosen].tolist())))
    return blocks.figure("parts-course", picture, caption, view.say(f"diagnostics.course_{gauge}"))


# ---- parameters and cost ----


def _build_costs(view: View) -> list[dict]:
    s, t = len(view.look.source), len(view.look.targets)
    costs = query.costs(view.reader, view.run, s, t)
    counts = (costs.parameters, costs.counted_parameters, costs.flops, costs.counted_flops)
    rows = [[name_sublayer(view, sublayer), *(f"{count[sublayer]:,}" for count in counts)] for sublayer in costs.parameters]
    rows.append([view.say("diagnostics.sum"), *(f"{sum(count.values()):,}" for count in counts)])
    head = ["", *(view.say(f"diagnostics.column_{name}") for name in ("parameters", "counted", "flops", "counted"))]
    same = costs.parameters == costs.counted_parameters and costs.flops == costs.counted_flops
    fact = query.heads(costs.by_heads)  # the cost of other numbers of heads
    other_heads = view.say(fact.key, **fact.values | {"heads": listed(view.language, costs.by_heads)})
    lengths, cost = view.say("diagnostics.lengths", s=s, t=t), _write_fact(view, query.cost(costs.parameters, costs.flops))
    sentences = [other_heads, lengths, cost, view.say("diagnostics.agree" if same else "diagnostics.disagree")]
    return [blocks.text("costs-said", paragraph(sentences), css="pg-caption"), blocks.table("costs-table", head, rows, rowheads=True)]


# ---- sentences ----


def _write_fact(view: View, fact: Fact) -> str:
    """Writes a fact with the names of sublayers and short numbers."""
    values = {name: _format_number(value) if isinstance(value, float) else value for name, value in fact.values.items()}
    sentence = view.say(fact.key, **values | {name: name_sublayer(view, values[name]) for name in ("most", "least") if name in values})
    return sentence[:1].upper() + sentence[1:]  # the sentence may begin with a sublayer's name


def _format_number(value: float) -> str:
    """Formats a number with three significant digits, so that only 0 is written as 0."""
    return "0" if value == 0 else "–" if value != value else printed(f"{value:.3g}")
