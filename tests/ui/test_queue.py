"""Each name has its share, those who wait come before those who left, and pages ask as often as there are visitors, not streams."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st
from starlette.requests import Request

from playground.ui import fair_queue
from playground.ui.pace import ACTIVE_S, CPU_BUDGET, MAX_REFRESH_MS, REFRESH_MS, Pace
from playground.ui.sessions import MAX_SESSIONS, SESSION_BYTES, Sessions
from playground.ui.shares import Buckets


def event(name: str, address: str, session: str, time: float) -> SimpleNamespace:
    request = Request({"type": "http", "headers": [], "client": (address, 5)})
    return SimpleNamespace(_id=name, request=request, session_hash=session, enqueue_time=time)


def names(events) -> list[str]:
    return [event._id for event in events]


def heard(*sessions: str) -> set:
    return {("listener", session) for session in sessions}


@pytest.mark.fault("three hundred calls in the queue that nobody listens for", "who listens is served first")
def test_who_listens_comes_before_who_left():
    events = [event(f"left {n}", "192.0.2.1", f"tab {n}", n) for n in range(300)] + [event("here", "192.0.2.1", "mine", 300)]
    assert names(fair_queue.sort_fairly(events, heard("mine"))) == ["here", *(f"left {n}" for n in range(300))]
    assert names(fair_queue.sort_fairly(events, heard("here")))[0] == "here", "a program listens to the call by its id"
    greedy = [event(f"greedy {n}", "192.0.2.1", f"tab {n}", n) for n in range(4)]
    busy = [event(f"busy {n}", "192.0.2.2", "busy", 10 + n) for n in range(3)]
    events = [*reversed(greedy), *busy, event("beside", "192.0.2.2", "beside", 20)]
    order = names(fair_queue.sort_fairly(events, heard(*(one.session_hash for one in events))))
    assert order == ["greedy 0", "busy 0", "greedy 1", "beside", "greedy 2", "busy 1", "greedy 3", "busy 2"]


class Queue:
    """As much of Gradio's as is asked for."""

    max_size = 4

    def __init__(self) -> None:
        self.group = SimpleNamespace(queue=[], concurrency_limit=1, current_concurrency=0)
        self.event_queue_per_concurrency_id = {"read": self.group}

    def get_events(self):
        return self.group.queue.pop(0)

    async def push(self, body, request, username):
        if len(self.group.queue) >= self.max_size:
            return False, "full", "queue_full"
        self.group.queue.append(body)
        return True, body._id, "success"

    async def remove_from_queue(self, id):
        self.group.queue[:] = [event for event in self.group.queue if event._id != id]

    def call(self, *args) -> bool:
        called = event(*args)
        return asyncio.run(self.push(called, called.request, None))[0]


@pytest.mark.fault("a queue full of calls that nobody listens for", "the oldest of them makes room")
def test_a_full_queue_has_room_while_nobody_listens_to_a_part_of_it():
    queue = Queue()
    fair_queue.install_fair_order(queue, heard("ada", "bob"), most=10)
    assert all(queue.call(f"left {n}", "192.0.2.1", f"tab {n}", n) for n in range(4))
    assert queue.call("from ada", "192.0.2.2", "ada", 4)
    assert queue.get_events()._id == "from ada"
    assert queue.call("from bob", "192.0.2.1", "bob", 5)
    assert names(queue.group.queue) == ["left 1", "left 2", "left 3", "from bob"], "the oldest has gone"
    queue = Queue()
    fair_queue.install_fair_order(queue, heard(*"abcde"), most=10)
    assert [queue.call(name, name, name, time) for time, name in enumerate("abcde")] == [True] * 4 + [False]
    queue = Queue()
    fair_queue.install_fair_order(queue, heard("ada"), most=2)
    for args in (("left 0", "192.0.2.1", "a", 0), ("left 1", "192.0.2.1", "b", 1), ("elsewhere", "192.0.2.2", "tab", 3)):
        assert queue.call(*args)
    assert queue.call("from ada", "192.0.2.1", "ada", 4)
    assert names(queue.group.queue) == ["left 1", "elsewhere", "from ada"]
    assert fair_queue.count_waiting(queue, heard("ada"), "192.0.2.1") == 1, "of those who listen"


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from([0.1, 1.0, 2.5])), min_size=1, max_size=30))
def test_a_bucket_gives_no_more_than_it_holds_and_says_when_there_is_enough(steps):
    now, taken = [0.0], 0.0
    bucket = Buckets(5, 10.0, lambda: now[0])
    for at, (pause, cost) in enumerate(steps):
        now[0] += pause
        seconds = bucket.take("ada", cost)
        assert bucket.take(f"another {at}", 5) == 0, "each name has its own"
        if seconds:
            now[0] += 0.9 * seconds
            assert bucket.take("ada", cost) == pytest.approx(0.1 * seconds, abs=1e-6)
            now[0] += 0.1 * seconds + 1e-6
            assert bucket.take("ada", cost) == 0
        taken += cost
        assert taken <= 5 + now[0] * 5 / 10 + 1e-3
    now[0] += 1000
    assert (bucket.take("ada", 5), bucket.take("ada", 0.1) > 0) == (0, True), "it holds no more than it does when it is full"


