"""Gradio's listeners: the controls at the left, their words, the cost estimate, and reading files. Nothing here changes a run.

Values are passed by name (see bridge.py). Every client can call a listener, so inputs are validated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from playground.config import LIVE_KNOBS, PRESETS, TASK_STEPS, Experiment, Refusal, default, is_possible, preset
from playground.features.shared import uploading
from playground.runs.forecast import fitting_steps
from playground.runs.registry import Runs
from playground.ui import links
from playground.ui.actions import answer_call
from playground.ui.address import address_of
from playground.ui.bridge import js_call, read_text
from playground.ui.controls import preset_update, translate
from playground.ui.cost_estimate import describe_cost as outlook_of, draw_schedule
from playground.ui.rights import PUBLIC, needs
from playground.words import preferred, say

QUIET = {"api_visibility": "undocumented", "show_progress": "hidden", "queue": False}
IN_PAGE = {"api_visibility": "private"}  # handled by the page's script only


def connect(demo: gr.Blocks, runs: Runs, parts) -> None:
    """Connects the page's controls."""
    knobs, bridge = parts.knobs, parts.bridge
    everything = {"asked": bridge, **knobs}
    titled = [*(component for component, _ in parts.titled), parts.preset, *knobs.values()]
    teaching = [knobs[name] for name in uploading.SUGGESTED]

    @needs(PUBLIC)
    def take_preset(preset: Any, **now: Any) -> list:
        if not isinstance(preset, str) or preset not in PRESETS:  # custom settings stay as they are
            return [gr.skip()] * len(knobs)
        chosen = preset_values(preset, now)
        return [chosen[name] for name in knobs]

    @needs(PUBLIC)
    def reset() -> list:
        return [default(name) for name in knobs] + ["default"]

    @needs(PUBLIC)
    def take_task(asked: Any, task: str, **now: Any) -> list:
        own = read_text(asked, "own")
        if read_text(asked, "before") == task:  # the visitor chose no other task
            return [gr.skip()] * len(teaching)
        usual, ticket = TASK_STEPS.get(str(task)), read_text(asked, "ticket")
        return updates(uploading.SUGGESTED, uploading.values_for(own, own if task == "own" else "", now, usual, ticket))

    @needs(PUBLIC)
    def take_minutes(asked: Any, **now: Any) -> list:
        """Sets the number of steps that fit into the time, and the knobs that suit own pairs for it; without a time, nothing."""
        try:
            experiment = Experiment().with_(**{name: value for name, value in now.items() if is_possible(name, value)})
            own = read_text(asked, "own")
            pairs = uploading.find_pairs(runs, own, read_text(asked, "ticket")) if experiment.data.task == "own" else None
            changes = {"steps": fitting_steps(experiment, pairs)} if experiment.training.minutes else {}
            if changes and pairs:
                changes |= uploading.timed_values(pairs, own, now, changes["steps"])
        except Refusal:  # the outlook explains it
            changes = {}
        return updates(uploading.TIMED, changes)

    @needs(PUBLIC)
    def look_ahead(asked: Any, **now: Any) -> tuple[str, str, dict[str, Any]]:
        language = read_text(asked, "language")
        text, preset_name = outlook_of(runs, language, now | {"own": read_text(asked, "own")}, read_text(asked, "ticket"))
        return text, draw_schedule(language, now), preset_update(preset_name, language)

    @needs(PUBLIC)
    def arrive(asked: Any, request: gr.Request) -> list:
        own = read_text(asked, "own") if uploading.find_pairs(runs, read_text(asked, "own"), read_text(asked, "ticket")) else ""
        return [*link_values(runs, link_query(asked, request), list(knobs)), {"own": own}, *relabel({"language": _language(request)})]

    @needs(PUBLIC)
    def relabel(asked: Any) -> list:
        language = read_text(asked, "language")
        words = [gr.update(**{prop: say(language, key) for prop, key in keys.items()}) for _, keys in parts.titled]
        return [*words, translate("preset", language), *(_restrict_control(asked, name, translate(name, language)) for name in knobs)]

    def ask(inputs: Mapping[str, gr.components.Component], fill: str = "asked") -> dict:
        """Returns the options of a Python listener: its inputs by name; a script function fills in the bridge."""
        return {"inputs_kwargs": dict(inputs), "js": js_call(fill, list(inputs), list(inputs)), **QUIET}

    parts.train.click(None, list(knobs.values()), None, js=js_call("train", list(knobs)), **IN_PAGE)
    gr.on([knob.change for knob in knobs.values()], None, list(knobs.values()), None, js=js_call("knobsChanged", list(knobs)), **IN_PAGE)
    for name in LIVE_KNOBS:  # on a user's input only: a preset or an upload changes the next run
        knobs[name].input(None, knobs[name], None, js=js_call("control", ["value"], knob=name), **IN_PAGE)
    bridge.settings(None, None, list(knobs.values()), js=js_call("settings", [], list(knobs)), **IN_PAGE)

    parts.preset.input(take_preset, outputs=list(knobs.values()), inputs_kwargs={"preset": parts.preset, **knobs}, **QUIET)
    parts.reset.click(reset, None, [*knobs.values(), parts.preset], **QUIET)
    task_inputs = {name: everything[name] for name in ("asked", "task", *uploading.SUGGESTED, "batch_unit", "minutes")}
    knobs["task"].input(take_task, outputs=teaching, **ask(task_inputs, "askedForTask"))
    knobs["minutes"].input(
        take_minutes, outputs=[knobs[name] for name in uploading.TIMED], trigger_mode="always_last", **ask(everything)
    )
    estimate = {"fn": look_ahead, "outputs": [parts.outlook, parts.schedule, parts.preset], **ask(everything)}
    bridge.look_ahead(trigger_mode="always_last", **estimate)  # once for simultaneous changes
    _connect_upload(bridge, knobs, parts.upload, ask).then(**estimate)
    bridge.relabel(relabel, outputs=titled, **ask({"asked": bridge})).then(**estimate)
    arriving = demo.load(
        arrive,
        bridge,
        [*knobs.values(), bridge, *titled],
        # this tab's last upload, and the link before the page's script rewrites the address; not waiting for that script: on a slow
        # connection the link's settings come first
        js="() => { const address = performance.getEntriesByType('navigation')[0]?.name ?? location.href;"
        " try { const [own, ticket] = ['playground-own', 'playground-own-ticket'].map((name) => sessionStorage.getItem(name) ?? '');"
        " return [{ address, own, ticket }]; } catch { return [{ address }]; } }",
        **QUIET,
    )
    arriving.then(None, [bridge, *knobs.values()], None, js=js_call("arrived", ["asked", *knobs]), **IN_PAGE).then(**estimate)


