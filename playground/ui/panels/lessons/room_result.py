"""What a class guessed, once it is revealed: the picture, its caption, and the calibration of the class over all its questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.config import Refusal
from playground.figures import guesses
from playground.lessons import course, labs
from playground.lessons.controlled import ControlledExperiment
from playground.rooms.question import LEAST, SURE, calibrate, count_guesses, find_subject
from playground.ui import blocks
from playground.ui.panels.lessons import experiment
from playground.ui.panels.lessons.guessing import Say
from playground.ui.view import Screen, View
from playground.words import listed, paragraph

LARGER = 1.5  # times: the words and bars of a presenter's picture, which has the screen to itself


def options(place: Mapping[str, str]) -> tuple[str, ...]:
    """What can be guessed at a place. Raises Refusal where nothing is asked."""
    field, name = find_subject(place)
    question = labs.get(name) if field == "lab" else course.get(name).question
    if question is None:
        raise Refusal("rooms.no_question")
    return question.guesses


def right_answer(view: View, place: Mapping[str, str]) -> str:
    """The guess that came out right, by the experiment itself; "" while it has not decided, or leaves it open. Raises Refusal for a run
    that can't tell."""
    field, name = find_subject(place)
    if field == "lesson":
        return course.get(name).question.answer(view.reader, view.run, view.step, view.text)[0]
    lab = labs.get(name)
    if not isinstance(lab, ControlledExperiment):
        return lab.outcome().answer
    outcome = experiment.show(view, lab).outcome
    return outcome.answer if outcome and not outcome.also and not lab.leaves_open(outcome) else ""


def result(screen: Screen, question: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> list[dict]:
    """Blocks of a question that is revealed. `others` are all questions of the room, as its member sees them."""
    field, name = find_subject(question["place"])
    say: Say = (labs.get(name) if field == "lab" else course.get(name)).say
    counts, answer = question["counts"], question["answer"]
    if not counts and question["answered"]:
        said = screen.say("lessons.class_too_few", answered=question["answered"], least=LEAST, more=LEAST - question["answered"])
        return [blocks.text("class-few", said, css="pg-caption"), *_calibration(screen, others)]
    if not counts:
        return [blocks.text("class-few", screen.say("lessons.class_nobody", joined=question["joined"]), css="pg-caption")]
    names = [say(screen.language, f"guess_{option}") for option in counts]
    degrees, rows = [screen.say("lessons.percent", percent=sure) for sure in SURE], list(counts.values())
    if any(row[-1] for row in rows):
        degrees.append(screen.say("lessons.class_untold", least=LEAST))
    else:
        rows = [row[:-1] for row in rows]
    right = list(counts).index(answer) if answer else None
    large = {"scale": LARGER, "width": screen.page[0]} if screen.presented else {}
    drawn = screen.draw(guesses.histogram, names, rows, degrees, right=right, **large)
    figure = blocks.figure("class", drawn, _caption(screen, question, names), screen.say("lessons.class_guess"))
    return [figure, *_calibration(screen, others)]


def _calibration(screen: Screen, others: Sequence[Mapping[str, Any]]) -> list[dict]:
    """How often the class was right when it was so sure; nothing while too few guesses are told."""
    found = calibrate(others).items()
    each = [screen.say("lessons.class_calibration", percent=sure, right=good, count=made) for sure, (good, made) in found]
    said = screen.say("lessons.class_so_far", each=listed(screen.language, each))
    return [blocks.text("class-calibration", said, css="pg-caption")] if each else []


def _caption(screen: Screen, question: Mapping[str, Any], names: Sequence[str]) -> str:
    counts, answer = question["counts"], question["answer"]
    made = sorted(((sum(row), name) for row, name in zip(counts.values(), names, strict=True)), key=lambda one: -one[0])
    each = listed(screen.language, [screen.say("lessons.class_count", guess=name, count=count) for count, name in made if count])
    said = [screen.say("lessons.class_guessed", answered=count_guesses(counts), joined=question["joined"], each=each)]
    *by_sure, untold = map(sum, zip(*counts.values(), strict=True))
    if not untold:  # else the mean would tell how sure the few were
        mean = sum(int(sure) * count for sure, count in zip(SURE, by_sure, strict=True)) / count_guesses(counts)
        said.append(screen.say("lessons.class_mean", mean=mean))
    if not answer:
        return paragraph([*said, screen.say("lessons.class_undecided")])
    if (surest := by_sure[-1]) >= LEAST:
        right = counts[answer][len(SURE) - 1]
        said.append(screen.say("lessons.class_surest", percent=SURE[-1], right=right, count=surest))
    return paragraph(said)
