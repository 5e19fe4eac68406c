"""A class in one room, asked for as thirty pages do: they follow, guess, translate, train the arm they were dealt, read the board.

First people (who does what), then streams (what they are told) and records (what they met).
"""

import argparse
import random
import string
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from benchmarks.classroom.people import Student, Teacher
from benchmarks.classroom.records import Records
from benchmarks.classroom.streams import ClassStreams, Moves
from benchmarks.machine import load
from benchmarks.server import ENDLESS, Server, endless
from benchmarks.step_rate import step_tokens
from benchmarks.suite import note, tiny
from benchmarks.tables import markdown, milliseconds, percent, whole
from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.tasks.toy_tasks import examples

ABOUT = "a class of thirty in one room for minutes: errors, secrets heard elsewhere, following, panels, training together, memory"
ARMS = [{"learning_rate": 0.001}, {"learning_rate": 0.003}]
STAGE = 6.0  # seconds from one stage of a question to the next, and between showing the board and hiding it
DAY = 86_400
SMOKE = {"students": 3, "minutes": 0.1, "alone": 1.0, "move": 0.5, "set": tiny(eval_every=100)}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=10.0, help="for which the class works, once all of its runs train")
    parser.add_argument("--alone", type=float, default=15.0, help="seconds for which one run is counted that trains alone")
    parser.add_argument("--move", type=float, default=2.0, help="seconds between two moves of the teacher")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two looks at what the server holds")


def run(options: argparse.Namespace) -> dict:
    """{"students", "seconds", "errors": {why: times}, "leaks": {kind of secret: times}, "heard": bytes looked at for them, "times": {kind:
    {"count", "median", "p95", "p99"} in seconds}, "training": {"alone", "together": real tokens per second, "share": of all against
    alone, "fair": Jain's index of steps, "least": the fewest steps, as a share of the mean},
    "held": [{"time", "load", "bytes", "threads", "files"}]}."""
    knobs = dict(options.set)
    experiment, records = Experiment().with_(**knobs), Records()
    tokens = step_tokens(build_corpus(experiment.data).train, experiment.training.batch_size)
    with Server() as server:
        held = [{"time": 0.0, "load": load(), **server.held()}]
        alone = tokens * _alone(server, knobs, options.alone)
        with _class(server, options, knobs, records) as (teacher, students, moves):
            started, before, looked = time.monotonic(), server.list_unfinished(), time.perf_counter()
            with _at_work(teacher, students, moves, options, started + 60 * options.minutes):
                while (left := started + 60 * options.minutes - time.monotonic()) > 0:
                    time.sleep(min(options.every, left))
                    held.append({"time": time.monotonic() - started, "load": load(), **server.held()})
                    note("{time:.0f} s: load {load}, {bytes:,} bytes, {threads} threads, {files} files".format(**held[-1]))
                after, took = server.list_unfinished(), time.perf_counter() - looked
        steps = [(after[run]["step"] - state["step"]) / took for run, state in before.items()]
    return {
        "students": options.students,
        "seconds": took,
        "errors": dict(records.errors),
        "leaks": dict(records.leaks),
        "heard": records.bytes,
        "times": records.times(),
        "training": {
            **{"alone": alone, "together": tokens * sum(steps), "share": tokens * sum(steps) / alone},
            **{"fair": sum(steps) ** 2 / len(steps) / sum(rate * rate for rate in steps), "least": min(steps) * len(steps) / sum(steps)},
        },
        "held": held,
    }


def _alone(server: Server, knobs: dict[str, Any], seconds: float) -> float:
    """Returns the steps per second of one run."""
    with endless(server, knobs | ARMS[0]):
        ((run, before),), looked = server.list_unfinished().items(), time.perf_counter()
        time.sleep(seconds)
        after, took = server.list_unfinished()[run], time.perf_counter() - looked
    return (after["step"] - before["step"]) / took


