"""Gradio's listeners: the controls at the left, their words, the cost estimate, and reading files. Nothing here changes a run.

Values are passed by name (see `bridge`). Every client can call a listener, so inputs are validated: Gradio passes them on as they come.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from starlette.concurrency import run_in_threadpool

from playground.config import LIVE_KNOBS, PRESETS, TASK_STEPS, Experiment, Refusal, default, is_possible, preset
from playground.features.shared import uploading
from playground.features.shared.naming import disclosed
from playground.runs.forecast import fitting_steps
from playground.runs.registry import Runs
from playground.ui.assets import SCRIPT, asset_path
from playground.ui.boot import read_link
from playground.ui.command import answer_call
from playground.ui.controls import describe_cost as outlook_of, draw_schedule, preset_update, translate
from playground.ui.endpoints import to_gradio_error
from playground.ui.network import address_of
from playground.ui.rights import PUBLIC, Listeners, language_of
from playground.ui.turns import Turns
from playground.words import say

# the script's requests to Gradio: words in another language, other values of the controls, a cost estimate
EVENTS = ("relabel", "settings", "look_ahead")


def bridge() -> gr.HTML:
    """Returns a hidden component. Its events are EVENTS; it carries the script's inputs to listeners, and their answers."""
    triggers = ", ".join(f"{name}: () => trigger('{name}')" for name in EVENTS)
    return gr.HTML({}, html_template="", js_on_load=f"{_import_script()}.then((page) => page.meet({{ {triggers} }}))", visible="hidden")


def js_call(function: str, inputs: Sequence[str] = (), outputs: Sequence[str] = (), **constants: Any) -> str:
    """Returns a listener's JavaScript: it calls main.js's `function` with the inputs' values and the `constants` in one object, and returns
    the outputs from the resulting object."""
    named = f"Object.fromEntries({json.dumps(list(inputs))}.map((name, at) => [name, values[at]]))"
    return (
        f"async (...values) => {{ const answer = await (await {_import_script()}).{function}({{ ...{named}, ...{json.dumps(constants)} }});"
        f" return {json.dumps(list(outputs))}.map((name) => answer[name]); }}"
    )


def read_text(fields: Any, name: str) -> str:
    """Returns a text that the script passed to a listener through the bridge; "" for another type."""
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) else ""


def _import_script() -> str:
    """Returns a JavaScript promise of our own script, which may still be loading. Repeated imports load it once."""
    return f"import(new URL('{asset_path(SCRIPT)}', document.baseURI))"


QUIET = {"api_visibility": "undocumented", "show_progress": "hidden", "queue": False, "preprocess": False}
MAX_READINGS = 8  # uploads read at a time
IN_PAGE = {"api_visibility": "private"}  # handled by the page's script only


