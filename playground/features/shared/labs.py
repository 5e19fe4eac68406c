"""Guessing, for labs and lessons: a guess with its confidence, required before the result; the verdict on it; and a lab's exhibits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.cursor import choices
from playground.features.shared import blocks
from playground.features.shared.figures import graph, tensor
from playground.features.shared.figures.tokens import Name
from playground.features.shared.view import Screen, View
from playground.lessons.lab import Dots, Grid, Lab, Lines, TextTable
from playground.words import listed, paragraph, printed

SURE = choices("sure")  # percent
FIELDS = {"lab": ("guess", "sure"), "lesson": ("predicted", "certain")}  # cursor fields of the guess and its confidence
UNKNOWN = "unknown"  # the guess of a student who doesn't know
Say = Callable[..., str]  # of a lab or a lesson: (language, key, **values)
Exhibit = Grid | Lines | Dots | TextTable
MAX_NARROW_COLUMNS = 6  # of a table that fits beside another
GAP = 26  # px between two exhibits
ASIDE = "pg-aside"  # the class of what stands beside a question


def write_guesses(screen: Screen, question: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Writes how often a class made each guess, the most frequent first; then, if any came late, how many were made after training began,
    and how many of a guess where that may be told. `names` are those of the guesses that the question counts."""
    name_of = dict(zip(question["counts"], names, strict=True))

    def list_counts(counts: Mapping[str, int]) -> str:
        pairs = sorted(((count, name_of[guess]) for guess, count in counts.items() if count), key=lambda pair: -pair[0])
        return listed(screen.language, [screen.say("lessons.class_count", guess=name, count=count) for count, name in pairs])

    counts = {guess: sum(row) for guess, row in question["counts"].items()}
    return [
        screen.say("lessons.class_guessed", answered=sum(counts.values()), joined=question["joined"], each=list_counts(counts)),
        *([screen.say("page.room_asked_late", late=question["late"])] if question.get("late") else []),
        *([screen.say("lessons.class_late", each=list_counts(late_by))] if (late_by := question.get("late_by")) else []),
    ]


def build_question(view: View, say: Say, guesses: Sequence[str], about: tuple[str, str]) -> tuple[list[dict], str, str, bool]:
    """Returns (the question's blocks, the guess, its confidence, whether the answer may be shown). `about`: ("lab" or "lesson", its name).

    While a class guesses, the answer is hidden from everyone, and a guess may change until the question is closed or the guess "fixed".
    """
    fields = FIELDS[about[0]]
    guess = view.choice(fields[0], (UNKNOWN, *guesses))
    sure = view.choice(fields[1])
    if view.awaits and guess == UNKNOWN:
        guess = ""
    options = [{"value": value, "label": say(view.language, f"guess_{value}")} for value in guesses]
    question = [blocks.choice("guess", fields[0], view.say("lessons.guess"), options, guess)]
    answered = not view.awaits and (guess == UNKNOWN or bool(guess and sure))
    if guess and not answered:
        levels = [{"value": value, "label": view.say("lessons.percent", percent=value)} for value in SURE]
        question.append(blocks.choice("sure", fields[1], view.say("lessons.sure"), levels, sure))
    elif not guess and not view.awaits:
        question.append(blocks.button("unknown", "move", view.say("lessons.unknown"), to={fields[0]: UNKNOWN}))
    if view.awaits in ("closed", "fixed"):
        question = lock_choices(question, view if view.awaits == "fixed" else None)
    return [*question, blocks.question("class", *about)], guess, sure, answered


def lock_choices(question: list[dict], trains: View | None = None) -> list[dict]:
    """Disables the guess once the answer is shown, and drops an UNKNOWN one; or, on a view in which its experiment `trains`, says so."""
    question = question if trains else [block for block in question if block.get("value") != UNKNOWN]
    why = [blocks.text("fixed", trains.say("lessons.fixed"), css="pg-caption")] if trains else []
    return [block | {"off": True} if block["kind"] == "choice" else block for block in question] + why


def build_verdict(
    view: View,
    say: Say,
    record_as: str,
    answer: str,
    numbers: Mapping[str, Any],
    guess: str,
    sure: str,
    more: str = "",
    *,
    also: Sequence[str] = (),
    is_open: bool = False,
) -> list[dict]:
    """Builds the verdict on a guess, and the reason; the browser counts it under `record_as` unless `sure` is empty. Guesses in `also` are
    right within the tolerance; no guess counts where the experiment leaves the question open."""
    right, has_guessed = guess in (answer, *also), guess != UNKNOWN
    sure = "" if is_open else sure
    key = "undecided" if is_open else "right" if guess == answer else "right_also" if right else "wrong"
    sentence = view.say(f"lessons.{key}", answer=say(view.language, f"guess_{answer}"))
    reason = say(view.language, f"why_{answer}", **numbers)
    return [
        blocks.text("verdict", paragraph((has_guessed and sentence, reason, more)), css="pg-cell"),
        blocks.record("record", record_as, int(sure) if has_guessed and sure else 0, right),
        blocks.calibration("calibration"),
    ]


def build_exhibits(view: View, lab: Lab, exhibits: Sequence[Exhibit]) -> list[dict]:
    """Builds exhibits; a table is placed beside other tables, but in its own row among figures, whose captions and plots align."""
    width = view.room(2, gap=GAP)
    only_tables = all(isinstance(exhibit, TextTable) for exhibit in exhibits)
    return [_build_exhibit(view, lab, exhibit, width, only_tables) for exhibit in exhibits]


