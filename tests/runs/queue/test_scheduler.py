"""Who trains next, and on how many cores: turns are given by hand, or by real threads; and who looks into a model next."""

import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from statistics import median
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, strategies as st

from playground.runs.queue import scheduler as module
from playground.runs.queue.parallel import DEADLINE_FACTOR, Helpers, ReaderThreads
from playground.runs.queue.scheduler import FAIR_EVERY, LEAD_S, Scheduler
from playground.runs.runtime import Runtime
from tests.runs.tiny import wait

CORES, TURN = 3, 0.1
jobs = st.builds(
    dict, owner=st.sampled_from("abc"), cores=st.integers(1, 4), bytes=st.integers(0, 120), turns=st.integers(1, 4),
    seconds=st.sampled_from((0.01, 0.1, 3.0)), lane=st.sampled_from((None, None, "p", "q")),
)  # fmt: skip


class Job:
    """Wants so many turns of so many seconds. `during` is done in each: the turns of other workers begin there."""

    def __init__(self, key, owner="a", cores=1, bytes=0, turns=1, seconds=1.0, lane=None, node=None, during=lambda: None):
        self.key, self.owner, self.cores, self.bytes, self.turns, self.seconds = key, owner, cores, bytes, turns, seconds
        self.lane, self.node, self.during, self.urgent, self.place = lane, node, during, False, 0

    @property
    def left(self):
        return self.turns * self.seconds

    def turn(self, seconds, parallel_map):
        self.given, self.cores_given = seconds, getattr(parallel_map, "cores", 1)
        self.server.begun(self)
        self.turns -= 1
        return self.turns > 0 and not self.urgent


class ByHand:
    """A scheduler without threads. `log` has the keys of the turns, in order; what is at work at once is checked at each."""

    def __init__(self, cores=CORES, memory=100, **options):
        self.now, self.log, self.at_work = 0.0, [], []
        spawn = lambda work, name: SimpleNamespace(is_alive=lambda: True, join=lambda seconds: None, name=name, ident=-1)  # noqa: E731
        self.scheduler = Scheduler(cores, memory, 0.1, runtime=Runtime(lambda: self.now, spawn=spawn), **options)

    def add(self, *jobs):
        for job in jobs:
            job.server = self
            self.scheduler.add(job)
        return jobs

    def begun(self, job):
        self.log.append(job.key)
        self.at_work.append(job)
        assert len({other.key for other in self.at_work}) == len(self.at_work), "a job has two turns at once"
        lanes = [other.lane for other in self.at_work if other.lane]
        assert len(set(lanes)) == len(lanes), "a lane has two turns at once"
        assert sum(other.cores_given for other in self.at_work if not (other.urgent or other.node)) <= self.scheduler.cores
        assert self.scheduler.reserved <= self.scheduler.memory or len(self.scheduler._jobs) == 1
        job.during()
        self.now += job.seconds
        self.at_work.remove(job)

    def turn(self):
        return self.scheduler.give_turn(blocking=False)

    def turns(self, most=10_000):
        while most and self.turn():
            most -= 1
        return self.log


@given(st.lists(jobs, max_size=8), st.randoms(use_true_random=False))
def test_every_job_has_all_its_turns_and_everything_comes_back(drawn, random):
    server = ByHand()
    nested = lambda: random.random() < 0.6 and len(server.at_work) < CORES and server.turn()  # noqa: E731
    made = [Job(number, during=nested, **values) for number, values in enumerate(drawn)]
    for job in made:
        server.add(job)
        server.turns(random.randrange(3))
    server.turns()
    assert sorted(server.log) == sorted(number for number, values in enumerate(drawn) for _ in range(values["turns"]))
    assert server.scheduler.count() == {"training": 0, "waiting": 0, "alive": CORES, "replaced": 0, "lost": 0}
    assert (server.scheduler.reserved, server.scheduler._free) == (0, CORES)
    assert not server.scheduler._job_used
    assert not server.scheduler._owner_used
    assert not server.scheduler._longest


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from((0.05, 0.1, 0.3))), min_size=2, max_size=6))
def test_no_owner_has_far_more_than_another(drawn):
    server, longest = ByHand(cores=1), max(seconds for _, seconds in drawn)
    made = server.add(*(Job(n, owner=owner, turns=10_000, seconds=seconds) for n, (owner, seconds) in enumerate(drawn)))
    server.turns(600)
    spent = {job.key: server.log.count(job.key) * job.seconds for job in made}
    owners = {owner: sum(spent[job.key] for job in made if job.owner == owner) for owner, _ in drawn}
    assert max(owners.values()) - min(owners.values()) <= LEAD_S + 2 * longest


