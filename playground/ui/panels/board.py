"""The board of a class: the runs of an experiment that was dealt out, live, their results together, and as a file."""

from __future__ import annotations

from playground.config import Refusal
from playground.cursor import choices
from playground.figures import board as pictures
from playground.lessons.lab import Outcome
from playground.queries.learning_curves import LearningCurve, band, cut_after
from playground.rooms.experiment import BOARD
from playground.rooms.room import TEACHER
from playground.runs.tables import csv_of, table_of
from playground.ui import blocks
from playground.ui.class_board import (
    Board,
    ClassRun,
    arm_name,
    board,
    class_name,
    experiment_name,
    experiments,
    room_of,
    unheld,
)
from playground.ui.controls import label
from playground.ui.measured import percent
from playground.ui.panels import board_course
from playground.ui.panels.board_verdict import outcome, verdict
from playground.ui.panels.lessons import experiment as lab_experiment
from playground.ui.panels.lessons.exhibits import exhibits
from playground.ui.panels.lessons.guessing import ask, locked
from playground.ui.view import View
from playground.words import paragraph

LEAST_RUNS = 2  # of an arm, from which on a verdict counts a guess
POLL_MS = 1500  # milliseconds before a page asks again how far the runs are
HEAD = ("student", "arm", "step", "exact_match", "validation_loss", "seconds")


def panel(view: View) -> dict:
    try:
        found = board(view)
    except Refusal as refusal:
        return {"step": None, "blocks": [blocks.text("none", refusal.say(view.language), css="pg-caption")]}
    if found is None:
        return {"step": None, "blocks": _without_runs(view)}
    only = _only(view, found)
    runs = [run for run in found.runs if only in (None, run.arm)]
    works = any(run.run.unfinished or run.run.resumable for run in found.runs)  # who was interrupted may go on
    rest = {"of": class_name(view, found.room.code), **({"more": True, "pause": POLL_MS} if works else {})}
    if view.presented:
        return {"step": None, "blocks": _presented(view, found), **rest}
    result = outcome(view, found)
    said, why = verdict(view, found, result)
    asking, guessed = _asked(view, found, result)
    shown = [
        *asking,
        blocks.text("verdict", said, css="pg-heading"),
        *(guessed or _captions(why=why)),
        *_captions(unheld=unheld(view.language, found.activity)),
        _controls(view, found),
        *_decides(view, found, result),
        *_figures(view, found, runs),
        _arms(view, found),
        blocks.text("arms-about", view.say("board.arms_about"), css="pg-caption"),
        _table(view, found, runs),
        *board_course.table(view, found.room, found.number),
    ]
    return {"step": None, "blocks": shown, **rest}


def _asked(view: View, found: Board, result: Outcome | None) -> tuple[list[dict], list[dict]]:
    """Returns (what the lab asks whose arms were dealt, with what can be guessed; what came of one's guess, once there is a verdict)."""
    lab = found.lab
    if lab is None:
        return [], []
    asks = [
        blocks.text("title", lab.say(view.language, "title"), css="pg-heading"),
        blocks.text("question", lab.say(view.language, "question"), css="pg-about"),
    ]
    if view.said("lab") != lab.name:  # a guess would be another lab's
        return [*asks, blocks.button("guess", "move", view.say("board.lab_guess"), to={"lab": lab.name})], []
    (*asking, _), guess, sure, answered = ask(view, lab.say, lab.guesses, ("lab", lab.name))
    if not answered or result is None or found.fewest < LEAST_RUNS:
        return asks + asking, []
    compared = lab_experiment.verdict(view, lab, result, guess, sure)
    return asks + locked(asking), [one | {"id": f"guess-{one['id']}"} for one in compared]


def _captions(**said: str) -> list[dict]:
    """Those that say something."""
    return [blocks.text(name, text, css="pg-caption") for name, text in said.items() if text]


def _decides(view: View, found: Board, result: Outcome | None) -> list[dict]:
    """The number by which the lab decides, where no curve shows it."""
    shown = [one for one in result.exhibits if one.name.startswith("decides")] if result else []
    return [blocks.row("decides", *exhibits(view, found.lab, shown), css="grids")] if shown else []


def _without_runs(view: View) -> list[dict]:
    """The board of a class to which nothing was dealt: members see how far it has come while the teacher shows it."""
    room, number = room_of(view)
    course = board_course.table(view, room, number) if number == TEACHER or room.cursor.get("tab") == BOARD else []
    names = [blocks.row("controls", _names(view), css="controls")] if course and number == TEACHER else []
    return [blocks.text("none", view.say("board.nothing_dealt"), css="pg-caption"), *names, *course]


