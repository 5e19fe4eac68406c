"""Labs: a question, a guess with its confidence, then the experiment, its numbers, and the verdict on the guess.

Each starting lab has a thumbnail, its result as a few lines; `python -m playground.features.lessons.labs` updates them. The axes have
labels, the lines don't: before guessing, a student sees that they differ, not which is which.
"""

import json
from functools import cache
from typing import Any, NamedTuple, TypedDict
from urllib.parse import parse_qsl, urlencode

import numpy as np

from playground.cursor import FIELDS
from playground.features import lessons as kinds
from playground.features.shared import blocks, experiment, panels
from playground.features.shared.labs import build_aside, build_question, build_results, build_verdict, lock_choices, say_label
from playground.features.shared.view import View
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.course import LESSONS, list_labs
from playground.lessons.lab import Lab, Lines, Outcome, Value
from playground.lessons.labs import FOLDERS, LABS, START, get
from playground.rooms.experiment import MIN_RUNS

FILE = "thumbnails.json"
POINTS = 26  # maximum per line


class Drawing(TypedDict):
    exhibit: str  # name of the lab's exhibit; its label is `card_<exhibit>`
    lines: list[list[float]]  # each from left to right; 0 is the lower edge and 1 the upper


def draw_thumbnail(lab: Lab) -> Drawing:
    """Draws the first line plot of a lab's result. Trains, if it is an experiment."""
    exhibit = next(exhibit for exhibit in lab.outcome(1).exhibits if isinstance(exhibit, Lines))
    lines = [np.asarray(line, dtype=np.float64) for line in exhibit.lines.values()]
    top = 100.0 if exhibit.percent else max(float(line.max()) for line in lines)
    chosen = np.unique(np.linspace(0, len(exhibit.x) - 1, min(len(exhibit.x), POINTS)).round().astype(int))
    return {"exhibit": exhibit.name, "lines": [np.round(line[chosen] / top, 3).tolist() for line in lines]}


@cache
def load_thumbnail(name: str) -> Drawing:
    """Loads the saved thumbnail of a lab."""
    return json.loads((FOLDERS[name] / FILE).read_text(encoding="utf-8"))[name]


@panels.declare("labs", "lessons", 2)
def panel(view: View) -> dict:
    name = view.read_raw("lab")
    if not name:
        return {"step": None, "blocks": _build_list(view)}
    lab = get(name)
    return {"step": None, "of": lab.say(view.language, "title"), **_build_page(view, lab)}


def list_dealable(language: str) -> dict[str, dict[str, Any]]:
    """Returns the labs whose arms a teacher can deal to a class: the arms' names, the default ones, the minutes, and the
    students that a verdict needs."""

    def describe(lab: ControlledExperiment) -> dict[str, Any]:
        names = {arm: lab.say(language, f"name_{arm}") for arm in lab.arms}
        first, needed = [names[arm] for arm in lab.decisive], MIN_RUNS * len(names)
        return {"arms": [*names.values()], "first": first, "minutes": lab.minutes, "needed": needed}

    return {lab.name: describe(lab) for lab in LABS.values() if _is_dealt(lab)}


def _is_dealt(lab: Lab) -> bool:
    return isinstance(lab, ControlledExperiment) and not lab.is_mystery


def _build_list(view: View) -> list[dict]:
    groups = [(lesson, [name for name in list_labs(lesson) if name not in START]) for lesson in LESSONS]
    return [
        blocks.text("about", view.say("lessons.about"), css="pg-about"),
        blocks.calibration("calibration"),
        build_cards(view, "start", [*START], view.say("lessons.start")),
        *(build_cards(view, lesson.name, names, lesson.say(view.language, "title")) for lesson, names in groups if names),
        blocks.button("glossary", "move", view.say("page.glossary"), to={"glossary": "all"}),
    ]


def build_cards(view: View, id: str, names: list[str], title: str = "") -> dict:
    """Builds a list of labs; the starting ones have thumbnails."""
    cards = [
        {
            "name": name,
            "title": LABS[name].say(view.language, "title"),
            "text": LABS[name].say(view.language, "short"),
            "minutes": view.say("lessons.minutes", minutes=LABS[name].minutes),
            **(_build_thumbnail(view, LABS[name]) if id == "start" else {}),
        }
        for name in names
    ]
    return kinds.cards(id, title, cards)


def _build_thumbnail(view: View, lab: Lab) -> dict:
    """Returns the small picture of a lab's card: the curves of its result, and the label of its axes."""
    drawing = load_thumbnail(lab.name)
    return {"thumbnail": drawing["lines"], "axes": lab.say(view.language, f"card_{drawing['exhibit']}")}


