"""Whether the disk answers, for real: writes that fail, and one that hangs until the test lets it go."""

import errno
import os
import threading

import pytest

from playground.config import Refusal
from playground.runs import health as module
from playground.runs.disk import files
from playground.runs.disk.watch import DiskWatch
from playground.runs.health import health
from playground.runs.runtime import Runtime
from tests.runs.tiny import ME, YOU, at_step, done, limits, tiny, wait


def test_a_full_disk_is_said_until_a_write_succeeds(serve, monkeypatch):
    runs = serve()

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert health(runs)["disk"]["last_error"] is None
    with monkeypatch.context() as patch:
        patch.setattr(files, "_write_new", full)
        with pytest.raises(Refusal):
            runs.create(tiny(), ME)
        runs._housekeeper.write_waiting()  # nothing waits, so nothing is known to be better
        said = health(runs)
    assert (said["status"], said["reasons"]) == ("busy", ["disk_refuses"])
    assert said["disk"]["last_error"]["name"] == "ENOSPC"
    done(runs.create(tiny(), ME))
    said = health(runs)
    assert (said["status"], said["disk"]["last_error"]["name"]) == ("ok", "ENOSPC")


def test_a_disk_that_hangs_in_a_save_is_said_and_no_run_is_lost(serve, monkeypatch):
    """The watch leaves the worker where it is: when the disk comes back it goes on."""
    runs = serve(limits(step_seconds=0.1, save_seconds=0.0, cores=1))
    monkeypatch.setattr(module, "SILENT_S", 0.3)
    real, opened, stuck = files.replace_folder, threading.Event(), threading.Event()

    def hang(*arguments, **options):
        stuck.set()
        assert opened.wait(60)
        return real(*arguments, **options)

    runs._workers._watchdog.patience = lambda turn: 0.5 if stuck.is_set() and not opened.is_set() else 60.0
    run = at_step(runs.create(tiny(steps=200), ME), 1)
    monkeypatch.setattr(files, "replace_folder", hang)
    assert stuck.wait(30)
    wait(lambda: runs.store.disk.silent_seconds > 1.0)
    wait(lambda: health(runs)["status"] == "failing")
    said = health(runs)
    assert (said["reasons"], said["workers"]) == (["disk_silent"], {"alive": 1, "replaced": 0, "lost": 0})
    assert said["disk"]["silent_seconds"] > 0.2
    monkeypatch.setattr(files, "replace_folder", real)
    opened.set()
    assert done(run).status == "done"
    assert health(runs)["status"] == "ok"
    assert done(runs.create(tiny(), YOU)).status == "done"


def test_the_watch_says_for_how_long_the_oldest_question_has_had_no_answer(tmp_path):
    now = [100.0]
    watch = DiskWatch(tmp_path, Runtime(monotonic=lambda: now[0]))
    assert watch.silent_seconds == 0
    with watch.asked():
        now[0] += 5
        with watch.asked(writes=True):
            now[0] += 2
            assert watch.silent_seconds == 7
        assert watch.silent_seconds == 7
    assert watch.silent_seconds == 0

    def fail():
        with watch.asked(writes=True):
            now[0] += 3
            assert watch.silent_seconds == 3
            raise OSError(errno.EIO, "broken")

    with pytest.raises(OSError, match="broken"):
        fail()
    assert (watch.silent_seconds, watch.refuses, watch.last_error.name) == (0, True, "EIO")


def test_how_much_room_there_is(serve):
    runs = serve()
    runs.store.disk.look()
    assert health(runs)["disk"]["free"] > 0
