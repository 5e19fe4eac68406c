"""Health: what reaches the encoder through the memory, what goes on in every part of the model, and what each part holds and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.config import limits
from playground.figures import diagnostics as pictures
from playground.inspection import diagnostics as facts
from playground.inspection.fact import Fact
from playground.model import sublayers
from playground.queries import diagnostics as runs
from playground.queries.diagnostics import Costs, Diagnostics
from playground.training.diagnostics import StepDiagnostics
from playground.ui import blocks
from playground.ui.view import View
from playground.words import listed, named, paragraph, printed

QUANTITIES = {"gradient": "gradient", "update": "update", "activation": "std", "dead": "dead", "entropy": "entropy"}
REACHING = {"memory": "cross", "encoder": "encoder", "decoder": "decoder"}  # "<name>/gradient" and its hue


def panel(view: View) -> dict:
    found = runs.diagnostics(view.reader, view.run, view.step)
    return {
        "step": found.step,
        "recorded": not found.sentences,
        "blocks": [
            blocks.text("follow", view.say("diagnostics.follow"), css="pg-heading"),
            *_memory(view, found),
            blocks.text("parts", view.say("diagnostics.parts"), css="pg-heading"),
            *_parts(view, found),
            blocks.text("source", _source(view, found), css="pg-caption"),
            blocks.text("costs", view.say("diagnostics.costs"), css="pg-heading"),
            *_costs(view),
            blocks.code("measured", StepDiagnostics),
            blocks.code("formula", sublayers.flops),
        ],
    }


def _source(view: View, found: Diagnostics) -> str:
    """Where the numbers come from."""
    if not found.sentences:
        return view.say("diagnostics.told", step=f"{found.step:,}")
    said = view.say("diagnostics.anew", step=f"{found.step:,}", sentences=found.sentences)
    return paragraph([said, view.step_note(found.step)])


# ---- the memory ----


def _memory(view: View, found: Diagnostics) -> list[dict]:
    """What arrives at the encoder over training, and the knob beside it; a comparison of the three kinds where nothing trains."""
    numbers, memory = found.numbers, view.run.memory_at(found.step)
    reaching = facts.reaching(memory, *(numbers[f"{name}/gradient"] for name in REACHING))
    said = [_say(view, reaching), *_changed(view)]
    table = view.run.history.diagnostics
    if table:
        steps = [int(step) for step in table.column("step")]
        picture = view.draw(
            pictures.over_training,
            steps,
            np.array([table.column(f"{name}/gradient", 0, len(steps)) for name in REACHING]),
            [view.say(f"diagnostics.reaches_{name}") for name in REACHING],
            list(REACHING.values()),
            measure="gradient",
            strong=range(len(REACHING)),
            last=view.run.steps,
            changes=[
                (after, view.say(f"diagnostics.memory_{value}")) for after, knob, value in view.run.history.events if knob == "memory_mode"
            ],
            step=view.step,
        )
        shown = [blocks.figure("reaching", picture, paragraph(said), view.say("diagnostics.reaching"))]
        side = [*_knob(view), *([] if view.run.working else [_three(view)])]
    else:
        shown = [_three(view), blocks.text("reaching-said", paragraph(said), css="pg-caption")]
        side = [*_knob(view), blocks.text("no-curves", view.say("diagnostics.no_curves"), css="pg-caption")]
    return [blocks.row("memory", blocks.column("shown", *shown), blocks.column("side", *side), css="large-small")]


def _changed(view: View) -> list[str]:
    """What was done to the memory in the middle of the run, in the order it was done."""
    events = [(after, value) for after, knob, value in view.run.history.events if knob == "memory_mode"]
    return [view.say(f"diagnostics.changed_{value}", step=f"{after:,}") for after, value in events[-2:]]


def _knob(view: View) -> list[dict]:
    """The live knob of the run on screen; whoever can't turn it is told how they could."""
    run, mine = view.run, view.runs.owns(view.run.id, view.token)
    open_to = mine and (run.unfinished or run.resumable)
    options = [{"value": value, "label": view.say(f"diagnostics.memory_{value}")} for value in limits("memory_mode").choices]
    knob = blocks.live("live", "memory_mode", view.say("diagnostics.knob"), options, run.live["memory_mode"], not open_to)
    if open_to:
        return [knob, blocks.text("knob-about", view.say("diagnostics.knob_open"), css="pg-caption")]
    about = blocks.text("knob-about", view.say("diagnostics.knob_ended" if mine else "diagnostics.knob_not_yours"), css="pg-caption")
    again = blocks.button("again", "command", view.say("diagnostics.again"), command="train", values={"knobs": run.experiment.flat()})
    return [knob, about, again]


