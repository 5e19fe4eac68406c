"""What Gradio does itself: the controls at the left, their words, what they cost, and reading files. Nothing here changes a run.

Values go by their names (see bridge.py). Every listener can be called by anybody, so it takes nothing on trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from playground.config import LIVE_KNOBS, PRESETS, TASK_STEPS, Experiment, Refusal, default, is_possible, preset
from playground.runs.forecast import fitting_steps
from playground.runs.registry import Runs
from playground.ui import links
from playground.ui.bridge import script, told
from playground.ui.controls import preset_shown, wording
from playground.ui.cost_estimate import outlook as outlook_of
from playground.ui.cost_estimate import schedule
from playground.ui.upload import listeners as upload
from playground.ui.upload import uploading
from playground.words import preferred, say

QUIET = {"api_visibility": "undocumented", "show_progress": "hidden", "queue": False}
OURS = {"api_visibility": "private"}  # a function of the page's script alone


def wire(demo: gr.Blocks, runs: Runs, parts) -> None:
    """Connects every control of the page."""
    knobs, bridge = parts.knobs, parts.bridge
    everything = {"asked": bridge, **knobs}
    titled = [*(component for component, _ in parts.titled), parts.preset, *knobs.values()]
    teaching = [knobs[name] for name in uploading.SUGGESTED]

    def take_preset(preset: Any, **now: Any) -> list:
        if not isinstance(preset, str) or preset not in PRESETS:  # one's own settings stay as they are
            return [gr.skip()] * len(knobs)
        chosen = preset_values(preset, now)
        return [chosen[name] for name in knobs]

    def reset() -> list:
        return [default(name) for name in knobs] + ["default"]

    def take_task(asked: Any, task: str, **now: Any) -> list:
        own = told(asked, "own")
        if told(asked, "before") == task:  # nobody chose another
            return [gr.skip()] * len(teaching)
        return uploading.values_for(own, own if task == "own" else "", now, TASK_STEPS.get(str(task)), told(asked, "ticket"))

    def take_minutes(asked: Any, **now: Any) -> list:
        """As many steps as fit into the time, and what suits own pairs that are seen so often; without a time, all stays as it is."""
        try:
            wanted = Experiment().with_(**{name: value for name, value in now.items() if is_possible(name, value)})
            own = told(asked, "own")
            pairs = uploading.find_pairs(runs, own, told(asked, "ticket")) if wanted.data.task == "own" else None
            found = {"steps": fitting_steps(wanted, pairs)} if wanted.training.minutes else {}
            if found and pairs:
                found |= uploading.timed_values(pairs, own, now, found["steps"])
        except Refusal:  # the outlook says what is wrong
            found = {}
        return [found.get(name, gr.skip()) for name in uploading.TIMED]

    def look_ahead(asked: Any, **now: Any) -> tuple[str, str, dict[str, Any]]:
        language = told(asked, "language")
        text, found = outlook_of(runs, language, now | {"own": told(asked, "own")}, told(asked, "ticket"))
        return text, schedule(language, now), preset_shown(found, language)

    def arrive(asked: Any, request: gr.Request) -> list:
        own = told(asked, "own") if uploading.find_pairs(runs, told(asked, "own"), told(asked, "ticket")) else ""
        return [*link_values(runs, link_of(asked, request), list(knobs)), {"own": own}, *relabel({"language": _language(request)})]

    def relabel(asked: Any) -> list:
        language = told(asked, "language")
        words = [gr.update(**{prop: say(language, key) for prop, key in keys.items()}) for _, keys in parts.titled]
        return [*words, wording("preset", language), *(_allowed(asked, name, wording(name, language)) for name in knobs)]

    def ask(inputs: Mapping[str, gr.components.Component], fill: str = "asked") -> dict:
        """For a listener of Python's: its inputs by name; a function of the script fills in the bridge."""
        return {"inputs_kwargs": dict(inputs), "js": script(fill, list(inputs), list(inputs)), **QUIET}

    parts.train.click(None, list(knobs.values()), None, js=script("train", list(knobs)), **OURS)
    gr.on([knob.change for knob in knobs.values()], None, list(knobs.values()), None, js=script("knobsChanged", list(knobs)), **OURS)
    for name in LIVE_KNOBS:  # on a person's touch only: a preset or an upload that sets them means the next run
        knobs[name].input(None, knobs[name], None, js=script("control", ["value"], knob=name), **OURS)
    bridge.settings(None, None, list(knobs.values()), js=script("settings", [], list(knobs)), **OURS)

    parts.preset.input(take_preset, outputs=list(knobs.values()), inputs_kwargs={"preset": parts.preset, **knobs}, **QUIET)
    parts.reset.click(reset, None, [*knobs.values(), parts.preset], **QUIET)
    given = {name: everything[name] for name in ("asked", "task", *uploading.SUGGESTED, "batch_unit", "minutes")}
    knobs["task"].input(take_task, outputs=teaching, **ask(given, "askedForTask"))
    knobs["minutes"].input(
        take_minutes, outputs=[knobs[name] for name in uploading.TIMED], trigger_mode="always_last", **ask(everything)
    )
    expected = {"fn": look_ahead, "outputs": [parts.outlook, parts.schedule, parts.preset], **ask(everything)}
    bridge.look_ahead(trigger_mode="always_last", **expected)  # once for all that changed at a time
    upload.wire(bridge, knobs, parts.upload, ask).then(**expected)
    bridge.relabel(relabel, outputs=titled, **ask({"asked": bridge})).then(**expected)
    arriving = demo.load(
        arrive,
        bridge,
        [*knobs.values(), bridge, *titled],
        # what this browser tab uploaded last, and the link as it was before the page's own script writes into the address; without waiting
        # for that script: on a slow line the link's settings come first
        js="() => { const address = performance.getEntriesByType('navigation')[0]?.name ?? location.href;"
        " try { const [own, ticket] = ['playground-own', 'playground-own-ticket'].map((name) => sessionStorage.getItem(name) ?? '');"
        " return [{ address, own, ticket }]; } catch { return [{ address }]; } }",
        **QUIET,
    )
    arriving.then(None, [bridge, *knobs.values()], None, js=script("arrived", ["asked", *knobs]), **OURS).then(**expected)


