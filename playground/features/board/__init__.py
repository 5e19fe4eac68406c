"""The Class tab: a class's runs, their pooled results and the verdict on them, its progress in the course. Its
block: the runs of a class."""

from collections.abc import Mapping
from typing import TypedDict

from playground.features.board.class_board import Board, compare_pairs, find_board, is_named, list_quoted, member_name
from playground.features.shared import blocks, experiment as lab_experiment
from playground.features.shared.blocks.kind import LineKey, kind
from playground.features.shared.labs import write_guesses
from playground.features.shared.view import View
from playground.lessons.controlled import CLOSE, ENOUGH_SEEDS, ControlledExperiment, Outcome, Result, above
from playground.lessons.course import LESSONS, Lesson
from playground.rooms import question
from playground.rooms.answers import PROGRESS
from playground.rooms.experiment import MIN_RUNS
from playground.rooms.room import Room
from playground.words import paragraph


class BoardRow(TypedDict):
    run: str  # its id
    name: str  # of the student
    arm: str
    key: LineKey  # of the arm
    numbers: list[str]
    here: bool  # the run on screen


@kind
def board(id: str, head: list[str], rows: list[BoardRow], title: str):
    """The runs of a class, with `head` over student, arm and numbers. A click on a student opens the run, for followers too."""


def build_course_table(view: View, room: Room, number: int) -> list[dict]:
    """Builds a row per begun lesson, with names if the teacher wants them; nothing if none is begun. The tour has its own table, since it
    has many more steps."""
    steps_by_member: Mapping[str, Mapping[str, int]] = room.activities.get(PROGRESS, {"done": {}})["done"]
    begun = [lesson for lesson in LESSONS if any(lesson.name in step_counts for step_counts in steps_by_member.values())]
    if not begun:
        return []
    shows_names = is_named(view, number)

    def format_cell(lesson: Lesson, steps: range) -> int | str:
        """Formats the number of members whose finished steps lie in this range; a dash for steps the lesson doesn't have."""
        if steps[0] > len(lesson.steps):
            return "–"
        members = [int(member) for member, step_counts in steps_by_member.items() if step_counts.get(lesson.name) in steps]
        if not shows_names or not members:
            return len(members) or ""
        return f"{len(members)}: " + ", ".join(member_name(view, room.member(member), shows_names) for member in sorted(members))

    def build_steps_table(id: str, lessons: list[Lesson], columns: list[range]) -> dict:
        counts = [str(column[0]) if len(column) == 1 else f"{column[0]}–{column[-1]}" for column in columns]
        head = [view.say("board.lesson"), *(view.say("board.steps_done", count=count) for count in counts)]
        rows = [[lesson.say(view.language, "title"), *(format_cell(lesson, column) for column in columns)] for lesson in lessons]
        return blocks.table(id, head, rows, view.say("board.course_steps"), rowheads=True)

    tours, regular_lessons = ([lesson for lesson in begun if (lesson.asks is None) == is_tour] for is_tour in (True, False))
    tables = [build_steps_table("tour-steps", [tour], _split_steps(len(tour.steps))) for tour in tours]
    if regular_lessons:
        max_steps = max(len(lesson.steps) for lesson in regular_lessons)
        tables.append(build_steps_table("course-steps", regular_lessons, [range(count, count + 1) for count in range(1, max_steps + 1)]))
    return [*tables, blocks.text("course-about", view.say("board.course_steps_about"), css="pg-caption")]


