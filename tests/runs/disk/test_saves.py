"""Two saves of a run that can go on: whatever damages the newest, the one before is there, and its owner is told."""

import json
import logging
import os
import shutil
from contextlib import contextmanager
from functools import cache

import pytest

from playground.config import Refusal
from playground.runs.disk import files, saves
from playground.runs.disk.folder import Folder, describe
from playground.runs.disk.store import Store
from playground.runs.names import owner_of
from playground.runs.queue import train_inline
from playground.runs.registry import Runs
from tests.runs.tiny import CORPORA, LIMITS, ME, PAIRS, YOU, at_step, curve, done, same_parameters, tiny, wait

KNOBS = {"task": "own", "own": "upload", "steps": 60, "share_embeddings": "output"}
PARTS = ("history", "replay", "snapshot", "tokenizers", "pairs")


@contextmanager
def served(folder):
    runs = Runs(folder, None, LIMITS)
    runs.corpora._made = CORPORA._made
    try:
        yield runs
    finally:
        runs.close()


@cache
def twin():
    """The same run, never cut."""
    run = train_inline.new_run(tiny(**KNOBS), PAIRS, LIMITS)
    for _ in train_inline.train(run, CORPORA, LIMITS.replay_bytes):
        pass
    return run


def old_of(path):
    return files.beside(path).old


@pytest.fixture(scope="module")
def paused(tmp_path_factory):
    """The folder of a server with a paused run of own sentences, saved twice on its way."""
    folder = tmp_path_factory.mktemp("paused") / "data"
    with served(folder) as runs:
        run = at_step(runs.create(tiny(**KNOBS), ME, pairs=PAIRS, sentences_shared=True), 5)
        runs._workers.save(run)
        early = run.checkpoint_step
        at_step(run, early + 2)
        runs.pause(run.id, ME)
        wait(lambda: run.status == "paused")
        assert run.step > early
    return folder, run, early


@pytest.fixture
def data(paused, tmp_path):
    """(its copy, the run's folder in it, its id, steps of the save before and of the newest)"""
    folder, run, early = paused
    shutil.copytree(folder, tmp_path / "data")
    return tmp_path / "data", tmp_path / "data" / "runs" / run.id, run.id, early, run.step


def tensors_of(path, change):
    """Writes other tensors, for which run.json vouches."""
    found = dict(files.read_safetensors(path.read_bytes(), None, path.name, finite=False))
    data = files.to_safetensors(change(found))
    path.write_bytes(data)
    card_path = path.with_name("run.json")
    card = json.loads(card_path.read_bytes())
    card["files"] |= describe({path.name: data})
    card_path.write_text(json.dumps(card))


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def hostile(change):
    return lambda path: tensors_of(path, change)


DAMAGE = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""),
    "flipped": flipped,
    "deleted": os.unlink,
    "absurd shapes": hostile(lambda found: {name: tensor.unsqueeze(0) for name, tensor in found.items()}),
    "wrong names": hostile(lambda found: {f"x.{name}": tensor for name, tensor in found.items()}),
    "not finite": hostile(lambda found: {name: tensor * float("nan") for name, tensor in found.items()}),
}
EACH = ("run.json", "config.json", "weights.safetensors", "state.safetensors", "history.json", "replay.json", "replay.safetensors",
        "src_tokenizer.json", "pairs.json")  # fmt: skip
OFTEN = {("run.json", "truncated"), ("weights.safetensors", "flipped"), ("weights.safetensors", "not finite"),
         ("state.safetensors", "deleted"), ("pairs.json", "emptied")}  # fmt: skip
CASES = [
    *((name, how) for name in EACH for how in ("truncated", "emptied", "flipped", "deleted")),
    *(("weights.safetensors", how) for how in ("absurd shapes", "wrong names", "not finite")),
    *((name, how) for name in ("state.safetensors", "replay.safetensors") for how in ("absurd shapes", "wrong names")),
]