def file(view: View) -> tuple[str, str]:
    """The name and the text of a CSV file: a row for each run, with the numbers as they are."""
    found = board(view)
    if found is None:
        raise Refusal("rooms.no_activity")
    rows = [
        {"student": one.name, "arm": found.arms[one.arm], "seed": one.number}
        | found.activity["arms"][one.arm]
        | {"status": one.run.status, "step": one.run.step, "steps": one.run.steps, "exact_match": one.score}
        | {"validation_loss": one.curve.validation_loss[-1] if one.curve.steps else None, "seconds": round(one.run.seconds, 1)}
        | {"parameters": one.parameters}
        for one in found.runs
    ]
    return f"class-{found.room.code}.csv", csv_of(table_of(rows, HEAD))


def _only(view: View, found: Board) -> int | None:
    """The one arm that is shown; None for all of them."""
    arm = view.number("arm")
    return arm if arm is not None and arm < len(found.arms) else None


def _controls(view: View, found: Board) -> dict:
    arms = [{"value": "", "label": view.say("board.all_arms")}]
    arms += [{"value": str(at), "label": name} for at, name in enumerate(found.arms)]
    several = [
        {"value": name, "label": experiment_name(one, view.language)} for name, one in experiments(found.room).items()
    ]
    only = _only(view, found)
    return blocks.row(
        "controls",
        blocks.choice("activity", "activity", view.say("board.experiment"), several, found.name) if len(several) > 1 else None,
        blocks.choice("arm", "arm", view.say("board.arm"), arms, "" if only is None else str(only)),
        *(_for_teacher(view, found) if found.teacher else []),
        _download(view, found),
        css="controls",
    )


def _for_teacher(view: View, found: Board) -> list[dict]:
    """Names, and who sees the board."""
    said = view.say("board.unshare" if found.activity["shared"] else "board.share")
    share = {"activity": found.name, "shared": not found.activity["shared"]}
    return [
        _names(view),
        blocks.button("share", "room", said, command="share_board", values=share),
        blocks.button("withdraw", "room", view.say("board.withdraw"), command="withdraw", values={"activity": found.name}),
    ]


def _names(view: View) -> dict:
    names = [{"value": value, "label": view.say(f"board.names_{value or 'off'}")} for value in ("", "on")]
    return blocks.choice("names", "names", view.say("board.names"), names, view.choice("names"))


def _download(view: View, found: Board) -> dict:
    asked = {"run": view.run.id, "lang": view.language, "room": found.room.code, "activity": found.name}
    asked |= {"names": "on"} if found.teacher and view.choice("names") == "on" else {}
    return blocks.downloads("file", view.say("board.file"), "board", [{"label": view.say("compare.file_csv"), "query": asked}])


# ---- the pictures -----------------------------------------------------------------------------------------------------------------


def _figures(view: View, found: Board, runs: list[ClassRun]) -> list[dict]:
    begun = [one for one in runs if one.curve.steps]
    if not begun:
        return [blocks.text("nothing", view.say("board.nothing_yet"), css="pg-caption")]
    course, shades = _course(view, found, [(one, one.curve) for one in begun])
    best = max(begun, key=lambda one: one.score)
    worst = min(begun, key=lambda one: one.score)
    ends = {"best": percent(best.score), "best_name": best.name, "worst": percent(worst.score), "worst_name": worst.name}
    key = "course_about" if best.score > worst.score else "course_level"
    said = view.say(f"board.{key}", runs=len(begun), **ends) + (f" {view.say('board.mean_about')}" if shades else "")
    scores, across = _scores(view, found, begun)
    drawn = blocks.figure("course", course, said, view.say(f"board.course_{found.column}"), hint=view.say("board.course_hint"))
    return [blocks.row("pictures", drawn, scores, css="halves"), across]


def _course(view: View, found: Board, curves: list[tuple[ClassRun, LearningCurve]], last: int | None = None) -> tuple[dict, list]:
    """The figure of these curves, with an axis up to the step `last` where it is given, and the shades in it."""
    lines = [pictures.Line(one.run.id, one.arm, one.name, curve.steps, getattr(curve, found.column)) for one, curve in curves]
    shades = []
    for arm in range(len(found.arms)):
        own = [curve for one, curve in curves if one.arm == arm]
        if len(own) > 1:
            together = band(own, found.column, "steps")
            shades.append(pictures.Shade(arm, together.places, together.mean, together.low, together.high))
    return view.draw(pictures.course, lines, shades, found.arms, column=found.column, share=2, last=last), shades


