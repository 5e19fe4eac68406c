"""The board of a class experiment: its runs live, their pooled results, and a CSV file."""

from playground.config import Refusal
from playground.cursor import choices
from playground.features import board as tab
from playground.features.board import figure as pictures
from playground.features.board.class_board import (
    MIN_SIZES,
    Board,
    ClassRun,
    PowerLaw,
    describe_arm,
    experiment_name,
    find_board,
    find_room,
    fit_power_law,
    list_experiments,
    list_quoted,
    name_empty_arms,
)
from playground.features.shared import blocks, experiment as lab_experiment, panels
from playground.features.shared.figures.theme import minus
from playground.features.shared.labs import build_exhibits, build_question, lock_choices
from playground.features.shared.naming import label
from playground.features.shared.queries.validation import LearningCurve, band, cut_after
from playground.features.shared.selected_runs import POLL_MS
from playground.features.shared.view import View, percent
from playground.lessons.lab import Outcome
from playground.rooms.experiment import BOARD, MIN_RUNS
from playground.rooms.room import TEACHER
from playground.runs.tables import csv_of, table_of
from playground.words import listed, paragraph

HEAD = ("student", "arm", "step", "exact_match", "validation_loss", "seconds")


@panels.declare("board", "compare", 2)
def panel(view: View) -> dict:
    try:
        class_board = find_board(view)
    except Refusal as refusal:
        return {"step": None, "blocks": _build_captions(none=refusal.say(view.language))}
    if class_board is None:
        return {"step": None, "blocks": _build_empty(view)}
    arm = _read_arm(view, class_board)
    students = [student for student in class_board.runs if arm in (None, student.arm)]
    can_change = any(student.run.unfinished or student.run.resumable for student in class_board.runs)  # an interrupted run may resume
    panel_state = {"of": view.say("board.class", code=class_board.room.code), **({"more": True, "pause": POLL_MS} if can_change else {})}
    if view.presented and class_board.hidden != "results":
        return {"step": None, "blocks": _build_presented(view, class_board), **panel_state}
    outcome = None if class_board.hidden else tab.judge_lab(view, class_board)
    question, guess_verdict = _build_guess(view, class_board, outcome)
    unheld = _build_captions(unheld=name_empty_arms(view.language, class_board.activity))
    if class_board.hidden == "results":
        return {"step": None, "blocks": [*question, *unheld], **panel_state}
    headline, reason = (tab.write_waiting(view, class_board), "") if class_board.hidden else tab.write_verdict(view, class_board, outcome)
    decisive = [exhibit for exhibit in outcome.exhibits if exhibit.name.startswith("decides")] if outcome else []  # what no curve shows
    content = [
        *question,
        blocks.text("waits" if class_board.hidden else "verdict", headline, css="pg-heading"),
        *(guess_verdict or _build_captions(why=reason)),
        *unheld,
        _build_controls(view, class_board),
        *([blocks.row("decides", *build_exhibits(view, class_board.lab, decisive), css="grids")] if decisive else []),
        *_build_figures(view, class_board, students),
        *(_build_arms(view, class_board) if class_board.ended else []),
        *([_build_runs(view, class_board, students)] if students else []),
        *tab.build_course_table(view, class_board.room, class_board.number),
    ]
    return {"step": None, "blocks": content, **panel_state}


def _build_guess(view: View, class_board: Board, outcome: Outcome | None) -> tuple[list[dict], list[dict]]:
    """Builds (the title, the question, and the guess at a dealt lab; the verdict on the student's guess once there is one)."""
    if (lab := class_board.lab) is None:
        title = listed(view.language, (label(knob, view.language) for knob in class_board.activity["arms"][0]))
        return [blocks.text("title", title, css="pg-heading"), blocks.text("question", view.say("board.hidden"), css="pg-about")], []
    lab_texts = [
        blocks.text("title", lab.say(view.language, "title"), css="pg-heading"),
        blocks.text("question", lab.say(view.language, "question"), css="pg-about"),
    ]
    options = list_quoted(view.language, (lab.say(view.language, f"guess_{guess}") for guess in lab.guesses)) if class_board.teacher else ""
    if class_board.teacher or view.read_raw("lab") != lab.name:  # then the page's guess belongs to another lab
        to_guess = blocks.button("guess", "move", view.say("page.room_guess_first"), to={"lab": lab.name})
        parts = [to_guess] if class_board.hidden == "results" else _build_captions(options=options)
        return [*lab_texts, *parts, blocks.question("class", "lab", lab.name)], []
    question, guess, sure, answered = build_question(view, lab.say, lab.guesses, ("lab", lab.name))
    if not answered or outcome is None or class_board.min_runs < MIN_RUNS:
        return lab_texts + (lock_choices(question, view) if answered and class_board.runs else question), []
    comparison = lab_experiment.build_verdict(view, lab, outcome, guess, sure)
    return lab_texts + lock_choices(question), [block | {"id": f"guess-{block['id']}"} for block in comparison]


