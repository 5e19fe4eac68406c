"""The course: the list of lessons, a lesson to do, or the teacher's notes."""

from typing import Any

from playground.config import Refusal
from playground.features import lessons as kinds
from playground.features.lessons import checks
from playground.features.lessons.labs import build_cards
from playground.features.shared import blocks, panels
from playground.features.shared.labs import UNKNOWN, build_question, build_verdict, lock_choices
from playground.features.shared.naming import title
from playground.features.shared.view import View
from playground.lessons import course
from playground.lessons.checks import AFTER, BEFORE, BELIEFS, ROUNDS, list_checks
from playground.lessons.course import LESSONS, PATHS, Lesson
from playground.lessons.labs import get
from playground.lessons.lesson import ASKED, Step


@panels.declare("course", "lessons", 1)
def panel(view: View) -> dict:
    name = view.read_raw("lesson")
    if name in ROUNDS:
        return {"step": None, "blocks": _build_round(view, name)}
    lesson = course.get(name) if name else None
    notes = view.choice("notes") == "on"
    page = _build_notes(view, lesson) if notes else _build_lesson(view, lesson) if lesson else _build_list(view)
    return {"step": None, "blocks": page}


def declare_lessons(language: str) -> list[dict[str, Any]]:
    """Lists every lesson with its steps, for the page's script, which watches for their completion on any tab."""
    return [
        {
            "name": lesson.name,
            "title": lesson.say(language, "title"),
            "to": _link_lesson(lesson),
            "look": lesson.say(language, "look").split("\n"),
            "steps": [step | {"when": task.when} for step, task in zip(_list_steps(language, lesson), lesson.steps, strict=True)],
        }
        for lesson in LESSONS
    ]


def _list_steps(language: str, lesson: Lesson) -> list[dict[str, Any]]:
    """Lists the tasks of a lesson, each with a link to the place where it is done."""
    return [
        {
            "name": step.name,
            "text": lesson.step(language, step.name),
            "to": dict(step.to),
            "knobs": step.knobs,
            "sees": step.when.get("sees") or step.brings or _find_control(step),
        }
        for step in lesson.steps
    ]


def _find_control(step: Step) -> str | None:
    """Returns the selector of the control whose different values a step asks for, once all above it has its height."""
    *_, name = ("", *step.when.get("different", ((), 0))[0])
    panel = f"#pg-panel-{step.to.get('tab')}[aria-busy='false']:not(:has([aria-busy='true']))"
    return f"{panel} :is([data-block$=' {name}'], [data-block='{name}s {name}s'])" if name and step.to else None


def _build_list(view: View) -> list[dict]:
    lessons = [
        {
            "name": lesson.name,
            "title": lesson.say(view.language, "title"),
            "text": lesson.say(view.language, "goal"),
            "to": _link_lesson(lesson),
            "minutes": view.say("course.minutes", minutes=sum(lesson.minutes)),
            "number": course.number(lesson),
        }
        for lesson in LESSONS
        if lesson.name in PATHS[view.choice("path")]
    ]
    notes = blocks.button("notes", "move", view.say("course.teacher"), to={"notes": "on"})
    return [
        blocks.text("about", view.say("course.about", lessons=course.number(LESSONS[-1])), css="pg-caption"),
        blocks.row("start", view.offer("path", "path", "course.path"), _build_round_button(view, BEFORE), notes, css="controls"),
        kinds.lessons("lessons", lessons),
        blocks.row("after", _build_round_button(view, AFTER), css="controls"),
        blocks.calibration("calibration"),
        blocks.row("end", kinds.forget("forget"), css="controls"),
        kinds.handin("handin", view.say("course.handin"), view.say("course.handin_about")),
    ]


def _build_round_button(view: View, name: str) -> dict:
    """Builds the button to a round; once all its questions are answered it tells the result and leads there."""
    right, answered = dict(zip(ROUNDS, checks.read_result(view.parameters)[2], strict=True))[name]
    is_over = answered == len(BELIEFS)
    label = view.say("checks.own_result" if is_over else f"checks.{name}", count=len(BELIEFS), right=right)
    return blocks.button(name, "move", label, to={"lesson": name, "toss": "", "result": "on" if is_over else ""})


