"""Who waits for an answer of Gradio's queue waits for those who wait too, not for calls that nobody listens to."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from playground.ui import fair_queue


def event(name: str, address: str, session: str, time: float) -> SimpleNamespace:
    request = Request({"type": "http", "headers": [], "client": (address, 5)})
    return SimpleNamespace(_id=name, request=request, session_hash=session, enqueue_time=time)


def names(events) -> list[str]:
    return [event._id for event in events]


def heard(*sessions: str) -> set:
    return {("listener", session) for session in sessions}


def test_alone_everybody_is_served_as_they_came():
    events = [event(name, name, name, time) for time, name in enumerate("abc")]
    assert names(fair_queue.in_turn(reversed(events), heard("a", "b", "c"))) == ["a", "b", "c"]


@pytest.mark.fault("three hundred calls in the queue that nobody listens for", "who listens is served first")
def test_who_listens_comes_before_who_left():
    events = [event(f"left {n}", "192.0.2.1", f"tab {n}", n) for n in range(300)] + [event("here", "192.0.2.1", "mine", 300)]
    order = names(fair_queue.in_turn(events, heard("mine")))
    assert order[0] == "here"
    assert order[1:] == [f"left {n}" for n in range(300)]
    assert names(fair_queue.in_turn(events, {("listener", "here")}))[0] == "here", "a program listens to the call by its id"


def test_addresses_take_turns_and_so_do_tabs_at_one():
    greedy = [event(f"greedy {n}", "192.0.2.1", f"tab {n}", n) for n in range(4)]
    busy = [event(f"busy {n}", "192.0.2.2", "busy", 10 + n) for n in range(3)]
    beside = [event("beside", "192.0.2.2", "beside", 20)]
    events = [*greedy, *busy, *beside]
    order = names(fair_queue.in_turn(events, heard(*(one.session_hash for one in events))))
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


@pytest.fixture
def queue():
    return Queue()


def call(queue, event) -> bool:
    return asyncio.run(queue.push(event, event.request, None))[0]


@pytest.mark.fault("a queue full of calls that nobody listens for", "the oldest of them makes room")
def test_a_full_queue_has_room_while_nobody_listens_to_a_part_of_it(queue):
    fair_queue.take_turns(queue, heard("ada", "bob"), most=10)
    for n in range(4):
        assert call(queue, event(f"left {n}", "192.0.2.1", f"tab {n}", n))
    assert call(queue, event("from ada", "192.0.2.2", "ada", 4))
    assert queue.get_events()._id == "from ada"
    assert call(queue, event("from bob", "192.0.2.1", "bob", 5))
    assert names(queue.group.queue) == ["left 1", "left 2", "left 3", "from bob"], "the oldest has gone"


def test_at_an_address_with_enough_calls_those_without_a_listener_go_first(queue):
    fair_queue.take_turns(queue, heard("ada"), most=2)
    for n in range(2):
        call(queue, event(f"left {n}", "192.0.2.1", f"tab {n}", n))
    call(queue, event("elsewhere", "192.0.2.2", "tab", 3))
    assert call(queue, event("from ada", "192.0.2.1", "ada", 4))
    assert names(queue.group.queue) == ["left 1", "elsewhere", "from ada"]
    assert fair_queue.waiting(queue, heard("ada"), "192.0.2.1") == 1, "of those who listen"


def test_a_queue_full_of_those_who_listen_is_full(queue):
    fair_queue.take_turns(queue, heard(*"abcde"), most=10)
    assert [call(queue, event(name, name, name, time)) for time, name in enumerate("abcde")] == [True] * 4 + [False]
