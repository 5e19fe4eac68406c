"""Each name has its share, those who wait come before those who left, and pages ask as often as there are visitors, not streams."""

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st
from starlette.requests import Request

from playground.config import Refusal
from playground.runs.limits import RateLimit
from playground.ui import turns
from playground.ui.turns import ACTIVE_S, CPU_BUDGET, MAX_REFRESH_MS, REFRESH_MS, Call, Pace, Tally, Turns, sort_fairly

COST = CPU_BUDGET * REFRESH_MS / 1000  # of a picture, in seconds, at which each visitor more adds as much as the first


def heard(*sessions: str):
    return lambda call: call.session in sessions


def names(calls) -> list[str]:
    return [call.group for call in calls]


def call(name: str, address: str, session: str, time: float) -> Call:
    return Call(address, session, time, name, ready=None)


@pytest.mark.fault("three hundred calls in the queue that nobody listens for", "who listens is served first")
def test_who_listens_comes_before_who_left():
    calls = [call(f"left {n}", "192.0.2.1", f"tab {n}", n) for n in range(300)] + [call("here", "192.0.2.1", "mine", 300)]
    assert names(sort_fairly(calls, heard("mine"))) == ["here", *(f"left {n}" for n in range(300))]
    greedy = [call(f"greedy {n}", "192.0.2.1", f"tab {n}", n) for n in range(4)]
    busy = [call(f"busy {n}", "192.0.2.2", "busy", 10 + n) for n in range(3)]
    calls = [*reversed(greedy), *busy, call("beside", "192.0.2.2", "beside", 20)]
    order = names(sort_fairly(calls, heard(*(call.session for call in calls))))
    assert order == ["greedy 0", "busy 0", "greedy 1", "beside", "greedy 2", "busy 1", "greedy 3", "busy 2"]


class Server:
    """Turns of one group, taken one at a time by calls that go on as soon as they may."""

    def __init__(self, most_address: int) -> None:
        self.streams, self.ended, self.now = Tally(), [], 0.0
        self.turns = Turns(self.streams, most_address, clock=lambda: self.now)
        self.go, self.tasks = asyncio.Event(), []

    async def call(self, name: str, address: str) -> bool:
        """Whether it was admitted."""
        self.now += 1
        if self.turns.admit(address):
            return False
        request = SimpleNamespace(session_hash=name, request=Request({"type": "http", "headers": [], "client": (address, 5)}))
        self.tasks.append(asyncio.create_task(self._answer(name, request)))
        await asyncio.sleep(0)
        return True

    async def _answer(self, name: str, request: SimpleNamespace) -> None:
        try:
            async with self.turns.take("read", 1, request):
                await self.go.wait()
            self.ended.append(name)
        except Refusal as refusal:
            self.ended.append(f"{name}: {refusal.key}")

    async def rest(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.mark.fault("a queue full of calls that nobody listens for", "the oldest of them makes room")
def test_a_full_queue_has_room_while_nobody_listens_to_a_part_of_it(monkeypatch):
    monkeypatch.setattr(turns, "MAX_WAITING", 4)

    async def several():
        server = Server(most_address=10)
        assert all([await server.call(f"left {n}", "192.0.2.1") for n in range(5)]), "one has its turn, four wait"
        with server.streams.holding(("listener", "ada")):
            assert await server.call("ada", "192.0.2.2")
            await server.rest()
            assert server.ended == ["left 1: page.too_many_calls"], "the oldest has gone"
            server.go.set()
            await server.rest()
            assert server.ended[1:] == ["ada"], "what nobody listens for is worked out after it, and waits to be heard"
            with server.streams.holding(("listener", "left 3")):
                await server.rest()
            assert server.ended[2:] == ["left 3"]
        for task in server.tasks:
            task.cancel()

    async def one_address():
        server = Server(most_address=2)
        with server.streams.holding(("listener", "ada"), ("listener", "bob"), ("listener", "cyd")):
            assert [await server.call(name, "192.0.2.1") for name in ("ada", "bob", "left", "cyd")] == [True] * 4, "who left makes room"
            assert not await server.call("dan", "192.0.2.1"), "two wait who listen"
            assert await server.call("dan", "192.0.2.9")
        for task in server.tasks:
            task.cancel()

    asyncio.run(several())
    asyncio.run(one_address())


@pytest.mark.parametrize(("moments", "listener", "ended"), [(0, "other", "late: page.not_there"), *((n, "late", "late") for n in range(5))])
def test_a_listener_that_comes_as_the_work_ends_is_noticed_and_a_result_that_nobody_hears_dropped(moments, listener, ended, monkeypatch):
    monkeypatch.setattr(turns, "UNREAD_S", 0.01 if listener == "other" else turns.UNREAD_S)

    async def heard_late():
        server = Server(most_address=9)
        server.go.set()
        assert await server.call("late", "192.0.2.1")
        for _ in range(moments):
            await asyncio.sleep(0)
        with server.streams.holding(("listener", listener)):
            await asyncio.wait_for(asyncio.gather(*server.tasks), 60)
        return server.ended

    assert asyncio.run(heard_late()) == [ended]


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from([0.1, 1.0, 2.5])), min_size=1, max_size=30))
def test_a_bucket_gives_no_more_than_it_holds_and_says_when_there_is_enough(steps):
    now, taken = [0.0], 0.0
    bucket = RateLimit(5, 10.0, lambda: now[0])
    for at, (pause, cost) in enumerate(steps):
        now[0] += pause
        seconds = bucket.wait("ada", cost)
        assert bucket.take("ada", cost) == seconds, "to ask takes nothing"
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


def test_a_class_shares_what_the_server_can_spare_and_all_streams_look_at_one_moment(pace, clock):
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
    for pace.streams, look in ((1, 0.1), (10, 0.2), (300, 0.5)):
        for clock.now in (60.01, 60.02, 60.09):
            assert (pace.poll_s, clock.now + pace.until_poll_s) == pytest.approx((look, 60 + look))