def _build_round(view: View, name: str) -> list[dict]:
    """Builds the questions about common beliefs, before or after the course."""
    answers = checks.read_answers(view.parameters)
    about = "checks.round_about" if checks.is_graded(view, name, answers) else "checks.before_about"
    return [
        blocks.button("all", "move", view.say("course.all"), to={"lesson": "", "toss": ""}),
        blocks.text("title", view.say(f"checks.{name}", count=len(BELIEFS)), css="pg-heading"),
        blocks.text("goal", view.say(about), css="pg-about"),
        blocks.later("checks", "checks", view.say("checks.wait"), f"{name} {view.number('toss')} {view.choice('result')} {answers}"),
    ]


def _link_lesson(lesson: Lesson) -> dict[str, str]:
    """Returns the link to a lesson, with its run on screen."""
    return {"lesson": lesson.name} | ({"run": lesson.run} if lesson.run else {})


def _write_title(view: View, lesson: Lesson) -> str:
    return view.say("course.heading", number=course.number(lesson), title=lesson.say(view.language, "title"))


def _build_lesson(view: View, lesson: Lesson) -> list[dict]:
    following = course.after(lesson)
    label, to = view.say(f"checks.{AFTER}", count=len(BELIEFS)), {"lesson": AFTER, "toss": ""}
    if following:
        label, to = view.say("course.next", title=following.say(view.language, "title")), _link_lesson(following)
    notes = blocks.button("notes", "move", view.say("course.teacher_one"), to={"notes": "on"})
    return [
        blocks.button("all", "move", view.say("course.all"), to={"lesson": ""}),
        blocks.text("title", _write_title(view, lesson), css="pg-heading"),
        blocks.text("goal", lesson.say(view.language, "goal"), css="pg-about"),
        *_build_run(view, lesson.run),
        *_build_question(view, lesson),
        *_build_picture(view, lesson),  # below, where it comes after the guess: nothing moves the answer
        kinds.steps("steps", lesson.name, view.say("course.do"), _list_steps(view.language, lesson)),
        kinds.points("look", view.say("page.course_look"), lesson.say(view.language, "look").split("\n")),
        blocks.text("literature", view.say("course.literature", terms=lesson.say(view.language, "literature")), css="pg-caption"),
        *_build_deal(view, lesson),
        *_build_labs(view, lesson),
        *_build_checks(view, lesson),
        blocks.row("ways", blocks.button("next", "move", label, to=to), notes, css="controls"),
    ]


def _build_picture(view: View, lesson: Lesson) -> list[dict]:
    """Builds the live picture of the lesson's view; where it would answer the lesson's question, once that is guessed."""
    if lesson.gives_away:
        guess = view.choice("predicted", (*lesson.question.guesses, UNKNOWN))
        if view.awaits or not (guess == UNKNOWN or (guess and view.choice("certain"))):
            return []
    title = view.say(f"page.tab_{lesson.view['tab']}")
    return [kinds.glimpse("glimpse", title, view.say("page.course_go"), view.say("page.loading"), lesson.view, lesson.shows)]


def _build_deal(view: View, lesson: Lesson) -> list[dict]:
    """Builds the button that deals the lesson's knobs to a class; only its teacher sees it (see static/room.css)."""
    if not lesson.deals:
        return []
    values = {"knobs": lesson.does[0].knobs, "arms": [*lesson.deals], "order": "together"}
    return [blocks.button("deal", "room", view.say("course.deal"), command="deal", values=values)]


def _build_labs(view: View, lesson: Lesson) -> list[dict]:
    """Builds the cards of the lesson's labs, except the one that it asks."""
    names = [name for name in course.list_labs(lesson) if name != lesson.lab]
    return [build_cards(view, "labs", names, view.say("lessons.more"))] if names else []


