"""Two saves of a run that can go on: whatever damages the newest, or kills its writer, one is there, and the owner is told."""

import itertools
import json
import logging
import multiprocessing
import os
import shutil
import signal
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

from playground.runs.disk import files, replay_file
from playground.runs.disk.folder import Folder, describe
from playground.runs.identity import owner_of
from playground.runs.queue import saving
from playground.runs.registry import Runs
from tests.runs import tiny as shared
from tests.runs.tiny import CORPORA, LIMITS, ME, PAIRS, YOU, at_rest, begun, curve, done, ended, limits, ordered, refused, tiny, train_here
from tests.simulation import world as simulation
from tests.simulation.world import Disk, World

KNOBS = {"task": "own", "own": "upload", "steps": 20, "share_embeddings": "output"}
PARTS = ("history", "replay", "snapshot", "tokenizers", "pairs")
TOKEN = "survivor"

POINTS = {  # of a save: what stands beside the run's folder then
    "write": {"", ".old", ".new"},  # the weights are half written
    "marker": {"", ".old", ".new"},  # everything but run.json
    "moved": {"", ".gone", ".new"},  # the save before has been moved away
    "between": {".old", ".gone", ".new"},  # neither is in its place
    "renamed": {"", ".old", ".gone"},  # the new one is in its place
}


@contextmanager
def served(folder):
    runs = Runs(folder, None, LIMITS)
    runs.corpora._caches = CORPORA._caches
    try:
        yield runs
    finally:
        runs.close()


@cache
def twin(**knobs):
    return train_here(tiny(**KNOBS | knobs), PAIRS, replay_bytes=LIMITS.replay_bytes)


def old_of(path):
    return files.sibling_paths(path).old


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def hostile(change):
    """Writes other tensors, for which run.json vouches."""

    def damage(path):
        tensors = replay_file.read_safetensors(path.read_bytes(), None, path.name, finite=False)
        data = replay_file.to_safetensors(dict(change(*one) for one in tensors.items()))
        path.write_bytes(data)
        card = json.loads((path.parent / "run.json").read_bytes())
        card["files"] |= describe({path.name: data})
        (path.parent / "run.json").write_text(json.dumps(card))

    return damage


DAMAGE = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""), "flipped": flipped, "deleted": os.unlink,
    "absurd shapes": hostile(lambda name, tensor: (name, tensor.unsqueeze(0))),
    "wrong names": hostile(lambda name, tensor: (f"x.{name}", tensor)),
    "not finite": hostile(lambda name, tensor: (name, tensor * float("nan"))),
}  # fmt: skip
EACH = {*files.NAMES, "run.json"} - {"tgt_tokenizer.json"}
OFTEN = [("run.json", "truncated"), ("weights.safetensors", "flipped"), ("state.safetensors", "deleted")]
SHAPED = [(f"{name}.safetensors", how) for name in ("weights", "state", "replay") for how in ("absurd shapes", "wrong names")]
RARELY = [("weights.safetensors", "not finite"), *SHAPED, *itertools.product(sorted(EACH), ("truncated", "emptied", "flipped", "deleted"))]


@pytest.fixture(scope="module")
def paused(tmp_path_factory):
    """The folder of a server with a paused run of own sentences, saved twice on its way."""
    world = World(tmp_path_factory.mktemp("paused") / "data", Disk(), limits=replace(simulation.LIMITS, save_seconds=1e9))
    run = world.runs.create(tiny(**KNOBS), ME, pairs=PAIRS, sentences_shared=True)
    world.until(lambda: run.step >= 5)
    world.runs._workers.save(run)
    early = run.checkpoint_step
    world.until(lambda: run.step >= early + 2)
    ordered(world, run, "pause")
    world.end(killed=False)
    assert run.step > early
    return world.folder, run, early


@pytest.fixture
def data(paused, tmp_path, world):
    """(the run's folder in a copy, its id, steps of the save before and of the newest)"""
    folder, run, early = paused
    world.end(killed=False)
    shutil.copytree(folder, tmp_path / "data", dirs_exist_ok=True)
    return tmp_path / "data" / "runs" / run.id, run.id, early, run.step


