"""Collects the board of a class: the runs of a dealt experiment, with the names that the viewer may see, and statistics over them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from playground.config import Refusal
from playground.features.shared.naming import shown_setting, shown_value
from playground.features.shared.queries.validation import LearningCurve, learning_curve
from playground.features.shared.view import View, percent
from playground.lessons.controlled import ControlledExperiment, is_complete
from playground.lessons.labs import LABS
from playground.rooms import activities, experiment, question
from playground.rooms.room import TEACHER, Member, Room, ticket_of
from playground.runs.run import Run
from playground.runs.tables import parameters_of, try_read
from playground.words import listed, say

# Student's t: 95 % of the distribution lie between -t and t, with 1, 2, … degrees of freedom, to four digits.
T_95 = (
    12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
    2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
T_MORE = 2.042  # with more degrees of freedom: that of 30, which makes an interval at most a twentieth too wide
MIN_SIZES = 3  # numbers of parameters for a fit: a power law goes through any two


@dataclass(frozen=True)
class ClassRun:
    """A member's run, under the name that the viewer may see."""

    number: int
    name: str
    arm: int
    run: Run
    curve: LearningCurve

    @property
    def score(self) -> float | None:
        """Exact match at the newest validation."""
        return self.curve.exact_match[-1] if self.curve.steps else None

    @property
    def ended(self) -> bool:
        """Whether the run counts: it finished with the settings it began with."""
        return self.score is not None and is_complete(self.run)

    @property
    def parameters(self) -> int | None:
        return try_read(parameters_of, self.run)


@dataclass(frozen=True)
class Board:
    """An experiment of a room, as the viewer may see it."""

    room: Room
    number: int  # the viewer's
    name: str  # of the activity
    activity: activities.Activity
    arms: list[str]
    runs: list[ClassRun]

    @property
    def teacher(self) -> bool:
        return self.number == TEACHER

    @property
    def lab(self) -> ControlledExperiment | None:
        """The lab whose arms were dealt."""
        return find_lab(self.activity)

    @property
    def question(self) -> activities.Activity | None:
        """The class's guess at the dealt lab, if it was asked."""
        return question.find_by_lab(self.room, self.activity.get("lab", ""))

    @property
    def hidden(self) -> str:
        """The part that waits for the class's guess: "results" for a member who has still to guess; the "verdict" until the question is
        closed, for members until it is revealed; else ""."""
        state = self.question["state"] if self.question else "revealed"
        if state == "revealed" or (self.teacher and state == "closed"):
            return ""
        return "results" if question.awaits_guess(self.question, self.room, self.number) else "verdict"

    @property
    def column(self) -> str:
        """The learning curve's column that decides, as far as a curve does."""
        return "validation_loss" if self.lab and self.lab.judged == "loss" else "exact_match"

    @property
    def steps(self) -> int:
        """The most steps of an arm."""
        return max({**self.activity["base"], **arm}["steps"] for arm in self.activity["arms"])

    def newest(self, run: ClassRun) -> float:
        """Returns the deciding number at the newest validation of a run that has one."""
        return getattr(run.curve, self.column)[-1]

    def format(self, value: float) -> str:
        """Formats a value of the deciding number: nats, or percent."""
        return f"{value:.3f}" if self.column == "validation_loss" else percent(value)

    @property
    def ended(self) -> dict[int, list[ClassRun]]:
        """The runs that count, by arm; without empty arms."""
        ended = {arm: [run for run in self.runs if run.arm == arm and run.ended] for arm in range(len(self.arms))}
        return {arm: runs for arm, runs in ended.items() if runs}

    @property
    def min_runs(self) -> int:
        """The number of counted runs in the arm with the fewest."""
        ended = self.ended
        return min(len(ended.get(arm, ())) for arm in range(len(self.arms)))

    def scores(self, arm: int) -> list[float]:
        """Returns the scores of an arm's counted runs."""
        return [self.newest(run) for run in self.ended.get(arm, ())]

    def pooled(self, arm: int) -> Pooled | None:
        return pool_values(self.scores(arm), (0.0, math.inf if self.column == "validation_loss" else 1.0))


def list_experiments(room: Room) -> dict[str, activities.Activity]:
    """Returns the experiments of a room by name, in order."""
    return {name: activity for name, activity in room.activities.items() if activity["kind"] == experiment.KIND}


def find_board(view: View) -> Board | None:
    """Returns the cursor's experiment, else the newest; None in a room without one. Raises Refusal for a room that the caller is not in,
    and for a hidden board."""
    room, number = find_room(view)
    activities_by_name, chosen = list_experiments(room), view.field("activity")
    if not activities_by_name:
        return None
    name = chosen if chosen in activities_by_name else list(activities_by_name)[-1]
    activity = activities_by_name[name]
    if not experiment.shows_board(activity, room, number):
        raise Refusal("board.not_shown")
    return Board(room, number, name, activity, arm_names(activity, view.language), _find_runs(view, room, activity, is_named(view, number)))


def find_room(view: View) -> tuple[Room, int]:
    """Returns the page's room and the viewer's number. Raises Refusal."""
    code = view.parameters.get("room", "")
    if view.rooms is None or not code:
        raise Refusal("board.no_room")
    return view.rooms.authenticate(code, ticket_of(code, view.token))


