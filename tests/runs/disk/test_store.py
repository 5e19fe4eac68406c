"""A server's folder: runs read when looked at; what can't be written is refused, all in it is counted; and whether the disk answers."""

import json
import shutil
from contextlib import suppress
from unittest.mock import Mock

import pytest

from playground.runs.disk import default_folder, files
from playground.runs.disk.store import Store, make_folder
from playground.runs.disk.watch import DiskWatch
from playground.runs.history import History
from playground.runs.queue import train_inline
from playground.runs.run import Run
from playground.ui import server
from playground.ui.operator import health
from tests.runs.tiny import ME, YOU, alone, begun, curve, ended, ended_as_if_alone, refused, same_replay, tiny

ID = "a-run-with-an-id-of-22"


def a_run(id=ID, **values):
    return Run(id, f"name-of-{id[:4]}", tiny(), "0" * 64, **values)


def trained():
    run, _ = alone(tiny())
    copy = a_run(status="done", step=12, checkpoint_step=12)
    copy.parts |= run.parts
    return copy


@pytest.mark.parametrize(("before", "writes", "error", "after"), [
    (False, False, None, False), (False, False, OSError(28, "full"), False), (False, True, OSError(28, "full"), True),
    (True, False, None, True), (True, True, None, False),
])  # fmt: skip
def test_writes_alone_tell_whether_the_disk_refuses(tmp_path, before, writes, error, after):
    watch = DiskWatch(tmp_path)
    watch.close()
    watch.refuses = before
    with suppress(OSError), watch.track(writes):
        if error:
            raise error
    assert watch.refuses is after


def read_again(store):
    store.close()
    return Store(store.folder).read_all()


def test_a_run_is_read_back_when_it_is_looked_at_and_a_note_changes_what_it_names_and_nothing_else(store):
    run = trained()
    store.save(run, train_inline.contents(run))
    (back,) = read_again(store)
    assert (back.id, back.name, back.status, back.owner, back.parts) == (ID, run.name, "done", "0" * 64, {})
    assert back.history is back.history
    assert {*back.parts} == {"history"}
    replay = back.replay
    back.release()
    assert back.parts == {}
    assert back.replay is not replay
    assert curve(back) == curve(run)
    assert same_replay(run, back)
    run.hold(history=History())  # ahead of the disk
    run.release()
    assert len(run.history.steps) == 0
    store.save(run, train_inline.contents(back))
    run.release()
    assert curve(run) == curve(back)
    run = trained()
    store.save(run, train_inline.contents(run))
    run.label, run.step = "a label", 61
    for names, step in ((("label",), 12), ((), 61)):
        store.write_card(run, *names)
        card = json.loads((store.path(run) / "run.json").read_bytes())
        assert (card["label"], card["step"]) == ("a label", step)
    store.write_card(a_run("never-saved-run-of-22-"))
    assert [path.name for path in store.root.iterdir()] == [ID]


def test_what_is_no_run_is_left_alone(store, caplog):
    store.create(a_run())
    store.create(a_run("c" * 22))
    (store.root / ("c" * 22)).rename(store.root / ("d" * 22))  # a folder that says it is another
    for name in ("something else", "b" * 22):
        (store.root / name).mkdir()
    (store.root / ("b" * 22) / "run.json").write_text("{}")
    (store.root / "a-file-of-some-22-long").write_text("x")
    before = sorted(store.root.iterdir())
    assert ([run.id for run in read_again(store)], sorted(store.root.iterdir())) == ([ID], before)
    assert caplog.text.count("left alone") >= 2


def test_two_servers_never_share_a_folder_unless_the_disk_knows_no_locks(store, monkeypatch, caplog):
    with refused("runs.folder_in_use") as refusal:
        Store(store.folder)
    assert str(store.folder) in refusal.value.say("zh")
    for _ in range(2):
        store.close()
    monkeypatch.setattr("fcntl.flock", Mock(side_effect=OSError(37, "No locks available")))
    Store(store.folder).close()
    assert "second server" in caplog.text