def _presented(view: View, found: Board) -> list[dict]:
    """The one picture that a hall sees. What came of it is hidden until it is revealed: the verdict, and the second half of every curve."""
    values = {"ended": sum(one.ended for one in found.runs), "dealt": len(found.activity["dealt"])}
    if view.choice("revealed") == "on":
        curves, last = [(one, one.curve) for one in found.runs if one.curve.steps], None
        title, said = verdict(view, found, outcome(view, found))
    else:
        last = max((one.run.steps for one in found.runs), default=None)
        curves = [(one, curve) for one in found.runs if (curve := cut_after(one.curve, one.run.steps / 2)).steps]
        title, said = "" if found.lab else view.say("board.hidden"), view.say("board.hidden_about", **values)
    title = paragraph([found.lab.say(view.language, "short") if found.lab else "", title])
    said = paragraph([said, unheld(view.language, found.activity)])
    if not curves:
        said = said or view.say("board.nothing_yet")
        return [blocks.text("verdict", title, css="pg-heading"), blocks.text("why", said, css="pg-caption")]
    course, _ = _course(view, found, curves, last)
    return [blocks.figure("course", course, said, title)]


def _scores(view: View, found: Board, begun: list[ClassRun]) -> tuple[dict, dict]:
    """The figure, and the choice of what it is drawn against."""
    across = view.choice("across")
    knob = next(iter(found.activity["arms"][0]))
    named = {"parameters": view.say("compare.parameters"), "seconds": view.say("compare.seconds"), "knob": label(knob, view.language)}

    def place(one: ClassRun) -> float | str | None:
        if across != "knob":
            return one.parameters if across == "parameters" else round(one.run.seconds, 1)
        value = found.activity["arms"][one.arm][knob]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number else arm_name({knob: value}, view.language)

    known = [(one, at) for one in begun if (at := place(one)) is not None]
    points = [pictures.Point(one.run.id, one.arm, one.name, at, one.score) for one, at in known]
    picture = view.draw(pictures.scores, points, found.arms, named[across], share=2)
    options = [{"value": value, "label": named[value]} for value in choices("across")]
    said = view.say("board.scores_about", across=named[across])
    figure = blocks.figure("scores", picture, said, view.say("board.scores"), hint=view.say("board.scores_hint"))
    return figure, blocks.choice("across", "across", view.say("board.across"), options, across)


# ---- the tables -------------------------------------------------------------------------------------------------------------------


def _arms(view: View, found: Board) -> dict:
    """What the ended runs of each arm come to together."""
    rows = []
    for arm, name in enumerate(found.arms):
        together, dealt = found.pooled(arm), sum(one == arm for one in found.activity["dealt"].values())
        if together is None:
            rows.append([name, f"0 / {dealt}", "–", "–"])
            continue
        between = view.say("board.between", low=percent(together.low), high=percent(together.high)) if together.low is not None else "–"
        rows.append([name, f"{together.count} / {dealt}", percent(together.mean), between])
    head = [view.say(f"board.{name}") for name in ("arm", "ended", "mean", "interval")]
    return blocks.table("arms", head, rows, view.say("board.together"), rowheads=True)


def _table(view: View, found: Board, runs: list[ClassRun]) -> dict:
    rows: list[blocks.BoardRow] = []
    for one in runs:
        loss = f"{one.curve.validation_loss[-1]:.3f}" if one.curve.steps else "–"
        rows.append({
            "run": one.run.id, "name": one.name, "arm": found.arms[one.arm], "here": one.run is view.run,
            "key": pictures.arm_key(one.arm, view.dark),
            "numbers": [
                view.say("compare.step_of", step=f"{one.run.step:,}", steps=f"{one.run.steps:,}"),
                "–" if one.score is None else percent(one.score), loss, view.say("page.seconds", seconds=f"{one.run.seconds:.1f}"),
            ],
        })  # fmt: skip
    head = [view.say(f"board.{name}" if name in ("student", "arm", "step") else f"compare.{name}") for name in HEAD]
    return blocks.board("runs", head, rows, view.say("board.runs"), view.say("board.nobody"))