@pytest.mark.parametrize(("wanted", "given"), [(1, 1), (2, 2), (8, 3)])
def test_a_lone_job_has_all_the_cores_it_can_use_and_one_as_soon_as_another_waits(wanted, given):
    server, cores = ByHand(), []
    first = Job("first", cores=wanted, turns=5, during=lambda: cores.append(first.cores_given))
    server.add(first)
    server.turns(1)
    server.add(Job("second", owner="b", cores=2, turns=9))  # which is further from its end
    server.turns(3)
    assert cores[:2] == [given, 1]


def test_memory_is_given_first_come_first_served_and_an_urgent_job_needs_neither_it_nor_a_core_but_its_lane():
    server, waiting = ByHand(cores=1, memory=100), Job("waiting", bytes=100)
    server.add(Job("holder", bytes=100, turns=3, during=lambda: server.turn()), waiting)
    server.turns(1)
    assert server.log == ["holder"], "there is neither"
    waiting.urgent = True
    server.scheduler.wake()
    server.turns(2)
    assert server.log[:3] == ["holder", "waiting", "holder"]
    server, urgent = ByHand(), Job("urgent", lane="process")
    urgent.urgent = True
    server.add(Job("first", lane="process", during=lambda: server.add(urgent) and server.turn()))
    server.turn()
    assert server.log == ["first"]
    server = ByHand(cores=2, memory=100)
    made = server.add(*(Job(n, owner=n, bytes=bytes) for n, bytes in enumerate((60, 60, 30))))
    assert [job.place for job in made] == [0, 1, 2], "the small one would fit, but it came later"
    server.turns()
    assert ([job.place for job in made], server.log[0]) == ([0, 0, 0], 0)
    server = ByHand(memory=100, unaccounted=lambda: 50)
    made = server.add(Job("first", bytes=60, turns=2), Job("second", bytes=10))
    assert [job.place for job in made] == [0, 1], "the first is alone and may have all"


def test_an_overdue_turn_is_given_up_and_its_memory_comes_back_when_it_ends():
    server, lost = ByHand(cores=2), []

    def hang():
        server.now += 1000
        lost.extend(server.scheduler.replace(lambda turn: server.now - turn.began > 500))
        assert server.scheduler.count() | {"alive": 2} == {"training": 0, "waiting": 0, "alive": 2, "replaced": 0, "lost": 1}
        assert server.scheduler.reserved == 40, "the thread still holds it"

    (job,) = server.add(Job("hangs", bytes=40, cores=2, turns=5, during=hang))
    assert not server.turn(), "the thread has lost its place"
    assert [turn.job for turn in lost] == [job]
    assert server.turns() == ["hangs"], "it has no other turn"
    assert (server.scheduler.reserved, server.scheduler._free) == (0, 2)


class Threaded(Job):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.server, self.done = SimpleNamespace(begun=lambda job: job.during()), threading.Event()

    def turn(self, seconds, parallel_map):
        return super().turn(seconds, parallel_map) or self.done.set()


@pytest.fixture
def start():
    """start(*jobs) -> a scheduler with threads, and these jobs."""
    opened = []

    def make(*jobs, cores=2, **options):
        opened.append(Scheduler(cores, 100, 0.01, **options))
        for job in jobs:
            opened[-1].add(job)
        return opened[-1]

    yield make
    for scheduler in opened:
        scheduler.close()


def test_real_threads_give_every_turn_and_closing_leaves_none(start):
    before = threading.active_count()
    jobs = [Threaded(n, owner=n % 3, cores=3, turns=3) for n in range(7)]
    scheduler = start(Threaded("broken", during=lambda: 1 / 0), *jobs, cores=3)
    assert all(job.done.wait(60) for job in jobs)
    for _ in range(2):
        scheduler.close()
    assert threading.active_count() == before


@pytest.mark.fault("an exception in the warm-up", "the log says so, and workers go on")
@pytest.mark.parametrize("error", [RuntimeError("no such instruction"), SystemExit(1)])
def test_a_warm_up_that_fails_is_logged_and_the_worker_goes_on(start, caplog, error):
    def warm_up():
        raise error

    job = Threaded("first")
    start(job, warm_up=warm_up)
    assert job.done.wait(60)
    assert "warm-up" in caplog.text
    assert type(error).__name__ in caplog.text


