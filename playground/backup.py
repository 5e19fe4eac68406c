"""Backup of a server's store: verify every save and every room, export all of them as one tar, and import what is whole and new.

The tar holds plain files only, under the names they have in the store, behind a first file that names the format. It is not compressed:
weights hardly shrink. An archive is untrusted, so every header is checked before its file is read.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.handin import KEY_FILE, read_key, write_key
from playground.rooms.files import FILE as ROOM_FILE, SET_ASIDE, read_room
from playground.runs.disk import ID, files
from playground.runs.disk.files import FORMER, NAMES
from playground.runs.disk.folder import LAZY_PARTS
from playground.runs.disk.replay_file import read_safetensors
from playground.runs.disk.saves import open_save
from playground.runs.disk.store import Store

WHOLE, EARLIER, DAMAGED, NEWER, LEFT_OVER = VERDICTS = ("whole", "earlier save", "damaged", "newer format", "left over")
LOST = (EARLIER, DAMAGED, NEWER)  # verdicts of saved data that this version can't read
TRIES, PAUSE_S = 4, 0.05  # a server that saves moves the folder away for a moment
TEMPORARY = ".store-"  # begins the names of the folders that an export or an import works in
FIRST = "store.json"  # identifies the archive, and has the key that signs codes: older versions read past it
NEWEST_ALONE, FORMAT = 1, 2  # without and with previous saves; older versions read the first
FILE = re.compile(  # the name of a file in an archive
    rf"{re.escape(FIRST)}|rooms/{ROOM_FILE.pattern}|runs/{ID.pattern}(\.old)?/({'|'.join(map(re.escape, ('run.json', *NAMES, *FORMER)))})"
)
KEY = re.compile(r"[!-~]{16,256}")
SPARE_BYTES = 50_000_000  # that must remain free on the disk


@dataclass(frozen=True)
class Finding:
    """One run, room or leftover: `name` is its path in the store's folder."""

    name: str
    verdict: str
    bytes: int
    step: int | None = None  # of the newest whole save
    why: str = ""  # the error in the newest one


@dataclass
class Report:
    """The result of an export or an import, with a note on every path in the store's folder that is missing, or not the newest."""

    runs: int = 0
    rooms: int = 0
    notes: dict[str, str] = field(default_factory=dict)


class PlainFile(tarfile.TarInfo):
    """A tar header that must be a file of a store. Raises Refusal for any other, before its content is read: a tar can also have links,
    devices, long names and sparse files."""

    @classmethod
    def frombuf(cls, buf: bytes, encoding: str, errors: str) -> PlainFile:
        member = super().frombuf(buf, encoding, errors)
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.size < 0 or not FILE.fullmatch(member.name):
            raise Refusal("backup.not_ours", name=re.sub(r"[^ -~]", "?", member.name)[:80])
        member.mtime = min(max(member.mtime, 0), int(time.time()))  # that of run.json is the last visit: never in the future
        return member


def check(root: Path) -> Iterator[Finding]:
    """Verifies everything in a store's folder, reading every byte; changes nothing, takes no locks. Raises Refusal when there is none."""
    _require_store(root)
    entries, known = sorted((root / "runs").glob("*")), set()
    for id in sorted({path.name.partition(".")[0] for path in entries}):
        path = root / "runs" / id
        new, old, *_ = files.sibling_paths(path)
        if ID.fullmatch(id) and any(place.exists() for place in (path, old, new)):
            known |= {path, old}
            yield _judge_run(path)
    left_over = [*(path for path in entries if path not in known), *sorted(root.glob(f"{TEMPORARY}*"))]
    yield from (Finding(path.relative_to(root).as_posix(), LEFT_OVER, files.tree_size(path)) for path in left_over)
    yield from map(_judge_room, sorted((root / "rooms").glob("*")))