def _split_steps(steps: int) -> list[range]:
    """Splits 1..steps into three ranges before the last step, and the last step: 1–4, 5–8, 9–12, 13."""
    part = -(-(steps - 1) // 3)
    return [*(range(first, min(first + part, steps)) for first in range(1, steps, part)), range(steps, steps + 1)]


def write_verdict(view: View, class_board: Board, outcome: Outcome | None) -> tuple[str, str]:
    """Returns (the verdict on the ended runs, its explanation and caveats): the lab's own, else which arm ends above which."""
    ended = class_board.ended
    if class_board.lab:
        return _write_lab_verdict(view, class_board, class_board.lab, outcome)
    if len(ended) < 2:
        return paragraph([view.say("board.no_verdict"), write_ended(view, class_board)]), ""
    first, second = sorted(ended, key=lambda arm: -class_board.pooled(arm).mean)[:2]
    comparison = compare_pairs(class_board.scores(first), class_board.scores(second))
    values = {"first": class_board.arms[first], "second": class_board.arms[second], "above": comparison.above, "pairs": comparison.all}
    results = [[Result(str(arm), each.number, each.run, {}, {"exact": each.score}) for each in ended[arm]] for arm in (first, second)]
    fewest = min(map(len, results))
    verdict_key = "one" if fewest < 2 else "above" if above(*results, "exact", CLOSE) else "close"  # one run has no spread
    notes = [view.say("board.paired", same=comparison.same), view.say(f"board.why_{verdict_key}")] if fewest > 1 else []
    if fewest < ENOUGH_SEEDS:
        notes.append(view.say("board.weak_runs", least=ENOUGH_SEEDS, fewest=fewest))
    missing_count = len(class_board.arms) - len(ended)
    if missing_count:
        notes.append(view.say("board.arms_missing", count=missing_count))
    return view.say(f"board.verdict_{verdict_key}", **values), paragraph(notes)


def write_ended(view: View, class_board: Board) -> str:
    """Writes how many of the dealt runs have ended."""
    return view.say("board.ended_runs", ended=sum(map(len, class_board.ended.values())), dealt=len(class_board.activity["dealt"]))


def write_waiting(view: View, class_board: Board) -> str:
    """Writes how far the runs are while their verdict waits for the class's guess; once all have ended, what shows it."""
    if len(class_board.activity["dealt"]) > sum(map(len, class_board.ended.values())):
        return write_ended(view, class_board)
    buttons = {name: view.say(f"page.room_{name}") for name in ("close", "reveal")}
    return view.say("board.all_ended" if class_board.teacher else "board.all_ended_member", **buttons)


def judge_lab(view: View, class_board: Board) -> Outcome | None:
    """Judges the ended runs by the lab's rule; None until every arm has an ended run."""
    lab, ended = class_board.lab, class_board.ended
    if lab is None or len(ended) < len(class_board.arms):
        return None
    names = list(lab.arms)
    return lab.verdict([
        [lab_experiment.measure_result(view.runs, view.open_reader, lab, names[arm], student.number, student.run) for student in ended[arm]]
        for arm in sorted(ended)
    ])  # fmt: skip


def find_class_answer(view: View) -> str:
    """Finds the right guess by the class's own runs of the view's lab; "" without enough of them, or where several are right."""
    class_board, lab = find_board(view), view.read_raw("lab")
    if class_board is None or class_board.lab is None or class_board.lab.name != lab or class_board.min_runs < MIN_RUNS:
        return ""
    outcome = judge_lab(view, class_board)
    return outcome.answer if outcome and not outcome.also and not class_board.lab.leaves_open(outcome) else ""


def write_revealed(view: View, class_board: Board) -> str:
    """Writes how often each revealed guess was made; "" before, and while they are too few."""
    posed, lab = class_board.question, class_board.lab
    visible = question.view(posed, class_board.room, class_board.number) if posed else {}
    names = [lab.say(view.language, f"guess_{name}") for name in visible.get("counts", ())]
    return paragraph(write_guesses(view, visible, names)) if names else ""


def _write_lab_verdict(view: View, class_board: Board, lab: ControlledExperiment, outcome: Outcome | None) -> tuple[str, str]:
    """Writes the lab's answer and its caveats. One run per arm has no spread, so the answer then is only what the rule gives so far."""
    if outcome is None:
        missing = [name for arm, name in enumerate(class_board.arms) if arm not in class_board.ended]
        return view.say("board.lab_waits"), view.say("board.lab_missing", arms=list_quoted(view.language, missing))
    fewest, answer = class_board.min_runs, lab.say(view.language, f"guess_{outcome.answer}")
    caveats = lab_experiment.list_caveats(view, lab, outcome) if fewest > 1 else [view.say("lessons.weak_seeds", seeds=fewest)]
    reasons = [lab.say(view.language, f"why_{outcome.answer}", **outcome.numbers), *caveats]
    return view.say("board.lab_so_far" if fewest < 2 else "board.lab_answer", answer=answer), paragraph(reasons)
