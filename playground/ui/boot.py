"""Links and the page's start data: the settings, run and cursor of a link, and a sentence on the values that are ignored; words, declared
knobs, colours and runs; and the fixed facts of a run."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from playground import cursor
from playground.config import KNOBS, LIVE_KNOBS, TASK_STEPS, Experiment, Refusal, as_text, default, limits, read_query
from playground.features.diagnostics.panel import QUANTITIES
from playground.features.embeddings.query import STATES, TABLES
from playground.features.lessons import course, labs
from playground.features.map.architecture import model_figure
from playground.features.registry import TABS
from playground.features.shared import naming, uploading
from playground.features.shared.figures import theme
from playground.features.shared.labs import UNKNOWN
from playground.features.shared.naming import CONTROLLED, disclosed, shown_value
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import examples, language
from playground.features.translate.query import METHODS
from playground.lessons.checks import ROUNDS
from playground.lessons.course import COURSE
from playground.lessons.lab import Lab
from playground.lessons.labs import LABS
from playground.lessons.lesson import Question
from playground.lessons.tour import STOPS
from playground.reading.formats.languages import detect_language
from playground.rooms.room import ticket_of
from playground.runs.orders import FINISHED, RESUMABLE, WORKING
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui import ON_ZERO_GPU
from playground.ui.account import is_offered
from playground.ui.controls import GROUPS
from playground.ui.network import list_space_hosts
from playground.words import entries, glossary, list_terms, paragraph, say


def _list_guesses(questions: Iterable[Lab | Question]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([UNKNOWN, *(guess for question in questions for guess in question.guesses)]))


# Values of cursor fields that are declared elsewhere in the project.
LISTS: cursor.Lists = {
    "tabs": TABS,
    "methods": METHODS,
    "embeddings": (*TABLES, *STATES),
    "gauges": tuple(QUANTITIES),
    "labs": tuple(LABS),
    "guesses": _list_guesses(LABS.values()),
    "lessons": (*COURSE, *ROUNDS),
    "stops": tuple(STOPS),
    "answers": _list_guesses(lesson.question for lesson in COURSE.values() if lesson.question),
    "terms": ("all", *list_terms()),
}


def read_link(runs: Runs, query: Mapping[str, str]) -> tuple[Experiment, dict[str, Refusal]]:
    """Returns a link's settings, or those of its run if it has none; and the reason for each ignored value."""
    experiment, refused = read_query(query)
    place, ignored = cursor.read_query(query, LISTS)
    ignored |= {str(refusal.values["name"]): refusal for refusal in refused}
    try:
        run = runs.get(place["run"]) if "run" in place else None
        if run and not experiment.difference() and not any(name in KNOBS and name not in ignored for name in query):
            experiment = disclosed(run)
        elif run and experiment.data.task == "own":  # a link names own sentences only by their run
            experiment = experiment.with_(own=run.experiment.data.own)
    except Refusal as refusal:
        ignored["run"] = refusal
    if "pin" in place and runs.find(place["pin"]) is None:
        ignored["pin"] = Refusal("compare.pin_missing")
    return experiment, ignored


def explain_ignored(ignored: Mapping[str, Refusal], language: str) -> str:
    """Explains the ignored values of a link; "" without any."""
    return say(language, "page.link_ignored", what=paragraph(refusal.say(language) for refusal in ignored.values())) if ignored else ""