def _build_captions(**texts: str) -> list[dict]:
    """Builds a caption for every text that isn't empty; keywords are block ids."""
    return [blocks.text(name, text, css="pg-caption") for name, text in texts.items() if text]


def _build_empty(view: View) -> list[dict]:
    """Builds the board of a class without an experiment: its course progress, for members only while the teacher shows it."""
    (room, number), none = find_room(view), _build_captions(none=view.say("board.nothing_dealt"))
    course = tab.build_course_table(view, room, number) if number == TEACHER or room.cursor.get("tab") == BOARD else []
    return none + ([blocks.row("controls", _build_names_choice(view), css="controls")] if course and number == TEACHER else []) + course


def write_csv(view: View) -> tuple[str, str]:
    """Returns the name and text of a CSV file: a row for each run, with unrounded numbers."""
    class_board = find_board(view)
    if class_board is None:
        raise Refusal("rooms.no_activity")
    if class_board.hidden == "results":
        raise Refusal("rooms.guess_first")
    rows = [
        {"student": student.name, "arm": class_board.arms[student.arm], "seed": student.number}
        | class_board.activity["arms"][student.arm]
        | {"status": student.run.status, "step": student.run.step, "steps": student.run.steps, "exact_match": student.score}
        | {"validation_loss": student.curve.validation_loss[-1] if student.curve.steps else None, "seconds": round(student.run.seconds, 1)}
        | {"parameters": student.parameters}
        for student in class_board.runs
    ]
    lab = f"-{class_board.lab.name}" if class_board.lab else ""
    return f"class-{class_board.room.code}{lab}.csv", csv_of(table_of(rows, HEAD))


def _read_arm(view: View, class_board: Board) -> int | None:
    """Returns the arm chosen to be shown; None for all arms."""
    return arm if (arm := view.number("arm")) is not None and arm < len(class_board.arms) else None


def _build_controls(view: View, class_board: Board) -> dict:
    arms = [{"value": "", "label": view.say("board.all_arms")}]
    arms += [{"value": str(at), "label": name} for at, name in enumerate(class_board.arms)]
    activities = [
        {"value": name, "label": experiment_name(activity, view.language), "resets": {"lab": activity.get("lab", "")}}
        for name, activity in list_experiments(class_board.room).items()
    ]
    arm = _read_arm(view, class_board)
    return blocks.row(
        "controls",
        blocks.choice("activity", "activity", view.say("board.experiment"), activities, class_board.name) if len(activities) > 1 else None,
        blocks.choice("arm", "arm", view.say("board.arm"), arms, "" if arm is None else str(arm)),
        *(_build_teacher_controls(view, class_board) if class_board.teacher else []),
        _build_download(view, class_board),
        css="controls",
    )


def _build_teacher_controls(view: View, class_board: Board) -> list[dict]:
    """Builds the teacher's switches: names shown, board shared, experiment withdrawn."""
    share_label = view.say("board.unshare" if class_board.activity["shared"] else "board.share")
    share = {"activity": class_board.name, "shared": not class_board.activity["shared"]}
    return [
        _build_names_choice(view),
        blocks.button("share", "room", share_label, command="share_board", values=share),
        blocks.button("withdraw", "room", view.say("board.withdraw"), command="withdraw", values={"activity": class_board.name}),
    ]


def _build_names_choice(view: View) -> dict:
    names = [{"value": value, "label": view.say(f"board.names_{value or 'off'}")} for value in ("", "on")]
    return blocks.choice("names", "names", view.say("board.names"), names, view.choice("names"))