def preset_values(name: str, now: Mapping[str, Any]) -> dict[str, Any]:
    """Every knob as a preset has it; what the data are stays as it is, but for what can't be."""
    base = Experiment().with_(**{knob: value for knob, value in now.items() if is_possible(knob, value)})
    return preset(name, base).flat()


def _allowed(asked: Any, name: str, update: dict[str, Any]) -> dict[str, Any]:
    """The update of a knob as the room of a visitor allows it: still where its value is fixed, and with the tasks that are open."""
    update["interactive"] = name not in told(asked, "fixed").split(",")
    tasks = told(asked, "tasks").split(",")
    if name == "task" and tasks != [""]:
        update["choices"] = [option for option in update["choices"] if option[1] in tasks]
    return update


def link_of(asked: Any, request: gr.Request) -> dict[str, str]:
    """The query of the link with which somebody came; of whoever doesn't say, that of the address now."""
    address, _, _ = told(asked, "address").partition("#")
    return dict(parse_qsl(address.partition("?")[2]) if address else request.query_params)


def link_values(runs: Runs, query: Mapping[str, str], names: list[str]) -> list:
    """What a link asks for: the value of every knob. What had to be ignored is said by boot.py."""
    flat = links.read(runs, query)[0].flat()
    return [flat[name] for name in names]


def _language(request: gr.Request) -> str:
    """The language a link asks for, or the browser's."""
    return preferred(request.headers.get("accept-language", ""), request.query_params.get("lang", ""))
