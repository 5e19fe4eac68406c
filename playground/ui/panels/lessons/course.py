"""The course: a list of lessons, one of them to do, or what a teacher may want to know of them."""

from __future__ import annotations

from typing import Any

from playground.config import Refusal
from playground.lessons import course
from playground.lessons.checks import registry
from playground.lessons.course import LESSONS, Lesson
from playground.lessons.labs import get
from playground.lessons.run_questions import ASKED
from playground.ui import blocks
from playground.ui.panels.lessons import checks
from playground.ui.panels.lessons.guessing import ask, locked, verdict
from playground.ui.titles import title
from playground.ui.view import View


def panel(view: View) -> dict:
    name = view.said("lesson")
    lesson = course.get(name) if name else None
    notes = view.choice("notes") == "on"
    page = _notes(view, lesson) if notes else _lesson(view, lesson) if lesson else _list(view)
    return {"step": None, "blocks": page}


def declared(language: str) -> list[dict[str, Any]]:
    """What the page's script watches for, on whatever tab somebody is: every lesson with its steps."""
    return [
        {
            "name": lesson.name,
            "title": lesson.say(language, "title"),
            "to": _to(lesson),
            "look": lesson.say(language, "look").split("\n"),
            "steps": [step | {"when": one.when} for step, one in zip(_steps(language, lesson), lesson.steps, strict=True)],
        }
        for lesson in LESSONS
    ]


def _steps(language: str, lesson: Lesson) -> list[dict[str, Any]]:
    """What there is to do, and the way to where it can be done."""
    return [
        {
            "name": step.name,
            "text": lesson.step(language, step.name),
            "to": dict(step.to),
            "knobs": step.knobs,
            "sees": step.when.get("sees") or step.brings or None,
        }
        for step in lesson.steps
    ]


def _list(view: View) -> list[dict]:
    lessons = [
        {
            "name": lesson.name,
            "title": lesson.say(view.language, "title"),
            "text": lesson.say(view.language, "goal"),
            "to": _to(lesson),
            "minutes": view.say("course.minutes", minutes=sum(lesson.minutes)),
        }
        for lesson in LESSONS
    ]
    return [
        blocks.text("about", view.say("course.about"), css="pg-about"),
        blocks.lessons("lessons", lessons),
        blocks.calibration("calibration"),
        blocks.row(
            "end",
            blocks.button("notes", "move", view.say("course.teacher"), to={"notes": "on"}),
            blocks.forget("forget"),
            css="controls",
        ),
    ]


def _to(lesson: Lesson) -> dict[str, str]:
    """Where it begins: with the run that it is about on screen."""
    return {"lesson": lesson.name} | ({"run": lesson.run} if lesson.run else {})


def _title(view: View, lesson: Lesson) -> str:
    return view.say("course.heading", number=course.number(lesson), title=lesson.say(view.language, "title"))


def _lesson(view: View, lesson: Lesson) -> list[dict]:
    following = course.after(lesson)
    ways = [blocks.button("notes", "move", view.say("course.teacher_one"), to={"notes": "on"})]
    if following:
        label = view.say("course.next", title=following.say(view.language, "title"))
        ways.insert(0, blocks.button("next", "move", label, to=_to(following)))
    return [
        blocks.button("all", "move", view.say("course.all"), to={"lesson": ""}),
        blocks.text("title", _title(view, lesson), css="pg-heading"),
        blocks.text("goal", lesson.say(view.language, "goal"), css="pg-about"),
        *_asked(view, lesson),
        blocks.steps("steps", lesson.name, view.say("course.do"), _steps(view.language, lesson)),
        blocks.points("look", view.say("page.course_look"), lesson.say(view.language, "look").split("\n")),
        blocks.text("literature", lesson.say(view.language, "literature"), css="pg-caption"),
        *_checks(view, lesson),
        blocks.row("ways", *ways, css="controls"),
    ]


def _checks(view: View, lesson: Lesson) -> list[dict]:
    """Its questions on the run on screen, which take longer than the rest."""
    if not registry.list_checks(lesson):
        return []
    told = (lesson.name, view.run.id, view.run.version, view.step, view.field("text"), view.choice("target"), view.number("toss"))
    return [blocks.later("checks", "checks", view.say("checks.wait"), f"{told} {checks.given(view.parameters)}")]


def _asked(view: View, lesson: Lesson) -> list[dict]:
    """The question of the lesson: a lab's, which is asked there, or its own about the run on screen, with a way to the run that the lesson
    is about. The tour asks on its way."""
    if lesson.asks is None:
        return [blocks.button("start", "move", view.say("course.start"), to=dict(lesson.does[0].to))]
    if lesson.question is None:
        lab = get(lesson.lab)
        minutes = view.say("lessons.minutes", minutes=lab.minutes)
        card = {"name": lab.name, "title": lab.say(view.language, "title"), "text": lab.say(view.language, "question"), "minutes": minutes}
        return [blocks.cards("ask", view.say("course.ask"), [card])]
    asking, guess, sure, answered = ask(view, lesson.say, lesson.question.guesses, ("lesson", lesson.name))
    said = _answer(view, lesson, guess, sure) if answered else []
    return [
        blocks.text("ask", view.say("course.ask"), css="pg-heading"),
        *_open(view, lesson.run),
        blocks.text("question", lesson.say(view.language, "question"), css="pg-course-text"),
        *(locked(asking) if len(said) > 1 else asking),
        *said,
    ]


def _open(view: View, run: str) -> list[dict]:
    """The way to the run that a lesson is about, while another one is on screen."""
    if run in ("", view.run.id):
        return []
    name = title(view.runs.get(run), view.language, view.token)
    return [blocks.button("run", "move", view.say("course.open_run", name=name), to={"run": run})]


def _answer(view: View, lesson: Lesson, guess: str, sure: str) -> list[dict]:
    """What the run on screen says to it."""
    try:
        answer, numbers = lesson.question.answer(view.reader, view.run, view.step, view.text)
    except Refusal as refusal:  # the rest of the lesson is there all the same
        return [blocks.text("verdict", refusal.say(view.language), css="pg-cell")]
    pairs, every = (numbers.get(name, 0) for name in ASKED)
    sample = view.say("course.sample", pairs=pairs, all=every) if pairs < every else ""
    return verdict(view, lesson.say, lesson.kept_as, answer, numbers, guess, sure, sample)


def _notes(view: View, chosen: Lesson | None) -> list[dict]:
    """For teachers: one lesson, or all."""
    found = [blocks.button("student", "move", view.say("course.student"), to={"notes": ""})]
    if not chosen:
        minutes = sum(sum(lesson.minutes) for lesson in LESSONS)
        found.append(blocks.text("about", view.say("course.teacher_about", minutes=minutes), css="pg-about"))
        found.append(blocks.button("mystery", "move", view.say("course.mystery"), to={"tab": "labs", "lab": "mystery", "notes": ""}))
    for lesson in (chosen,) if chosen else LESSONS:
        showing, working, talking = lesson.minutes
        rows = [
            (view.say("course.show", minutes=showing), lesson.say(view.language, "show")),
            (view.say("course.work", minutes=working), lesson.say(view.language, "goal")),
            (view.say("course.wrong"), lesson.say(view.language, "wrong")),
            (view.say("course.talk", minutes=talking), lesson.say(view.language, "ask")),
        ]
        found.append(blocks.notes(lesson.name, _title(view, lesson), rows, view.say("course.open")))
        found += [blocks.answers(f"answers-{lesson.name}", lesson.name)]
    return found
