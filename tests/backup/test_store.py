"""A store looked through, taken along and brought back: the same runs for the same people, and nothing of an attacker."""

import io
import json
import os
import shutil
import tarfile
import time

import pytest

from playground import backup, handin
from playground.backup import DAMAGED, EARLIER, LEFT_OVER, NEWER, WHOLE, bring, check, export
from playground.cli import main
from playground.config import Refusal
from playground.rooms.registry import DAY, Rooms
from playground.runs.disk import files
from tests.runs.disk.test_saves import KNOBS, flipped, old_of, served
from tests.runs.tiny import ME, PAIRS, YOU, at_step, done, refused, tiny, wait

FOREIGN = "F" * 22
FIRST = (backup.FIRST, b'{"format":1,"made":0}')
RUN = f"runs/{FOREIGN}/run.json"
HOSTILE = (
    "../evil", f"runs/{FOREIGN}/../../evil", "/tmp/evil", "runs/notes.txt", f"runs/{FOREIGN}/evil.py", "runs/short/run.json",
    "checkpoints/reverse/run.json", f"runs//{FOREIGN}/run.json", f"runs/{FOREIGN}/{'x' * 200}",
)  # fmt: skip
KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE)


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """(folder of a server with a paused run, saved twice, an ended one and a room; its tar; the paused run, the ended run, the code)"""
    folder = tmp_path_factory.mktemp("store") / "data"
    with served(folder) as runs:
        ended = done(runs.create(tiny(steps=4), YOU))
        run = at_step(runs.create(tiny(**KNOBS), ME, pairs=PAIRS), 3)
        runs._workers.save(run)
        at_step(run, run.checkpoint_step + 2)
        runs.pause(run.id, ME)
        wait(lambda: run.status == "paused")
        code = Rooms(folder / "rooms").open(ME, "en", time.time() + DAY).code
    out = folder.parent / "store.tar"
    assert export(folder, out).notes == {}
    return folder, out, run, ended, code


@pytest.fixture
def data(moved, tmp_path):
    """A copy of the folder that a test may spoil, and the paused run's folder in it."""
    shutil.copytree(moved[0], tmp_path / "data")
    return tmp_path / "data", tmp_path / "data" / "runs" / moved[2].id


def verdicts(folder):
    return {finding.name: finding.verdict for finding in check(folder)}


def test_it_is_taken_along_while_a_server_trains_and_saves(tmp_path):
    with served(tmp_path / "old") as runs:
        run = at_step(runs.create(tiny(steps=100_000), ME), 2)
        for n in range(3):
            runs._workers.save(run)
            assert export(tmp_path / "old", tmp_path / f"{n}.tar").notes == {}
        assert run.status == "training"
    assert (bring(tmp_path / "2.tar", tmp_path / "new").runs, verdicts(tmp_path / "new")) == (1, {f"runs/{run.id}": WHOLE})


def test_what_was_saved_later_is_not_in_it(moved, data, tmp_path, monkeypatch):
    folder, path = data
    card, link = json.loads((path / "run.json").read_bytes()), backup._link_store

    def link_and_save(root, snapshot):
        link(root, snapshot)
        files.write_file(path / "run.json", files.to_json(card | {"label": "later"}))
        for room in (folder / "rooms").glob("*.json"):
            room.unlink()

    monkeypatch.setattr(backup, "_link_store", link_and_save)
    assert export(folder, tmp_path / "out.tar").rooms == 1
    bring(tmp_path / "out.tar", tmp_path / "new")
    assert json.loads((tmp_path / "new" / "runs" / path.name / "run.json").read_bytes()) == card