def complaints(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.fault("the newest save of a run truncated, emptied, deleted, with a bit flipped, or with hostile tensors",
                   "it is set aside, the one before is used, its owner is told; resumed, it becomes what it would have become")  # fmt: skip
@pytest.mark.parametrize(("name", "how"), [*OFTEN, *(pytest.param(*case, marks=pytest.mark.night) for case in RARELY if case not in OFTEN)])
def test_the_save_before_is_used_when_the_newest_is_damaged(world, data, name, how, caplog):
    path, id, early, _ = data
    assert not any(file.samefile(old_of(path) / file.name) for file in path.iterdir()), "the two share no bytes"
    DAMAGE[how](path / name)
    run = world.restart(killed=False).get(id)
    assert all(getattr(run, part) is not None for part in PARTS)
    if name != "state.safetensors":  # which is not read before the run goes on
        if run.status == "paused":
            run = world.restart(killed=False).get(id)  # and it is still told
        assert run.snapshot.step == run.step == run.checkpoint_step == len(run.history.steps) == early
        assert run.status == ("interrupted" if name in ("run.json", "config.json") else "paused")
        assert (run.message.key, run.message.values["step"]) == ("runs.earlier_save", early)
        assert json.loads(world.runs.update(run, 0)[0])["message"]["en"] == run.message.say("en")
    ordered(world, run, "resume")
    assert run.status == "done"
    assert (run.message is not None) == (name == "state.safetensors"), "it is told until the run goes on"
    assert curve(run) == curve(twin())
    assert shared.same_parameters(run.snapshot.parameters, twin().snapshot.parameters)
    shutil.copytree(path, old_of(path), dirs_exist_ok=True)  # as a crash before the end of the last save leaves it
    world.restart(killed=False)
    assert not old_of(path).exists()
    assert files.sibling_paths(path).damaged.is_dir()
    assert world.runs.store.disk_size(run) == world.runs.store.size(run) + files.tree_size(files.sibling_paths(path).damaged)
    world.runs.delete(id, ME)
    assert list(path.parent.iterdir()) == []
    (line,) = complaints(caplog)
    assert "\n" not in line


def test_a_damaged_save_takes_nothing_from_a_run_that_trains(world):
    """In memory it is ahead of both saves; another read of its folder must not set it back."""
    run = begun(world, steps=12)
    for step in (4, 6):
        world.until(lambda step=step: run.step >= step)
        world.runs._workers.save(run)
    world.until(lambda: run.step > run.checkpoint_step)
    step = run.step
    flipped(world.runs.store.path(run) / "weights.safetensors")
    world.runs.store.read(run, Folder.files)
    assert (run.status, run.step, run.message) == ("training", step, None)
    shared.ended_as_if_alone(at_rest(world, run), tiny())


def test_a_fork_is_wholly_of_the_save_that_can_be_read(world, data):
    path, id, early, _ = data
    flipped(path / "replay.json")  # which is read after the parameters
    fork = world.restart(killed=False).fork(id, None, ME)
    assert fork.first_step == fork.snapshot.step == len(fork.history.steps) == early


@pytest.mark.fault("both saves of a run damaged", "a sentence, and nothing is thrown away")
@pytest.mark.parametrize("name", ["weights.safetensors", "run.json"])
def test_when_both_are_damaged_nothing_is_thrown_away(world, data, caplog, name):
    path, id, _, newest = data
    for damaged in (path, old_of(path)):
        flipped(damaged / name) if name != "run.json" else DAMAGE["truncated"](damaged / name)
    before = sorted(path.parent.rglob("*"))
    runs = world.restart(killed=False)
    if name == "run.json":
        with refused("runs.not_a_run"):
            runs.get(id)
    else:
        run = runs.get(id)
        for _ in range(3):
            with refused("runs.not_a_run"):
                _ = run.snapshot
        assert len(run.history.steps) == newest
        ordered(world, run, "resume")
        assert (run.status, run.message.key, len(complaints(caplog))) == ("failed", "runs.not_a_run", 1)
    assert sorted(path.parent.rglob("*")) == before


def test_going_back_takes_back_nothing_that_the_owner_has_said(world, data):
    path, id, _, _ = data
    runs = world.restart(killed=False)
    runs.rename(id, ME, "mine alone")
    runs.share_sentences(id, ME, False)
    runs.hand_over(ME, YOU)
    DAMAGE["emptied"](path / "run.json")
    run = world.restart(killed=False).get(id)
    assert (run.label, run.sentences_shared, run.owner) == ("mine alone", False, owner_of(YOU))


@pytest.mark.fault("a run that a later version wrote", "it is left to the last byte as it is, and said so")
def test_a_run_of_a_later_version_is_left_exactly_as_it_is(world, data, caplog):
    path, id, _, _ = data
    card = json.loads((path / "run.json").read_bytes())
    (path / "run.json").write_text(json.dumps({"format": 2, "id": id, "more": card}))
    for name in ("new", "gone"):
        shutil.copytree(path, path.with_name(f"{id}.{name}"))
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    runs = world.restart(killed=False)
    with refused("runs.newer_format") as refusal:
        runs.get(id)
    assert runs.list_owned(ME) == []
    ended(world, steps=1)
    assert ({file: file.read_bytes() for file in before}, sum(str(refusal.value) in line for line in complaints(caplog))) == (before, 1)


@pytest.mark.fault("kill -9 in the middle of deleting a run", "the newest save stands, or nothing; never the one before")
def test_a_delete_that_is_cut_brings_no_save_of_before_back(data):
    path, _, _, newest = data
    gone = []
    for cut in range(1, 6):
        target, calls = path.parent.parent / f"cut{cut}" / path.name, []
        shutil.copytree(path, target)
        shutil.copytree(old_of(path), old_of(target))

        def rmtree(*arguments, real=shutil.rmtree, calls=calls, cut=cut, **options):
            calls.append(1)
            if len(calls) == cut:
                raise KeyboardInterrupt
            real(*arguments, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shutil, "rmtree", rmtree)
            with pytest.raises(KeyboardInterrupt):
                files.delete_folder(target)
        files.recover(target, spare=True)
        gone.append(not target.exists())
        assert gone[-1] or Folder(target).run.step == newest, "the newest, or nothing"
    assert gone == sorted(gone)


def serve_until_killed(folder, point):
    """A server that saves after every step. At a point of its eighth save it kills itself."""
    torch.set_num_threads(1)
    saving.SAVE_SHARE = 1e9  # save, whatever it costs
    replace_folder, rename, write, saves = files.replace_folder, Path.rename, files._write_new, []

    def end_at(here):
        if len(saves) == 8 and here == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def rename_and_end(self, target):
        rename(self, target)
        end_at({".gone": "moved", ".old": "between", "": "renamed"}[Path(target).suffix])

    def write_and_end(path, data):
        if path.name == "run.json":
            end_at("marker")
        half = path.name == "weights.safetensors" and len(saves) == 8 and point == "write"
        write(path, data[: len(data) // 2] if half else data)
        end_at("write" if half else "")

    def replace_and_count(path, *arguments, **options):
        saves.append(path)
        replace_folder(path, *arguments, **options)

    files.replace_folder, Path.rename, files._write_new = replace_and_count, rename_and_end, write_and_end
    runs = Runs(folder, None, limits(save_seconds=0.0))
    done(runs.create(tiny(), TOKEN, label="<b>tough</b>"))


@pytest.mark.fault("kill -9 at each point of a save", "the run is whole, and resumed it becomes what it would have become, bit for bit")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
@pytest.mark.parametrize("point", ["moved", *(pytest.param(point, marks=pytest.mark.night) for point in POINTS if point != "moved")])
def test_killed_the_run_is_what_it_would_have_been(world, point):
    folder = world.folder
    world.end(killed=False)
    how = "spawn" if torch.cuda.is_available() else "fork"  # which finds all imported, but where there is a GPU can't train
    server = multiprocessing.get_context(how).Process(target=serve_until_killed, args=(folder, point))
    server.start()
    server.join(120)
    assert server.exitcode == -signal.SIGKILL
    names = lambda: sorted(path.name for path in (folder / "runs").iterdir())  # noqa: E731
    assert {name[22:] for name in names()} == POINTS[point]
    world.start()
    (run,) = world.runs.list_owned(TOKEN)
    assert (run.status, run.label) == ("interrupted", "<b>tough</b>")
    assert 6 <= run.step == run.checkpoint_step == len(run.history.steps) < 12
    assert names() == [run.id, f"{run.id}.old"]
    assert Folder(files.sibling_paths(folder / "runs" / run.id).old).run.step == run.step - 1, "the save before is whole as well"
    ordered(world, run, "resume", TOKEN)
    assert names() == [run.id]
    shared.ended_as_if_alone(run, tiny())
