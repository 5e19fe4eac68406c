"""The folder of a server: one that can't be written is refused, one that was deleted takes nothing more, and all in it is counted."""

import shutil

import pytest

from playground.config import Refusal
from playground.runs.disk.store import Store, make_folder, wanted_folder
from playground.runs.health import health
from playground.ui import server
from tests.runs.by_hand import begun, ended, refused
from tests.runs.tiny import ME, YOU, tiny


def test_a_server_does_not_start_where_it_can_keep_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "here"))
    assert make_folder(wanted_folder()) == tmp_path / "here"
    (tmp_path / "file").write_text("")
    with refused("runs.folder_unwritable"):
        make_folder(tmp_path / "file" / "below")
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(server, "Ending", object)  # which would take this process's signals
    with pytest.raises(SystemExit, match="2"):
        server.serve()
    assert capsys.readouterr().err.count("\n") == 1


def test_where_the_folder_was_deleted_nothing_is_said_to_be_kept(world):
    run = begun(world)
    shutil.rmtree(world.runs.store.folder)
    world.round()
    assert health(world.runs)["reasons"] == ["disk_refuses"]
    assert health(world.runs)["disk"]["last_error"]["name"] == "ENOENT"
    with refused("runs.disk_full"):
        world.runs.create(tiny(), YOU)
    world.runs.stop(run.id, ME)
    world.until(lambda: not run.working)
    assert run.message.key == "runs.end_not_on_disk"
    world.runs.store.root.mkdir(parents=True)  # as somebody else may, who has the place now
    world.round()
    assert health(world.runs)["reasons"] == ["disk_refuses"]
    assert list(world.runs.store.root.iterdir()) == []


def test_rooms_uploads_and_what_can_not_be_read_take_room_from_runs(world):
    world.restart(bytes_kept=10_000_000)
    run = ended(world, steps=1)
    for path in ("rooms/AAAAA.json", "uploads/x/a.tsv", f"runs/{'z' * 22}/state.safetensors"):
        (world.runs.store.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (world.runs.store.folder / path).write_bytes(bytes(3_000_000))
    world.round()
    assert 9_000_000 <= world.runs.store.others < 9_100_000
    world.runs.create(tiny(steps=1), YOU)
    (world.runs.store.folder / "rooms" / "BBBBB.json").write_bytes(bytes(1_500_000))
    world.round()
    with pytest.raises(Refusal, check=lambda refusal: refusal.key == "runs.server_full"):
        world.runs.create(tiny(), YOU)
    assert world.runs.find(run.id)


def test_what_a_crash_left_of_a_file_goes_at_the_next_start(tmp_path):
    left = [tmp_path / path for path in ("rooms/.AAAAA.json.0123abcd", f"runs/{'a' * 22}/.run.json.00000000", ".run.json.ffffffff")]
    stay = [tmp_path / path for path in ("rooms/AAAAA.json", "rooms/.hidden", "rooms/AAAAA.json.0123abcd")]
    for path in (*left, *stay):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    Store(tmp_path).close()
    assert [path.exists() for path in (*left, *stay)] == [False] * 3 + [True] * 3
