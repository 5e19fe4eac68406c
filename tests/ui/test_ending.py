"""A signal asks the server to end; it ends nothing by itself, however often it comes."""

import os
import signal

import pytest

from playground.ui import ending

NUMBERS = [getattr(signal, name) for name in ending.SIGNALS if hasattr(signal, name)]


@pytest.fixture(autouse=True)
def handlers():
    """Of a process that hears each, however the tests were started; as they were, afterwards."""
    before = [signal.signal(number, signal.SIG_DFL) for number in NUMBERS]
    yield
    for number, handler in zip(NUMBERS, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_is_noted_and_a_second_one_changes_nothing(number):
    noted = ending.Ending()
    assert not noted.asked
    for _ in range(2):
        os.kill(os.getpid(), number)
        noted.wait()
    assert noted.asked


@pytest.mark.fault("a terminal is closed under a server that nohup started", "it goes on")
def test_what_the_process_was_started_deaf_to_it_stays_deaf_to():
    """A server that was started with nohup outlives its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    noted = ending.Ending()
    os.kill(os.getpid(), signal.SIGHUP)
    assert not noted.asked