@pytest.mark.fault(
    "the newest save of a run truncated, emptied, deleted, with a bit flipped, or with hostile tensors",
    "it is set aside, the one before is used, its owner is told; resumed, it becomes what it would have become",
)
@pytest.mark.parametrize(("name", "how"), [case if case in OFTEN else pytest.param(*case, marks=pytest.mark.night) for case in CASES])
def test_the_save_before_is_used_when_the_newest_is_damaged(data, name, how, caplog):
    folder, path, id, early, _ = data
    DAMAGE[how](path / name)
    with served(folder) as runs:
        run = runs.get(id)
        for part in PARTS:
            assert getattr(run, part) is not None
        if name != "state.safetensors":  # which nobody reads before the run goes on
            assert run.status == ("interrupted" if name in ("run.json", "config.json") else "paused")
            assert run.step == run.checkpoint_step == early
            assert run.message.key == "runs.earlier_save"
            assert str(early) in run.message.say("en")
            assert len(run.history.steps) == early
            assert b"set aside" in runs.update(run, 0)[0]
        runs.resume(run.id, ME)
        done(run)
        assert run.status == "done"
        assert (run.message is not None) == (name == "state.safetensors"), "it is told until the run goes on"
        assert curve(run) == curve(twin())
        assert same_parameters(run.snapshot.parameters, twin().snapshot.parameters)
        assert files.beside(path).damaged.is_dir()
        assert runs.store.disk_size(run) == runs.store.size(run) + files.size_of(files.beside(path).damaged)
        runs.delete(run.id, ME)
        assert list(path.parent.iterdir()) == []
    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(said) == 1
    assert "\n" not in said[0].getMessage()


def test_after_a_restart_it_is_still_told(data):
    folder, path, id, early, _ = data
    DAMAGE["flipped"](path / "weights.safetensors")
    with served(folder) as runs:
        assert runs.get(id).snapshot.step == early
    with served(folder) as runs:
        run = runs.get(id)
        assert (run.status, run.step, run.message.key) == ("paused", early, "runs.earlier_save")
        assert runs.store.disk_size(run) > runs.store.size(run)


def test_a_page_that_knew_more_gets_everything_anew(data):
    folder, path, id, early, newest = data
    with served(folder) as runs:
        run = runs.get(id)
        assert len(run.history.steps) == newest
        run.touch()
        _, since = runs.update(run, 0)
        run.release()
        DAMAGE["truncated"](path / "replay.safetensors")
        assert run.replay.frames[-1].step <= early
        found = json.loads(runs.update(run, since)[0])
        assert found["from"] == 0
        assert found["rows"]["step"][-1] == found["step"] == early


def test_a_fork_and_a_copy_are_made_of_the_save_before(data):
    folder, path, id, early, _ = data
    DAMAGE["emptied"](path / "state.safetensors")
    with served(folder) as runs:
        copy = runs.copy(id, YOU)
        assert copy.step == runs.get(id).step == early
        DAMAGE["emptied"](path / "weights.safetensors")
        with pytest.raises(Refusal, match="not a run"):  # there is none before any more
            runs.copy(id, YOU)
        assert path.is_dir()


@pytest.mark.fault("both saves of a run damaged", "a sentence, and nothing is thrown away")
def test_when_both_are_damaged_nothing_is_thrown_away(data, caplog):
    folder, path, id, _, newest = data
    for damaged in (path, old_of(path)):
        DAMAGE["flipped"](damaged / "weights.safetensors")
    before = sorted(path.parent.rglob("*"))
    with served(folder) as runs:
        run = runs.get(id)
        for _ in range(3):
            with pytest.raises(Refusal, match="weights"):
                _ = run.snapshot
        assert len(run.history.steps) == newest
        runs.resume(id, ME)
        done(run)
        assert (run.status, run.message.key) == ("failed", "runs.not_a_run")
    assert sorted(path.parent.rglob("*")) == before
    assert sum(record.levelno >= logging.WARNING for record in caplog.records) == 1


def test_whose_run_cannot_be_read_at_all_is_told_so(data):
    folder, path, id, _, _ = data
    for damaged in (path, old_of(path)):
        (damaged / "run.json").write_bytes(b"{")
    with served(folder) as runs, pytest.raises(Refusal, match="not a run"):
        runs.get(id)
    assert path.is_dir()
    assert old_of(path).is_dir()