def _three(view: View) -> dict:
    """The same sentences and parameters with each kind of memory."""
    kinds = runs.recompute(view.reader, view.run, view.step)
    rows = [
        [
            view.say(f"diagnostics.memory_{memory}"),
            *(_short(one.numbers[f"{name}/gradient"]) for name in REACHING),
            f"{one.numbers['loss']:.3f}",
        ]
        for memory, one in kinds.items()
    ]
    head = ["", *(view.say(f"diagnostics.column_{name}") for name in REACHING), view.say("diagnostics.column_loss")]
    return blocks.table("three", head, rows, view.say("diagnostics.three", step=f"{kinds['whole'].step:,}"), rowheads=True)


# ---- part by part ----


def _parts(view: View, found: Diagnostics) -> list[dict]:
    gauges = tuple(gauge for gauge in QUANTITIES if gauge != "update" or not found.sentences)
    gauge = view.choice("gauge", gauges)
    options = [{"value": name, "label": view.say(f"diagnostics.gauge_{name}")} for name in gauges]
    series = _series(view, found, gauge)
    chosen = view.number("route", len(series) - 1) or 0
    course = _course(view, gauge, list(series), chosen)
    now = _now(view, found, gauge, series, chosen if course else None)
    which = blocks.slider("route", "route", view.say("diagnostics.part"), chosen, len(series) - 1, first=1)
    return [
        blocks.row("choose", blocks.choice("gauge", "gauge", view.say("diagnostics.gauge"), options, gauge), css="controls"),
        blocks.text("gauge-about", view.say(f"diagnostics.about_{gauge}"), css="pg-caption"),
        blocks.row("now-and-course", now, *([blocks.column("over", course, which)] if course else []), css="halves" if course else ""),
    ]


def _series(view: View, found: Diagnostics, gauge: str) -> dict[str, np.ndarray]:
    """The parts that have such a number, in the order of computation: of attention one for each head, of all else one."""
    config, numbers = view.run.experiment.model, found.numbers
    if gauge == "entropy":
        attentions = [route for route in sublayers.sublayers(config) if route.endswith("attention")]
        return {route: np.array([numbers[f"{route}/entropy.{head}"] for head in range(config.n_heads)]) for route in attentions}
    quantity = QUANTITIES[gauge]
    return {route: np.array([numbers[f"{route}/{quantity}"]]) for route in sublayers.sublayers(config) if f"{route}/{quantity}" in numbers}


def _now(view: View, found: Diagnostics, gauge: str, series: Mapping[str, np.ndarray], chosen: int | None) -> dict:
    """All parts at one step."""
    names, config = [_name(view, route) for route in series], view.run.experiment.model
    room = {"share": None if chosen is None else 2, "gap": 13}
    title = view.say(f"diagnostics.title_{gauge}", step=f"{found.step:,}")
    if gauge == "entropy":
        picture = view.draw(pictures.evenness, np.stack(list(series.values())), names, **room)
        return blocks.figure("evenness", picture, _say(view, facts.spread({route: row.tolist() for route, row in series.items()})), title)
    values = {route: float(row[0]) for route, row in series.items()}
    fact = facts.dead(values, config.d_ff) if gauge == "dead" else facts.extremes(values, f"diagnostics.{gauge}")
    said = [_say(view, fact)]
    if gauge == "update" and any(values[route] and not found.numbers[f"{route}/gradient"] for route in values):
        said.append(view.say("diagnostics.momentum"))
    picture = view.draw(
        pictures.parts,
        list(values.values()),
        names,
        [_kind(route) for route in values],
        [f"{round(value * config.d_ff)} / {config.d_ff}" if gauge == "dead" else _short(value) for value in values.values()],
        measure=gauge,
        chosen=chosen,
        second=[found.numbers[f"{route}/mean"] for route in values] if gauge == "activation" else None,
        **room,
    )
    return blocks.figure("parts-now", picture, paragraph(said), title)