def test_every_verdict(moved, data, tmp_path, capsys):
    folder, path = data
    ended = folder / "runs" / moved[3].id
    room = folder / "rooms" / f"{moved[4]}.json"
    assert main(["store", "check", "--folder", str(folder)]) == 0
    (folder / "runs" / f"{path.name}.new").mkdir()
    (folder / "runs" / "notes.txt").write_text("hello")
    flipped(path / "state.safetensors")
    card = json.loads((ended / "run.json").read_bytes())
    (ended / "run.json").write_text(json.dumps(card | {"format": 99}))
    room.write_text("{}")
    before = sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*"))
    assert verdicts(folder) == {
        f"runs/{path.name}": EARLIER, f"runs/{ended.name}": NEWER, f"runs/{path.name}.new": LEFT_OVER, "runs/notes.txt": LEFT_OVER,
        f"rooms/{room.name}": DAMAGED,
    }  # fmt: skip
    capsys.readouterr()
    assert main(["store", "check", "--json", "--folder", str(folder)]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (row,) = (row for row in rows if row["verdict"] == EARLIER)
    assert "state.safetensors" in row["why"]
    assert sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*")) == before  # it only looks
    result = export(folder, tmp_path / "out.tar")
    assert result.runs == 1
    assert result.notes[f"runs/{path.name}"].startswith("earlier save"), "of a damaged save the one before is taken along"
    bring(tmp_path / "out.tar", tmp_path / "new")
    with served(tmp_path / "new") as runs:
        again = runs.get(path.name)
        assert (again.pairs, again.step, again.step < moved[2].step) == (PAIRS, row["step"], True)
        assert again.looked_at == int((old_of(path) / "run.json").stat().st_mtime)
    flipped(old_of(path) / "weights.safetensors")
    assert verdicts(folder)[f"runs/{path.name}"] == DAMAGED
    result = export(folder, tmp_path / "out.tar")
    assert (result.runs, result.rooms, len(result.notes)) == (0, 0, 3)


def test_with_all_saves_the_one_before_comes_back_too(moved, tmp_path):
    folder, run, new = moved[0], moved[2], tmp_path / "new"
    assert (export(folder, tmp_path / "all.tar", all_saves=True).notes, bring(tmp_path / "all.tar", new).notes) == ({}, {})
    path = new / "runs" / run.id
    assert old_of(path).is_dir()
    spoilt = contents(tmp_path / "all.tar") | {f"runs/{run.id}.old/weights.safetensors": b"x"}
    assert list(bring(tar_of(tmp_path / "spoilt.tar", spoilt.items()), tmp_path / "other").notes) == [f"runs/{run.id}.old"]
    flipped(path / "weights.safetensors")
    assert verdicts(new)[f"runs/{run.id}"] == EARLIER
    assert json.loads(contents(moved[1])[backup.FIRST])["format"] == 1, "without them older versions read it"


def test_the_commands_and_what_is_there_already_stays_as_it_is(data, moved, tmp_path, capsys):
    folder, path = data
    (tmp_path / "codes.csv").write_text(handin.sign(handin.read_key(folder), "2026-11-29", ["tour"], 1, [(1, 12), (2, 12)], ME))
    assert main(["store", "export", "-o", str(tmp_path / "out.tar"), "--folder", str(folder)]) == 0
    assert "2 runs and 1 rooms" in capsys.readouterr().out
    assert os.stat(tmp_path / "out.tar").st_mode & 0o077 == 0
    assert main(["store", "import", str(tmp_path / "out.tar"), "--folder", str(tmp_path / "other")]) == 0
    assert main(["store", "check", "--folder", str(tmp_path / "other")]) == 0
    assert path.name in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "codes.csv"), "--folder", str(tmp_path / "other")]) == 0, "its codes are its own again"
    (tmp_path / "other" / handin.KEY_FILE).write_text("f" * 64)
    assert handin.KEY_FILE in bring(tmp_path / "out.tar", tmp_path / "other").notes
    assert (handin.read_key(tmp_path / "other"), main(["store", "check", "--folder", str(tmp_path / "nowhere")])) == (b"f" * 64, 2)
    before = (path / "run.json").read_bytes()
    assert main(["store", "import", str(moved[1]), "--folder", str(folder)]) == 1
    assert "there already" in capsys.readouterr().err
    assert (path / "run.json").read_bytes() == before
    with served(tmp_path / "new"), refused("runs.folder_in_use"):  # while a server has the folder
        bring(moved[1], tmp_path / "new")


def contents(file):
    with tarfile.open(file) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def tar_of(path, entries, **kinds):
    """A tar with these files; of those in `kinds` the header is changed."""
    with tarfile.open(path, "w") as tar:
        for name, data in entries:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for attribute, value in kinds.get(name.rpartition("/")[2].partition(".")[0], {}).items():
                setattr(member, attribute, value)
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return path


def refusal_of(file, folder):
    with pytest.raises(Refusal) as refused:
        bring(file, folder)
    assert not folder.exists()
    assert not list(folder.parent.glob(".store-*"))
    return refused.value.key


def test_of_an_archive_with_anything_strange_nothing_comes_in_and_what_is_none_is_refused(tmp_path, moved, monkeypatch):
    whole = list(contents(moved[1]).items())
    for name in HOSTILE:
        assert refusal_of(tar_of(tmp_path / "evil.tar", [*whole, (name, b"x")]), tmp_path / "new") == "backup.not_ours", name
    for kind in KINDS:
        link = tar_of(tmp_path / "evil.tar", [FIRST, (RUN, b"")], run={"type": kind, "linkname": "/etc/passwd"})
        assert refusal_of(link, tmp_path / "new") == "backup.not_ours", kind
    member = tarfile.TarInfo(f"runs/{FOREIGN}/weights.safetensors")
    member.size = -1
    file = tar_of(tmp_path / "evil.tar", [FIRST])
    file.write_bytes(file.read_bytes()[:1024] + member.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    assert refusal_of(file, tmp_path / "new") == "backup.not_ours", "a negative size"
    packed = moved[1].read_bytes()
    (tmp_path / "text").write_text("hello " * 1000)
    with tarfile.open(tmp_path / "packed", "w:gz") as tar:
        tar.add(moved[1], FIRST[0])
    (tmp_path / "cut").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "between").write_bytes(packed[: -(-len(packed.rstrip(b"\0")) // 512) * 512])
    tar_of(tmp_path / "without", [(RUN, b"{}")])
    tar_of(tmp_path / "later", [(backup.FIRST, b'{"format":3}')])
    keys = {name: refusal_of(tmp_path / name, tmp_path / "new") for name in ("text", "packed", "cut", "between", "without", "later")}
    assert keys == dict.fromkeys(tuple(keys)[:-1], "backup.not_an_archive") | {"later": "backup.newer_format"}
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 99, 1))
    with pytest.raises(Refusal) as refused:
        bring(moved[1], tmp_path / "new" / "er")
    assert (refused.value.key, (tmp_path / "new").exists()) == ("backup.no_room", False)


def test_a_damaged_run_and_one_under_anothers_id_stay_outside_and_the_others_come(moved, tmp_path):
    _, out, run, ended, _ = moved
    files, name = contents(out), f"runs/{run.id}/weights.safetensors"
    spoilt = files | {name: files[name][:-1] + bytes([files[name][-1] ^ 1])}
    result = bring(tar_of(tmp_path / "spoilt.tar", spoilt.items()), tmp_path / "new")
    assert (result.runs, result.rooms, list(result.notes)) == (1, 1, [f"runs/{run.id}"])
    assert [path.name for path in (tmp_path / "new" / "runs").iterdir()] == [ended.id]
    renamed = {name.replace(ended.id, FOREIGN): data for name, data in files.items()}
    assert list(bring(tar_of(tmp_path / "other.tar", renamed.items()), tmp_path / "other").notes) == [f"runs/{FOREIGN}"]