class Handlers:
    """The functions behind the controls. The values of all knobs come by name, the script's through the bridge as `asked`."""

    def __init__(self, runs: Runs, parts: Any) -> None:
        self._runs, self._titled, self._knobs = runs, parts.titled, list(parts.knobs)

    def take_preset(self, preset: Any, **now: Any) -> list:
        if not isinstance(preset, str) or preset not in PRESETS:  # custom settings stay as they are
            return [gr.skip()] * len(self._knobs)
        chosen = preset_values(preset, now)
        return [chosen[name] for name in self._knobs]

    def reset(self) -> list:
        return [default(name) for name in self._knobs] + ["default"]

    def take_task(self, asked: Any, task: str, **now: Any) -> list:
        own = read_text(asked, "own")
        if read_text(asked, "before") == task:  # the visitor chose no other task
            return [gr.skip()] * len(uploading.SUGGESTED)
        usual, ticket = TASK_STEPS.get(str(task)), read_text(asked, "ticket")
        return updates(uploading.SUGGESTED, uploading.values_for(own, own if task == "own" else "", now, usual, ticket))

    def take_minutes(self, asked: Any, **now: Any) -> list:
        """Sets the number of steps that fit into the time, and the knobs that suit own pairs for it; without a time, nothing."""
        try:
            experiment = Experiment().with_(**{name: value for name, value in now.items() if is_possible(name, value)})
            own = read_text(asked, "own")
            pairs = uploading.find_pairs(self._runs, own, read_text(asked, "ticket")) if experiment.data.task == "own" else None
            changes = {"steps": fitting_steps(experiment, pairs)} if experiment.training.minutes else {}
            if changes and pairs:
                changes |= uploading.timed_values(pairs, own, now, changes["steps"])
        except Refusal:  # the outlook explains it
            changes = {}
        return updates(uploading.TIMED, changes)

    def look_ahead(self, asked: Any, **now: Any) -> tuple[str, str, dict[str, Any]]:
        language = read_text(asked, "language")
        text, preset_name = outlook_of(self._runs, language, now | {"own": read_text(asked, "own")}, read_text(asked, "ticket"))
        return text, draw_schedule(language, now), preset_update(preset_name, language)

    def arrive(self, asked: Any, request: gr.Request) -> list:
        own = read_text(asked, "own") if uploading.find_pairs(self._runs, read_text(asked, "own"), read_text(asked, "ticket")) else ""
        values = link_values(self._runs, link_query(asked, request), self._knobs)
        return [*values, {"own": own}, *self.relabel({"language": language_of(request)})]

    def relabel(self, asked: Any) -> list:
        language = read_text(asked, "language")
        words = [gr.update(**{prop: say(language, key) for prop, key in keys.items()}) for _, keys in self._titled]
        controls = (_restrict_control(asked, name, translate(name, language)) for name in self._knobs)
        return [*words, translate("preset", language), *controls]


def connect(demo: gr.Blocks, runs: Runs, parts: Any, turns: Turns) -> Listeners:
    """Connects the page's controls. Returns their listeners; `turns` are those of uploads."""
    knobs, bridge, handlers, opened = parts.knobs, parts.bridge, Handlers(runs, parts), Listeners()
    everything = {"asked": bridge, **knobs}
    titled = [*(component for component, _ in parts.titled), parts.preset, *knobs.values()]
    estimate = {"outputs": [parts.outlook, parts.schedule, parts.preset], **_ask(everything)}

    def connect_python(event: Callable, function: Callable, then_estimate: bool = False, **options: Any) -> None:
        dependency = opened.add(event(_on_thread(function), **options), PUBLIC)
        if then_estimate:
            connect_python(dependency.then, handlers.look_ahead, **estimate)

    parts.train.click(None, list(knobs.values()), None, js=js_call("train", list(knobs)), **IN_PAGE)
    gr.on([knob.change for knob in knobs.values()], None, list(knobs.values()), None, js=js_call("knobsChanged", list(knobs)), **IN_PAGE)
    for name in LIVE_KNOBS:  # on a user's input only: a preset or an upload changes the next run
        knobs[name].input(None, knobs[name], None, js=js_call("control", ["value"], knob=name), **IN_PAGE)
    bridge.settings(None, None, list(knobs.values()), js=js_call("settings", [], list(knobs)), **IN_PAGE)

    preset_inputs = {"preset": parts.preset, **knobs}
    connect_python(parts.preset.input, handlers.take_preset, outputs=list(knobs.values()), inputs_kwargs=preset_inputs, **QUIET)
    connect_python(parts.reset.click, handlers.reset, inputs=None, outputs=[*knobs.values(), parts.preset], **QUIET)
    task_inputs = {name: everything[name] for name in ("asked", "task", *uploading.SUGGESTED, "batch_unit", "minutes")}
    suggested, timed = ([knobs[name] for name in names] for names in (uploading.SUGGESTED, uploading.TIMED))
    connect_python(knobs["task"].input, handlers.take_task, outputs=suggested, **_ask(task_inputs, "askedForTask"))
    connect_python(knobs["minutes"].input, handlers.take_minutes, outputs=timed, trigger_mode="always_last", **_ask(everything))
    connect_python(bridge.look_ahead, handlers.look_ahead, trigger_mode="always_last", **estimate)  # once for simultaneous changes
    connect_python(_connect_upload(opened, bridge, knobs, parts.upload, turns).then, handlers.look_ahead, **estimate)
    connect_python(bridge.relabel, handlers.relabel, outputs=titled, **_ask({"asked": bridge}), then_estimate=True)
    arriving = demo.load(
        _on_thread(handlers.arrive),
        bridge,
        [*knobs.values(), bridge, *titled],
        # this tab's last upload, and the link before the page's script rewrites the address; not waiting for that script: on a slow
        # connection the link's settings come first
        js="() => { const address = performance.getEntriesByType('navigation')[0]?.name ?? location.href;"
        " try { const [own, ticket] = ['playground-own', 'playground-own-ticket'].map((name) => sessionStorage.getItem(name) ?? '');"
        " return [{ address, own, ticket }]; } catch { return [{ address }]; } }",
        **QUIET,
    )
    arrived = opened.add(arriving, PUBLIC).then(None, [bridge, *knobs.values()], None, js=js_call("arrived", ["asked", *knobs]), **IN_PAGE)
    connect_python(arrived.then, handlers.look_ahead, **estimate)
    return opened


