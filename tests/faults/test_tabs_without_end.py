"""Tabs that are opened and closed without end leave nothing: no thread, no file handle, hardly any memory."""

import pytest

from benchmarks.growth.sessions import rows
from benchmarks.server import Server
from playground.ui.sessions import MOST

TABS = 200
FEW, MORE = 4, 30_000_000  # handles that come and go; bytes: Gradio's own sessions of so many tabs took 70 MB

pytestmark = [pytest.mark.night]


@pytest.mark.fault("two hundred tabs opened and closed", "no thread and no file handle stays, and hardly any memory")
def test_two_hundred_tabs_leave_what_thirty_left():
    with Server() as server:
        if server.held()["bytes"] is None:
            pytest.skip("only Linux says what a process holds")
        first, *_, last = rows(server, TABS)
    assert last["tabs"] - first["tabs"] > TABS / 2
    assert last["threads"] <= first["threads"] + FEW
    assert last["files"] <= first["files"] + FEW
    assert last["sessions"] <= MOST
    assert last["bytes"] - first["bytes"] < MORE
