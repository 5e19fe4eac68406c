import threading
import time

import pytest

from playground.runs.queue import scheduler as module
from playground.runs.queue.scheduler import Scheduler
from tests.runs.tiny import wait


class Fake:
    """A job that wants `turns` turns, each as long as its gate keeps it."""

    def __init__(self, key, owner="a", cores=1, bytes=0, turns=1, log=None, gate=None):
        self.key, self.owner, self.cores, self.bytes, self.turns = key, owner, cores, bytes, turns
        self.urgent, self.place, self.log, self.gate, self.lane = False, 0, log if log is not None else [], gate, None
        self.node = None
        self.inside, self.done = threading.Event(), threading.Event()

    def turn(self, seconds, parallel_map):
        self.log.append(self.key)
        self.seconds = seconds
        cores = getattr(parallel_map, "cores", 1)
        together = threading.Barrier(cores)  # each at its own part, however late a thread starts
        self.threads = len(set(parallel_map(lambda _: (together.wait(30), time.sleep(0.01), threading.get_ident())[2], range(cores))))
        self.inside.set()
        if self.gate:
            assert self.gate.wait(30)
        self.turns -= 1
        if self.turns <= 0 or self.urgent:
            self.done.set()
            return False
        return True


@pytest.fixture
def start():
    opened = []

    def make(cores=1, memory=100, turn_seconds=0.01, **options):
        opened.append(Scheduler(cores, memory, turn_seconds, **options))
        return opened[-1]

    yield make
    for scheduler in opened:
        scheduler.close()


def held(scheduler, **values):
    """A job that has the cores until its gate opens."""
    job = Fake("holder", owner="holder", gate=threading.Event(), **values)
    scheduler.add(job)
    assert job.inside.wait(30)
    return job


def test_jobs_of_one_lane_take_turns_and_leave_the_other_cores_to_others(start):
    scheduler = start(cores=3)
    first = held(scheduler)
    first.lane = "a process"
    same, other = Fake("same"), Fake("other")
    same.lane = "a process"
    urgent = Fake("urgent")
    urgent.lane, urgent.urgent = "a process", True
    for job in (same, urgent, other):
        scheduler.add(job)
    assert other.done.wait(30)
    assert not same.inside.is_set()
    assert not urgent.inside.is_set(), "what it has to put away is in the process, too"
    first.gate.set()
    assert same.done.wait(30)
    assert urgent.done.wait(30)


def test_other_machines_have_cores_and_memory_of_their_own(start):
    scheduler = start(cores=1, memory=100, room={"near": 50, "far": 50}.get)
    scheduler.grow(2)
    held(scheduler, bytes=100)
    gate = threading.Event()
    jobs = [Fake(name, bytes=30, gate=gate) for name in ("first", "other", "second", "here")]
    for job, node in zip(jobs, ("near", "far", "near", None), strict=True):
        job.lane, job.node = node and (node, job.key), node
        scheduler.add(job)
    first, other, second, here = jobs
    assert first.inside.wait(30)
    assert other.inside.wait(30)
    assert [job.place for job in jobs] == [0, 0, 1, 2]
    assert scheduler.reserved == 100
    gate.set()
    assert second.done.wait(30)
    assert not here.inside.is_set(), "its core is taken"
    scheduler._jobs[0].gate.set()
    assert here.done.wait(30)


@pytest.mark.parametrize(("elsewhere", "longer"), [(2, 1), (module.CROWD, 1), (20 * module.CROWD, 20)])
def test_a_crowd_of_processes_elsewhere_has_longer_turns_and_answers_no_oftener(start, elsewhere, longer):
    scheduler = start(cores=1, turn_seconds=0.01)
    scheduler._started = lambda number: threading.current_thread()  # so many threads are not needed for this
    scheduler.grow(elsewhere)
    del scheduler._threads[1:]
    far, here = Fake("far", owner="a"), Fake("here", owner="b")
    far.node = far.lane = "far"
    for job in (far, here):
        scheduler.add(job)
        assert job.done.wait(30)
    assert far.seconds == pytest.approx(0.01 * longer)
    assert here.seconds == pytest.approx(0.01)