def _build_exhibit(view: View, lab: Lab, exhibit: Exhibit, width: int, only_tables: bool) -> dict:
    title = lab.say(view.language, f"show_{exhibit.name}")
    caption = lab.say(view.language, f"caption_{exhibit.name}", **exhibit.caption)
    if isinstance(exhibit, TextTable):
        rows = [[say_label(view, lab, cell) for cell in row] for row in exhibit.rows]
        table = blocks.table(f"{exhibit.name}-table", [say_label(view, lab, name) for name in exhibit.columns], rows, title)
        css = "column" if only_tables and len(exhibit.columns) <= MAX_NARROW_COLUMNS else "column wide"
        return blocks.row(exhibit.name, table, blocks.text(f"{exhibit.name}-caption", caption, css="pg-caption"), css=css)
    if isinstance(exhibit, Dots):
        by_label = {say_label(view, lab, name): row for name, row in exhibit.values.items()}
        figure = view.draw(graph.dots, by_label, percent=lab.say(view.language, "axis_percent"), width=width)
        return blocks.figure(exhibit.name, figure, caption, title)
    if isinstance(exhibit, Lines):
        by_label = {say_label(view, lab, name): line for name, line in exhibit.lines.items()}
        axis = lab.say(view.language, f"axis_{exhibit.name}")
        percent = lab.say(view.language, "axis_percent") if exhibit.percent else ""
        bands = {say_label(view, lab, name): band for name, band in exhibit.bands.items()}
        axes = {"log_x": exhibit.log_x, "log_y": exhibit.log_y, "bands": bands, "ends": exhibit.ends}
        figure = view.draw(graph.lines, exhibit.x, by_label, title=axis, percent=percent, width=width, **axes)
        return blocks.figure(exhibit.name, figure, caption, title)
    figure, css = _draw_grid(view, lab, exhibit, width)
    return blocks.figure(exhibit.name, figure, caption, title, css=css)


def build_aside(view: View, lab: Lab, exhibit: Grid | Lines, guess: str, caption: str = "") -> list[dict]:
    """Builds what stands beside a question before its answer may be seen: a grid of what is asked about, or the axes of curves to come,
    with the curves' names; their area says `guess`."""
    if view.presented:  # where the question stands alone
        return []
    if isinstance(exhibit, Grid):
        return [block | {"css": f"{ASIDE} {block['css']}"} for block in build_exhibits(view, lab, [exhibit])]
    axes = {"title": lab.say(view.language, f"axis_{exhibit.name}"), "log_x": exhibit.log_x}
    axes |= {"percent": lab.say(view.language, "axis_percent")} if exhibit.percent else {}
    names, ends = [say_label(view, lab, name) for name in exhibit.lines], exhibit.ends or (float(exhibit.x[0]), float(exhibit.x[-1]))
    figure = view.draw(graph.to_guess, ends, names, guess, width=view.room(2, gap=GAP), **axes)
    title = lab.say(view.language, f"show_{exhibit.name}")
    caption = caption or lab.say(view.language, f"caption_{exhibit.name}", **exhibit.caption)
    return [blocks.figure("to-guess", figure, caption, title, css=ASIDE)]


def build_results(view: View, lab: Lab, exhibits: Sequence[Exhibit]) -> tuple[list[dict], list[dict]]:
    """Builds all exhibits: those beside the question, where their axes were, and a row of the others."""
    first = [exhibit for exhibit in exhibits if exhibit.name in lab.aside and not (isinstance(exhibit, Grid) or view.presented)]
    remaining = build_exhibits(view, lab, [exhibit for exhibit in exhibits if exhibit.name not in {each.name for each in first}])
    aside = [blocks.row("aside", *build_exhibits(view, lab, first), css=ASIDE)] if first else []
    return aside, [blocks.row("exhibits", *remaining, css="grids")] if remaining else []


def _draw_grid(view: View, lab: Lab, exhibit: Grid, width: int) -> tuple[dict, str]:
    """Draws a grid with every number on its cell: as wide as its neighbours, or as the page, or scrolling sideways in its own box."""
    rows, columns = ([Name(say_label(view, lab, name)) for name in names] for names in (exhibit.rows, exhibit.columns))
    numbers, digits = exhibit.values.size <= tensor.CELLS, exhibit.digits if exhibit.scale != "plain" else 0
    needed_width = tensor.needed_width(exhibit.values, rows, columns, width, digits) if numbers else view.width
    css = "" if needed_width <= width else "wide" if needed_width <= view.width else "wide scrolls"
    key = f"hatched_{exhibit.name}"  # of a hatching that isn't a mask
    hatched = {"masked": lab.say(view.language, key)} if lab.knows(view.language, key) else {}
    figure = view.draw(
        tensor.heatmap, exhibit.values, rows, columns, kind=exhibit.hue, scale=exhibit.scale, mask=exhibit.mask, digits=exhibit.digits,
        numbers=numbers, width=max(needed_width, view.width if css else width), labels=view.labels | hatched,
    )  # fmt: skip
    if "scrolls" in css:
        figure["layout"]["width"] = needed_width
    return figure, css


def say_label(view: View, lab: Lab, name: str, otherwise: str = "") -> str:
    """Translates a label; labels that aren't words stay as they are."""
    return lab.say(view.language, f"name_{name}") if lab.knows(view.language, f"name_{name}") else otherwise or printed(name)
