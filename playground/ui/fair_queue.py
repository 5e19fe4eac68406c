"""In what order Gradio's queue works: those who wait for an answer before those who left, and the addresses in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from gradio.queueing import Event, Queue

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


def _is_heard(event: Event, listeners: Container) -> bool:
    return ("listener", event.session_hash) in listeners or ("listener", event._id) in listeners


def waiting(queue: Queue, address: str) -> int:
    """How many calls from this address have not begun."""
    return sum(address_of(event.request) == address for waiting in queue.event_queue_per_concurrency_id.values() for event in waiting.queue)


def take_turns(queue: Queue, listeners: Container) -> None:
    """From now on, in this queue. A call that nobody listens for gives way when the queue is full."""
    choose, push = queue.get_events, queue.push

    def get_events() -> tuple[list[Event], bool, str] | None:
        for group in queue.event_queue_per_concurrency_id.values():
            if len(group.queue) > 1 and (group.concurrency_limit is None or group.current_concurrency < group.concurrency_limit):
                group.queue[:] = in_turn(group.queue, listeners)
        return choose()

    async def push_and_make_room(*call: object, **named: object) -> tuple:
        if queue.max_size is not None and len(queue) >= queue.max_size:
            waiting = [event for group in queue.event_queue_per_concurrency_id.values() for event in group.queue]
            unheard = [event for event in waiting if not _is_heard(event, listeners)]
            if unheard:
                await queue.remove_from_queue(in_turn(unheard, listeners)[-1]._id)
        return await push(*call, **named)

    queue.get_events, queue.push = get_events, push_and_make_room