def _build_download(view: View, class_board: Board) -> dict:
    query = {"run": view.run.id, "lang": view.language, "room": class_board.room.code, "activity": class_board.name}
    query |= {"names": "on"} if class_board.teacher and view.choice("names") == "on" else {}
    return blocks.downloads("file", view.say("board.file"), "board", [{"label": view.say("compare.file_csv"), "query": query}])


def _build_figures(view: View, class_board: Board, students: list[ClassRun]) -> list[dict]:
    started = [student for student in students if student.curve.steps]
    if not started:
        return [blocks.row("pictures", _draw_empty(view, class_board, view.say(f"board.course_{class_board.column}")), css="halves")]
    course, shades = _draw_course(view, class_board, [(student, student.curve) for student in started])
    highest, lowest = max(started, key=class_board.newest), min(started, key=class_board.newest)
    high, low = class_board.newest(highest), class_board.newest(lowest)
    ends = {"highest": class_board.format(high), "highest_name": highest.name, "measure": _name_measure(view, class_board)}
    ends |= {"lowest": class_board.format(low), "lowest_name": lowest.name}
    caption_key = "course_about" if high > low else "course_level"
    caption = view.say(f"board.{caption_key}", runs=len(started), **ends) + (f" {view.say('board.mean_about')}" if shades else "")
    scores, across = _draw_scores(view, class_board, started)
    figure = blocks.figure("course", course, caption, view.say(f"board.course_{class_board.column}"), hint=view.say("board.course_hint"))
    return [blocks.row("pictures", figure, scores, css="halves"), across]


def _draw_empty(view: View, class_board: Board, title: str, caption: str = "") -> dict:
    """Draws the axes with the names of the arms, before the first validation of a run."""
    course, _ = _draw_course(view, class_board, [], class_board.steps)
    return blocks.figure("course", course, caption or view.say("board.nothing_yet"), title)


def _name_measure(view: View, class_board: Board) -> str:
    """Names the deciding number, for the middle of a sentence."""
    return view.say(f"board.measure_{class_board.column}")


def _draw_course(
    view: View, class_board: Board, curves: list[tuple[ClassRun, LearningCurve]], last: int | None = None
) -> tuple[dict, list]:
    """Draws the curves, with an axis up to step `last` if given, and returns the figure and its bands."""
    lines = [
        pictures.Line(student.run.id, student.arm, student.name, curve.steps, getattr(curve, class_board.column))
        for student, curve in curves
    ]
    shades = []
    for arm in range(len(class_board.arms)):
        arm_curves = [curve for student, curve in curves if student.arm == arm]
        if len(arm_curves) > 1:
            pooled = band(arm_curves, class_board.column, "steps")
            shades.append(pictures.Shade(arm, pooled.places, pooled.mean, pooled.low, pooled.high))
    return view.draw(pictures.course, lines, shades, class_board.arms, column=class_board.column, share=2, last=last), shades


def _build_presented(view: View, class_board: Board) -> list[dict]:
    """Builds the one figure for a projector. Until it is revealed, the verdict and the second half of every curve are hidden."""
    if view.choice("revealed") == "on" and not class_board.hidden:
        curves, last = [(student, student.curve) for student in class_board.runs if student.curve.steps], None
        title, caption = tab.write_verdict(view, class_board, tab.judge_lab(view, class_board))
        caption = paragraph([caption, tab.write_revealed(view, class_board)])
    else:
        last = max((student.run.steps for student in class_board.runs), default=None)
        curves = [(student, curve) for student in class_board.runs if (curve := cut_after(student.curve, student.run.steps / 2)).steps]
        title = "" if class_board.lab else view.say("board.hidden")
        caption = paragraph([tab.write_ended(view, class_board), view.say("board.hidden_about")])
    title = paragraph([class_board.lab.say(view.language, "short") if class_board.lab else "", title])
    caption = paragraph([caption, name_empty_arms(view.language, class_board.activity)])
    if not curves:
        return [_draw_empty(view, class_board, title, caption)]
    course, _ = _draw_course(view, class_board, curves, last)
    return [blocks.figure("course", course, caption, title)]