def export(root: Path, out: Path, all_saves: bool = False) -> Report:
    """Writes the tar `out` atomically, with the newest whole save of each run; with `all_saves` also the previous one. Raises Refusal when
    there is no store, and OSError.

    A save never changes a file, it replaces it. So the files of one moment are hard-linked first, and then read at leisure.
    """
    report, unfinished = Report(), out.with_name(f"{out.name}.part")
    _require_store(root)
    try:
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=root) as folder:
            snapshot = Path(folder)
            _link_store(root, snapshot)
            header = {"format": FORMAT if all_saves else NEWEST_ALONE, "made": round(time.time())}
            if (root / KEY_FILE).exists():
                header[KEY_FILE] = read_key(root).decode()
            (snapshot / FIRST).write_bytes(files.to_json(header))
            with tarfile.open(unfinished, "w", format=tarfile.USTAR_FORMAT, dereference=True) as tar:  # hard links too become files
                for name, path in {FIRST: snapshot / FIRST, **_select(snapshot, all_saves, report)}.items():
                    for file in (path, *sorted(path.glob("*"))):
                        tar.add(file, Path(name, file.relative_to(path)).as_posix(), recursive=False, filter=_plain)
        os.chmod(unfinished, 0o600)  # it holds sentences and names
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return report


def bring(file: Path, root: Path) -> Report:
    """Imports what the store's folder `root` doesn't have; no server may be using it. Raises Refusal: not a store's archive, an unexpected
    member, too little disk space, or a running server. Raises OSError.

    Runs keep their owners, which are stored as digests of their tokens: the same browsers find them again.
    """
    report = Report()
    try:
        with file.open("rb") as raw, tarfile.open(fileobj=raw, mode="r:", tarinfo=PlainFile) as tar:
            members, key = _read_members(tar)
            needed = sum(member.size for member in members) + SPARE_BYTES
            free = shutil.disk_usage(next(path for path in (root, *root.absolute().parents) if path.exists())).free
            if needed > free:
                raise Refusal("backup.no_room", needed=f"{needed / 1e6:,.0f}", free=f"{free / 1e6:,.0f}", folder=str(root))
            with closing(Store(root)), tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=root) as staging:  # the store locks servers out
                there = {path.relative_to(root).as_posix().partition(".")[0] for path in root.glob("r*/*")}
                for member in members:  # plain files with names of ours: see PlainFile
                    name = "/".join(member.name.split("/")[:2])
                    if name.partition(".")[0] in there:
                        report.notes[name] = "there already"
                    else:
                        tar.extract(member, staging, filter="data")
                _move_in(Path(staging), root, key, report)
    except tarfile.TarError as error:
        raise Refusal("backup.not_an_archive") from error
    return report


def _read_members(tar: tarfile.TarFile) -> tuple[list[tarfile.TarInfo], Any]:
    """Reads all headers. Returns those of runs and rooms, and the key. Raises Refusal or TarError for an archive that no store made, or a
    later version's."""
    first, *members = tar.getmembers() or [None]
    tar.fileobj.seek(tar.offset)
    is_ended = tar.fileobj.read(2 * tarfile.BLOCKSIZE) == bytes(2 * tarfile.BLOCKSIZE)  # tarfile accepts a file cut between two members
    header = files.parse_json(tar.extractfile(first).read(), FIRST) if first and first.name == FIRST else None
    format = header.get("format") if isinstance(header, dict) else None
    if not is_ended or type(format) is not int:
        raise Refusal("backup.not_an_archive")
    if format > FORMAT:
        raise Refusal("backup.newer_format", format=format, known=FORMAT)
    return members, header.get(KEY_FILE)


def _move_in(staging: Path, root: Path, key: Any, report: Report) -> None:
    """Moves the whole runs and rooms of an extracted archive into the store, and its key where there is none."""
    if isinstance(key, str) and KEY.fullmatch(key):
        if not (root / KEY_FILE).exists():
            write_key(root, key)
        elif read_key(root).decode() != key:
            report.notes[KEY_FILE] = "another one is there already"
    for kind in ("runs", "rooms"):
        for folder in (staging, root):
            (folder / kind).mkdir(exist_ok=True)
    for name, path in _select(staging, True, report).items():
        path.rename(root / name)
    if hasattr(os, "sync"):
        os.sync()  # all of it is on the disk before the archive may be deleted


