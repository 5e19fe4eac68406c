"""`POST {PREFIX}/command`: the only route by which the page changes runs.

A command is a small JSON object, sent by a page of this very server with the visitor's token in a header, which must have the right to
change the run. An answer is one too: the run to open, the fields of the cursor to carry there and a notice; or the sentence of a refusal
and the control at fault. A refusal is an ordinary response; a request that our page can't have sent gets an error status.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from playground import cursor
from playground.config import KNOBS, Experiment, Refusal, check
from playground.features.shared import selected_runs, uploading
from playground.features.shared.labs import SURE, UNKNOWN
from playground.features.shared.queries.activations import plan_change
from playground.features.shared.view import language
from playground.lessons.controlled import ControlledExperiment, untouched
from playground.lessons.labs import get
from playground.runs.incoming import plan_tuning
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.messages import answer_post, token_of
from playground.ui.rights import OWNER, READER, UPLOAD_BYTES, VISITOR, GuardedRoute, Right, require_run, require_sentences
from playground.words import listed, say

KEY = re.compile(r"[0-9a-f]{32}")  # a visitor's token, made by static/storage.js


@dataclass(frozen=True)
class Command:
    """A request for an action: the visitor's token and language, the action's name, the run on screen, and the action's values."""

    token: str
    language: str
    action: str
    run: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, message: Any, token: str, language: str) -> Command:
        """Parses a JSON object {"action", "run", …}. Raises Refusal("page.not_a_command") for anything else."""
        if not isinstance(message, dict) or not all(isinstance(message.get(name), str) for name in ("action", "run")):
            raise Refusal("page.not_a_command")
        return cls(token, language, message["action"], message["run"], message)

    def text(self, name: str) -> str:
        """Returns a text value; "" without one. Raises Refusal for another type."""
        value = self.values.get(name)
        if not isinstance(value, str | None):
            raise Refusal("page.not_a_command")
        return value or ""


Action = Callable[[Runs, Command], Any]


def act(runs: Runs, command: Command, actions: Mapping[str, tuple[Right, Action]]) -> Any:
    """Performs one of the actions. Raises Refusal for an invalid or an unknown action, and without the right to it."""
    if command.action not in actions:
        raise Refusal("page.not_a_command")
    right, action = actions[command.action]
    require_run(right, runs, command.run, command.token)
    require_sentences(runs, command.values, command.token)
    return action(runs, command)


def answer_call(language: str, do: Callable[[], dict]) -> dict[str, Any]:
    """Returns the action's answer, or the sentence of its refusal with the control at fault."""
    try:
        return do()
    except Refusal as refusal:
        knob = refusal.values.get("knob") or refusal.values.get("name")
        return {"error": refusal.say(language), "key": refusal.key, "knob": knob if knob in KNOBS else None}


def train(runs: Runs, command: Command) -> dict:
    """Starts a new run. The core checks every setting again: the request may not come from a control."""
    experiment = _read_knobs(command)
    pairs, credit = uploading.experiment_pairs(runs, experiment, command.token)
    run = runs.create(experiment, command.token, pairs=pairs, credit=credit, compared_to=command.run[:64])
    return _open_new_run(run) | {"other": True}  # the page shows that it trains


def _read_knobs(command: Command) -> Experiment:
    """Returns the experiment of the settings at the left. Raises Refusal."""
    knobs = command.values.get("knobs")
    if not isinstance(knobs, dict):
        raise Refusal("page.not_a_command")
    return Experiment().with_(**{name: value for name, value in knobs.items() if value is not None})


def _open_new_run(run: Run) -> dict:
    """Opens a new run in the visitor's current tab; in the training tab where no run is shown."""
    return {"run": run.id, "tab": cursor.FIELDS["tab"].default, "carry": cursor.CARRIED}


def delete(runs: Runs, command: Command) -> dict:
    """Deletes a run; with `stay` the page remains at the run on screen."""
    runs.delete(command.run, command.token)
    if command.values.get("stay"):
        return {"again": True, "gone": command.run, "notice": say(command.language, "page.deleted")}
    return {"run": runs.shipped()[0].id, "gone": True, "notice": say(command.language, "page.deleted")}


