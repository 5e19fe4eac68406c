"""The questions at the end of a lesson: on the run on screen, graded at once; and, for teachers, all answers."""

import re
from collections.abc import Mapping
from hashlib import sha256

from playground.config import Refusal
from playground.cursor import FIELDS
from playground.features import lessons as kinds
from playground.features.lessons import figure as guesses
from playground.features.shared import blocks, panels
from playground.features.shared.figures import attention
from playground.features.shared.figures.tokens import Name
from playground.features.shared.naming import variant_name
from playground.features.shared.view import View
from playground.lessons import course
from playground.lessons.checks import AFTER, BEFORE, BELIEFS, LATER, ROUNDS, Belief, list_checks, list_repeated, pose
from playground.lessons.checks.posed import Check, CheckContext, Option, Posed
from playground.rooms import answers
from playground.rooms.question import LEAST
from playground.words import paragraph

CLASS_WORDS = {"guess": "class_choice", "guesses": "class_answers", "hover_guess": "class_hover"}  # figure's word -> checks.<word>
MASK_WIDTH = 300  # px
ANSWER = re.compile(r"([a-z_]{1,40})~([0-9a-f]{10})~(\d)", re.ASCII)  # question, hash of the posed question, index of the choice


@panels.declare("checks")
def panel(view: View) -> dict:
    """Builds the questions of a lesson. The browser stores the answers and sends them with the request; no link holds them."""
    if not (name := view.read_raw("lesson")):
        return {"step": None, "blocks": []}
    if name in ROUNDS:
        return {"step": None, "blocks": _build_round(view, name)}
    lesson, heading = course.get(name), blocks.text("title", view.say("checks.title"), css="pg-heading")
    if view.run.working and view.step is None:
        return {"step": None, "blocks": [heading, blocks.text("wait", view.say("checks.while_training"), css="pg-caption")]}
    draw, answers, content = view.number("toss"), read_answers(view.parameters), []
    for check in list_checks(lesson):
        if check in list_repeated(lesson):
            earlier = course.LESSONS[course.number(lesson) - LATER].say(view.language, "title")
            content.append(blocks.text("again", view.say("checks.again", title=earlier), css="pg-caption"))
        content += _build_question(view, lesson.name, check, draw, answers)
    more = blocks.button("draw", "move", view.say("checks.draw"), to={"toss": draw % FIELDS["toss"].high + 1})
    about = blocks.text("about", view.say("checks.about"), css="pg-caption")
    return {"step": None, "blocks": [heading, about, *content, blocks.row("more", more, css="controls")]}


def _build_round(view: View, name: str) -> list[dict]:
    """Builds one of the twelve questions, and once they are answered the student's gain; `toss` is the number of the question. Before the
    course the answers are graded together, in the result."""
    answers, names = read_answers(view.parameters), list(BELIEFS)
    at = min(view.number("toss"), len(names)) - 1
    answered = [_is_right(answers, belief) is not None for belief in names]
    open_indices = [index for index in (*range(at + 1, len(names)), *range(at)) if not answered[index]]
    if view.choice("result") == "on" and all(answered):
        return _build_own_gain(view, name, answers)
    number = blocks.text("number", view.say("checks.number", number=at + 1, count=len(names)), css="pg-caption")
    to = {"toss": str(open_indices[0] + 1)} if open_indices else {"result": "on"}
    following = blocks.button("next", "move", view.say("checks.next" if open_indices else "checks.result"), to=to)
    buttons = [blocks.row("more", following, css="controls")] if answered[at] else []
    return [number, *_build_question(view, name, BELIEFS[names[at]], 1, answers, name == AFTER), *buttons]


def is_graded(view: View, name: str, answers: Mapping[str, tuple[str, int]]) -> bool:
    """Tells whether a round says what is right: before the course only in its result, once all are answered."""
    all_answered = all(_is_right(answers, belief) is not None for belief in BELIEFS)
    return name == AFTER or (view.choice("result") == "on" and all_answered)


def _is_right(answers: Mapping[str, tuple[str, int]], name: str, prefix: str = "") -> bool | None:
    """Tells whether the stored answer to a belief is right; None without one."""
    posed = BELIEFS[name].pose()
    posed_hash, choice = answers.get(prefix + name, ("", 0))
    return choice == posed.key if posed_hash == _hash(posed) else None