def collect_boot_data(runs: Runs, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """Returns all that doesn't depend on a run, this visitor's first run, and the ignored parts of the link (the address's parameters)."""
    chosen = language(parameters)
    _, ignored = read_link(runs, parameters)
    words = {name.removeprefix("page."): text for name, text in entries(chosen).items() if name.startswith("page.")}
    return {
        "words": words,
        "glossary": glossary(chosen),
        "course": course.declare_lessons(chosen),
        "labs": {name: lab.say(chosen, "title") for name, lab in LABS.items()},
        "dealt_labs": labs.list_dealable(chosen),
        "knobs": CONTROLLED,
        "groups": {group: [*first, *more] for group, (first, more) in GROUPS.items()},
        "task_steps": TASK_STEPS,
        "defaults": {name: default(name) for name in KNOBS},
        "live": list(LIVE_KNOBS),
        "bounds": {name: knob_bounds(name) for name in CONTROLLED if limits(name).low is not None},
        "labels": {name: naming.label(name, chosen) for name in CONTROLLED},
        "choices": {name: {as_text(choice): shown_value(name, choice, chosen) for choice in limits(name).choices} for name in CONTROLLED},
        "colours": {name: theme.colors(False)[name] for name in ("encoder", "decoder", "cross", "right", "wrong")}
        | {f"dark-{name}": theme.colors(True)[name] for name in ("encoder", "decoder", "cross", "right", "wrong")},
        "palettes": {"light": theme.palette(False), "dark": theme.palette(True)},
        "first": runs.shipped()[0].id if runs.shipped() else "",
        "last": last_run(runs, token),
        "by": ticket_of("live", token),  # identifies the visitor of a stream, and opens nothing
        "ticket": uploading.ticket_of(token),  # opens the visitor's own uploads to Gradio's listeners
        # an interrupted run resumes by itself: its page listens for that
        "statuses": {"working": WORKING, "resumable": RESUMABLE, "over": [status for status in FINISHED if status != "interrupted"]},
        "ignored": list(ignored),
        "notice": explain_ignored(ignored, chosen),
        "zero_gpu": ON_ZERO_GPU,
        "host": list_space_hosts()[0],
        "sign_in": is_offered(),
        "forgets": "SPACE_ID" in os.environ and not {"PLAYGROUND_BACKUP", "PLAYGROUND_DATA"} & os.environ.keys(),
    }


def last_run(runs: Runs, token: str) -> str:
    """Returns the run of a returning visitor: one of theirs at work, else the last one viewed; "" without any."""
    last = max(runs.list_owned(token), key=lambda run: (run.working, run.looked_at), default=None)
    return last.id if last else ""


def list_runs(runs: Runs, token: str, chosen: str) -> dict[str, list[dict[str, str]]]:
    """Returns the runs a visitor can choose: their own, the origins of those, and those shipped with the app."""
    groups = {"mine": runs.list_owned(token), "other": naming.origins(runs, token), "shipped": runs.shipped()}
    return {name: [{"id": run.id, "title": naming.title(run, chosen, token)} for run in group] for name, group in groups.items()}


def describe_run(runs: Runs, reader: Reader, run_id: str, token: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Returns the fixed facts of a run, whether the visitor may change it, and the cursor's fields that it can't follow."""
    run, chosen = runs.get(run_id), language(parameters)
    pairs = examples(reader, run) if run.may_be_read_by(token) else []
    parent = runs.find(run.parent[0]) if run.parent else None
    before = disclosed(parent) if parent else Experiment().with_(task=run.experiment.data.task)  # which the title names
    return {
        "id": run.id,
        "title": naming.title(run, chosen, token),
        "name": run.name,
        "label": run.label_for(token),
        "settings": (disclosed(run) if run.may_be_read_by(token) else disclosed(run).with_(own="")).flat(),
        "sentences_shared": run.sentences_shared,
        "mine": runs.owns(run.id, token),
        "shipped": run.shipped,
        "examples": pairs,
        "languages": {side: detect_language([pair[at] for pair in pairs]) for at, side in enumerate(("src", "tgt"))},
        "line": naming.describe_difference(disclosed(run), before, chosen, run.edits),
        "precision": run.precision,
        "parent": describe_parent(runs, run, chosen, token),
        "unreadable": _unreadable_fields(reader, run, parameters),
        "figure": model_figure(run, chosen),
    }


def knob_bounds(name: str) -> dict[str, float]:
    """Returns a knob's numbers: from `low` to `high`, and the `step` between integers (0 where all numbers are possible)."""
    knob = limits(name)
    return {"low": knob.low, "high": knob.high, "step": knob.step if isinstance(default(name), int) else 0}


def describe_parent(runs: Runs, run: Run, chosen: str, token: str) -> dict[str, Any] | None:
    """Returns the run and step that `run` continues from; without a name once it is deleted. `until` is the last step of history taken from
    the parent: 0 in old forks, which counted from 0."""
    if run.parent is None:
        return None
    id, step = run.parent
    source = runs.find(id)
    return {"run": id, "step": step, "name": naming.name(source, chosen, token) if source else "", "until": run.first_step}


def _unreadable_fields(reader: Reader, run: Run, place: Mapping[str, str]) -> list[str]:
    """Returns the cursor's fields that `run` can't follow: a sentence with unknown tokens, a head that it lacks."""
    model, text, lost = run.experiment.model, cursor.FIELDS["text"].read(place.get("text", "")), []
    if text and not reader.can_read(run, text):
        lost.append("text")
    part = cursor.FIELDS["part"].read(place.get("part", ""), cursor.choices("part"))
    layers = model.attention_layers(part)
    layer, head = (cursor.FIELDS[name].read(place.get(name, "")) for name in ("layer", "head"))
    return [*lost, "layer", "head"] if (layer or 0) > layers or (head or 0) > model.n_heads else lost
