import json
import os

import pytest

from playground.config import Refusal
from playground.runs.disk import store
from playground.runs.disk.store import Store, default_folder
from playground.runs.history import History
from playground.runs.queue import train_inline
from playground.runs.run import Run
from tests.runs.tiny import PAIRS, alone, curve, same_replay, tiny

ID = "a-run-with-an-id-of-22"


def a_run(id=ID, **values):
    return Run(id, f"name-of-{id[:4]}", tiny(), "0" * 64, **values)


def trained(id=ID):
    """A finished run under another id."""
    run, _ = alone(tiny(steps=60))
    copy = Run(id, "brisk-otter", run.experiment, "0" * 64, status="done", step=60, checkpoint_step=60)
    copy.parts |= run.parts
    return copy


def test_a_run_is_kept_and_read_back(tmp_path):
    kept, run = Store(tmp_path), trained()
    kept.create(run)
    kept.save(run, train_inline.contents(run))
    kept.close()
    (back,) = Store(tmp_path).read_all()
    assert (back.id, back.name, back.status, back.owner) == (ID, "brisk-otter", "done", "0" * 64)
    assert curve(back) == curve(run)
    assert same_replay(back, run)


def test_parts_are_read_when_somebody_looks_and_can_be_let_go(tmp_path):
    kept, run = Store(tmp_path), trained()
    kept.save(run, train_inline.contents(run))
    kept.close()
    (back,) = Store(tmp_path).read_all()
    assert back.parts == {}
    assert back.history is back.history
    assert set(back.parts) == {"history"}
    assert back.replay.steps[-1] == 60
    before = back.replay
    back.release()
    assert back.parts == {}
    assert back.replay is not before
    run.release()  # the run that was just saved can be read back too
    assert same_replay(run, back)


@pytest.mark.parametrize(
    ("status", "becomes"),
    [("queued", "interrupted"), ("preparing", "interrupted"), ("training", "interrupted"), ("paused", "paused"), ("done", "done")],
)
def test_what_a_server_that_went_away_left(tmp_path, status, becomes):
    kept = Store(tmp_path)
    kept.create(a_run(status=status))
    kept.close()
    (back,) = Store(tmp_path).read_all()
    assert back.status == becomes
    assert (back.message is not None) == (becomes == "interrupted")


def test_what_is_no_run_is_left_alone(tmp_path, caplog):
    kept = Store(tmp_path)
    kept.create(a_run())
    (kept.root / "something else").mkdir()
    (kept.root / ("b" * 22)).mkdir()
    (kept.root / ("b" * 22) / "run.json").write_text("{}")
    kept.create(a_run("c" * 22))
    (kept.root / ("c" * 22)).rename(kept.root / ("d" * 22))  # a folder that says it is another
    (kept.root / "a-file-of-some-22-long").write_text("x")
    kept.close()
    found = Store(tmp_path).read_all()
    assert [run.id for run in found] == [ID]
    assert (kept.root / "something else").exists()
    assert (kept.root / ("b" * 22)).exists()
    assert caplog.text.count("left alone") >= 2


def test_a_note_changes_what_it_names_and_nothing_else(tmp_path):
    kept, run = Store(tmp_path), trained()
    kept.save(run, train_inline.contents(run))
    run.label, run.step = "a label", 61
    kept.note(run, "label")
    card = json.loads((kept.path(run) / "run.json").read_bytes())
    assert (card["label"], card["step"]) == ("a label", 60)
    kept.note(run)
    assert json.loads((kept.path(run) / "run.json").read_bytes())["step"] == 61
    kept.note(a_run("never-saved-run-of-22-"))
    assert [path.name for path in kept.root.iterdir()] == [ID]


def test_own_pairs_stay_when_the_rest_is_saved(tmp_path):
    kept = Store(tmp_path)
    run = a_run(data=PAIRS)
    kept.create(run)
    kept.save(run, {"config.json": b"{}"}, keep=("pairs.json", "replay.json"))
    assert sorted(path.name for path in kept.path(run).iterdir()) == ["config.json", "pairs.json", "run.json"]


def test_two_servers_never_share_a_folder(tmp_path):
    first = Store(tmp_path)
    with pytest.raises(Refusal) as refusal:
        Store(tmp_path)
    assert refusal.value.key == "runs.folder_in_use"
    assert str(tmp_path) in refusal.value.say("zh")
    first.close()
    first.close()
    Store(tmp_path).close()


def test_a_disk_without_locks_is_used_all_the_same(tmp_path, monkeypatch, caplog):
    def no_locks(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    Store(tmp_path).close()
    assert "second server" in caplog.text


def test_the_folder_comes_from_the_environment_or_is_a_temporary_one(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "here"))
    assert default_folder() == tmp_path / "here"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "file" / "below"))
    folder = default_folder()
    assert folder.is_dir()
    assert folder != tmp_path / "file" / "below"
    assert "can't be written" in caplog.text
    os.rmdir(folder)


def test_shipped_runs_are_read_by_their_folders_names(tmp_path, caplog):
    run = trained()
    store.write_run(tmp_path / "reverse", run, train_inline.contents(run))
    (tmp_path / "broken").mkdir()
    (tmp_path / "README.md").write_text("")
    (found,) = store.read_shipped(tmp_path)
    assert (found.id, found.name, found.owner, found.shipped, found.resumable) == ("reverse", "reverse", "", True, False)
    assert found.replay.steps[-1] == 60
    assert "broken" in caplog.text
    assert store.read_shipped(tmp_path / "nowhere") == []


def test_what_is_ahead_of_the_disk_is_not_let_go(tmp_path):
    kept, run = Store(tmp_path), trained()
    kept.save(run, train_inline.contents(run))
    newer = History()
    run.hold(history=newer)
    run.release()
    assert run.history is newer
    kept.save(run, train_inline.contents(run))
    run.release()
    assert run.history is not newer