def rename(runs: Runs, command: Command) -> dict:
    runs.rename(command.run, command.token, command.text("label"))
    return {"again": True}


def share_sentences(runs: Runs, command: Command) -> dict:
    """Shares a run's own sentences with its link, or stops sharing them."""
    runs.share_sentences(command.run, command.token, command.values.get("shared") is True)
    return {"again": True}


def live(runs: Runs, command: Command) -> dict:
    """Sets a live knob of the run on screen."""
    runs.set_live(command.run, command.token, command.text("knob"), command.values.get("value"))
    return {"again": True}


def control(runs: Runs, command: Command) -> dict:
    """Applies a live knob moved at the left at once, if the visitor owns the run on screen and it is training or paused; else the knob is
    for the next run and there is no notice."""
    name, value, run = command.text("knob"), command.values.get("value"), runs.get(command.run) if command.run else None
    if run is None or not runs.owns(run.id, command.token) or not run.unfinished:
        return {}
    if value is not None and check(name, value) != run.live.get(name):
        runs.set_live(run.id, command.token, name, value)
    return {}


def fork(runs: Runs, command: Command) -> dict:
    """Starts a new run from the saved parameters nearest to a step, with the numbers that are typed over there."""
    at = command.values.get("step")
    run = runs.fork(command.run, check("steps", at) if at else 0, command.token, plan_change(command.text("edits")))
    return _open_new_run(run) | {"notice": say(command.language, "page.forked", name=run.name, step=run.first_step)}


def tune(runs: Runs, command: Command) -> dict:
    """Fine-tunes a run on the data at the left once the visitor is `sure`; before, says what the run's vocabularies lack."""
    experiment, at = _read_knobs(command), command.values.get("step")
    step = check("steps", at) if at else 0 if at == 0 else None
    if command.values.get("sure") is not True:
        pairs, _ = uploading.experiment_pairs(runs, experiment, command.token)
        return {"ask": plan_tuning(runs.get(command.run), step, experiment, pairs).message.say(command.language)}
    experiment, pairs = uploading.tuning_pairs(runs, experiment, command.token)
    return _open_new_run(runs.tune(command.run, step, experiment, pairs, command.token)) | {"other": True}


def copy(runs: Runs, command: Command) -> dict:
    """Copies a run for the visitor; the page keeps its place."""
    run = runs.copy(command.run, command.token)
    notice = say(command.language, "page.copied_paused" if run.status == "paused" else "page.copied_run", name=run.name)
    return {"run": run.id, "carry": cursor.OF_RUN, "notice": notice}


def repeat(runs: Runs, command: Command) -> dict:
    """Repeats a run with other seeds: the next one, or missing ones of `FIRST_SEEDS`; returns all runs for overlaid curves."""
    source = runs.get(command.run)
    by_seed = selected_runs.runs_by_seed(source, [source, *runs.list_owned(command.token), *runs.shipped()])
    missing = selected_runs.missing_seeds(by_seed, bool(command.values.get("all")))
    new_runs = runs.repeat(source.id, missing, command.token) if missing else []
    overlaid_runs = selected_runs.choose_overlaid(by_seed | dict(zip(missing, new_runs, strict=True)), missing)
    key = "compare.repeated" if new_runs else "compare.repeated_already"
    notice = say(command.language, key, count=len(new_runs), seeds=listed(command.language, map(str, missing)))
    return {"again": True, "ticked": [run.id for run in overlaid_runs], "notice": notice}


def take_key(runs: Runs, command: Command) -> dict:
    """Merges the visitor's runs into the token of another browser."""
    key = command.text("key")
    if not KEY.fullmatch(key):
        raise Refusal("page.not_a_key")
    if not runs.list_owned(key):
        raise Refusal("page.key_unknown")
    runs.hand_over(command.token, key)
    return {"notice": say(command.language, "page.key_taken", count=len(runs.list_owned(key)))}


