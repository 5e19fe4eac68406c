"""A map over several cores: results in order, errors raised, nobody left working."""

import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.runs.queue.parallel import PATIENCE, Helpers, ReaderThreads
from tests.runs.tiny import wait


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
        hung = [askers.submit(readers.ask, lambda: opened.wait(60), 0.1) for _ in range(2)]
        for asked in hung:
            with pytest.raises(TimeoutError):
                asked.result()
    assert readers.ask(lambda: "an answer", 5) == "an answer"
    assert readers.lost == 2
    assert "reader_hung" in caplog.text
    readers.close()
    opened.set()
    wait(lambda: readers.lost == 0)


def burn(seconds):
    """Takes so much time of a processor."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.fixture
def answered():
    """answered(*kinds) -> the order in which a reader's thread, which knows what a `long` and a short question take, answers them, when
    they were asked in this order, `pause` seconds apart, while it was busy."""
    now, opened, order = [0.0], threading.Event(), []
    readers = ReaderThreads(1, clock=lambda: now[0])
    readers.ask(lambda: None, 30, "short")
    with ThreadPoolExecutor(9) as askers:

        def ask(*kinds, long=1.0, pause=0.0):
            readers._costs.put("long", long)
            answers = [askers.submit(readers.ask, opened.wait, 30)]
            wait(lambda: readers._begun)
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
    readers.close()


@pytest.mark.parametrize(
    ("kinds", "options", "order"),
    [
        ("long long short short", {}, "short short long long"),  # what is answered soon first
        ("new new new short", {}, "new short new new"),  # what a kind takes is learnt while others of it wait, as when a class begins
        ("long short", {"long": 0.004, "pause": 2 * PATIENCE * 0.004}, "long short"),  # none waits for ever
    ],
)
def test_who_is_answered_first(answered, kinds, options, order):
    assert answered(*kinds.split(), **options) == order.split()


def test_closing_leaves_nobody_waiting():
    opened, readers = threading.Event(), ReaderThreads(1)
    with ThreadPoolExecutor(3) as askers:
        askers.submit(readers.ask, lambda: opened.wait(30), 60)
        wait(lambda: readers._begun)
        behind = askers.submit(readers.ask, lambda: "never", 60)
        wait(lambda: readers._waiting)
        closing = askers.submit(readers.close)
        wait(lambda: readers._pool._shutdown)
        opened.set()
        closing.result(30)
        assert isinstance(behind.exception(30), CancelledError)