def test_going_back_takes_back_nothing_that_the_owner_has_said(data):
    folder, path, id, _, _ = data
    with served(folder) as runs:
        runs.rename(id, ME, "mine alone")
        runs.share_sentences(id, ME, False)
        runs.hand_over(ME, YOU)
    DAMAGE["emptied"](path / "run.json")
    with served(folder) as runs:
        run = runs.get(id)
        assert (run.label, run.sentences_shared, run.owner) == ("mine alone", False, owner_of(YOU))


def test_the_two_saves_share_no_bytes_and_the_end_keeps_one(data):
    folder, path, id, _, _ = data
    assert {file.name for file in path.iterdir()} == {file.name for file in old_of(path).iterdir()}
    for file in path.iterdir():
        assert file.stat().st_ino != (old_of(path) / file.name).stat().st_ino
    with served(folder) as runs:
        run = runs.get(id)
        assert runs.store.disk_size(run) == runs.store.size(run) + files.size_of(old_of(path))
        runs.resume(id, ME)
        done(run)
        assert [found.name for found in path.parent.iterdir()] == [id]
        assert runs.store.disk_size(run) == runs.store.size(run)


def test_own_sentences_damaged_while_the_run_trains_are_not_carried_on(paused, tmp_path):
    """What stays the same from save to save is taken from where it is whole."""
    shutil.copytree(paused[0], tmp_path / "data")
    path = tmp_path / "data" / "runs" / paused[1].id
    for damaged, status in ((old_of(path), "training"), (path, "done")):
        shutil.copytree(path, tmp_path / status)
        shutil.copytree(old_of(path), old_of(tmp_path / status))
        DAMAGE["flipped"]((tmp_path / status if damaged == path else old_of(tmp_path / status)) / "pairs.json")
        entries = Folder(path).entries
        kept = {"pairs.json": entries["pairs.json"]}
        linked, written = saves.kept_files(tmp_path / status, kept, spare=status == "training")
        data = written.get("pairs.json") or linked["pairs.json"].read_bytes()
        assert files.digest(data) == kept["pairs.json"]["sha256"]


@pytest.mark.fault("a run that a later version wrote", "it is left to the last byte as it is, and said so")
def test_a_run_of_a_later_version_is_left_exactly_as_it_is(data, caplog):
    folder, path, id, _, _ = data
    card = json.loads((path / "run.json").read_bytes())
    (path / "run.json").write_text(json.dumps({"format": 2, "id": id, "more": card}))
    for name in ("new", "gone"):
        shutil.copytree(path, path.with_name(f"{id}.{name}"))
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    with served(folder) as runs:
        with pytest.raises(Refusal) as refusal:
            runs.get(id)
        assert refusal.value.key == "runs.newer_format"
        assert "newer version" in str(refusal.value)
        assert runs.mine(ME) == []
        done(runs.create(tiny(steps=1), ME))
    assert {file: file.read_bytes() for file in before} == before
    assert sum("newer version" in record.getMessage() for record in caplog.records) == 1


@pytest.mark.fault("kill -9 in the middle of deleting a run", "the newest save stands, or nothing; never the one before")
def test_a_delete_that_is_cut_brings_no_save_of_before_back(data):
    _, path, _, _, newest = data
    gone = []
    for cut in range(1, 6):
        target = path.parent.parent / f"cut{cut}" / path.name
        target.parent.mkdir()
        shutil.copytree(path, target)
        shutil.copytree(old_of(path), old_of(target))
        with pytest.MonkeyPatch.context() as patch:
            calls = []

            def rmtree(*arguments, real=shutil.rmtree, calls=calls, cut=cut, **options):
                calls.append(1)
                if len(calls) == cut:
                    raise KeyboardInterrupt
                real(*arguments, **options)

            patch.setattr(shutil, "rmtree", rmtree)
            with pytest.raises(KeyboardInterrupt):
                files.delete_folder(target)
        files.recover(target, spare=True)
        gone.append(not target.exists())
        assert gone[-1] or Folder(target).run.step == newest, "the newest, or nothing"
    assert gone == sorted(gone)


def test_a_broken_off_step_back_leaves_the_save_before(data):
    _, path, id, early, _ = data
    path.rename(files.beside(path).damaged)
    store = Store(path.parent.parent)
    (run,) = store.read_all()
    store.close()
    assert (run.id, run.step) == (id, early)

