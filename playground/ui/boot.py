"""What the page reads once: its words, the knobs as they are declared, the colours, which runs there are, and what is fixed about one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from playground.config import KNOBS, LIVE_KNOBS, TASK_STEPS, Experiment, Refusal, default, limits
from playground.figures import theme
from playground.queries.reader import Reader
from playground.reading.formats.language_id import detect_language
from playground.rooms.room import ticket_of
from playground.runs.registry import Runs
from playground.runs.run import FINISHED, RESUMABLE, WORKING, Run
from playground.ui import links
from playground.ui.compare import name as name_of
from playground.ui.compare import origins
from playground.ui.controls import CONTROLLED, GROUPS, label, shown_value
from playground.ui.model_figure import model_figure
from playground.ui.panels.lessons import course, labs
from playground.ui.titles import difference, disclosed, title
from playground.ui.upload import uploading
from playground.ui.view import examples, language, unreadable
from playground.words import entries
from playground.words.glossary import glossary
from playground.zero_gpu import ON_ZERO_GPU


def boot(runs: Runs, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """Everything that doesn't depend on a run, the run with which this visitor begins, and what of the link (the address's parameters) has
    to be ignored."""
    chosen = language(parameters)
    _, ignored = links.read(runs, parameters)
    words = {name.removeprefix("page."): text for name, text in entries(chosen).items() if name.startswith("page.")}
    return {
        "words": words,
        "glossary": glossary(chosen),
        "course": course.declared(chosen),
        "labs": labs.titles(chosen),
        "dealt_labs": labs.dealt(chosen),
        "knobs": CONTROLLED,
        "groups": {group: [*first, *more] for group, (first, more) in GROUPS.items()},
        "task_steps": TASK_STEPS,
        "defaults": {name: default(name) for name in KNOBS},
        "live": list(LIVE_KNOBS),
        "bounds": {name: bounds(name) for name in CONTROLLED if limits(name).low is not None},
        "labels": {name: label(name, chosen) for name in CONTROLLED},
        "choices": {name: {_address(choice): shown_value(name, choice, chosen) for choice in limits(name).choices} for name in CONTROLLED},
        "colours": {name: theme.colors(False)[name] for name in ("encoder", "decoder", "cross", "right", "wrong")}
        | {f"dark-{name}": theme.colors(True)[name] for name in ("encoder", "decoder", "cross", "right", "wrong")},
        "palettes": {"light": theme.palette(False), "dark": theme.palette(True)},
        "first": runs.shipped()[0].id if runs.shipped() else "",
        "last": last_run(runs, token),
        "by": ticket_of("live", token),  # says whose a stream is, and opens nothing
        "ticket": uploading.ticket_of(token),  # opens one's own uploads to Gradio's listeners
        # what was cut off goes on by itself: its page listens for that
        "statuses": {"working": WORKING, "resumable": RESUMABLE, "over": [status for status in FINISHED if status != "interrupted"]},
        "ignored": list(ignored),
        "notice": links.sentence(ignored, chosen),
        "zero_gpu": ON_ZERO_GPU,
        "host": os.environ.get("SPACE_HOST", ""),
    }


def last_run(runs: Runs, token: str) -> str:
    """The run of a visitor who comes back: one of theirs that is at work, else the one that was looked at last; "" when there is none."""
    last = max(runs.mine(token), key=lambda run: (run.working, run.looked_at), default=None)
    return last.id if last else ""


def runs_list(runs: Runs, token: str, chosen: str) -> dict[str, list[dict[str, str]]]:
    """The runs a visitor can choose: theirs, those of others that theirs came from, and those that came with the app."""
    return {
        "mine": [{"id": run.id, "title": title(run, chosen, token)} for run in runs.mine(token)],
        "other": [{"id": run.id, "title": title(run, chosen, token)} for run in origins(runs, token)],
        "shipped": [{"id": run.id, "title": title(run, chosen, token)} for run in runs.shipped()],
    }


def run_card(runs: Runs, reader: Reader, run_id: str, token: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """What is fixed about a run, whether the asker may change it, and what it can't read of the cursor that was carried to it."""
    run, chosen = runs.get(run_id), language(parameters)
    pairs = examples(reader, run) if run.may_be_read_by(token) else []
    return {
        "id": run.id,
        "title": title(run, chosen, token),
        "name": run.name,
        "label": run.label_for(token),
        "settings": (disclosed(run) if run.may_be_read_by(token) else disclosed(run).with_(own="")).flat(),
        "sentences_shared": run.sentences_shared,
        "mine": runs.owns(run.id, token),
        "shipped": run.shipped,
        "examples": pairs,
        "languages": {side: detect_language([pair[at] for pair in pairs]) for at, side in enumerate(("src", "tgt"))},
        "line": difference(disclosed(run), Experiment(), chosen),
        "precision": run.precision,
        "parent": parent(runs, run, chosen, token),
        "unreadable": unreadable(reader, run, parameters),
        "figure": model_figure(run, chosen),
    }


def bounds(name: str) -> dict[str, float]:
    """The numbers that a knob can be: from `low` to `high`, and the `step` between whole ones (0 where all numbers are possible)."""
    knob = limits(name)
    return {"low": knob.low, "high": knob.high, "step": knob.step if isinstance(default(name), int) else 0}


def parent(runs: Runs, run: Run, chosen: str, token: str) -> dict[str, Any] | None:
    """The run that `run` goes on from, and the step; without a name once it is deleted. `until` is the last step of the history that is
    the parent's: 0 in forks of before, which began to count anew."""
    if run.parent is None:
        return None
    id, step = run.parent
    try:
        source = runs.get(id)
        name = name_of(source, chosen, token)
    except Refusal:
        name = ""
    return {"run": id, "step": step, "name": name, "until": run.first_step}


def _address(value: Any) -> str:
    """A knob's value as the page writes it into an address."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
