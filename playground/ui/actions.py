"""What a visitor does to runs: the actions of `POST …/command` (see command.py). Whoever asks must hold the token of what they change.

An answer is one small JSON object: which run to open and which fields of the cursor to carry there, what to say, or the sentence of a
refusal and the control at fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground import cursor
from playground.config import KNOBS, Experiment, Refusal, check
from playground.lessons.controlled import ControlledExperiment, untouched
from playground.lessons.labs import get
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui import seeds
from playground.ui.permits import require_run, require_sentences
from playground.ui.rights import COMMANDS
from playground.ui.upload import uploading
from playground.words import listed, say

KEY = re.compile(r"[0-9a-f]{32}")  # a visitor's token, as static/storage.js makes it


@dataclass(frozen=True)
class Command:
    """Who asks for what, in which language: the action's name, the run on screen, and the values that this action takes."""

    token: str
    language: str
    action: str
    run: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, message: Any, token: str, language: str) -> Command:
        """Of a JSON object {"action", "run", …}. Raises Refusal("page.not_a_command") for anything else."""
        if not isinstance(message, dict) or not all(isinstance(message.get(name), str) for name in ("action", "run")):
            raise Refusal("page.not_a_command")
        return cls(token, language, message["action"], message["run"], message)

    def text(self, name: str) -> str:
        """A value that is text; "" when there is none. Raises Refusal for one that is something else."""
        value = self.values.get(name)
        if not isinstance(value, str | None):
            raise Refusal("page.not_a_command")
        return value or ""


Action = Callable[[Runs, Command], dict[str, Any]]


def act(runs: Runs, command: Command) -> dict[str, Any]:
    """Does it. Raises Refusal for what can't be done, for what is not the asker's, and for an action there is not."""
    if command.action not in ACTIONS:
        raise Refusal("page.not_a_command")
    require_run(COMMANDS[command.action], runs, command.run, command.token)
    require_sentences(runs, command.values, command.token)
    return ACTIONS[command.action](runs, command)


def answer(language: str, do: Callable[[], dict]) -> dict[str, Any]:
    """What the page is told: the answer, or the sentence of a refusal with the control that it is about."""
    try:
        return do()
    except Refusal as refusal:
        knob = refusal.values.get("knob") or refusal.values.get("name")
        return {"error": refusal.say(language), "key": refusal.key, "knob": knob if knob in KNOBS else None}


def train(runs: Runs, command: Command) -> dict:
    """A new run with these settings. The core checks every one of them again: what came here may not have come from a control."""
    knobs = command.values.get("knobs")
    if not isinstance(knobs, dict):
        raise Refusal("page.not_a_command")
    experiment = Experiment().with_(**{name: value for name, value in knobs.items() if value is not None})
    pairs, credit = uploading.pairs(runs, experiment, command.token)
    run = runs.create(experiment, command.token, pairs=pairs, credit=credit, compared_to=command.run[:64])
    return _begun(run) | {"other": True}  # that it trains is to be seen


def _begun(run: Run) -> dict:
    """A new run is shown where the visitor is; in the tab of training to whoever is where no run is shown."""
    return {"run": run.id, "tab": cursor.FIELDS["tab"].default, "carry": cursor.CARRIED}


def delete(runs: Runs, command: Command) -> dict:
    """Of a run that is not on screen: `stay` where one is."""
    runs.delete(command.run, command.token)
    if command.values.get("stay"):
        return {"again": True, "gone": command.run, "notice": say(command.language, "page.deleted")}
    return {"run": runs.shipped()[0].id, "gone": True, "notice": say(command.language, "page.deleted")}


def rename(runs: Runs, command: Command) -> dict:
    runs.rename(command.run, command.token, command.text("label"))
    return {"again": True}


def share_sentences(runs: Runs, command: Command) -> dict:
    """Own sentences of a run go with its link, or don't."""
    runs.share_sentences(command.run, command.token, command.values.get("shared") is True)
    return {"again": True}


def live(runs: Runs, command: Command) -> dict:
    """A live knob of the run on screen."""
    runs.set_live(command.run, command.token, command.text("knob"), command.values.get("value"))
    return {"again": True}


