"""In what order Gradio's queue works: those who wait for an answer before those who left, and the addresses in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from gradio.queueing import Event, Queue
from starlette.requests import Request

from playground.ui.address import address_of


def in_turn(events: Iterable[Event], listeners: Container) -> list[Event]:
    """First the calls for whose answer somebody listens. Of them, and of the others, the first of each address, then the second; and at an
    address the first of each browser tab, then the second."""
    calls = Counter[tuple[bool, str, str]]()
    placed = []
    for event in sorted(events, key=lambda event: event.enqueue_time):
        unheard, address = not _is_heard(event, listeners), address_of(event.request)
        placed.append((unheard, calls[unheard, address, event.session_hash], event.enqueue_time, address, event))
        calls[unheard, address, event.session_hash] += 1
    by_address = Counter[tuple[bool, str]]()
    order = []
    for unheard, _, enqueued, address, event in sorted(placed, key=lambda place: place[:3]):
        order.append((unheard, by_address[unheard, address], enqueued, event))
        by_address[unheard, address] += 1
    return [event for *_, event in sorted(order, key=lambda place: place[:3])]


def waiting(queue: Queue, listeners: Container, address: str) -> int:
    """How many calls from this address have not begun, and are waited for."""
    return sum(_is_heard(event, listeners) and address_of(event.request) == address for event in _all(queue))


def take_turns(queue: Queue, listeners: Container, most: int) -> None:
    """From now on, in this queue. A call that nobody listens for gives way when the queue is full, or its address has so many waiting."""
    choose, push = queue.get_events, queue.push

    def get_events() -> tuple[list[Event], bool, str] | None:
        for group in queue.event_queue_per_concurrency_id.values():
            if len(group.queue) > 1 and (group.concurrency_limit is None or group.current_concurrency < group.concurrency_limit):
                group.queue[:] = in_turn(group.queue, listeners)
        return choose()

    async def push_and_make_room(body: object, request: Request, username: str | None) -> tuple:
        events = _all(queue)
        near = [event for event in events if address_of(event.request) == address_of(request)]
        if len(near) >= most or len(events) >= queue.max_size:
            unheard = [event for event in (near if len(near) >= most else events) if not _is_heard(event, listeners)]
            if unheard:
                await queue.remove_from_queue(_first_to_go(unheard)._id)
        return await push(body=body, request=request, username=username)

    queue.get_events, queue.push = get_events, push_and_make_room


def _first_to_go(events: list[Event]) -> Event:
    """The oldest of the address with most of them: who has just called may be about to listen."""
    count = Counter(address_of(event.request) for event in events)
    return max(events, key=lambda event: (count[address_of(event.request)], -event.enqueue_time))


def _all(queue: Queue) -> list[Event]:
    """The calls that have not begun."""
    return [event for group in queue.event_queue_per_concurrency_id.values() for event in group.queue]


def _is_heard(event: Event, listeners: Container) -> bool:
    return ("listener", event.session_hash) in listeners or ("listener", event._id) in listeners
