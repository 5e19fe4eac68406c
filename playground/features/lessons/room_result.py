"""A class's guesses once they are revealed: the histogram, its caption, and the class's calibration over all its questions."""

from collections.abc import Mapping, Sequence
from typing import Any

from playground.config import Refusal
from playground.features.lessons import figure as guesses
from playground.features.shared import blocks, experiment
from playground.features.shared.labs import Say, write_guesses
from playground.features.shared.view import Screen, View
from playground.lessons import course, labs
from playground.lessons.controlled import ControlledExperiment
from playground.rooms.question import LEAST, SURE, calibrate, count_guesses, find_subject
from playground.words import listed, paragraph

LARGER = 1.5  # scale of a presented figure's words and bars, which fill the screen


def list_guesses(place: Mapping[str, str]) -> tuple[str, ...]:
    """Lists the guesses at a place. Raises Refusal for a place without a question."""
    field, name = find_subject(place)
    question = labs.get(name) if field == "lab" else course.get(name).question
    if question is None:
        raise Refusal("rooms.no_question")
    return question.guesses


def find_right_answer(view: View, place: Mapping[str, str]) -> str:
    """Returns the right guess by the experiment itself; "" while it is undecided or open. Raises Refusal for a run that can't answer it."""
    field, name = find_subject(place)
    if field == "lesson":
        return course.get(name).question.answer(view.reader, view.run, view.step, view.text)[0]
    lab = labs.get(name)
    if not isinstance(lab, ControlledExperiment):
        return lab.outcome().answer
    outcome = experiment.build_experiment(view, lab).outcome
    return outcome.answer if outcome and not outcome.also and not lab.leaves_open(outcome) else ""


def build_result(screen: Screen, question: Mapping[str, Any], room_questions: Sequence[Mapping[str, Any]]) -> list[dict]:
    """Builds the blocks of a revealed question. `room_questions` are all questions of the room, as visible to this member."""
    field, name = find_subject(question["place"])
    say: Say = (labs.get(name) if field == "lab" else course.get(name)).say
    counts, answer = question["counts"], question["answer"]
    if not counts and question["answered"]:
        sentence = screen.say("lessons.class_too_few", answered=question["answered"], least=LEAST, more=LEAST - question["answered"])
        return [blocks.text("class-few", sentence, css="pg-caption"), *_build_calibration(screen, room_questions)]
    if not counts:
        return [blocks.text("class-few", screen.say("lessons.class_nobody", joined=question["joined"]), css="pg-caption")]
    names = [say(screen.language, f"guess_{option}") for option in counts]
    degrees, rows = [screen.say("lessons.percent", percent=sure) for sure in SURE], list(counts.values())
    if any(row[-1] for row in rows):
        degrees.append(screen.say("lessons.class_untold", least=LEAST))
    else:
        rows = [row[:-1] for row in rows]
    right_index = list(counts).index(answer) if answer else None
    sentences, late = write_guesses(screen, question, names), question.get("late", 0)
    if late:
        names, degrees = [*names, sentences[1]], [*degrees, sentences[1]]
        rows = [*([*row, 0] for row in rows), [*[0] * len(rows[0]), late]]
    presented = {"scale": LARGER, "width": screen.page[0]} if screen.presented else {}
    figure = screen.draw(guesses.histogram, names, rows, degrees, right=right_index, late=bool(late), **presented)
    figure = blocks.figure("class", figure, _write_caption(screen, question, sentences), screen.say("lessons.class_guess"))
    return [figure, *_build_calibration(screen, room_questions)]


def _build_calibration(screen: Screen, room_questions: Sequence[Mapping[str, Any]]) -> list[dict]:
    """Builds the class's hit rate by confidence; nothing while there are too few guesses."""
    hits_by_sure = calibrate(room_questions).items()
    each = [screen.say("lessons.class_calibration", percent=sure, right=right, count=count) for sure, (right, count) in hits_by_sure]
    sentence = screen.say("lessons.class_so_far", each=listed(screen.language, each))
    return [blocks.text("class-calibration", sentence, css="pg-caption")] if each else []


def _write_caption(screen: Screen, question: Mapping[str, Any], sentences: list[str]) -> str:
    counts, answer = question["counts"], question["answer"]
    *by_sure, unsure_count = map(sum, zip(*counts.values(), strict=True))
    if not unsure_count:  # else the mean would reveal the confidence of a few
        mean = sum(int(sure) * count for sure, count in zip(SURE, by_sure, strict=True)) / count_guesses(counts)
        sentences.append(screen.say("lessons.class_mean", mean=mean))
    if not answer:
        return paragraph([*sentences, screen.say("lessons.class_undecided")])
    if (surest := by_sure[-1]) >= LEAST:
        right = counts[answer][len(SURE) - 1]
        sentences.append(screen.say("lessons.class_surest", percent=SURE[-1], right=right, count=surest))
    return paragraph(sentences)