def control(runs: Runs, command: Command) -> dict:
    """A live knob that is moved at the left acts at once on the run on screen, if that is being trained by the one who moves it; else it
    means the next run, and nothing is to be said."""
    name, value, run = command.text("knob"), command.values.get("value"), runs.get(command.run) if command.run else None
    if run is None or not runs.owns(run.id, command.token) or not (run.working or run.status == "paused"):
        return {}
    if value is not None and check(name, value) != run.live.get(name):
        runs.set_live(run.id, command.token, name, value)
    return {}


def fork(runs: Runs, command: Command) -> dict:
    """A new run that goes on from the parameters kept nearest to a step."""
    at = command.values.get("step")
    run = runs.fork(command.run, check("steps", at) if at else 0, command.token)
    return _begun(run) | {"notice": say(command.language, "page.forked", name=run.name, step=run.first_step)}


def copy(runs: Runs, command: Command) -> dict:
    """The run as it is as one of the visitor's own: they stay where they are."""
    run = runs.copy(command.run, command.token)
    said = say(command.language, "page.copied_paused" if run.status == "paused" else "page.copied_run", name=run.name)
    return {"run": run.id, "carry": cursor.OF_RUN, "notice": said}


def repeat(runs: Runs, command: Command) -> dict:
    """The same run with other seeds: with the next one, or with those of `seeds.FIRST` that are missing; and all of them to lay over each
    other."""
    source = runs.get(command.run)
    have = seeds.alike(source, [source, *runs.list_owned(command.token), *runs.shipped()])
    missing = seeds.missing(have) if command.values.get("all") else [seeds.unused(have)]
    made = runs.repeat(source.id, missing, command.token) if missing else []
    shown = seeds.shown(have | dict(zip(missing, made, strict=True)), missing)
    key = "compare.repeated" if made else "compare.repeated_already"
    said = say(command.language, key, count=len(made), seeds=listed(command.language, map(str, missing)))
    return {"again": True, "ticked": [run.id for run in shown], "notice": said}


def take_key(runs: Runs, command: Command) -> dict:
    """The visitor enters the token of another browser: the runs of both are that token's from now on."""
    key = command.text("key")
    if not KEY.fullmatch(key):
        raise Refusal("page.not_a_key")
    if not runs.list_owned(key):
        raise Refusal("page.key_unknown")
    runs.hand_over(command.token, key)
    return {"notice": say(command.language, "page.key_taken", count=len(runs.list_owned(key)))}


def experiment(runs: Runs, command: Command) -> dict:
    """The arms of a lab, each a run of the visitor's own. Those that the visitor has already are not trained again: with the same seed
    they would come out the same."""
    lab, seed = get(command.text("lab")), check("seed", command.values.get("seed"))
    if not isinstance(lab, ControlledExperiment):
        raise Refusal("page.not_a_command")
    mine = [run for run in runs.list_owned(command.token) if run.unfinished or run.status == "done"]
    have = {place[0]: run for run in mine if (place := lab.recognise(run)) and place[1] == seed and untouched(run)}
    new = [arm for arm in lab.arms_of(seed) if arm not in have]
    labels = [lab.label(command.language, arm, seed) for arm in new]
    made = runs.create_all([lab.experiment(arm, seed) for arm in new], command.token, labels, lab.is_mystery, lab.name)
    have |= zip(new, made, strict=True)
    return {"lab": lab.name, "arms": [have[arm].id for arm in lab.arms_of(seed)]}


def _again(method: Callable[[Runs, str, str], None]) -> Action:
    """What takes nothing but the run; the page looks at it again."""

    def action(runs: Runs, command: Command) -> dict:
        method(runs, command.run, command.token)
        return {"again": True}

    return action


ACTIONS: dict[str, Action] = {
    "train": train,
    "pause": _again(Runs.pause),
    "resume": _again(Runs.resume),
    "step": _again(Runs.step_once),
    "stop": _again(Runs.stop),
    "delete": delete,
    "rename": rename,
    "share_sentences": share_sentences,
    "live": live,
    "control": control,
    "fork": fork,
    "copy": copy,
    "repeat": repeat,
    "experiment": experiment,
    "take_key": take_key,
}