def test_every_job_gets_its_turns(start):
    scheduler, log = start(cores=2), []
    jobs = [Fake(n, owner=n % 3, turns=3, log=log) for n in range(7)]
    for job in jobs:
        scheduler.add(job)
    assert all(job.done.wait(30) for job in jobs)
    assert sorted(log) == sorted([n for n in range(7) for _ in range(3)])


def test_owners_take_turns_before_their_runs_do(start):
    """One owner with four runs gets no more turns than one with a single run."""
    scheduler, log = start(), []
    holder = held(scheduler)
    for job in [Fake(f"many{n}", owner="many", turns=50, log=log) for n in range(4)] + [Fake("one", owner="one", turns=50, log=log)]:
        scheduler.add(job)
    scheduler._charge = lambda job, seconds, real=scheduler._charge: real(job, 1.0 if seconds > 0 else 0.0)  # every turn costs the same
    holder.gate.set()
    wait(lambda: len(log) > 40)
    first = log[:40]
    assert 18 <= first.count("one") <= 22
    assert all(4 <= first.count(f"many{n}") <= 6 for n in range(4))


def test_a_lone_job_has_all_the_cores_it_can_use(start):
    scheduler = start(cores=3)
    for cores, expected in ((1, 1), (2, 2), (8, 3)):
        job = Fake(cores, cores=cores)
        scheduler.add(job)
        assert job.done.wait(30)
        wait(lambda: scheduler.count()["training"] == 0)  # its cores are free again
        assert job.threads == expected


def test_as_soon_as_somebody_waits_it_has_one(start):
    scheduler = start(cores=2)
    holder = held(scheduler, cores=2, turns=1)  # has both
    wide = [Fake(n, owner=n, cores=2, gate=threading.Event()) for n in range(2)]
    for job in wide:
        scheduler.add(job)
    assert not wide[0].inside.wait(0.02)
    holder.gate.set()
    assert all(job.inside.wait(30) for job in wide)  # side by side
    assert (holder.threads, wide[0].threads) == (2, 1)
    for job in wide:
        job.gate.set()


def test_a_newcomer_gets_a_core_after_the_turn_that_had_all(start):
    scheduler = start(cores=2)
    first = Fake("first", owner="a", cores=2, turns=10_000)
    scheduler.add(first)
    wait(lambda: getattr(first, "threads", 0) == 2)
    second = Fake("second", owner="b", cores=2, gate=threading.Event())
    scheduler.add(second)
    assert second.inside.wait(30)
    wait(lambda: first.threads == 1)  # which goes on beside it
    second.gate.set()
    wait(lambda: first.threads == 2)
    first.turns = 0


def test_a_job_may_ask_for_more_cores_than_there_are(start):
    job = Fake("wide", cores=4)
    start(cores=2).add(job)
    assert job.done.wait(30)


def test_two_jobs_of_one_core_run_side_by_side(start):
    scheduler, gate = start(cores=2), threading.Event()
    jobs = [Fake(n, owner=n, gate=gate) for n in range(2)]
    for job in jobs:
        scheduler.add(job)
    assert all(job.inside.wait(30) for job in jobs)
    gate.set()


def test_an_urgent_job_needs_no_core(start):
    scheduler = start(cores=2)
    holder = held(scheduler, cores=2)
    job = Fake("urgent", turns=5)
    scheduler.add(job)
    assert not job.inside.wait(0.02)
    job.urgent = True
    scheduler.poke()
    assert job.done.wait(30)
    holder.gate.set()


def test_memory_is_queued_for_first_come_first_served(start):
    scheduler, gate = start(cores=2, memory=100), threading.Event()
    jobs = [Fake(n, owner=n, bytes=bytes, gate=gate) for n, bytes in enumerate((60, 60, 30))]
    for job in jobs:
        scheduler.add(job)
    assert jobs[0].inside.wait(30)
    assert [job.place for job in jobs] == [0, 1, 2]  # the small one would fit, but it came later
    gate.set()
    assert all(job.done.wait(30) for job in jobs)
    assert [job.place for job in jobs] == [0, 0, 0]


def test_a_job_larger_than_the_memory_runs_when_it_is_alone(start):
    job = Fake("large", bytes=1000)
    start(memory=100).add(job)
    assert job.done.wait(30)


