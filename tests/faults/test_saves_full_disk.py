"""A full disk, at each point of a save: nothing breaks, nothing is left over, and what is not on the disk is said."""

import contextlib
import errno
import os
import subprocess

import pytest

from playground.config import Refusal
from playground.runs.disk import files
from tests.runs.disk.test_files import contents
from tests.runs.disk.test_saves import served
from tests.runs.tiny import ME, YOU, alone, at_step, curve, done, tiny, wait

OPERATIONS = ("open", "fsync", "rename", "replace", "mkdir", "link")
OLDER, OLD, NEW = ({"big.bin": word * 1000, "run.json": word} for word in (b"older", b"old", b"new"))


@contextlib.contextmanager
def full(when, operations=OPERATIONS):
    """There is no space for those operations on the disk whose number, counted from 1, is among `when`."""
    calls = []

    def without_space(name, real):
        def operation(*arguments, **options):
            if name != "open" or arguments[1] & os.O_CREAT:  # what is only read needs none
                calls.append(1)
                if len(calls) in when:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments, **options)

        return operation

    with pytest.MonkeyPatch.context() as patch:
        for name in operations:
            patch.setattr(os, name, without_space(name, getattr(os, name)))
        yield calls


ALWAYS = range(1, 10**9)


@pytest.mark.fault("no space on the disk at each point of a save", "the save before stands, nothing is left over")
@pytest.mark.parametrize("spare", [False, True])
def test_wherever_the_space_ends_the_old_folder_stands_and_nothing_is_left_over(tmp_path, spare):
    for at in range(1, 100):
        folder = tmp_path / str(at) / "run"
        files.replace_folder(folder, OLDER, spare=spare)
        files.replace_folder(folder, OLD, spare=spare)
        before = {path.name: contents(path) for path in folder.parent.iterdir()}
        with full([at]) as calls, contextlib.suppress(OSError):
            files.replace_folder(folder, NEW, spare=spare)
        if len(calls) < at:
            break
        assert {path.name: contents(path) for path in folder.parent.iterdir()} == before
        files.replace_folder(folder, NEW, spare=spare)  # there is space again
        assert contents(folder) == NEW
    assert at > 8


@pytest.mark.fault("no space on the disk for a whole training", "the run says that its end is not on the disk, and it is written later")
@pytest.mark.parametrize("operation", ["open", *(pytest.param(name, marks=pytest.mark.night) for name in ("fsync", "rename"))])
def test_a_run_that_ends_on_a_full_disk_says_that_it_is_not_there_and_is_written_later(tmp_path, operation):
    with served(tmp_path) as runs:
        run = at_step(runs.create(tiny(steps=60), ME), 1)
        with full(ALWAYS, [operation]):
            done(run)
            assert (run.status, run.step) == ("done", 60)
            assert run.message.key == "runs.end_not_on_disk"
            assert run.checkpoint_step != 60
            assert {path.name for path in runs.store.root.iterdir()} <= {run.id, f"{run.id}.old"}
            runs._housekeeper.retry_saves()  # still no space
            assert run.message.key == "runs.end_not_on_disk"
            with pytest.raises(Refusal, match="disk"):
                runs.copy(run.id, YOU)
            assert run.snapshot.step == 60, "it is whole in memory"
        runs._housekeeper.retry_saves()
        assert (run.status, run.message, run.checkpoint_step) == ("done", None, 60)
    with served(tmp_path) as runs:
        back = runs.get(run.id)
        assert (back.status, back.step, back.message) == ("done", 60, None)
        assert curve(back) == curve(alone(tiny(steps=60))[0])


@pytest.mark.fault("no space on the disk for a whole training, and a restart", "the run is as far as the disk knows, and says so")
@pytest.mark.parametrize("small", [True, pytest.param(False, marks=pytest.mark.night)])
def test_after_a_restart_it_is_what_the_disk_has(tmp_path, small):
    """With space for a small file, and with none at all."""
    with served(tmp_path) as runs:
        run = at_step(runs.create(tiny(steps=60), ME), 1)
        runs._workers.save(run)
        early = run.checkpoint_step
        with full(ALWAYS, ["mkdir"] if small else ["open"]):
            done(run)
    with served(tmp_path) as runs:
        back = runs.get(run.id)
        assert (back.status, back.step) == ("interrupted", early)
        assert back.message.key == ("runs.end_not_saved" if small else "runs.interrupted")
        assert f"step {early}" in str(back.message)
        runs.resume(back.id, ME)
        done(back)
        assert (back.status, back.message) == ("done", None)
        assert curve(back) == curve(alone(tiny(steps=60))[0])


@pytest.mark.fault("no space on the disk for what an owner changes", "a sentence, and nothing left over")
@pytest.mark.parametrize("operation", [*OPERATIONS[:2], *(pytest.param(name, marks=pytest.mark.night) for name in OPERATIONS[2:])])
def test_what_an_owner_changes_on_a_full_disk_is_a_sentence(tmp_path, operation):
    changes = (
        lambda runs, run: runs.rename(run.id, ME, "other"), lambda runs, run: runs.share_sentences(run.id, ME, True),
        lambda runs, run: runs.set_live(run.id, ME, "learning_rate", 0.002), lambda runs, run: runs.create(tiny(), YOU),
        lambda runs, run: runs.copy(run.id, YOU), lambda runs, run: runs.fork(run.id, None, YOU), lambda runs, run: runs.hand_over(ME, YOU),
    )  # fmt: skip
    with served(tmp_path) as runs:
        run = at_step(runs.create(tiny(steps=1000), ME), 1)
        runs.pause(run.id, ME)
        wait(lambda: run.status == "paused")
        there = {path.name for path in runs.store.root.iterdir()}
        with full(ALWAYS, [operation]):
            for change in changes:
                with contextlib.suppress(Refusal):  # a sentence, and nothing else
                    change(runs, run)
        if operation in ("open", "fsync", "mkdir"):
            assert {path.name for path in runs.store.root.iterdir()} == there
        assert not [path for path in runs.store.root.rglob("*") if path.name.endswith(".new") or path.name.startswith(".")]


@pytest.mark.fault("a disk of three megabytes that is full", "ends, changes and new runs say so, and are written once there is space")
def test_a_real_full_disk(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(tmp_path)], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    with contextlib.ExitStack() as stack:
        stack.callback(subprocess.run, ["umount", "-l", str(tmp_path)], check=True)
        runs = stack.enter_context(served(tmp_path / "data"))
        run = at_step(runs.create(tiny(steps=60), ME), 1)
        with (tmp_path / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while True:
                ballast.write(bytes(4096))
        done(run)
        assert (run.status, run.message.key) == ("done", "runs.end_not_on_disk")
        for change in (lambda: runs.rename(run.id, ME, "other"), lambda: runs.create(tiny(), YOU)):
            with pytest.raises(Refusal, match="can’t write"):
                change()
        assert {path.name for path in runs.store.root.iterdir()} <= {run.id, f"{run.id}.old"}
        os.unlink(tmp_path / "ballast")
        runs._housekeeper.retry_saves()
        assert run.message is None
        runs.close()
        back = stack.enter_context(served(tmp_path / "data")).get(run.id)
        assert (back.status, back.step, back.label) == ("done", 60, "other")