def _on_thread(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Makes a handler a coroutine that works on one of the server's own threads: Gradio would start one for each call."""

    @wraps(function)
    async def call(*values: Any, **named: Any) -> Any:
        return await run_in_threadpool(function, *values, **named)

    return call


def _ask(inputs: Mapping[str, gr.components.Component], fill: str = "asked") -> dict[str, Any]:
    """Returns the options of a Python listener: its inputs by name; a script function fills in the bridge."""
    return {"inputs_kwargs": dict(inputs), "js": js_call(fill, list(inputs), list(inputs)), **QUIET}


def _connect_upload(opened: Listeners, bridge: gr.HTML, knobs: dict, upload: dict, turns: Turns) -> gr.events.Dependency:
    """Returns the event after a reading."""

    async def look(request: gr.Request, **values: Any) -> list:
        try:
            async with turns.take("upload", MAX_READINGS, request):
                return await run_in_threadpool(read, request, **values)
        except Refusal as refusal:
            raise to_gradio_error(refusal) from refusal

    def read(request: gr.Request, asked: Any, files: list[dict[str, Any]] | None, text: Any, hub: Any, **now: Any) -> list:
        language, own, chosen, way = (read_text(asked, name) for name in ("language", "own", "choices", "way"))
        ticket, address = read_text(asked, "ticket"), address_of(request.request) if request.request else ""
        inputs = {"files": [file["path"] for file in files or []], "text": text, "hub": hub}
        used = {name: value if way in ("", name) else None for name, value in inputs.items()}  # without the page's script all count

        def read_inputs() -> dict[str, Any]:
            if not isinstance(text, str | None) or not isinstance(hub, str | None):
                raise Refusal("page.not_a_command")
            return uploading.read_upload(*used.values(), chosen, language, ticket, address)

        answer = answer_call(language, read_inputs)
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
        concurrency_limit=None,  # it takes its turn itself
        trigger_mode="always_last",
        **_ask(inputs, "readInputs") | {"queue": True, "show_progress": "minimal"},
    )
    opened.add(reading, PUBLIC, files=[list(inputs).index("files")])
    upload["use"].click(None, list(knobs.values()), None, js=js_call("trainOwn", list(knobs)), api_visibility="private")
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
    """Returns a link's value of every knob, of one that names neither run nor knobs that of the run it opens with; boot.py explains ignored
    ones."""
    first = runs.shipped()[:1] if not {"run", *names} & {*query} else []
    flat = (disclosed(first[0]) if first else read_link(runs, query)[0]).flat()
    return [flat[name] for name in names]


def updates(names: Iterable[str], changes: Mapping[str, Any]) -> list:
    """Returns the updates of these controls: their new values, and nothing for those without one."""
    return [changes.get(name, gr.skip()) for name in names]
