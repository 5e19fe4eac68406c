"""The fuse of the stories, with a browser and a server that die when they are told to."""

import pytest

from tests.browser.fuse import Fuse

FAILED = pytest.fail.Exception


class Part:
    def __init__(self, starts: bool = True) -> None:
        self.alive, self.starts, self.checks, self.restarts = True, starts, 0, 0

    def is_alive(self) -> bool:
        self.checks += 1
        return self.alive

    def restart(self) -> None:
        self.restarts += 1
        if not self.starts:
            raise OSError("no port is free")
        self.alive = True


def test_both_are_restarted_once_and_after_a_second_death_every_story_fails_at_once():
    browser, server, fuse = Part(), Part(), Fuse()
    restarts = []
    for alive in (True, True, False, True):
        server.alive = alive
        fuse.check([browser, server])
        restarts.append((browser.restarts, server.restarts))
    assert restarts == [(0, 0), (0, 0), (1, 1), (1, 1)]
    server.alive = False
    with pytest.raises(FAILED, match="a second time"):
        fuse.check([browser, server])
    checks = server.checks
    with pytest.raises(FAILED, match="a second time"):
        fuse.check([browser, server])
    assert (server.checks, server.restarts) == (checks, 1)


def test_what_does_not_start_is_not_tried_again():
    server, fuse = Part(starts=False), Fuse()
    server.alive = False
    for _ in range(2):
        with pytest.raises(FAILED, match="no port is free"):
            fuse.check([server])
    assert server.restarts == 1