def experiment(runs: Runs, command: Command) -> dict:
    """Starts the missing arms of a lab, each a run of the visitor's. Existing arms are not trained again: the same seed would give the same
    result."""
    lab, seed = get(command.text("lab")), check("seed", command.values.get("seed"))
    if not isinstance(lab, ControlledExperiment):
        raise Refusal("page.not_a_command")
    own_runs = [run for run in runs.list_owned(command.token) if run.unfinished or run.status == "done"]
    runs_by_arm = {place[0]: run for run in own_runs if (place := lab.recognise(run)) and place[1] == seed and untouched(run)}
    missing = [arm for arm in lab.arms_of(seed) if arm not in runs_by_arm]
    labels = [lab.label(command.language, arm, seed) for arm in missing]
    guess, sure = command.text("guess"), command.text("sure")
    first_guess = f"{guess}~{sure}" if guess in (UNKNOWN, *lab.guesses) and sure in ("", *SURE) else ""
    experiments = [lab.experiment(arm, seed) for arm in missing]
    new_runs = runs.create_all(experiments, command.token, labels, lab.is_mystery, lab.name, first_guess)
    runs_by_arm |= zip(missing, new_runs, strict=True)
    return {"lab": lab.name, "arms": [runs_by_arm[arm].id for arm in lab.arms_of(seed)]}


def _run_action(method: Callable[[Runs, str, str], None]) -> Action:
    """Returns an action that calls `method` with the run; the page reloads it."""

    def action(runs: Runs, command: Command) -> dict:
        method(runs, command.run, command.token)
        return {"again": True}

    return action


ACTIONS: dict[str, tuple[Right, Action]] = {
    "train": (VISITOR, train),
    "pause": (OWNER, _run_action(Runs.pause)),
    "resume": (OWNER, _run_action(Runs.resume)),
    "step": (OWNER, _run_action(Runs.step_once)),
    "stop": (OWNER, _run_action(Runs.stop)),
    "delete": (OWNER, delete),
    "rename": (OWNER, rename),
    "share_sentences": (OWNER, share_sentences),
    "live": (OWNER, live),
    "control": (VISITOR, control),  # does nothing to another visitor's run
    "fork": (READER, fork),
    "tune": (READER, tune),
    "copy": (READER, copy),
    "repeat": (READER, repeat),
    "experiment": (VISITOR, experiment),
    "take_key": (VISITOR, take_key),
}


def route(runs: Runs) -> GuardedRoute:
    return post_route("/command", lambda _, command: act(runs, command, ACTIONS))


def post_route(path: str, do: Callable[[Request, Command], dict[str, Any]]) -> GuardedRoute:
    """Returns a route for commands; each of its actions declares its own right, too."""

    async def endpoint(request: Request) -> Response:
        def carry_out(message: Any) -> dict[str, Any]:
            command = Command.parse(message, token_of(request.headers), language(request.query_params))
            return answer_call(command.language, lambda: do(request, command))

        return await answer_post(request, carry_out)

    return GuardedRoute(f"{PREFIX}{path}", endpoint, VISITOR, "POST")


def opening_route(runs: Runs) -> GuardedRoute:
    """Returns the route that opens a downloaded run, the body of the request, as the visitor's."""

    async def endpoint(request: Request) -> Response:
        chosen, token = language(request.query_params), token_of(request.headers)

        def open_body(data: bytes) -> dict[str, Any]:
            require_run(VISITOR, runs, "", token)
            run = runs.open_zip(request.query_params.get("name", "")[:100], data, token)
            return _open_new_run(run) | {"other": True, "notice": say(chosen, "page.opened", name=run.label or run.name)}

        return await answer_post(request, lambda data: answer_call(chosen, lambda: open_body(data)), Request.body)

    return GuardedRoute(f"{PREFIX}/open", endpoint, VISITOR, "POST", max_bytes=UPLOAD_BYTES)