def test_a_waiting_job_can_be_urgent(start):
    scheduler = start(cores=2, memory=100)
    holder = held(scheduler, bytes=100)
    waiting = Fake("waiting", bytes=100)
    scheduler.add(waiting)
    waiting.urgent = True
    scheduler.poke()
    assert waiting.done.wait(30)
    holder.gate.set()


def test_two_jobs_with_one_key_never_run_at_once(start):
    scheduler, log = start(cores=2), []
    first, second = Fake("run", log=log, gate=threading.Event()), Fake("run", log=log)
    scheduler.add(first)
    assert first.inside.wait(30)
    scheduler.add(second)
    assert not second.inside.wait(0.05)
    first.gate.set()
    assert second.done.wait(30)


def test_an_owner_who_comes_back_has_saved_nothing_up(start):
    scheduler, log = start(), []
    scheduler._charge = lambda job, seconds, real=scheduler._charge: real(job, 1.0 if seconds > 0 else 0.0)
    steady = Fake("steady", owner="steady", turns=10_000, log=log)
    scheduler.add(steady)
    wait(lambda: len(log) > 30)
    late = Fake("late", owner="late", turns=100, log=log)
    scheduler.add(late)
    wait(lambda: log.count("late") > 10)
    since = log[log.index("late") :][:20]
    assert since.count("steady") >= 8
    steady.turns = 0


def test_a_job_that_breaks_takes_no_worker_with_it(start):
    scheduler = start()

    class Broken(Fake):
        def turn(self, seconds, parallel_map):
            raise RuntimeError("no handler")

    scheduler.add(Broken("broken"))
    job = Fake("after")
    scheduler.add(job)
    assert job.done.wait(30)


@pytest.mark.fault("an exception in the warm-up", "the log says so, and workers go on")
@pytest.mark.parametrize("error", [RuntimeError("no such instruction"), SystemExit(1)])
def test_a_warm_up_that_fails_is_logged_and_the_worker_goes_on(start, caplog, error):
    def warm_up():
        raise error

    job = Fake("first")
    start(cores=2, warm_up=warm_up).add(job)
    assert job.done.wait(30)
    assert "warm-up" in caplog.text
    assert type(error).__name__ in caplog.text


@pytest.mark.fault("an exception in the scheduler's own bookkeeping", "the log says so, and workers go on")
@pytest.mark.parametrize("name", ["_next", "_charge", "_leave", "_let_in"])
def test_a_worker_outlives_an_error_in_its_own_bookkeeping(start, monkeypatch, caplog, name):
    """Once the cause is gone every job gets its turns, on all the cores there are."""
    monkeypatch.setattr(module, "RECOVERY_S", 0.01)
    scheduler, broken, raised = start(cores=2), threading.Event(), []
    real = getattr(scheduler, name)

    def fail(*arguments):
        if not broken.is_set() or threading.current_thread() is threading.main_thread():
            return real(*arguments)
        raised.append(1)
        raise KeyError("lost")

    monkeypatch.setattr(scheduler, name, fail)
    broken.set()
    first = [Fake(n, owner=n) for n in range(3)]
    for job in first:
        scheduler.add(job)
    wait(lambda: len(raised) > 2)
    broken.clear()
    second = [Fake(n, owner=n, cores=2) for n in range(10, 13)]
    for job in second:
        scheduler.add(job)
    assert all(job.done.wait(30) for job in (*first, *second))
    wide = Fake("wide", cores=2)
    wait(lambda: scheduler._free == 2)
    scheduler.add(wide)
    assert wide.done.wait(30)
    assert wide.threads == 2
    assert "lost" in caplog.text


def test_it_can_be_closed_while_its_bookkeeping_fails(start, monkeypatch):
    scheduler = start(cores=2)
    monkeypatch.setattr(scheduler, "_next", lambda: 1 / 0)
    scheduler.poke()
    scheduler.close()
    assert not any(thread.is_alive() for thread in scheduler._threads)


def test_close_waits_for_the_turn_and_leaves_no_thread(start):
    before = threading.active_count()
    scheduler = start(cores=3)
    assert threading.active_count() == before + 3
    job = held(scheduler, turns=100, cores=3)
    assert threading.active_count() > before + 3  # helpers
    job.gate.set()
    scheduler.close()
    assert threading.active_count() == before
    scheduler.close()
