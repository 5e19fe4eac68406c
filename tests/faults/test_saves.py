"""A full disk, at each point of a save, and a damaged save, on each route: nothing breaks, and what is not on the disk is said."""

import contextlib
import errno
import json
import logging
import os
import subprocess

import pytest

import tests.ui.conftest as ui
from playground.cli import main
from playground.config import Refusal
from playground.features.registry import PANELS
from playground.runs.disk import files
from playground.runs.disk.store import Store
from playground.ui import server
from playground.ui.assets import PREFIX
from tests.runs.disk.test_folder import contents, failing
from tests.runs.disk.test_saves import served
from tests.runs.tiny import ME, TINY, YOU, alone, at_step, curve, done, tiny, wait

OPERATIONS = ("open", "fsync", "rename", "replace", "mkdir", "link")
OLDER, OLD, NEW = ({"big.bin": word * 1000, "run.json": word} for word in (b"older", b"old", b"new"))
ALWAYS = range(1, 10**9)
site = ui.site
TOKEN = "t" * 32
READ = [
    "boot", "runs", "run/{run}", "history?run={run}", "history?run={run}&table=validations", "table?run={run}", "board?run={run}",
    "attention?run={run}", "takeaway/{run}?kind=zip", "code?run={run}", "preview?run={run}",
]  # fmt: skip


@contextlib.contextmanager
def full(when, operations=OPERATIONS):
    """There is no space for those operations on the disk whose number is among `when`."""
    with pytest.MonkeyPatch.context() as patch:
        yield failing(patch, lambda number: number in when, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), operations)


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


@pytest.mark.fault("no space on the disk for a whole training, and a restart", "the run is as far as the disk knows, and says so")
@pytest.mark.night
@pytest.mark.parametrize("small", [True, False])
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
        assert (back.status, back.message, curve(back)) == ("done", None, curve(alone(tiny(steps=60))[0]))


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
        run = at_step(runs.create(tiny(steps=30), ME), 1)
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
        assert (back.status, back.step, back.label) == ("done", 30, "other")


def first_event(site, run):
    """The first event of the run's stream."""
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}") as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        return json.loads(next(line for line in lines if line.startswith("data: ")).removeprefix("data: "))


def damage(path):
    for name in ("weights.safetensors", "history.json", "replay.safetensors", "state.safetensors"):
        if (path / name).exists():
            (path / name).write_bytes((path / name).read_bytes()[:-9])


@pytest.fixture
def finished(site):
    run = done(site.train(TOKEN, {**TINY, "steps": 5}))
    yield run
    site.act(TOKEN, "delete", run.id)


@pytest.fixture
def paused(site):
    """Saved twice while it trained."""
    run = at_step(site.train(TOKEN, {**TINY, "steps": 1000}), 3)
    site.runs._workers.save(run)
    at_step(run, run.checkpoint_step + 1)
    site.act(TOKEN, "pause", run.id)
    wait(lambda: run.status == "paused")
    yield run
    site.act(TOKEN, "delete", run.id)


def read_everything(site, run, headers):
    paths = [*READ, *(f"panel/{name}?run={{run}}&text=hello" for name in PANELS)]
    for path in paths:
        answer = site.http.get(f"{PREFIX}/{path.format(run=run.id)}", headers=headers)
        assert answer.status_code == 200, (path, answer.text)
        yield path, answer


@pytest.mark.fault("the only save of a run damaged", "a sentence on every route; no stream breaks, no traceback")
def test_a_run_whose_only_save_is_damaged_says_so_on_every_route(site, finished, caplog):
    finished.release()
    damage(site.runs.store.path(finished))
    headers = {"X-Playground-Token": TOKEN}
    with caplog.at_level(logging.WARNING):
        event = first_event(site, finished)
        assert "missing, damaged" in event["message"]["en"]
        assert (event["status"], event["from"], event["rows"]["step"]) == ("done", 0, [])
        refused = [path for path, answer in read_everything(site, finished, headers) if b'"error"' in answer.content[:9]]
    assert len(refused) > 5
    assert not {"boot", "runs"} & {*refused}, "one run that can't be read hides no other"
    assert sum(record.name.startswith("playground") for record in caplog.records) == 1
    assert not any(record.exc_info for record in caplog.records)
    assert site.runs.store.path(finished).is_dir()


@pytest.mark.fault("the newest save of a run damaged", "the one before is used, and the page says so")
def test_a_run_with_a_save_before_is_shown_as_it_was_then(site, paused, caplog):
    newest = paused.step
    paused.release()
    damage(site.runs.store.path(paused))
    with caplog.at_level(logging.WARNING):
        first_event(site, paused)  # which finds out
        event = first_event(site, paused)
        assert event["step"] == event["rows"]["step"][-1] < newest
        assert "set aside" in event["message"]["en"]
        assert "保存" in event["message"]["zh"]
        for path, answer in read_everything(site, paused, {"X-Playground-Token": TOKEN}):
            assert b"damaged" not in answer.content[:200], path
    assert not any(record.exc_info for record in caplog.records)
    assert files.sibling_paths(site.runs.store.path(paused)).damaged.is_dir()


@pytest.mark.fault("two servers on one folder", "the second ends with one sentence and code 2")
def test_the_second_server_ends_with_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    first = Store(tmp_path)
    with pytest.raises(SystemExit) as end:
        server.serve()
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(part in line for part in (str(tmp_path), "PLAYGROUND_DATA", "Stop"))
    assert main(["runs"]) == 0, "what is kept may be read meanwhile"
    assert "german_english" in capsys.readouterr().out
    first.close()
