"""What a lesson asks at its end: questions on the run on screen, graded as soon as they are answered; and, for teachers, all answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from playground.config import Refusal
from playground.cursor import FIELDS
from playground.figures import guesses, masks
from playground.figures.tokens import Name
from playground.lessons import course
from playground.lessons.checks import registry
from playground.lessons.checks.posed import Check, CheckContext, Option, Posed
from playground.lessons.course import Lesson
from playground.rooms import answers
from playground.rooms.question import LEAST
from playground.ui import blocks
from playground.ui.titles import variant_name
from playground.ui.view import View

CLASS_WORDS = {"guess": "class_choice", "guesses": "class_answers", "hover_guess": "class_hover"}  # a picture's words -> checks.<word>
PICTURE = 300  # px: a mask to be recognised
GIVEN = re.compile(r"([a-z_]{1,40})~([0-9a-f]{10})~(\d)", re.ASCII)  # a question, the hash of what was asked, the number of the choice


def panel(view: View) -> dict:
    """The questions of a lesson. What was answered comes with the request, from the browser that keeps it, and stands in no address."""
    if not (name := view.said("lesson")):
        return {"step": None, "blocks": []}
    lesson = course.get(name)
    if view.run.working and view.step is None:
        return {"step": None, "blocks": [_heading(view), blocks.text("wait", view.say("checks.while_training"), css="pg-caption")]}
    draw, answers, asked = view.number("toss"), given(view.parameters), []
    for check in registry.list_checks(lesson):
        if check in registry.list_repeated(lesson):
            earlier = course.LESSONS[course.number(lesson) - registry.LATER].say(view.language, "title")
            asked.append(blocks.text("again", view.say("checks.again", title=earlier), css="pg-caption"))
        asked += _question(view, lesson, check, draw, answers)
    more = blocks.button("draw", "move", view.say("checks.draw"), to={"toss": draw % FIELDS["toss"].high + 1})
    about = blocks.text("about", view.say("checks.about"), css="pg-caption")
    return {"step": None, "blocks": [_heading(view), about, *asked, blocks.row("more", more, css="controls")]}


def given(parameters: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """{question: (the hash of what was asked, the number of the choice)} that a browser keeps of the lesson on screen."""
    return {name: (asked, int(choice)) for name, asked, choice in GIVEN.findall(parameters.get("checked", "")[:1000])}


def model_answers(view: View, given: answers.Activity | None) -> list[dict]:
    """Of one lesson: what could be said to what teachers ask, and every question with its key, for the run, step and sentence on screen;
    and what of it was `given` by a room's members."""
    lesson, told = course.get(view.said("lesson")), []
    rows = [(lesson.say(view.language, "ask"), lesson.say(view.language, "answer"))]
    for check in registry.list_checks(lesson):
        try:
            posed = _posed(view, check, view.number("toss"))
            rows.append((_text(view, check, posed), _why(view, check, posed)))
            told += _class(view, check, posed, answers.tally(given, lesson.name, check.name, _hash(posed)))
        except Refusal as refusal:
            rows.append((check.name, refusal.say(view.language)))
    return [blocks.notes(lesson.name, view.say("checks.model_answers"), rows, view.say("course.open")), *told]


def _class(view: View, check: Check, posed: Posed, tally: answers.Tally) -> list[dict]:
    """How the class answered a question: how much of it is right, and how often each choice was made by those who were asked the same."""
    if not tally.count:
        return []
    values = {"right": tally.right, "count": tally.count, "least": LEAST, "same": sum(tally.choices.values())}
    said = f"{_text(view, check, posed)} {view.say('checks.class_right', **values)}"
    if not tally.choices:
        return [blocks.text(f"class-{check.name}", f"{said} {view.say('checks.class_others', **values)}", css="pg-caption")]
    counts = [[tally.choices.get(at, 0)] for at in range(len(posed.options))]
    names = [one.text(view.language) for one in posed.options]
    titles = {figure: view.say(f"checks.{word}") for figure, word in CLASS_WORDS.items()}
    drawn = view.draw(guesses.histogram, names, counts, [""], right=posed.key, labels=view.labels | titles)
    caption = f"{said} {view.say('checks.class_same', **values)}"
    return [blocks.figure(f"class-{check.name}", drawn, caption, view.say("checks.class_title"))]


def _heading(view: View) -> dict:
    return blocks.text("title", view.say("checks.title"), css="pg-heading")


def _posed(view: View, check: Check, draw: int) -> Posed:
    if check.by_formula and (variant := variant_name(view.run, view.language)):
        raise Refusal("page.has_variant", variant=variant)
    return registry.pose(check, CheckContext(view.reader, view.run, view.step, view.text, view.reference), draw)


def _question(view: View, lesson: Lesson, check: Check, draw: int, answers: Mapping[str, tuple[str, int]]) -> list[dict]:
    """A question, under its picture where it has one; instead, why it can't be asked of this run."""
    try:
        posed = _posed(view, check, draw)
    except Refusal as refusal:
        return [blocks.text(f"refused-{check.name}", refusal.say(view.language), css="pg-caption")]
    options: list[blocks.Value] = [{"value": str(at), "label": one.text(view.language)} for at, one in enumerate(posed.options)]
    asked = _hash(posed)
    of, choice = answers.get(check.name, ("", 0))
    told = {}
    if of == asked and choice < len(options):
        way: blocks.Way = {"label": view.say("checks.show"), "to": dict(posed.to)}
        told = {"value": str(choice), "right": str(posed.key), "why": _why(view, check, posed), "way": way}
    question = blocks.check(check.name, lesson.name, asked, _text(view, check, posed), options, **told)
    return [*_picture(view, check, posed), question]


def _hash(posed: Posed) -> str:
    """The same for all who are asked the same with the same choices."""
    return sha256(repr((posed.options, sorted(posed.values.items()))).encode()).hexdigest()[:10]


def _text(view: View, check: Check, posed: Posed) -> str:
    return view.say(f"checks.{check.name}", **_said(view, posed))


def _why(view: View, check: Check, posed: Posed) -> str:
    return view.say(f"checks.{check.name}_why", answer=posed.answer.text(view.language), **_said(view, posed))


def _said(view: View, posed: Posed) -> dict:
    return {name: value.text(view.language) if isinstance(value, Option) else value for name, value in posed.values.items()}


def _picture(view: View, check: Check, posed: Posed) -> list[dict]:
    """A mask without anything that gives it away: its places are numbers, its hatching is one."""
    if posed.picture is None:
        return []
    rows, columns = ([Name(str(at + 1)) for at in range(size)] for size in posed.picture.shape)
    titles = {"rows_encoder": view.say("checks.query"), "columns_encoder": view.say("checks.column")}
    drawn = view.draw(masks.grid, posed.picture, rows, columns, width=min(PICTURE, view.width), labels=view.labels | titles)
    return [blocks.figure(f"picture-{check.name}", drawn, view.say("checks.picture"), css="small")]
