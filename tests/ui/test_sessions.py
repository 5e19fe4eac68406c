"""What is kept of browser tabs is little and bounded, in the Gradio that is installed."""

import asyncio
import gc
import tracemalloc
from types import SimpleNamespace

import pytest
from gradio import route_utils, state_holder

from playground.ui.sessions import BYTES, MOST, UNFETCHED_S, Session, Sessions, Tidying


@pytest.fixture
def page(site):
    return site.app.get_blocks()


def test_a_session_is_as_small_as_is_said(page):
    gc.collect()
    tracemalloc.start()
    made = [Session(page) for _ in range(20)]
    size = tracemalloc.get_traced_memory()[0] / len(made)
    tracemalloc.stop()
    assert BYTES / 4 < size < BYTES


def test_gradio_makes_these_and_no_others(page):
    assert state_holder.SessionState is route_utils.SessionState is Session
    assert type(page.state_holder["a tab"]) is Session
    assert page.state_holder.capacity == MOST == 100


@pytest.mark.fault("more tabs than the server remembers", "those that came last stay; the others notice nothing")
def test_the_tab_that_came_last_stays(page):
    tabs = Sessions(page)
    while len(tabs):
        tabs.give_up()
    for name in ("first", "second", "third"):
        _ = page.state_holder[name]
    _ = page.state_holder["first"]
    assert tabs.bytes == 3 * BYTES
    oldest = tabs.oldest
    tabs.give_up()
    assert set(page.state_holder.session_data) == {"first", "third"} == set(page.state_holder.time_last_used)
    assert tabs.oldest >= oldest
    for number in range(2 * MOST):
        _ = page.state_holder[f"tab {number}"]
    assert len(tabs) <= MOST + 1


def queue_of(**events):
    """A queue's books: for each tab its events without a fetched answer."""
    return SimpleNamespace(
        pending_event_ids_session={tab: set(ids) for tab, ids in events.items()},
        pending_messages_per_session={tab: asyncio.Queue() for tab in (*events, "answered and gone")},
        event_ids_to_events={"running": 1},
        get_events=lambda: None,
    )


def test_tabs_that_wait_for_nothing_are_forgotten():
    now = [0.0]
    queue = queue_of(done=[], trains=["running"], heard=["finished"], unfetched=["finished too"])
    tidying = Tidying(queue, {("listener", "heard")}, lambda: now[0])
    tidying.begin()
    queue.get_events()
    assert set(queue.pending_messages_per_session) == {"trains", "heard", "unfetched"}
    now[0] = UNFETCHED_S + 1
    queue.get_events()
    assert set(queue.pending_event_ids_session) == set(queue.pending_messages_per_session) == {"trains", "heard"}
    assert tidying._idle == {}