def _draw_scores(view: View, class_board: Board, started: list[ClassRun]) -> tuple[dict, dict]:
    """Builds the scatter plot of scores and the choice of its x axis. Scaling is the loss against parameters, with a power law's fit."""
    across = view.choice("across")
    is_scaling, knob = across == "scaling", next(iter(class_board.activity["arms"][0]))
    column = "validation_loss" if is_scaling else class_board.column
    axis_names = {name: view.say(f"compare.{name}") for name in ("parameters", "seconds")} | {"knob": label(knob, view.language)}

    def locate(student: ClassRun) -> float | str | None:
        if across != "knob":
            return round(student.run.seconds, 1) if across == "seconds" else student.parameters
        value = class_board.activity["arms"][student.arm][knob]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number else describe_arm({knob: value}, view.language)

    located = [(student, place, getattr(student.curve, column)[-1]) for student in started if (place := locate(student)) is not None]
    points = [pictures.Point(student.run.id, student.arm, student.name, place, value) for student, place, value in located]
    ended = [(place, value) for student, place, value in located if is_scaling and student.ended]
    fit, axis_name = fit_power_law(*zip(*ended, strict=True)) if ended else None, axis_names["parameters" if is_scaling else across]
    options = {"column": column, "logarithmic": is_scaling, "fit": fit.line if fit else ()}
    picture = view.draw(pictures.scores, points, class_board.arms, axis_name, share=2, **options)
    axes = [{"value": value, "label": axis_names.get(value) or view.say("board.scaling")} for value in choices("across")]
    caption = view.say("board.scores_about", across=axis_name, measure=_name_measure(view, class_board))
    caption = _write_fit(view, fit, len({place for place, _ in ended})) if is_scaling else caption
    figure = blocks.figure("scores", picture, caption, view.say("board.scores"), hint=view.say("board.scores_hint"))
    return figure, blocks.choice("across", "across", view.say("board.across"), axes, across)


def _write_fit(view: View, fit: PowerLaw | None, sizes: int) -> str:
    if fit is None:
        return view.say("board.fit_few", least=MIN_SIZES, sizes=sizes)
    numbers = {name: minus(f"{getattr(fit, name):.2f}") for name in ("exponent", "low", "high")}
    sentence = view.say("board.fit", runs=fit.runs, sizes=fit.sizes, factor=f"{10**-fit.exponent:.2f}", **numbers)
    return paragraph([sentence, view.say("board.fit_open") if fit.low <= 0 <= fit.high else ""])


def _build_arms(view: View, class_board: Board) -> list[dict]:
    """Builds the table that pools the ended runs of each arm."""
    rows = []
    for arm, name in enumerate(class_board.arms):
        pooled, dealt = class_board.pooled(arm), sum(dealt_arm == arm for dealt_arm in class_board.activity["dealt"].values())
        if pooled is None:
            rows.append([name, f"0 / {dealt}", "–", "–"])
            continue
        bounds = {end: class_board.format(value) for end, value in (("low", pooled.low), ("high", pooled.high)) if value is not None}
        between = view.say("board.between", **bounds) if bounds else "–"
        rows.append([name, f"{pooled.count} / {dealt}", class_board.format(pooled.mean), between])
    head = [view.say(f"board.{name}", measure=_name_measure(view, class_board)) for name in ("arm", "ended", "mean", "interval")]
    about = blocks.text("arms-about", view.say("board.arms_about", measure=_name_measure(view, class_board)), css="pg-caption")
    return [blocks.table("arms", head, rows, view.say("board.together"), rowheads=True), about]


def _build_runs(view: View, class_board: Board, students: list[ClassRun]) -> dict:
    rows: list[tab.BoardRow] = []
    for student in students:
        loss = f"{student.curve.validation_loss[-1]:.3f}" if student.curve.steps else "–"
        rows.append({
            "run": student.run.id, "name": student.name, "arm": class_board.arms[student.arm], "here": student.run is view.run,
            "key": pictures.arm_key(student.arm, view.dark),
            "numbers": [
                view.say("compare.step_of", step=f"{student.run.step:,}", steps=f"{student.run.steps:,}"),
                "–" if student.score is None else percent(student.score), loss,
                view.say("page.seconds", seconds=f"{student.run.seconds:.1f}"),
            ],
        })  # fmt: skip
    head = [view.say(f"board.{name}" if name in HEAD[:3] else f"compare.{name}") for name in HEAD]
    return tab.board("runs", head, rows, view.say("board.runs"))
