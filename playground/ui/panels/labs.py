"""Labs: a question, a guess and how sure one is of it, then the experiment, its numbers, and what they say to the guess."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from playground.figures import graph, tensor
from playground.figures.tokens import Name
from playground.lessons.lab import Grid, Lab, Lines, Outcome, Table, Value
from playground.lessons.labs import LABS, get
from playground.ui import blocks
from playground.ui.view import View
from playground.words import known

SURE = ("50", "75", "95")  # percent
UNKNOWN = "none"  # the guess of somebody who doesn't know
TOSSES = 10**6


def panel(view: View) -> dict:
    name = view.parameters.get("lab", "")
    return {"step": None, "uses": ["lab", "guess", "sure", "set", "toss"], "blocks": _page(view, get(name)) if name else _list(view)}


def _list(view: View) -> list[dict]:
    return [
        blocks.text("about", view.say("lessons.about"), css="pg-about"),
        {"kind": "calibration", "id": "calibration"},
        _cards(view, "labs", list(LABS)),
    ]


def _cards(view: View, id: str, names: list[str], title: str = "") -> dict:
    """Labs to choose from."""
    said = [
        {"name": name, "title": LABS[name].say(view.language, "title"), "text": LABS[name].say(view.language, "question")} for name in names
    ]
    return {"kind": "cards", "id": id, "title": title, "cards": said}


def _page(view: View, lab: Lab) -> list[dict]:
    guess = view.choice("guess", ("", UNKNOWN, *lab.guesses))
    sure = view.choice("sure", ("", *SURE))
    options = [{"value": value, "label": lab.say(view.language, f"guess_{value}")} for value in lab.guesses]
    page = [
        blocks.button("all", "move", view.say("lessons.all"), to={"lab": ""}),
        blocks.text("title", lab.say(view.language, "title"), css="pg-heading"),
        blocks.text("question", lab.say(view.language, "question"), css="pg-about"),
        blocks.choice("guess", "guess", view.say("lessons.guess"), options, guess),
    ]
    if guess == UNKNOWN or (guess and sure):
        return page + _result(view, lab, guess, sure)
    if guess:
        shares = [{"value": value, "label": view.say("lessons.percent", percent=value)} for value in SURE]
        return [*page, blocks.choice("sure", "sure", view.say("lessons.sure"), shares, sure)]
    return [*page, blocks.button("unknown", "move", view.say("lessons.unknown"), to={"guess": UNKNOWN})]


def _result(view: View, lab: Lab, guess: str, sure: str) -> list[dict]:
    asked = dict(parse_qsl(view.parameters.get("set", "")))
    toss = view.whole("toss", 1, 1, TOSSES)
    settings = lab.settings(asked)
    outcome = lab.outcome(toss, **settings)
    right = guess == outcome.answer
    said = [view.say("lessons.right" if right else "lessons.wrong", answer=lab.say(view.language, f"guess_{outcome.answer}"))]
    verdict = [*(said if guess != UNKNOWN else []), lab.say(view.language, f"why_{outcome.answer}", **outcome.numbers)]
    first = guess != UNKNOWN and toss == 1 and not asked  # what was guessed before anything was tried counts
    return [
        blocks.text("verdict", " ".join(verdict), css="pg-cell"),
        *([{"kind": "record", "id": "record", "lab": lab.name, "sure": int(sure), "right": right}] if first else []),
        blocks.text("about", lab.say(view.language, "about"), css="pg-caption"),
        blocks.row("controls", *_controls(view, lab, settings, toss), css="controls"),
        blocks.row("exhibits", *_exhibits(view, lab, outcome), css="grids"),
        *(blocks.code(f"code-{number}", thing) for number, thing in enumerate(lab.code)),
        *([_cards(view, "next", list(lab.next), view.say("lessons.next"))] if lab.next else []),
    ]


def _controls(view: View, lab: Lab, settings: dict[str, Value], toss: int) -> list[dict]:
    found = []
    for control in lab.controls:
        options = [
            {
                "value": urlencode(settings | {control.name: value}),
                "label": _label(view, lab, str(value), f"{value:g}" if isinstance(value, float) else ""),
            }
            for value in control.choices
        ]
        found.append(blocks.choice(control.name, "set", lab.say(view.language, f"control_{control.name}"), options, urlencode(settings)))
    return [*found, blocks.button("toss", "move", view.say("lessons.toss"), to={"toss": toss % TOSSES + 1})]


def _exhibits(view: View, lab: Lab, outcome: Outcome) -> list[dict]:
    width = view.width if view.width < 700 else view.width // 2 - 26
    return [_exhibit(view, lab, exhibit, width) for exhibit in outcome.exhibits]


def _exhibit(view: View, lab: Lab, exhibit: Grid | Lines | Table, width: int) -> dict:
    title = lab.say(view.language, f"show_{exhibit.name}")
    caption = lab.say(view.language, f"caption_{exhibit.name}", **exhibit.said)
    if isinstance(exhibit, Table):
        rows = [[_label(view, lab, cell) for cell in row] for row in exhibit.rows]
        table = blocks.table(f"{exhibit.name}-table", [_label(view, lab, name) for name in exhibit.columns], rows, title)
        return blocks.column(exhibit.name, table, blocks.text(f"{exhibit.name}-caption", caption, css="pg-caption"))
    if isinstance(exhibit, Grid) and not tensor.readable(len(exhibit.rows), len(exhibit.columns), width, exhibit.digits):
        return blocks.figure(exhibit.name, _picture(view, lab, exhibit, view.width), caption, title, css="wide")
    return blocks.figure(exhibit.name, _picture(view, lab, exhibit, width), caption, title)


def _picture(view: View, lab: Lab, exhibit: Grid | Lines, width: int) -> dict:
    if isinstance(exhibit, Lines):
        named = {_label(view, lab, name): line for name, line in exhibit.lines.items()}
        axis = lab.say(view.language, f"axis_{exhibit.name}")
        return graph.lines(exhibit.x, named, title=axis, log_x=exhibit.log_x, log_y=exhibit.log_y, dark=view.dark)
    rows, columns = ([Name(_label(view, lab, name)) for name in names] for names in (exhibit.rows, exhibit.columns))
    return tensor.heatmap(
        exhibit.values, rows, columns, kind=exhibit.hue, scale=exhibit.scale, mask=exhibit.mask, digits=exhibit.digits, width=width,
        dark=view.dark, labels=view.labels,
    )  # fmt: skip


def _label(view: View, lab: Lab, name: str, otherwise: str = "") -> str:
    """What a label is called in this language; labels that are no words stay as they are."""
    return lab.say(view.language, f"name_{name}") if known(view.language, f"{lab.area}.name_{name}") else otherwise or name