def _connect_upload(bridge: gr.HTML, knobs: dict, upload: dict, ask: Callable[[dict, str], dict]) -> gr.events.Dependency:
    """Returns the event after a reading; `ask` makes the inputs of a listener."""

    @needs(PUBLIC)
    def look(request: gr.Request, asked: Any, files: list[str] | None, text: str, hub: str, **now: Any) -> list:
        language, own, chosen, way = (read_text(asked, name) for name in ("language", "own", "choices", "way"))
        ticket, address = read_text(asked, "ticket"), address_of(request.request) if request.request else ""
        inputs = {"files": files, "text": text, "hub": hub}  # only one is used; without the page's script all count
        used = {name: value if way in ("", name) else None for name, value in inputs.items()}
        answer = answer_call(language, lambda: uploading.read_upload(*used.values(), chosen, language, ticket, address))
        if "own" not in answer:
            return [answer, *[gr.skip()] * (1 + len(uploading.SUGGESTED))]
        values = uploading.values_for(own, answer["own"], now, ticket=ticket)
        uploading.forget(own, ticket)  # this page knows only the new upload
        return [answer, "own", *updates(uploading.SUGGESTED, values)]

    inputs = {"asked": bridge, "files": upload["files"], "text": upload["text"], "hub": upload["hub"]}
    inputs |= {name: knobs[name] for name in (*uploading.SUGGESTED, "batch_unit")}
    reading = gr.on(
        [upload["look"].click, upload["files"].upload],
        look,
        outputs=[bridge, *(knobs[name] for name in ("task", *uploading.SUGGESTED))],
        api_name="read",
        concurrency_limit=8,
        trigger_mode="always_last",
        **ask(inputs, "readInputs") | {"queue": True, "show_progress": "minimal"},
    )
    upload["use"].click(None, list(knobs.values()), None, js=js_call("train", list(knobs), task="own"), api_visibility="private")
    return reading.success(None, bridge, None, js=js_call("takeReading", ["answer"]), api_visibility="private")


def preset_values(name: str, now: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all knobs of a preset; the data stay, as far as possible."""
    base = Experiment().with_(**{knob: value for knob, value in now.items() if is_possible(knob, value)})
    return preset(name, base).flat()


def _restrict_control(fields: Any, name: str, update: dict[str, Any]) -> dict[str, Any]:
    """Restricts a knob's update to what the visitor's room allows: fixed values, open tasks."""
    update["interactive"] = name not in read_text(fields, "fixed").split(",")
    tasks = read_text(fields, "tasks").split(",")
    if name == "task" and tasks != [""]:
        update["choices"] = [option for option in update["choices"] if option[1] in tasks]
    return update


def link_query(fields: Any, request: gr.Request) -> dict[str, str]:
    """Returns the query of the visitor's original link, else of the current address."""
    address, _, _ = read_text(fields, "address").partition("#")
    return dict(parse_qsl(address.partition("?")[2]) if address else request.query_params)


def link_values(runs: Runs, query: Mapping[str, str], names: list[str]) -> list:
    """Returns a link's value of every knob; boot.py explains ignored ones."""
    flat = links.read(runs, query)[0].flat()
    return [flat[name] for name in names]


def _language(request: gr.Request) -> str:
    """Returns the language of the link, else the browser's."""
    return preferred(request.headers.get("accept-language", ""), request.query_params.get("lang", ""))


def updates(names: Iterable[str], changes: Mapping[str, Any]) -> list:
    """Returns the updates of these controls: their new values, and nothing for those without one."""
    return [changes.get(name, gr.skip()) for name in names]