@pytest.fixture
def page(site):
    return site.app.get_blocks()


@pytest.mark.fault("more tabs than the server remembers", "those that came last stay; the others notice nothing")
def test_the_tab_that_came_last_stays(page):
    tabs = Sessions(page)
    while len(tabs):
        tabs.evict_oldest()
    for name in ("first", "second", "third", "first"):
        _ = page.state_holder[name]
    assert tabs.bytes == 3 * SESSION_BYTES
    oldest = tabs.oldest
    tabs.evict_oldest()
    assert set(page.state_holder.session_data) == {"first", "third"} == set(page.state_holder.time_last_used)
    assert tabs.oldest >= oldest
    for number in range(2 * MAX_SESSIONS):
        _ = page.state_holder[f"tab {number}"]
    assert len(tabs) <= MAX_SESSIONS + 1


COST = CPU_BUDGET * REFRESH_MS / 1000  # of a picture, in seconds, at which each visitor more adds as much as the first


@pytest.fixture
def clock():
    return SimpleNamespace(now=0.0)


@pytest.fixture
def pace(clock):
    return Pace(lambda: clock.now)


def come(pace, address: str, visitors: int, cost: float = COST, times: int = 1) -> None:
    for _ in range(times):
        for number in range(visitors):
            pace.record_request(address, f"visitor {number}", cost)


def test_a_lone_visitor_never_waits_however_dear_the_pictures_nor_for_who_has_left(clock, pace):
    assert pace.refresh_ms("home") == REFRESH_MS
    come(pace, "home", 1, 10 * COST, times=50)
    assert pace.refresh_ms("home") == REFRESH_MS
    for later, counted in ((ACTIVE_S, 21), (ACTIVE_S + 1, 1)):
        school = Pace(lambda: clock.now)
        come(school, "school", 20)
        clock.now += later
        school.record_request("school", "teacher", COST)
        assert school.refresh_ms("school") == counted * REFRESH_MS
    for seconds, visitor in ((0, "stays"), (1, "leaves"), (ACTIVE_S - 5, "stays"), (10, "stays")):
        clock.now += seconds
        pace.record_request("library", visitor, COST)
    assert pace.refresh_ms("library") == pace.refresh_ms("home"), "the one visitor left"


@pytest.mark.fault("two hundred streams held open by one visitor", "the pages of others ask for pictures as often as before")
@pytest.mark.parametrize("streams", [1, 200])
def test_what_one_visitor_holds_open_slows_down_nobody(pace, streams):
    pace.streams = streams
    come(pace, "cellar", 1, times=streams)
    come(pace, "home", 1)
    assert pace.refresh_ms("home") == 2 * REFRESH_MS


def test_a_class_shares_what_the_server_can_spare_and_a_crowd_at_one_address_waits_longest_itself(pace, clock):
    come(pace, "school", 30)
    assert pace.refresh_ms("school") == 30 * REFRESH_MS
    clock.now = ACTIVE_S + 1
    for student in range(30):
        come(pace, f"home {student}", 1)
    assert {pace.refresh_ms(f"home {student}") for student in range(30)} == {30 * REFRESH_MS}
    clock.now = 2 * ACTIVE_S + 2
    for address, visitors in (("home", 1), ("school", 20), ("cellar", 200)):
        come(pace, address, visitors)
    assert [*map(pace.refresh_ms, ("home", "school", "cellar"))] == [3 * REFRESH_MS, 60 * REFRESH_MS, MAX_REFRESH_MS]


def test_all_streams_look_at_one_moment_ten_times_a_second_or_twice(pace, clock):
    for pace.streams, look in ((1, 0.1), (10, 0.2), (300, 0.5)):
        for clock.now in (60.01, 60.02, 60.09):
            assert (pace.poll_s, clock.now + pace.until_poll_s) == pytest.approx((look, 60 + look))