def read_result(parameters: Mapping[str, str]) -> tuple[list[str], int, list[tuple[int, int]]]:
    """Reads what a browser says of its visitor's course: the lessons done, how many of their questions are answered, and (right, answered)
    of the beliefs before, once all are answered, and after, of which the keys are known here."""
    claimed, count, answers = parameters.get("done", "").split("."), parameters.get("answered", ""), read_answers(parameters)
    grades = [[_is_right(answers, belief, prefix) for belief in BELIEFS] for prefix in (f"{BEFORE}_", "")]
    if None in grades[0]:  # what is right before the course is told once all of it is answered
        grades[0] = []
    rounds = [(column.count(True), len(column) - column.count(None)) for column in grades]
    number = int(count) if re.fullmatch(r"\d{1,3}", count, re.ASCII) else 0
    return [lesson.name for lesson in course.LESSONS if lesson.name in claimed], number, rounds


def _build_own_gain(view: View, name: str, answers: Mapping[str, tuple[str, int]]) -> list[dict]:
    """Builds the student's answers before and after the course, question by question; those before come under a prefix. The questions
    follow with their answers."""
    prefixes = {BEFORE: "" if name == BEFORE else f"{BEFORE}_"} | ({AFTER: ""} if name == AFTER else {})
    results = {time: [_is_right(answers, belief, prefix) for belief in BELIEFS] for time, prefix in prefixes.items()}
    rows = [
        [_write_text(view, belief, belief.pose()), *({True: "✓", False: "✗", None: "–"}[column[at]] for column in results.values())]
        for at, belief in enumerate(BELIEFS.values())
    ]
    counts = {time: sum(bool(right) for right in column) for time, column in results.items()}
    sentence = view.say(f"checks.gain_{name}", all=len(BELIEFS), **counts)
    head = [view.say("checks.question"), *(view.say(f"checks.{time}_short") for time in results)]
    return [
        blocks.text("gain", sentence, css="pg-heading"),
        blocks.text("about", view.say("checks.gain_about"), css="pg-caption"),
        *([blocks.table("gains", head, rows, rowheads=True)] if name == AFTER else []),
        *(block for belief in BELIEFS.values() for block in _build_question(view, name, belief, 1, answers)),
    ]


def _build_gain(view: View, activity: answers.Activity | None) -> dict:
    """Builds the class's gain: how many of the first answers to each question were right before and after the course, without names."""
    rows = []
    for belief in BELIEFS.values():
        posed, counts = belief.pose(), [answers.tally(activity, time, belief.name, "") for time in ROUNDS]
        shares = [view.say("checks.of", right=each.right, count=each.count) if each.count else "–" for each in counts]
        rows.append([_write_text(view, belief, posed), posed.answer.text(view.language), *shares])
    head = [view.say(f"checks.{name}") for name in ("question", "right_answer", "before_short", "after_short")]
    return blocks.table("class-gain", head, rows, view.say("checks.class_gain", least=LEAST), rowheads=True)