def _select(copy: Path, all_saves: bool, report: Report) -> dict[str, Path]:
    """Returns the whole rooms and saves in a copy of a store by their names in a store, and with `all_saves` the previous saves; counts
    them, and notes what isn't among them."""
    chosen = {}
    for finding in check(copy):
        path, old = copy / finding.name, files.sibling_paths(copy / finding.name).old
        if finding.why:
            report.notes[finding.name] = f"{'earlier save' if finding.verdict == EARLIER else 'left out'}. {finding.why}"
        if finding.verdict not in (WHOLE, EARLIER):
            continue
        chosen[finding.name] = path if finding.verdict == WHOLE and path.exists() else old
        if finding.name.startswith("rooms/"):
            report.rooms += 1
            continue
        report.runs += 1
        if all_saves and chosen[finding.name] == path and old.exists():
            if isinstance(refusal := _verify(old, path.name), Refusal):
                report.notes[f"runs/{old.name}"] = f"left out. {refusal}"
            else:
                chosen[f"runs/{old.name}"] = old
    return chosen


def _require_store(root: Path) -> None:
    if not ((root / "runs").is_dir() or (root / "rooms").is_dir()):
        raise Refusal("backup.no_store", folder=str(root))


def _verify(path: Path, id: str) -> int | Refusal:
    """Reads every part of the save of the run `id` in the folder `path`. Returns its step, or the error of the last try."""
    for attempt in range(TRIES):
        time.sleep(PAUSE_S if attempt else 0)
        try:
            folder = open_save(path, id)
            folder.files()
            for name in LAZY_PARTS:
                getattr(folder.run, name)
            if folder.has("state.safetensors"):
                read_safetensors(folder.read("state.safetensors"), None, "state.safetensors", finite=False)
            return folder.run.checkpoint_step
        except Refusal as error:
            refusal = error
            if error.key == "runs.newer_format":
                break
    return refusal


def _judge_run(path: Path) -> Finding:
    """Returns the verdict on a run, with the step of its newest whole save."""
    name, old, newest = f"runs/{path.name}", files.sibling_paths(path).old, _verify(path, path.name)
    if isinstance(newest, int):
        return Finding(name, WHOLE, files.tree_size(path), newest)
    if newest.key == "runs.newer_format":
        return Finding(name, NEWER, files.tree_size(path), why=str(newest))
    if old.is_dir() and isinstance(step := _verify(old, path.name), int):
        return Finding(name, EARLIER if path.exists() else WHOLE, files.tree_size(old), step, str(newest) if path.exists() else "")
    return Finding(name, DAMAGED, files.tree_size(path), why=str(newest))


def _judge_room(path: Path) -> Finding:
    name, size = f"rooms/{path.name}", files.tree_size(path)
    if not ROOM_FILE.fullmatch(path.name):
        return Finding(name, DAMAGED if path.name.endswith(SET_ASIDE) else LEFT_OVER, size)
    try:
        read_room(path)
    except (Refusal, ValueError) as error:
        return Finding(name, DAMAGED, size, why=str(error))
    return Finding(name, WHOLE, size)


def _link_store(root: Path, snapshot: Path) -> None:
    """Hard-links all saves and rooms of the store into the snapshot folder."""
    (snapshot / "runs").mkdir()
    for kind in ("runs", "rooms"):
        with suppress(FileNotFoundError, shutil.Error):  # files that vanish meanwhile were saved anew or deleted
            shutil.copytree(root / kind, snapshot / kind, symlinks=True, copy_function=files.link, dirs_exist_ok=True)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Returns the header of a store's file without its owner and machine; None for any other file."""
    if not member.isreg() or not FILE.fullmatch(member.name):
        return None
    member.uid, member.gid, member.uname, member.gname, member.mode = 0, 0, "", "", 0o644
    return member
