"""Fair order of Gradio's queue: calls with a listener before abandoned ones, addresses by round robin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from gradio.queueing import Event, Queue
from starlette.requests import Request

from playground.ui.address import address_of


def sort_fairly(events: Iterable[Event], listeners: Container) -> list[Event]:
    """Sorts calls: those with a listener first; then round robin over addresses, and within an address over browser tabs."""
    calls = Counter[tuple[bool, str, str]]()
    by_session = []
    for event in sorted(events, key=lambda event: event.enqueue_time):
        abandoned, address = not _has_listener(event, listeners), address_of(event.request)
        by_session.append((abandoned, calls[abandoned, address, event.session_hash], event.enqueue_time, address, event))
        calls[abandoned, address, event.session_hash] += 1
    address_counts = Counter[tuple[bool, str]]()
    order = []
    for abandoned, _, enqueued, address, event in sorted(by_session, key=lambda place: place[:3]):
        order.append((abandoned, address_counts[abandoned, address], enqueued, event))
        address_counts[abandoned, address] += 1
    return [event for *_, event in sorted(order, key=lambda place: place[:3])]


def count_waiting(queue: Queue, listeners: Container, address: str) -> int:
    """Counts the calls from this address that have not begun and have a listener."""
    return sum(_has_listener(event, listeners) and address_of(event.request) == address for event in _pending_calls(queue))


def install_fair_order(queue: Queue, listeners: Container, most: int) -> None:
    """Installs the fair order. An abandoned call is dropped when the queue is full, or its address has `most` calls waiting."""
    original_get, original_push = queue.get_events, queue.push

    def get_events() -> tuple[list[Event], bool, str] | None:
        for group in queue.event_queue_per_concurrency_id.values():
            if len(group.queue) > 1 and (group.concurrency_limit is None or group.current_concurrency < group.concurrency_limit):
                group.queue[:] = sort_fairly(group.queue, listeners)
        return original_get()

    async def push_and_make_room(body: object, request: Request, username: str | None) -> tuple:
        events = _pending_calls(queue)
        same_address = [event for event in events if address_of(event.request) == address_of(request)]
        if len(same_address) >= most or len(events) >= queue.max_size:
            abandoned = [event for event in (same_address if len(same_address) >= most else events) if not _has_listener(event, listeners)]
            if abandoned:
                await queue.remove_from_queue(_choose_victim(abandoned)._id)
        return await original_push(body=body, request=request, username=username)

    queue.get_events, queue.push = get_events, push_and_make_room


def _choose_victim(events: list[Event]) -> Event:
    """Returns the oldest call of the address with most of them: the caller of a recent one may be about to listen."""
    count = Counter(address_of(event.request) for event in events)
    return max(events, key=lambda event: (count[address_of(event.request)], -event.enqueue_time))


def _pending_calls(queue: Queue) -> list[Event]:
    """Returns the calls that have not begun."""
    return [event for group in queue.event_queue_per_concurrency_id.values() for event in group.queue]


def _has_listener(event: Event, listeners: Container) -> bool:
    return ("listener", event.session_hash) in listeners or ("listener", event._id) in listeners