def _build_checks(view: View, lesson: Lesson) -> list[dict]:
    """Builds the deferred questions on the run on screen."""
    if not list_checks(lesson):
        return []
    state = (lesson.name, view.run.id, view.run.version, view.step, view.field("text"), view.choice("target"), view.number("toss"))
    return [blocks.later("checks", "checks", view.say("checks.wait"), f"{state} {checks.read_answers(view.parameters)}")]


def _build_question(view: View, lesson: Lesson) -> list[dict]:
    """Builds the lesson's question: a link to its lab, or its own with a link to the lesson's run. The tour asks on its way."""
    if lesson.asks is None:
        return [blocks.button("start", "move", view.say("course.start"), to=dict(lesson.does[0].to))]
    if lesson.question is None:
        lab = get(lesson.lab)
        minutes = view.say("lessons.minutes", minutes=lab.minutes)
        card = {"name": lab.name, "title": lab.say(view.language, "title"), "text": lab.say(view.language, "question"), "minutes": minutes}
        return [kinds.cards("ask", view.say("course.ask_lab"), [card | {"go": view.say("course.guess_in_lab")}])]
    question, guess, sure, answered = build_question(view, lesson.say, lesson.question.guesses, ("lesson", lesson.name))
    if lesson.run not in ("", view.run.id) and not guess:  # it asks about the sentence above: first its model is opened
        return []
    answer = _build_answer(view, lesson, guess, sure) if answered else []
    return [
        blocks.text("ask", view.say("course.ask"), css="pg-heading"),
        blocks.text("question", lesson.say(view.language, "question"), css="pg-course-text"),
        *(lock_choices(question) if len(answer) > 1 else question),
        *answer,
    ]


def _build_run(view: View, run: str) -> list[dict]:
    """Builds the name of the lesson's run, as a button to it while another is on screen."""
    if not run:
        return []
    name = title(view.runs.get(run), view.language, view.token)
    if run == view.run.id:
        return [blocks.text("run", view.say("course.about_run", name=name, text=view.text), css="pg-course-text")]
    return [blocks.button("run", "move", view.say("course.open_run", name=name), to={"run": run})]


def _build_answer(view: View, lesson: Lesson, guess: str, sure: str) -> list[dict]:
    """Builds the answer computed from the run on screen."""
    try:
        answer, numbers = lesson.question.answer(view.reader, view.run, view.step, view.text)
    except Refusal as refusal:  # the rest of the lesson stays
        return [blocks.text("verdict", refusal.say(view.language), css="pg-cell")]
    pairs, total = (numbers.get(name, 0) for name in ASKED)
    sample = view.say("course.sample", pairs=pairs, all=total) if pairs < total else ""
    return build_verdict(view, lesson.say, lesson.kept_as, answer, numbers, guess, sure, sample)


def _build_notes(view: View, chosen: Lesson | None) -> list[dict]:
    """Builds the teacher's notes on one lesson, or on all."""
    content = [blocks.button("student", "move", view.say("course.student"), to={"notes": ""})]
    if not chosen:
        minutes = sum(sum(lesson.minutes) for lesson in LESSONS)
        about = view.say("course.teacher_about", minutes=minutes, lessons=course.number(LESSONS[-1]))
        content.append(blocks.text("about", about, css="pg-about"))
        content += [blocks.text("gain", view.say("checks.gain_title"), css="pg-heading"), kinds.answers("answers-beliefs", AFTER)]
        content.append(blocks.button("mystery", "move", view.say("course.mystery"), to={"tab": "labs", "lab": "mystery", "notes": ""}))
    for lesson in (chosen,) if chosen else LESSONS:
        show_minutes, work_minutes, talk_minutes = lesson.minutes
        rows = [
            (view.say("course.show", minutes=show_minutes), lesson.say(view.language, "show")),
            (view.say("course.work", minutes=work_minutes), lesson.say(view.language, "goal")),
            (view.say("course.wrong"), lesson.say(view.language, "wrong")),
            (view.say("course.talk", minutes=talk_minutes), lesson.say(view.language, "ask")),
        ]
        content.append(kinds.notes(lesson.name, _write_title(view, lesson), rows, view.say("course.open")))
        content += [kinds.answers(f"answers-{lesson.name}", lesson.name)]
    return content