@pytest.mark.fault("an exception in the scheduler's own bookkeeping", "the log says so, and workers go on")
@pytest.mark.parametrize("name", ["_next", "_charge", "_remove", "_admit_waiting"])
def test_a_worker_outlives_an_error_in_its_own_bookkeeping(start, monkeypatch, caplog, name):
    """Once the cause is gone every job gets its turns, on all the cores there are."""
    monkeypatch.setattr(module, "RECOVERY_S", 0.01)
    scheduler, broken, raised = start(), threading.Event(), []
    real = getattr(scheduler, name)

    def fail(*arguments):
        if not broken.is_set() or threading.current_thread() is threading.main_thread():
            return real(*arguments)
        raised.append(1)
        raise KeyError("lost")

    monkeypatch.setattr(scheduler, name, fail)
    broken.set()
    jobs = [Threaded(n, owner=n, cores=2) for n in range(3)]
    for job in jobs:
        scheduler.add(job)
    wait(lambda: len(raised) > 2)
    broken.clear()
    scheduler.wake()
    assert all(job.done.wait(60) for job in jobs)
    wait(lambda: scheduler._free == 2)
    assert "lost" in caplog.text
    broken.set()
    scheduler.wake()
    scheduler.close()
    assert not any(thread.is_alive() for thread in scheduler._threads), "it can be closed meanwhile"


@pytest.mark.fault("a worker thread that dies", "another one takes its place")
def test_a_dead_worker_is_replaced_and_every_job_gets_its_turns(start, caplog, monkeypatch):
    real, dying = Scheduler._work, [1, 1]
    monkeypatch.setattr(Scheduler, "_work", lambda self: dying.pop() if dying else real(self))
    jobs = [Threaded(n, owner=n) for n in range(3)]
    scheduler = start(*jobs)
    wait(lambda: scheduler.count()["alive"] == 0)
    assert scheduler.replace(lambda turn: False) == [], "none had a turn"
    assert all(job.done.wait(60) for job in jobs)
    assert scheduler.count() | {"training": 0} == {"training": 0, "waiting": 0, "alive": 2, "replaced": 2, "lost": 0}
    assert "worker_replaced" in caplog.text


@given(cores=st.integers(1, 3), count=st.integers(0, 7))
def test_results_come_in_order(cores, count):
    with Helpers(2) as helpers:
        assert list(helpers.parallel_map(cores)(lambda n: n * n, range(count))) == [n * n for n in range(count)]
        assert (helpers.parallel_map(cores) is map) == (cores == 1)


def test_parts_are_worked_on_at_once_by_one_torch_thread_each_and_closing_leaves_none():
    both, before = threading.Barrier(2), threading.active_count()

    def work(_):
        both.wait(60)  # passes only when two are here
        return threading.get_ident(), torch.get_num_threads()

    with Helpers(1) as helpers:
        (one, threads), (other, others) = helpers.parallel_map(2)(work, range(2))
    assert one == threading.get_ident() != other
    assert threads == others == 1
    assert threading.active_count() == before


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_error_is_raised_when_all_have_come_to_rest(wrong):
    finished, failed = [], threading.Event()

    def work(n):
        if n == wrong:
            failed.set()
            raise ZeroDivisionError
        assert failed.wait(60)
        finished.append(n)

    with Helpers(1) as helpers:
        with pytest.raises(ZeroDivisionError):
            helpers.parallel_map(2)(work, range(2))
        assert finished == [1 - wrong]


@pytest.mark.fault("a look into a model that never ends, on every thread that looks", "others have their place; /health and the log say so")
def test_who_hangs_takes_no_place_from_those_who_ask_later(caplog):
    opened, there, readers = threading.Event(), threading.Barrier(2), ReaderThreads(2)
    with ThreadPoolExecutor(2) as askers:
        list(askers.map(lambda _: readers.ask(there.wait, 30), range(2)))  # a thread that has to start may be late for a question
        hung = [askers.submit(readers.ask, lambda: opened.wait(60), 0.5) for _ in range(2)]
        for asked in hung:
            with pytest.raises(TimeoutError):
                asked.result()
    assert (readers.ask(lambda: "an answer", 5), readers.lost) == ("an answer", 2)
    assert "reader_hung" in caplog.text
    readers.close()
    opened.set()
    wait(lambda: readers.lost == 0)