def _build_page(view: View, lab: Lab) -> dict:
    """Returns {"blocks"}, and with "more" the "pause" in milliseconds until the next poll."""
    fixed_guess = experiment.find_guess(view, lab) if isinstance(lab, ControlledExperiment) else {}
    view.parameters = {**view.parameters, **fixed_guess}
    question, guess, sure, answered = build_question(view, lab.say, lab.guesses, ("lab", lab.name))
    head = [
        blocks.button("all", "move", view.say("lessons.all"), to={"lab": ""}),
        blocks.text("title", lab.say(view.language, "title"), css="pg-heading"),
        blocks.text("question", lab.say(view.language, "question"), css="pg-about"),
    ]
    question = question + _build_deal_button(view, lab)
    is_controlled = isinstance(lab, ControlledExperiment)
    if not (answered or (is_controlled and lab.is_mystery)):
        return {"blocks": head + question + _build_first(view, lab)}
    if not is_controlled:
        return {"blocks": head + lock_choices(question) + _build_result(view, lab, guess, sure) + _build_ending(view, lab)}
    state = experiment.build_experiment(view, lab)
    guess_verdict = experiment.build_verdict(view, lab, state.outcome, guess, sure) if answered and state.outcome else []
    question = lock_choices(question) if guess_verdict else lock_choices(question, view) if fixed_guess else question
    ending = _build_ending(view, lab) if guess_verdict else []
    if lab.is_mystery:  # the guess comes after the exhibits
        page = state.blocks + state.aside + state.progress + state.remaining + (question if state.outcome else []) + guess_verdict
    else:  # the verdict comes where the progress was, and moves no exhibit
        end = len(question) - (question[-1]["id"] == "fixed")  # what says that the guess is fixed comes after the exhibits
        page = question[:end] + state.blocks + state.aside + question[end:] + state.progress + guess_verdict + state.remaining
    return {"blocks": head + page + ending, **({"more": True, "pause": experiment.ARMS_POLL_MS} if state.is_training else {})}


def _build_deal_button(view: View, lab: Lab) -> list[dict]:
    """Builds the button that deals the lab to a class; only its teacher sees it (see static/room.css)."""
    if not _is_dealt(lab):
        return []
    return [blocks.button("deal", "room", view.say("board.deal_lab"), command="deal_lab", values={"lab": lab.name, "order": "together"})]


def _build_ending(view: View, lab: Lab) -> list[dict]:
    """Builds the code that ran, and the next labs."""
    return [
        *(blocks.code(f"code-{number}", function) for number, function in enumerate(lab.code)),
        *([build_cards(view, "next", list(lab.next), view.say("lessons.next"))] if lab.next else []),
    ]


def _build_first(view: View, lab: Lab) -> list[dict]:
    """Builds what stands beside the question before the guess, with a caption: what all arms share, or what the curves are of."""
    if isinstance(lab, ControlledExperiment):
        exhibit, caption = lab.axes(), lab.say(view.language, "setup", settings=lab.name_settings(view.language))
    else:
        exhibits = _find_outcome(view, lab).outcome.exhibits
        exhibit, caption = next(exhibit for exhibit in exhibits if exhibit.name in lab.aside), lab.say(view.language, "about")
    return build_aside(view, lab, exhibit, view.say("lessons.guess"), caption)


class WorkedExample(NamedTuple):
    outcome: Outcome
    toss: int  # its seed
    settings: dict[str, Value]
    is_first: bool  # seed and settings


def _find_outcome(view: View, lab: Lab) -> WorkedExample:
    toss, chosen = view.number("toss"), dict(parse_qsl(view.field("set")))
    settings = lab.settings(chosen)
    key = ("lab", lab.name, toss, *settings.items())
    outcome = view.open_reader.remember(view.run, key, lambda: lab.outcome(toss, **settings))
    return WorkedExample(outcome, toss, settings, is_first=toss == 1 and not chosen)


def _build_result(view: View, lab: Lab, guess: str, sure: str) -> list[dict]:
    outcome, toss, settings, is_first = _find_outcome(view, lab)
    aside, remaining = build_results(view, lab, outcome.exhibits)
    return [
        *build_verdict(view, lab.say, lab.name, outcome.answer, outcome.numbers, guess, sure if is_first else ""),
        blocks.text("about", lab.say(view.language, "about"), css="pg-caption"),
        blocks.row("controls", *_build_controls(view, lab, settings, toss), css="controls"),
        *aside,
        *remaining,
    ]


def _build_controls(view: View, lab: Lab, settings: dict[str, Value], toss: int) -> list[dict]:
    controls = []
    for control in lab.controls:
        options = [
            {
                "value": urlencode(settings | {control.name: value}),
                "label": say_label(view, lab, str(value), f"{value:g}" if isinstance(value, float) else ""),
            }
            for value in control.choices
        ]
        controls.append(blocks.choice(control.name, "set", lab.say(view.language, f"control_{control.name}"), options, urlencode(settings)))
    if not lab.is_drawn:
        return controls
    return [*controls, blocks.button("toss", "move", view.say("lessons.toss"), to={"toss": toss % FIELDS["toss"].high + 1})]


if __name__ == "__main__":
    for folder in {FOLDERS[name] for name in START}:
        drawings = {name: draw_thumbnail(LABS[name]) for name in START if FOLDERS[name] == folder}
        (folder / FILE).write_text(json.dumps(drawings) + "\n", encoding="utf-8")