def read_answers(parameters: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Reads the answers stored by the browser: {question: (hash of the posed question, index of the choice)}."""
    return {name: (posed_hash, int(choice)) for name, posed_hash, choice in ANSWER.findall(parameters.get("checked", "")[:2000])}


def build_model_answers(view: View, activity: answers.Activity | None) -> list[dict]:
    """Builds a lesson's model answer, each question with its key for the run on screen, and the answers of a room's members."""
    if view.read_raw("lesson") in ROUNDS:
        return [_build_gain(view, activity)]
    lesson, class_blocks = course.get(view.read_raw("lesson")), []
    rows = [(lesson.say(view.language, "ask"), lesson.say(view.language, "answer"))]
    for check in list_checks(lesson):
        try:
            posed = _pose(view, check, view.number("toss"))
            rows.append((_write_text(view, check, posed), _write_reason(view, check, posed)))
            class_blocks += _build_tally(view, check, posed, answers.tally(activity, lesson.name, check.name, _hash(posed)))
        except Refusal as refusal:
            rows.append((check.name, refusal.say(view.language)))
    return [kinds.notes(lesson.name, view.say("checks.model_answers"), rows, view.say("course.open")), *class_blocks]


def _build_tally(view: View, check: Check | Belief, posed: Posed, tally: answers.Tally) -> list[dict]:
    """Builds a class's answers: how many are right, and how often students with the same question made each choice."""
    if not tally.count:
        return []
    values = {"right": tally.right, "count": tally.count, "least": LEAST, "same": sum(tally.choices.values())}
    caption = f"{_write_text(view, check, posed)} {view.say('checks.class_right', **values)}"
    if not tally.choices:
        return [blocks.text(f"class-{check.name}", f"{caption} {view.say('checks.class_others', **values)}", css="pg-caption")]
    counts = [[tally.choices.get(at, 0)] for at in range(len(posed.options))]
    names = [option.text(view.language) for option in posed.options]
    words = {figure: view.say(f"checks.{word}") for figure, word in CLASS_WORDS.items()}
    figure = view.draw(guesses.histogram, names, counts, [""], right=posed.key, labels=view.labels | words)
    caption = f"{caption} {view.say('checks.class_same', **values)}"
    return [blocks.figure(f"class-{check.name}", figure, caption, view.say("checks.class_title"))]


def _pose(view: View, check: Check | Belief, draw: int) -> Posed:
    if check.by_formula and (variant := variant_name(view.run, view.language)):
        raise Refusal("page.has_variant", variant=variant)
    return pose(check, CheckContext(view.reader, view.run, view.step, view.text, view.reference), draw)


def _build_question(
    view: View, lesson: str, check: Check | Belief, draw: int, answers: Mapping[str, tuple[str, int]], is_graded: bool = True
) -> list[dict]:
    """Builds a question, under its picture if it has one; or the reason why it can't be posed for this run. An answer that is not graded
    is only taken."""
    try:
        posed = _pose(view, check, draw)
    except Refusal as refusal:
        return [blocks.text(f"refused-{check.name}", refusal.say(view.language), css="pg-caption")]
    options: list[blocks.Value] = [{"value": str(at), "label": option.text(view.language)} for at, option in enumerate(posed.options)]
    posed_hash = _hash(posed)
    answered_hash, choice = answers.get(check.name, ("", 0))
    grading = {}
    if answered_hash == posed_hash and choice < len(options):
        reason = _write_reason(view, check, posed, posed.options[choice])
        label = view.say("checks.see" if isinstance(check, Belief) else "checks.show")
        link: kinds.Link = {"label": label, "to": dict(posed.to), "shows": posed.shows, "reason": _write_reason(view, check, posed)}
        grading = {"value": str(choice)} | ({"right": str(posed.key), "why": reason, "way": link} if is_graded else {})
    question = kinds.check(check.name, lesson, posed_hash, _write_text(view, check, posed), options, **grading)
    return [*_draw_mask(view, check, posed), question]


def _hash(posed: Posed) -> str:
    """Returns a hash that is equal for students who get the same question with the same choices."""
    return sha256(repr((posed.options, sorted(posed.values.items()))).encode()).hexdigest()[:10]


def _write_text(view: View, check: Check | Belief, posed: Posed) -> str:
    return view.say(f"checks.{check.name}", **_translate_values(view, posed))


def _write_reason(view: View, check: Check | Belief, posed: Posed, choice: Option | None = None) -> str:
    """Writes what the answer rests on; after a wrong `choice` of a belief, first what makes it plausible."""
    reason = view.say(f"checks.{check.name}_why", answer=posed.answer.text(view.language), **_translate_values(view, posed))
    is_belief = choice not in (None, posed.answer) and isinstance(check, Belief)
    return paragraph([view.say(f"checks.{choice.key}_why"), reason]) if choice and is_belief else reason


def _translate_values(view: View, posed: Posed) -> dict:
    return {name: value.text(view.language) if isinstance(value, Option) else value for name, value in posed.values.items()}


def _draw_mask(view: View, check: Check, posed: Posed) -> list[dict]:
    """Draws a mask without clues: its places are numbers, and it has one kind of hatching."""
    if posed.picture is None:
        return []
    rows, columns = ([Name(str(at + 1)) for at in range(size)] for size in posed.picture.shape)
    words = {"rows_encoder": view.say("checks.query"), "columns_encoder": view.say("checks.column")}
    figure = view.draw(attention.grid, posed.picture, rows, columns, width=min(MASK_WIDTH, view.width), labels=view.labels | words)
    return [blocks.figure(f"picture-{check.name}", figure, view.say("checks.picture"), css="small")]