def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.fixture
def answered(monkeypatch):
    """answered(*kinds) -> the order in which a reader's threads answer questions, asked in this order, `pause` seconds apart."""
    monkeypatch.setattr("playground.runs.queue.parallel.LONG_S", 60.0)
    now, opened, order = [0.0], threading.Event(), []
    readers = ReaderThreads(2, clock=lambda: now[0])
    readers.ask(lambda: None, 30, "short")
    with ThreadPoolExecutor(9) as askers:
        def ask(*kinds, long=1.0, pause=0.0):
            readers._costs.put("long", long)
            answers = [askers.submit(readers.ask, opened.wait, 30)]
            wait(lambda: readers._start_times)
            for number, kind in enumerate(kinds, 1):
                work = lambda kind=kind: order.append(kind) or burn(0.06 * (kind == "new"))  # noqa: E731
                answers.append(askers.submit(readers.ask, work, 30, kind))
                wait(lambda number=number: len(readers._waiting) == number)
                now[0] += pause
            opened.set()
            for answer in answers:
                answer.result()
            return order

        yield ask
        opened.set()
    readers.close()


@pytest.mark.parametrize(("kinds", "options", "order"), [
    ("long long short short", {}, "short short long long"),  # what is answered soon first
    ("new new new short", {}, "new short new new"),  # what a kind takes is learnt while others of it wait, as when a class begins
    ("long short", {"long": 0.004, "pause": 2 * DEADLINE_FACTOR * 0.004}, "long short"),  # none waits for ever
])  # fmt: skip
def test_who_is_answered_first(answered, kinds, options, order):
    assert answered(*kinds.split(), **options) == order.split()


def test_equal_questions_take_one_thread_giving_up_takes_the_answer_from_no_other_and_closing_leaves_no_caller_waiting():
    opened, readers, times = threading.Event(), ReaderThreads(2), []
    with ThreadPoolExecutor(4) as askers:
        equal = [askers.submit(readers.ask, lambda: times.append(opened.wait(60)), 60, None, "same") for _ in range(3)]
        wait(lambda: any(request.callers == 3 for request in readers._unanswered.values()))
        assert readers.ask(lambda: "an answer", 30) == "an answer"  # on the other thread
        with pytest.raises(TimeoutError):
            readers.ask(lambda: None, 0.01, None, "same")
        opened.set()
        assert [answer.result(30) for answer in equal] == [None] * 3
    assert len(times) == 1
    assert not readers._unanswered
    readers.close()
    opened, readers = threading.Event(), ReaderThreads(1)
    with ThreadPoolExecutor(3) as askers:
        askers.submit(readers.ask, lambda: opened.wait(30), 60)
        wait(lambda: readers._start_times)
        behind = askers.submit(readers.ask, lambda: "never", 60)
        wait(lambda: readers._waiting)
        closing = askers.submit(readers.close)
        wait(lambda: readers._pool._shutdown)
        opened.set()
        closing.result(30)
        assert isinstance(behind.exception(30), CancelledError)


def test_half_of_a_class_has_ended_at_little_more_than_half_of_the_time_and_many_short_runs_take_no_more_than_a_long_one():
    server, students, turns = ByHand(cores=1, memory=10_000), range(30), 30 * 40
    server.add(*(Job(number, owner=f"student {number}", turns=40, seconds=TURN) for number in students))
    log = server.turns()
    ends = [turns - log[::-1].index(number) for number in students]
    assert max(ends) == turns  # no later than in equal turns
    assert median(ends) < 0.7 * turns  # where in equal turns it is nearly all of it
    half, ended = log[: turns // 2], {number for number in students if ends[number] <= turns // 2}
    assert {*students} == set(half)
    parts = [half[at : at + 2 * FAIR_EVERY * 30] for at in range(0, len(half) - 2 * FAIR_EVERY * 30, 30)]
    assert all(set(part) | ended >= {*students} for part in parts)
    server = ByHand(cores=1, memory=10_000)
    server.add(Job("long", owner="a", turns=10_000, seconds=TURN))
    for number in range(100):  # one after the other, or they would be too many
        server.add(Job(number, owner="b", turns=20, seconds=TURN))
        server.turns(30)
    theirs = TURN * sum(key != "long" for key in server.log)
    assert theirs - TURN * server.log.count("long") <= LEAD_S + 2 * TURN
