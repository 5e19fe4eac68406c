"""What happens on a click. Every listener is three lines: read, ask, show; whoever asks must hold the token of what they change.

Answers travel as one small JSON object to `window.playground.reply`: which run to open, what to say, which control was at fault.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr

from playground import cursor
from playground.config import KNOBS, LIVE_KNOBS, TASK_STEPS, Experiment, Refusal, check, default, preset
from playground.lessons.controlled import ControlledExperiment, untouched
from playground.lessons.labs import get
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui import links
from playground.ui.controls import wording
from playground.ui.cost_estimate import outlook as outlook_of
from playground.ui.upload import uploading
from playground.words import LANGUAGES, preferred, say

# What this browser tab uploaded last (static/state.js keeps it), without waiting for the page's own script: a slow line has the link first.
KEPT_OWN = "() => { try { return [sessionStorage.getItem('playground-own') ?? '']; } catch { return ['']; } }"
PRIVATE = {"api_visibility": "undocumented", "show_progress": "hidden", "queue": False}


def wire(demo: gr.Blocks, runs: Runs, reader: Reader, parts, hidden: dict, *, train, preset, outlook, reset, tabs, upload) -> None:
    """Connects every control of the page."""
    knobs, reply = parts.knobs, hidden["reply"]
    who = [hidden["token"], hidden["language"]]
    everything = [*who, hidden["own"], *knobs.values()]
    names = ["own", *knobs]

    def start(token: str, language: str, *values: Any) -> dict:
        return answer(language, lambda: train_run(runs, token, language, dict(zip(names, values, strict=True))))

    def do(token: str, language: str, message: str) -> dict:
        return answer(language, lambda: command(runs, token, language, message))

    def live(name: str, token: str, language: str, message: str, value: Any) -> dict:
        return answer(language, lambda: set_live(runs, token, message, name, value))

    def take_preset(name: str, *values: Any) -> list:
        chosen = preset_values(name, dict(zip(knobs, values, strict=True)))
        return [chosen[knob] for knob in knobs]

    def take_task(task: str, own: str, *values: float | None) -> list:
        return uploading.taught(own, own if task == "own" else "", *values, TASK_STEPS.get(task))

    def look_ahead(_: str, language: str, *values: Any) -> tuple[str, str | None]:
        return outlook_of(runs, language, dict(zip(names, values, strict=True)))

    def arrive(own: str, request: gr.Request) -> list:
        return [*link_values(runs, request, list(knobs), own), *relabel(_language(request))]

    def relabel(language: str) -> list:
        words = [gr.update(**{prop: say(language, key) for prop, key in keys.items()}) for _, keys in parts.titled]
        return [*words, *(wording(name, language) for name in ("preset", *knobs))]

    titled = [*(component for component, _ in parts.titled), preset, *knobs.values()]
    teaching = [knobs[name] for name in uploading.TAUGHT]
    ours = "(...values) => window.playground."
    train.click(start, everything, reply, js=f"{ours}trainInputs(...values)", api_name="train", **PRIVATE)
    hidden["command"].click(do, [*who, hidden["message"]], reply, js=f"{ours}commandInputs()", api_name="command", **PRIVATE)
    reply.change(None, reply, None, js="(value) => window.playground.reply(value)")
    relabelled = hidden["relabel"].click(relabel, hidden["language"], titled, js="() => window.playground.language()", **PRIVATE)
    preset.input(take_preset, [preset, *knobs.values()], list(knobs.values()), **PRIVATE)
    knobs["task"].input(take_task, [knobs["task"], hidden["own"], *teaching, knobs["batch_size"]], teaching, **PRIVATE)
    reset.click(lambda: [default(name) for name in knobs] + ["default"], None, [*knobs.values(), preset], **PRIVATE)
    hidden["settings"].click(None, None, list(knobs.values()), js=f"{ours}settings()", api_visibility="private")
    gr.on([knob.change for knob in knobs.values()], None, list(knobs.values()), None, js=f"{ours}knobs(values)")
    gr.on(
        [*(knob.change for knob in knobs.values()), hidden["own"].change],
        look_ahead,
        everything,
        [outlook, preset],
        js=f"{ours}withToken(...values)",
        trigger_mode="always_last",
        **PRIVATE,
    )
    for name in LIVE_KNOBS:  # on a person's touch only: a preset or an upload that sets them means the next run
        knobs[name].input(
            partial(live, name),
            [*who, hidden["message"], knobs[name]],
            reply,
            js=f"{ours}liveInputs(...values)",
            trigger_mode="always_last",
            api_name=f"live_{name}",
            **PRIVATE,
        )
    uploading.wire(runs, upload, who, hidden, knobs, answer, start, everything)
    arriving = demo.load(arrive, hidden["own"], [*knobs.values(), hidden["own"], tabs, *titled], js=KEPT_OWN, **PRIVATE)
    arriving.then(None, list(knobs.values()), None, js=f"{ours}knobs(values, true)")
    for said in (relabelled, arriving):
        said.then(look_ahead, everything, [outlook, preset], js=f"{ours}withToken(...values)", **PRIVATE)


def answer(language: str, act: Callable[[], dict]) -> dict:
    """What a listener sends back: its answer, or the sentence of a refusal. The stamp makes two equal answers differ."""
    try:
        return {**act(), "stamp": secrets.token_hex(4)}
    except Refusal as refusal:
        knob = refusal.values.get("knob") or refusal.values.get("name")
        return {"error": refusal.say(language), "knob": knob if knob in KNOBS else None, "stamp": secrets.token_hex(4)}


def train_run(runs: Runs, token: str, language: str, values: dict[str, Any]) -> dict:
    """A new run with these settings. The core checks every one of them again: what came here may not have come from a control."""
    experiment = Experiment().with_(**{name: value for name, value in values.items() if value is not None})
    pairs, credit = uploading.pairs(runs, experiment)
    run = runs.create(experiment, token, pairs=pairs, credit=credit)
    return {"run": run.id, "tab": "learn", "notice": say(language, "page.started", name=run.name)}


def command(runs: Runs, token: str, language: str, message: str) -> dict:
    """Pause, resume, one step, stop, a live knob, fork, remake, rename, delete: what the page's buttons mean."""
    try:
        asked = json.loads(message)
        action, run_id = str(asked["action"]), str(asked["run"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Refusal("page.not_a_command") from None
    simple = {"pause": runs.pause, "resume": runs.resume, "step": runs.step_once, "stop": runs.stop}
    if action in simple:
        simple[action](run_id, token)
        return {"again": True}
    if action == "delete":
        runs.delete(run_id, token)
        return {"run": runs.shipped()[0].id, "notice": say(language, "page.deleted")}
    if action == "rename":
        runs.rename(run_id, token, str(asked.get("label", "")))
        return {"again": True}
    if action == "live":
        runs.set_live(run_id, token, str(asked.get("knob")), asked.get("value"))
        return {"again": True}
    if action == "fork":
        run = runs.fork(run_id, check("steps", asked["step"]) if asked.get("step") else 0, token)
        return {"run": run.id, "tab": "learn", "notice": say(language, "page.forked", name=run.name, step=(run.parent or ("", 0))[1])}
    if action == "remake":
        run = runs.remake(run_id, token)
        return {"run": run.id, "notice": say(language, "page.started", name=run.name)} | ({} if asked.get("stay") else {"tab": "learn"})
    if action == "experiment":
        return experiments(runs, token, language, str(asked.get("lab", "")), asked.get("seed"))
    raise Refusal("page.not_a_command")


def experiments(runs: Runs, token: str, language: str, lab: str, seed: Any) -> dict:
    """The arms of a bench, each a run of the visitor's own. Those that the visitor has already are not trained again: with the same seed
    they would come out the same."""
    bench, seed = get(lab), check("seed", seed)
    if not isinstance(bench, ControlledExperiment):
        raise Refusal("page.not_a_command")
    mine = [run for run in runs.mine(token) if run.unfinished or run.status == "done"]
    have = {place[0]: run for run in mine if (place := bench.recognise(run)) and place[1] == seed and untouched(run)}
    new = [arm for arm in bench.arms_of(seed) if arm not in have]
    labels = [bench.label(language, arm, seed) for arm in new]
    have |= zip(new, runs.create_all([bench.experiment(arm, seed) for arm in new], token, labels, secret=bench.is_mystery), strict=True)
    return {"lab": lab, "arms": [have[arm].id for arm in bench.arms_of(seed)]}


def set_live(runs: Runs, token: str, run_id: str, name: str, value: Any) -> dict:
    """A live knob that is moved at the left acts at once on the run on screen, if that is being trained by the one who moves it."""
    run = runs.get(run_id) if run_id else None
    if run is None or not runs.owns(run.id, token) or not (run.working or run.status == "paused"):
        return {}
    if value is not None and check(name, value) != run.live[name]:
        runs.set_live(run.id, token, name, value)
    return {}


def preset_values(name: str, now: dict[str, Any]) -> dict[str, Any]:
    """Every knob as a preset has it; what the data are stays as it is."""
    base = Experiment().with_(**{knob: value for knob, value in now.items() if value is not None})
    return preset(name, base).flat()


def link_values(runs: Runs, request: gr.Request, names: list[str], own: str = "") -> list:
    """What a link asks for: the value of every knob, own data, the open tab. What had to be ignored is said by boot.py. `own` is what
    this browser tab uploaded last."""
    query = dict(request.query_params)
    flat = links.read(runs, query)[0].flat()
    place, _ = cursor.read_query(query, links.LISTS)
    tab = gr.Tabs(selected=place.get("tab", cursor.FIELDS["tab"].default))
    return [*(flat[name] for name in names), own if uploading.found(runs, own) else flat["own"], tab]


def _language(request: gr.Request) -> str:
    """The language a link asks for, or the browser's."""
    asked = request.query_params.get("lang", "")
    return asked if asked in LANGUAGES else preferred(request.headers.get("accept-language", ""))
