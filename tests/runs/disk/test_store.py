import json
from unittest.mock import Mock

import pytest

from playground.runs.disk import store
from playground.runs.disk.store import Store
from playground.runs.history import History
from playground.runs.queue import train_inline
from playground.runs.run import Run
from tests.runs.by_hand import refused
from tests.runs.tiny import PAIRS, alone, curve, same_replay, tiny

ID = "a-run-with-an-id-of-22"


def a_run(id=ID, **values):
    return Run(id, f"name-of-{id[:4]}", tiny(), "0" * 64, **values)


def trained():
    """A finished run under another id."""
    run, _ = alone(tiny())
    copy = a_run(status="done", step=30, checkpoint_step=30)
    copy.parts |= run.parts
    return copy


@pytest.fixture
def kept(tmp_path):
    opened = Store(tmp_path)
    yield opened
    opened.close()


def read_again(kept):
    kept.close()
    return Store(kept.folder).read_all()


def test_a_run_is_read_back_when_somebody_looks_and_can_be_let_go(kept):
    run = trained()
    kept.create(run)
    kept.save(run, train_inline.contents(run))
    (back,) = read_again(kept)
    assert (back.id, back.name, back.status, back.owner) == (ID, run.name, "done", "0" * 64)
    assert back.parts == {}
    assert back.history is back.history
    assert {*back.parts} == {"history"}
    replay = back.replay
    back.release()
    assert back.parts == {}
    assert back.replay is not replay
    run.release()  # the run that was just saved can be read back too
    assert curve(back) == curve(run) == curve(alone(tiny())[0])
    assert same_replay(run, back)


def test_what_is_ahead_of_the_disk_is_not_let_go(kept):
    run, newer = trained(), History()
    kept.save(run, train_inline.contents(run))
    run.hold(history=newer)
    run.release()
    assert run.history is newer
    kept.save(run, train_inline.contents(run))
    run.release()
    assert run.history is not newer


@pytest.mark.parametrize("status", ["queued", "preparing", "training", "paused", "done"])
def test_what_a_server_that_went_away_left(kept, status):
    kept.create(a_run(status=status))
    (back,) = read_again(kept)
    assert (back.status, bool(back.message)) == ((status, False) if status in ("paused", "done") else ("interrupted", True))


def test_what_is_no_run_is_left_alone(kept, caplog):
    kept.create(a_run())
    kept.create(a_run("c" * 22))
    (kept.root / ("c" * 22)).rename(kept.root / ("d" * 22))  # a folder that says it is another
    for name in ("something else", "b" * 22):
        (kept.root / name).mkdir()
    (kept.root / ("b" * 22) / "run.json").write_text("{}")
    (kept.root / "a-file-of-some-22-long").write_text("x")
    before = sorted(kept.root.iterdir())
    assert [run.id for run in read_again(kept)] == [ID]
    assert sorted(kept.root.iterdir()) == before
    assert caplog.text.count("left alone") >= 2


def test_a_note_changes_what_it_names_and_nothing_else(kept):
    run = trained()
    kept.save(run, train_inline.contents(run))
    run.label, run.step = "a label", 61
    kept.note(run, "label")
    card = json.loads((kept.path(run) / "run.json").read_bytes())
    assert (card["label"], card["step"]) == ("a label", 30)
    kept.note(run)
    assert json.loads((kept.path(run) / "run.json").read_bytes())["step"] == 61
    kept.note(a_run("never-saved-run-of-22-"))
    assert [path.name for path in kept.root.iterdir()] == [ID]


def test_own_pairs_stay_when_the_rest_is_saved(kept):
    run = a_run(data=PAIRS)
    kept.create(run)
    kept.save(run, {"config.json": b"{}"}, keep=("pairs.json", "replay.json"))
    assert sorted(path.name for path in kept.path(run).iterdir()) == ["config.json", "pairs.json", "run.json"]


def test_two_servers_never_share_a_folder_unless_the_disk_knows_no_locks(kept, monkeypatch, caplog):
    with refused("runs.folder_in_use") as refusal:
        Store(kept.folder)
    assert str(kept.folder) in refusal.value.say("zh")
    for _ in range(2):
        kept.close()
    monkeypatch.setattr("fcntl.flock", Mock(side_effect=OSError(37, "No locks available")))
    Store(kept.folder).close()
    assert "second server" in caplog.text


def test_shipped_runs_are_read_by_their_folders_names(tmp_path, caplog):
    run = trained()
    store.write_run(tmp_path / "reverse", run, train_inline.contents(run))
    (tmp_path / "broken").mkdir()
    (tmp_path / "README.md").write_text("")
    (back,) = store.read_shipped(tmp_path)
    assert (back.id, back.name, back.owner, back.shipped, back.resumable) == ("reverse", "reverse", "", True, False)
    assert back.replay.steps[-1] == 30
    assert "broken" in caplog.text
    assert store.read_shipped(tmp_path / "nowhere") == []