def is_named(view: View, number: int) -> bool:
    """Whether members appear by name: to the teacher only, if they choose so, and never to a hall."""
    return number == TEACHER and not view.presented and view.choice("names") == "on"


def member_name(view: View, member: Member, named: bool) -> str:
    """Returns a member's name; a hidden member is a number for the teacher too."""
    return (named and not member.hidden and member.nickname) or view.say("page.room_student", number=member.number)


def describe_arm(arm: dict, language: str) -> str:
    """Describes the settings of an arm in a line: a choice by its word alone."""
    texts = ((shown_value if isinstance(value, str) else shown_setting)(knob, value, language) for knob, value in arm.items())
    return listed(language, texts)


def find_lab(activity: activities.Activity) -> ControlledExperiment | None:
    """Returns the lab whose arms an experiment deals; None for a teacher's own arms."""
    lab = LABS.get(activity.get("lab", ""))
    return lab if isinstance(lab, ControlledExperiment) else None


def arm_names(activity: activities.Activity, language: str) -> list[str]:
    """Names the arms: as in their lab, else by their settings."""
    if lab := find_lab(activity):
        return [lab.say(language, f"name_{arm}") for arm in lab.arms]
    return [describe_arm(arm, language) for arm in activity["arms"]]


def experiment_name(activity: activities.Activity, language: str) -> str:
    """Names an experiment: as its lab, else by two of its arms."""
    lab = find_lab(activity)
    return lab.say(language, "title") if lab else " · ".join(arm_names(activity, language)[:2])


def list_quoted(language: str, names: Iterable[str]) -> str:
    """Lists names of arms, which may have commas."""
    return listed(language, (f"“{name}”" for name in names))


def name_empty_arms(language: str, activity: activities.Activity) -> str:
    """Returns a sentence that names the arms without a member; "" if there are none."""
    names = [arm_names(activity, language)[arm] for arm in experiment.free_arms(activity)]
    return say(language, "board.unheld", arms=list_quoted(language, names)) if names else ""


def _find_runs(view: View, room: Room, activity: activities.Activity, named: bool) -> list[ClassRun]:
    """Returns the existing runs, in the order of their members."""
    class_runs = []
    for key, id in sorted(activity["runs"].items(), key=lambda item: int(item[0])):
        run, number = view.runs.find(id), int(key)
        member = room.member(number)
        if run is None or member is None:
            continue
        run.mark_seen()  # marks it as viewed: an unwatched run would be stopped
        class_runs.append(ClassRun(number, member_name(view, member, named), activity["dealt"][key], run, learning_curve(run)))
    return class_runs


class Pooled(NamedTuple):
    """A mean with its interval; `low` and `high` are None with fewer than two values."""

    count: int
    mean: float
    low: float | None
    high: float | None


class PowerLaw(NamedTuple):
    """A fit of loss to parameters^-exponent with its 95 % t interval; `line` lists parameters, losses, and the ends of their interval."""

    runs: int
    sizes: int
    exponent: float
    low: float
    high: float
    line: tuple[list[float], ...]


class Pairs(NamedTuple):
    """Counts over `all` pairs of a value of the first arm and one of the second: the first is above, or both are the same."""

    all: int
    above: int
    same: int


def pool_values(values: Sequence[float], bounds: tuple[float, float] | None = None) -> Pooled | None:
    """Averages independent values, with a 95 % t interval, cut at `bounds`; None without values."""
    if not len(values):
        return None
    mean = float(np.mean(values))
    if len(values) == 1:
        return Pooled(1, mean, None, None)
    reach = _find_t(len(values) - 1) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    low, high = mean - reach, mean + reach
    if bounds:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Pooled(len(values), mean, low, high)


def fit_power_law(parameters: Sequence[float], losses: Sequence[float]) -> PowerLaw | None:
    """Fits ln(loss) = a - exponent ln(parameters) by least squares to one point a run; None with fewer than MIN_SIZES different sizes."""
    x, y, sizes = np.log(parameters), np.log(losses), len(set(parameters))
    if sizes < MIN_SIZES:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    squares, freedom = np.square(x - x.mean()).sum(), len(x) - 2
    deviation = math.sqrt(np.square(y - intercept - slope * x).sum() / freedom) * _find_t(freedom)
    reach, line = deviation / math.sqrt(squares), np.linspace(x.min(), x.max(), 20)
    values, half = intercept + slope * line, deviation * np.sqrt(1 / len(x) + np.square(line - x.mean()) / squares)
    drawn = tuple([np.exp(each).tolist() for each in (line, values, values - half, values + half)])
    return PowerLaw(len(x), sizes, -slope, -slope - reach, reach - slope, drawn)


def _find_t(freedom: int) -> float:
    """Returns Student's t for a 95 % interval with `freedom` degrees of freedom."""
    return T_95[freedom - 1] if freedom <= len(T_95) else T_MORE


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> Pairs:
    """Compares every value of `first` with every value of `second`."""
    difference = np.subtract.outer(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    return Pairs(difference.size, int((difference > 0).sum()), int((difference == 0).sum()))