def test_a_full_disk_is_said_until_a_write_succeeds(world):
    runs = world.runs
    assert health(runs)["disk"]["last_error"] is None
    world.disk.refusals = 1
    with world.disk, refused("runs.disk_full"):
        runs.create(tiny(), ME)
    runs._housekeeper.retry_saves()  # nothing waits, so nothing is known to be better
    for reasons in (["disk_refuses"], []):
        report = health(runs)
        assert (report["status"], report["reasons"]) == ("busy" if reasons else "ok", reasons)
        assert report["disk"]["last_error"]["name"] == "ENOSPC"
        ended(world, steps=1)
    runs.store.disk.check()
    assert health(runs)["disk"]["free"] > 0


def test_a_disk_that_hangs_in_a_save_is_said_and_no_run_is_lost(world, monkeypatch):
    """The watch leaves the worker where it is: when the disk comes back it goes on."""
    real, reports = files.replace_folder, []
    run = world.runs.create(tiny(), ME)
    world.until(lambda: run.step >= 3)

    def hang(*arguments, **options):
        world.hang()
        run.mark_seen()
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


def test_a_server_does_not_start_where_it_can_keep_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "here"))
    assert make_folder(default_folder()) == tmp_path / "here"
    (tmp_path / "file").write_text("")
    with refused("runs.folder_unwritable"):
        make_folder(tmp_path / "file" / "below")
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(server, "Shutdown", object)  # which would take this process's signals
    with pytest.raises(SystemExit, match="2"):
        server.serve()
    assert capsys.readouterr().err.count("\n") == 1


def test_where_the_folder_was_deleted_nothing_is_said_to_be_kept(world):
    run = begun(world)
    shutil.rmtree(world.runs.store.folder)
    world.round()
    assert (health(world.runs)["reasons"], health(world.runs)["disk"]["last_error"]["name"]) == (["disk_refuses"], "ENOENT")
    with refused("runs.disk_full"):
        world.runs.create(tiny(), YOU)
    world.runs.stop(run.id, ME)
    world.until(lambda: not run.working)
    assert run.message.key == "runs.end_not_on_disk"
    world.runs.store.root.mkdir(parents=True)  # as somebody else may, who has the place now
    world.round()
    assert (health(world.runs)["reasons"], list(world.runs.store.root.iterdir())) == (["disk_refuses"], [])


def test_rooms_uploads_and_what_can_not_be_read_take_room_from_runs(world):
    world.restart(bytes_kept=10_000_000)
    run = ended(world, steps=1)
    for path in ("rooms/AAAAA.json", "uploads/x/a.tsv", f"runs/{'z' * 22}/state.safetensors"):
        (world.runs.store.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (world.runs.store.folder / path).write_bytes(bytes(3_000_000))
    world.round()
    assert 9_000_000 <= world.runs.store.other_bytes < 9_100_000
    world.runs.create(tiny(steps=1), YOU)
    (world.runs.store.folder / "rooms" / "BBBBB.json").write_bytes(bytes(1_500_000))
    world.round()
    with refused("runs.server_full"):
        world.runs.create(tiny(), YOU)
    assert world.runs.find(run.id)


def test_what_a_crash_left_of_a_file_goes_at_the_next_start_and_a_folder_made_anew_is_another(tmp_path):
    left = [tmp_path / path for path in ("rooms/.AAAAA.json.0123abcd", f"runs/{'a' * 22}/.run.json.00000000", ".run.json.ffffffff")]
    stay = [tmp_path / path for path in ("rooms/AAAAA.json", "rooms/.hidden", "rooms/AAAAA.json.0123abcd")]
    for path in (*left, *stay):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    Store(tmp_path).close()
    assert [path.exists() for path in (*left, *stay)] == [False] * 3 + [True] * 3
    (made := tmp_path / "made").mkdir()
    watch = DiskWatch(made)
    made.rmdir()
    made.mkdir()
    assert watch.is_gone()
    watch.close()