@contextmanager
def _class(
    server: Server, options: argparse.Namespace, knobs: dict[str, Any], records: Records
) -> Iterator[tuple[Teacher, list[Student], Moves]]:
    """A room in which everybody has joined and trains. Ends with it."""
    drawn = "".join(random.SystemRandom().choices(string.ascii_lowercase, k=8))
    teacher = Teacher(0, drawn, server.port, records)
    students = [Student(number, drawn, server.port, records) for number in range(1, options.students + 1)]
    teacher.allowed |= {student.canaries.name for student in students}
    teacher.enter("open", language="en", ends=time.time() + DAY)
    sentences = examples("reverse", "heldout", int(60 * options.minutes / options.move) + 2, 999_995)
    moves = Moves([sentence.src for sentence in sentences], records)
    with ExitStack() as stack:
        for person in (teacher, *students):
            stack.callback(person.close)
        _together([lambda each=each: each.enter("join", code=teacher.code, nickname=each.canaries.name) for each in students])
        streams = stack.enter_context(ClassStreams(server.port, [teacher, *students], moves, records))
        teacher.deal(knobs | ENDLESS, ARMS)
        _wait(lambda: all(each.activity("experiment")[0] for each in students))
        _together([student.train for student in students])
        for student in students:
            streams.follow(student)
        _wait(lambda: min(state["step"] for state in server.list_unfinished().values()) > 0)
        yield teacher, students, moves


@contextmanager
def _at_work(teacher: Teacher, students: Sequence[Student], moves: Moves, options: argparse.Namespace, until: float) -> Iterator[None]:
    with ThreadPoolExecutor(len(students) + 1) as pool:
        acts = [pool.submit(student.attend, until) for student in students]
        acts.append(pool.submit(_teach, teacher, moves, options.move, until))
        yield
    for act in acts:
        act.result()


def _teach(teacher: Teacher, moves: Moves, pause: float, until: float) -> None:
    """Moves all the time; meanwhile a question goes through its stages, and the board is shown and hidden in turns."""
    stage, due = 0, time.monotonic()
    for number, text in enumerate(moves.texts):
        if time.monotonic() >= until:
            return
        moves.sent()
        teacher.move(text, 1 + number % 4)
        if time.monotonic() >= due:
            teacher.question(stage % 4)
            teacher.share(stage % 4 < 2)
            stage, due = stage + 1, time.monotonic() + STAGE
        teacher.look()
        time.sleep(max(min(pause, until - time.monotonic()), 0))


def _together(acts: Sequence[Callable[[], object]]) -> None:
    """All at the same moment, as when a teacher says "now". Raises what the first of them raised."""
    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(lambda act: act(), acts))


def _wait(met: Callable[[], object], patience: float = 120.0) -> None:
    until = time.monotonic() + patience
    while not met():
        if time.monotonic() > until:
            raise TimeoutError("the class did not begin")
        time.sleep(0.1)


def table(result: dict) -> str:
    training = result["training"]
    lines = [
        f"{result['students']} students for {result['seconds']:.0f} s.",
        f"Errors: {result['errors'] or 'none'}. Secrets heard by somebody else: {result['leaks'] or 'none'}, in {result['heard']:,} bytes.",
        f"Training: one run alone {whole(training['alone'])} real tokens/s, all together {whole(training['together'])}"
        f" ({percent(training['share'])}), fair {training['fair']:.3f} (Jain's index of steps),"
        f" the slowest {percent(training['least'])} of the mean.",
    ]
    times = [
        (kind, whole(each["count"]), *(milliseconds(each[name]) for name in ("median", "p95", "p99")))
        for kind, each in sorted(result["times"].items())
    ]
    held = [
        (f"{row['time']:.0f}", str(row["load"]), whole((row["bytes"] or 0) / 2**20), str(row["threads"]), str(row["files"]))
        for row in result["held"]
    ]
    waited = markdown(("what was waited for", "times", "median ms", "95 %", "99 %"), times)
    return "\n\n".join((*lines, waited, markdown(("seconds", "load", "MB (PSS)", "threads", "files"), held)))
