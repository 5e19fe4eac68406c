"""What the board of a class shows: which runs there are of an experiment that was dealt out, and under which names."""

from __future__ import annotations

from dataclasses import dataclass

from playground.config import Refusal
from playground.lessons.controlled import ControlledExperiment, is_complete
from playground.lessons.labs import LABS
from playground.queries.learning_curves import LearningCurve, learning_curve
from playground.queries.pooled import Pooled, pool_values
from playground.rooms import activities, experiment
from playground.rooms.room import TEACHER, Member, Room, ticket_of
from playground.runs.run import Run
from playground.runs.tables import known, parameters_of
from playground.ui.controls import shown_setting
from playground.ui.view import Screen, View
from playground.words import listed, say


@dataclass(frozen=True)
class ClassRun:
    """The run of one member, under the name that whoever looks may see."""

    number: int
    name: str
    arm: int
    run: Run
    curve: LearningCurve

    @property
    def score(self) -> float | None:
        """Exact match of the newest validation."""
        return self.curve.exact_match[-1] if self.curve.steps else None

    @property
    def ended(self) -> bool:
        """Whether it counts: it went to its end with the settings it began with."""
        return self.score is not None and is_complete(self.run)

    @property
    def parameters(self) -> int | None:
        return known(parameters_of, self.run)


@dataclass(frozen=True)
class Board:
    """One experiment of a room as whoever looks may see it."""

    room: Room
    number: int  # whose look it is
    name: str  # of the activity
    activity: activities.Activity
    arms: list[str]
    runs: list[ClassRun]

    @property
    def teacher(self) -> bool:
        return self.number == TEACHER

    @property
    def lab(self) -> ControlledExperiment | None:
        """The one whose arms were dealt."""
        return lab_of(self.activity)

    @property
    def column(self) -> str:
        """Of a learning curve, the one that decides, as far as a curve does."""
        return "validation_loss" if self.lab and self.lab.judged == "loss" else "exact_match"

    @property
    def ended(self) -> dict[int, list[ClassRun]]:
        """The runs that count, by the arms that have one."""
        ended = {arm: [run for run in self.runs if run.arm == arm and run.ended] for arm in range(len(self.arms))}
        return {arm: runs for arm, runs in ended.items() if runs}

    @property
    def fewest(self) -> int:
        """Of the runs that count, in an arm."""
        ended = self.ended
        return min(len(ended.get(arm, ())) for arm in range(len(self.arms)))

    def scores(self, arm: int) -> list[float]:
        """Of the runs of an arm that have ended."""
        return [run.score for run in self.ended.get(arm, ())]

    def pooled(self, arm: int) -> Pooled | None:
        return pool_values(self.scores(arm), (0.0, 1.0))


def experiments(room: Room) -> dict[str, activities.Activity]:
    """Every experiment of a room by its name, in their order."""
    return {name: one for name, one in room.activities.items() if one["kind"] == experiment.KIND}


def board(view: View) -> Board | None:
    """The experiment that the cursor names, else the newest one; None in a room that has none. Raises Refusal: no such room for the caller,
    or a board that the teacher doesn't show."""
    room, number = room_of(view)
    found, asked = experiments(room), view.field("activity")
    if not found:
        return None
    name = asked if asked in found else list(found)[-1]
    activity = found[name]
    if not experiment.shows_board(activity, room, number):
        raise Refusal("board.not_shown")
    return Board(room, number, name, activity, arm_names(activity, view.language), _runs(view, room, activity, is_named(view, number)))


def room_of(view: View) -> tuple[Room, int]:
    """The room that the page is in, and whose look it is. Raises Refusal."""
    code = view.parameters.get("room", "")
    if view.rooms is None or not code:
        raise Refusal("board.no_room")
    return view.rooms.inside(code, ticket_of(code, view.token))


def is_named(view: View, number: int) -> bool:
    """Whether members are called by their names: by the teacher alone, who has chosen so."""
    return number == TEACHER and view.choice("names") == "on"


def name_of(view: View, member: Member, named: bool) -> str:
    """What to call a member; who is hidden is a number for the teacher too."""
    return (named and not member.hidden and member.nickname) or view.say("page.room_student", number=member.number)


def class_name(screen: Screen, code: str) -> str:
    """What a class is called in what is saved of it."""
    return screen.say("board.class", code=code)


def arm_name(arm: dict, language: str) -> str:
    """The settings of an arm, in a line."""
    return listed(language, (shown_setting(knob, value, language) for knob, value in arm.items()))


def lab_of(activity: activities.Activity) -> ControlledExperiment | None:
    """The lab whose arms an experiment deals; None for a teacher's own arms."""
    found = LABS.get(activity.get("lab", ""))
    return found if isinstance(found, ControlledExperiment) else None


def arm_names(activity: activities.Activity, language: str) -> list[str]:
    """What the arms are called: as in their lab, else by their settings."""
    if lab := lab_of(activity):
        return [lab.say(language, f"name_{arm}") for arm in lab.arms]
    return [arm_name(arm, language) for arm in activity["arms"]]


def experiment_name(activity: activities.Activity, language: str) -> str:
    """What an experiment is called among others: as its lab, else by two of its arms."""
    lab = lab_of(activity)
    return lab.say(language, "title") if lab else " · ".join(arm_names(activity, language)[:2])


def unheld(language: str, activity: activities.Activity) -> str:
    """A sentence that names the arms which no member has; "" where there are none."""
    names = [arm_names(activity, language)[arm] for arm in experiment.unheld(activity)]
    return say(language, "board.unheld", arms=listed(language, names)) if names else ""


def _runs(view: View, room: Room, activity: activities.Activity, named: bool) -> list[ClassRun]:
    """Those that still are, by the numbers of their members."""
    found = []
    for text, id in sorted(activity["runs"].items(), key=lambda item: int(item[0])):
        run, number = view.runs.find(id), int(text)
        member = room.member(number)
        if run is None or member is None:
            continue
        run.seen()  # else it would be stopped because nobody looks at it
        found.append(ClassRun(number, name_of(view, member, named), activity["dealt"][text], run, learning_curve(run)))
    return found
