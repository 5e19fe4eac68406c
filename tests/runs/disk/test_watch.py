"""Whether the disk answers: writes that fail, and one that hangs."""

import contextlib
import errno

from playground.runs.disk import files
from playground.runs.disk.watch import DiskWatch
from playground.runs.health import health
from playground.runs.runtime import Runtime
from tests.runs.by_hand import ended, refused
from tests.runs.tiny import ME, ended_as_if_alone, tiny


def test_a_full_disk_is_said_until_a_write_succeeds(world):
    runs = world.runs
    assert health(runs)["disk"]["last_error"] is None
    world.disk.refusals = 1
    with world.disk, refused("runs.disk_full"):
        runs.create(tiny(), ME)
    runs._housekeeper.write_waiting()  # nothing waits, so nothing is known to be better
    for reasons in (["disk_refuses"], []):
        report = health(runs)
        assert (report["status"], report["reasons"]) == ("busy" if reasons else "ok", reasons)
        assert report["disk"]["last_error"]["name"] == "ENOSPC"
        ended(world, steps=1)
    runs.store.disk.look()
    assert health(runs)["disk"]["free"] > 0


def test_a_disk_that_hangs_in_a_save_is_said_and_no_run_is_lost(world, monkeypatch):
    """The watch leaves the worker where it is: when the disk comes back it goes on."""
    real, reports = files.replace_folder, []
    run = world.runs.create(tiny(), ME)
    world.until(lambda: run.step >= 3)

    def hang(*arguments, **options):
        world.hang()
        run.seen()
        reports.append(health(world.runs))
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace_folder", hang)
        world.runs._workers.save(run)
    (report,) = reports
    assert (report["status"], report["reasons"]) == ("failing", ["disk_silent"])
    assert (report["workers"]["lost"], report["disk"]["silent_seconds"] > 80_000) == (0, True)
    world.until(lambda: run.status == "done")
    ended_as_if_alone(run, tiny())
    assert health(world.runs)["status"] == "ok"


def test_the_watch_says_for_how_long_the_oldest_question_has_had_no_answer(tmp_path):
    now = [100.0]
    watch = DiskWatch(tmp_path, Runtime(monotonic=lambda: now[0]))
    with watch.asked():
        now[0] += 5
        with contextlib.suppress(OSError), watch.asked(writes=True):
            now[0] += 2
            assert watch.silent_seconds == 7
            raise OSError(errno.EIO, "broken")
        assert watch.silent_seconds == 7
    assert (watch.silent_seconds, watch.refuses, watch.last_error.name) == (0, True, "EIO")
