"""Labs: a question, a guess and how sure one is of it, then the experiment, its numbers, and what they say to the guess."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

from playground.cursor import FIELDS
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.lab import Lab, Value
from playground.lessons.labs import KINDS, LABS, START, get
from playground.lessons.thumbnails import load_thumbnails
from playground.ui import blocks
from playground.ui.panels.lessons import experiment
from playground.ui.panels.lessons.exhibits import exhibits, label
from playground.ui.panels.lessons.guessing import ask, locked, verdict
from playground.ui.view import View


def panel(view: View) -> dict:
    name = view.said("lab")
    if not name:
        return {"step": None, "blocks": _list(view)}
    lab = get(name)
    return {"step": None, "of": lab.say(view.language, "title"), **_page(view, lab)}


def titles(language: str) -> dict[str, str]:
    """What every lab is called, for the page's script."""
    return {name: lab.say(language, "title") for name, lab in LABS.items()}


def dealt(language: str) -> dict[str, dict[str, Any]]:
    """The labs whose arms can be dealt out to a class: what the arms are called, which are dealt first, and how many minutes it takes."""

    def plan(lab: ControlledExperiment) -> dict[str, Any]:
        named = {arm: lab.say(language, f"name_{arm}") for arm in lab.arms}
        return {"arms": [*named.values()], "first": [named[arm] for arm in lab.decisive], "minutes": lab.minutes}

    return {lab.name: plan(lab) for lab in LABS.values() if _is_dealt(lab)}


def _is_dealt(lab: Lab) -> bool:
    return isinstance(lab, ControlledExperiment) and not lab.is_mystery


def _list(view: View) -> list[dict]:
    groups = {"start": list(START), **{f"kind_{kind}": [] for kind in (*KINDS, "mystery")}}
    for name, lab in LABS.items():
        if name not in START:
            mystery = isinstance(lab, ControlledExperiment) and lab.is_mystery
            groups["kind_mystery" if mystery else f"kind_{lab.kind}"].append(name)
    return [
        blocks.text("about", view.say("lessons.about"), css="pg-about"),
        blocks.calibration("calibration"),
        *(_cards(view, group, names, view.say(f"lessons.{group}")) for group, names in groups.items()),
        blocks.button("glossary", "move", view.say("page.glossary"), to={"glossary": "all"}),
    ]


def _cards(view: View, id: str, names: list[str], title: str = "") -> dict:
    """Labs to choose from, a line each; those to start with have pictures."""
    said = [
        {
            "name": name,
            "title": LABS[name].say(view.language, "title"),
            "text": LABS[name].say(view.language, "short"),
            "minutes": view.say("lessons.minutes", minutes=LABS[name].minutes),
            **(_thumbnail(view, LABS[name]) if id == "start" else {}),
        }
        for name in names
    ]
    return blocks.cards(id, title, said)


def _thumbnail(view: View, lab: Lab) -> dict:
    """The lines of its result, and what they are drawn against."""
    drawing = load_thumbnails()[lab.name]
    return {"thumbnail": drawing["lines"], "axes": lab.say(view.language, f"card_{drawing['exhibit']}")}


def _page(view: View, lab: Lab) -> dict:
    """{"blocks"}, and whether there will be "more" after a "pause" in milliseconds."""
    asking, guess, sure, answered = ask(view, lab.say, lab.guesses, ("lab", lab.name))
    head = [
        blocks.button("all", "move", view.say("lessons.all"), to={"lab": ""}),
        blocks.text("title", lab.say(view.language, "title"), css="pg-heading"),
        blocks.text("question", lab.say(view.language, "question"), css="pg-about"),
        *_deal(view, lab),
    ]
    if not isinstance(lab, ControlledExperiment):
        if not answered:
            return {"blocks": head + asking}
        return {"blocks": head + locked(asking) + _result(view, lab, guess, sure) + _ending(view, lab)}
    if not (answered or lab.is_mystery):
        return {"blocks": head + asking}
    shown = experiment.show(view, lab)
    said = experiment.verdict(view, lab, shown.outcome, guess, sure) if answered and shown.outcome else []
    asking, ending = (locked(asking), _ending(view, lab)) if said else (asking, [])
    # who is to find something out looks first and guesses then
    page = shown.blocks + (asking if shown.visible else []) + said if lab.is_mystery else asking + said + shown.blocks
    return {"blocks": head + page + ending, **({"more": True, "pause": experiment.POLL_MS} if shown.works else {})}


def _deal(view: View, lab: Lab) -> list[dict]:
    """The way to an experiment of a whole class, which only its teacher sees (see static/experiment.css)."""
    if not _is_dealt(lab):
        return []
    return [blocks.button("deal", "room", view.say("board.deal_lab"), command="deal_lab", values={"lab": lab.name, "order": "together"})]


def _ending(view: View, lab: Lab) -> list[dict]:
    """The code that ran, and where to go on."""
    return [
        *(blocks.code(f"code-{number}", thing) for number, thing in enumerate(lab.code)),
        *([_cards(view, "next", list(lab.next), view.say("lessons.next"))] if lab.next else []),
    ]


def _result(view: View, lab: Lab, guess: str, sure: str) -> list[dict]:
    asked = dict(parse_qsl(view.field("set")))
    toss = view.number("toss")
    settings = lab.settings(asked)
    outcome = view.open_reader.remember(view.run, ("lab", lab.name, toss, *settings.items()), lambda: lab.outcome(toss, **settings))
    return [
        *verdict(view, lab.say, lab.name, outcome.answer, outcome.numbers, guess, sure if toss == 1 and not asked else ""),
        blocks.text("about", lab.say(view.language, "about"), css="pg-caption"),
        blocks.row("controls", *_controls(view, lab, settings, toss), css="controls"),
        blocks.row("exhibits", *exhibits(view, lab, outcome.exhibits), css="grids"),
    ]


def _controls(view: View, lab: Lab, settings: dict[str, Value], toss: int) -> list[dict]:
    found = []
    for control in lab.controls:
        options = [
            {
                "value": urlencode(settings | {control.name: value}),
                "label": label(view, lab, str(value), f"{value:g}" if isinstance(value, float) else ""),
            }
            for value in control.choices
        ]
        found.append(blocks.choice(control.name, "set", lab.say(view.language, f"control_{control.name}"), options, urlencode(settings)))
    return [*found, blocks.button("toss", "move", view.say("lessons.toss"), to={"toss": toss % FIELDS["toss"].high + 1})]
