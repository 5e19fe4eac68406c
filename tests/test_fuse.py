"""The fuse of the stories, with a browser and a server that die when they are told to."""

from __future__ import annotations

import pytest

from tests.browser.fuse import Fuse

FAILED = pytest.fail.Exception


class Part:
    def __init__(self, starts: bool = True) -> None:
        self.alive, self.starts, self.asked, self.restarted = True, starts, 0, 0

    def is_alive(self) -> bool:
        self.asked += 1
        return self.alive

    def restart(self) -> None:
        self.restarted += 1
        if not self.starts:
            raise OSError("no port is free")
        self.alive = True


def test_while_all_is_well_nothing_is_restarted():
    parts, fuse = [Part(), Part()], Fuse()
    for _ in range(3):
        fuse.check(parts)
    assert [part.restarted for part in parts] == [0, 0]


def test_when_one_has_died_both_are_started_anew():
    browser, server, fuse = Part(), Part(), Fuse()
    server.alive = False
    fuse.check([browser, server])
    assert (browser.restarted, server.restarted) == (1, 1)
    fuse.check([browser, server])
    assert (browser.restarted, server.restarted) == (1, 1)


def test_after_a_second_death_every_story_fails_and_nobody_is_asked():
    server, fuse = Part(), Fuse()
    server.alive = False
    fuse.check([server])
    server.alive = False
    with pytest.raises(FAILED, match="a second time"):
        fuse.check([server])
    asked = server.asked
    with pytest.raises(FAILED, match="a second time"):
        fuse.check([server])
    assert (server.asked, server.restarted) == (asked, 1)


def test_what_does_not_start_is_not_tried_again():
    server, fuse = Part(starts=False), Fuse()
    server.alive = False
    for _ in range(2):
        with pytest.raises(FAILED, match="no port is free"):
            fuse.check([server])
    assert server.restarted == 1
