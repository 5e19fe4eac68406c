"""Of equal runs those nearest to their end go first, all are seen to move, and no owner is left behind for long."""

from statistics import median

from playground.runs.queue.scheduler import FAIR, LEAD_S
from tests.runs.queue.test_scheduler import ByHand, Job

TURN = 0.1


def a_class(students: int, turns: int) -> tuple[ByHand, list[Job]]:
    server = ByHand(cores=1, memory=10_000)
    jobs = [Job(number, owner=f"student {number}", turns=turns, seconds=TURN) for number in range(students)]
    server.add(*jobs)
    return server, jobs


def test_half_of_a_class_has_ended_when_little_more_than_half_of_the_time_is_over():
    server, jobs = a_class(30, 40)
    log = server.turns()
    ends = [max(at for at, key in enumerate(log) if key == job.key) + 1 for job in jobs]
    assert max(ends) == 30 * 40  # no later than in equal turns
    assert median(ends) < 0.7 * max(ends)  # where in equal turns it is nearly all of it


def test_all_are_seen_to_move_meanwhile():
    server, jobs = a_class(30, 40)
    log = server.turns(30 * 40 // 2)
    assert {job.key for job in jobs} == set(log)
    third = [log[at : at + 2 * FAIR * 30] for at in range(0, len(log) - 2 * FAIR * 30, 30)]
    ended = {job.key for job in jobs if not job.turns}
    assert all(set(part) | ended >= {job.key for job in jobs} for part in third)


def test_an_owner_of_many_short_runs_takes_little_more_than_one_with_a_long_one():
    server = ByHand(cores=1, memory=10_000)
    server.add(Job("long", owner="a", turns=10_000, seconds=TURN))
    for number in range(100):  # one after the other, or they would be too many
        server.add(Job(number, owner="b", turns=20, seconds=TURN))
        server.turns(30)
    theirs = TURN * sum(key != "long" for key in server.log)
    assert theirs - TURN * server.log.count("long") <= LEAD_S + 2 * TURN