def _course(view: View, gauge: str, parts: Sequence[str], chosen: int) -> dict | None:
    """The same over training, as far as it was told; of an attention the mean over its heads."""
    table = view.run.history.diagnostics
    if not table:
        return None
    steps = [int(step) for step in table.column("step")]
    heads, quantity = range(view.run.experiment.model.n_heads), QUANTITIES[gauge]
    columns = [[f"{part}/{quantity}.{head}" for head in heads] if gauge == "entropy" else [f"{part}/{quantity}"] for part in parts]
    values = np.array([np.mean([table.column(name, 0, len(steps)) for name in names], axis=0) for names in columns])
    picture = view.draw(
        pictures.over_training,
        steps,
        values,
        [_name(view, part) for part in parts],
        [_kind(part) for part in parts],
        measure=gauge,
        strong=[chosen],
        last=view.run.steps,
        step=view.step,
    )
    name = _name(view, parts[chosen])
    said = named(view.language, f"{name[:1].upper()}{name[1:]}", _say(view, facts.course(steps, values[chosen].tolist())))
    return blocks.figure("parts-course", picture, said, view.say(f"diagnostics.course_{gauge}"))


# ---- what it holds and costs ----


def _costs(view: View) -> list[dict]:
    s, t = len(view.look.source), len(view.look.targets)
    found = runs.costs(view.reader, view.run, s, t)
    counts = (found.parameters, found.counted_parameters, found.flops, found.counted_flops)
    rows = [[_name(view, route), *(f"{count[route]:,}" for count in counts)] for route in found.parameters]
    rows.append([view.say("diagnostics.sum"), *(f"{sum(count.values()):,}" for count in counts)])
    head = ["", *(view.say(f"diagnostics.column_{name}") for name in ("parameters", "counted", "flops", "counted"))]
    same = found.parameters == found.counted_parameters and found.flops == found.counted_flops
    said = [view.say("diagnostics.lengths", s=s, t=t), _say(view, facts.cost(found.parameters, found.flops))]
    said += [view.say("diagnostics.agree" if same else "diagnostics.disagree"), _heads(view, found)]
    return [blocks.table("costs-table", head, rows, rowheads=True), blocks.text("costs-said", paragraph(said), css="pg-caption")]


def _heads(view: View, found: Costs) -> str:
    """What another number of heads would cost."""
    fact = facts.heads(found.by_heads)
    return view.say(fact.key, **fact.values | {"heads": listed(view.language, found.by_heads)})


# ---- words ----


def _say(view: View, fact: Fact) -> str:
    """A fact in words: parts by their names, numbers short."""
    values = {name: _short(value) if isinstance(value, float) else value for name, value in fact.values.items()}
    said = view.say(fact.key, **values | {name: _name(view, values[name]) for name in ("most", "least") if name in values})
    return said[:1].upper() + said[1:]  # a sentence may begin with the name of a part


def _name(view: View, route: str) -> str:
    stack, _, rest = route.partition(".")
    layer, _, part = rest.partition(".")
    return view.say(f"diagnostics.part_{stack}_{part}", layer=int(layer) + 1) if part else view.say(f"diagnostics.part_{stack}")


def _kind(route: str) -> str:
    return "cross" if route.endswith("cross_attention") else "encoder" if route.startswith(("src", "encoder")) else "decoder"


def _short(value: float) -> str:
    """Three digits, and 0 only where nothing at all is there."""
    return "0" if value == 0 else "–" if value != value else printed(f"{value:.3g}")
