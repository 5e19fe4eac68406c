"""Crash-safe, validated files: an atomic write leaves the old or the new content, and reads validate untrusted data.

Only JSON and safetensors are ever read.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.formats import JSON_LIMIT
from playground.runs.disk import FORMAT

MAX_CARD_BYTES = 4_000_000
MAX_TENSOR_BYTES = 1_000_000_000  # per file; JSON has JSON_LIMIT
NAMES = (
    "config.json", "pairs.json", "src_tokenizer.json", "tgt_tokenizer.json", "weights.safetensors", "history.json", "replay.json",
    "replay.safetensors", "state.safetensors",
)  # fmt: skip
FORMER = {"film.json": "replay.json", "film.safetensors": "replay.safetensors"}  # former file names
CARD = "run.json"  # written last: a folder with it is complete
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}")  # the names used by write_file


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_file(path: Path, data: bytes) -> None:
    """Writes atomically: a temporary file beside it, flushed to the disk, replaces it in one move."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write_new(temporary, data)
        os.replace(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _write_new(path: str | Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Makes a folder's entries durable. Windows has no such call and needs none."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class SiblingPaths(NamedTuple):
    """Paths beside a folder, named after it and the field."""

    new: Path  # being written
    old: Path  # the save before
    gone: Path  # about to be deleted; the names are on the disk
    damaged: Path  # unreadable, set aside


def sibling_paths(path: Path) -> SiblingPaths:
    return SiblingPaths(*(path.with_name(f"{path.name}.{field}") for field in SiblingPaths._fields))


def replace_folder(path: Path, files: Mapping[str, bytes], keep: Mapping[str, Path] | None = None, spare: bool = False) -> None:
    """Replaces the folder `path` atomically by these files, and `keep`'s under their names. With `spare` the old folder stays beside it.

    Writes the new folder beside it, CARD last, then swaps them. `recover` repairs a crash in between. Raises OSError, leaving
    everything unchanged.
    """
    new, old, doomed, _ = sibling_paths(path)
    for leftover in (new, doomed):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        _write_folder(new, files, keep or {})
        _move_all((old, doomed), (path, old), (new, path))
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise
    for leftover in (doomed,) if spare else (doomed, old):
        shutil.rmtree(leftover, ignore_errors=True)


def _write_folder(new: Path, files: Mapping[str, bytes], keep: Mapping[str, Path]) -> None:
    new.mkdir(parents=True)
    for name, source in keep.items():
        link(source, new / name)
    for name in sorted(files, key=lambda name: name == CARD):
        if name == CARD:
            sync_folder(new)
        _write_new(new / name, files[name])
    sync_folder(new)


def _move_all(*moves: tuple[Path, Path]) -> None:
    """Moves existing paths in order: all or none. Raises OSError."""
    moved = []
    try:
        for source, target in moves:
            if source.exists():
                source.rename(target)
                moved.append((source, target))
        sync_folder(moves[0][0].parent)
    except OSError:
        for source, target in reversed(moved):
            target.rename(source)
        raise


def recover(path: Path, spare: bool = False) -> bool:
    """Restores `path` to one complete state after a crash of `replace_folder`; with `spare` also the save before. Returns whether there is
    a folder."""
    new, old, doomed, _ = sibling_paths(path)
    if not path.exists():
        # the old one is moved away only once the new one is complete
        source = new if old.exists() and (new / CARD).exists() else old
        if source.exists():
            source.rename(path)
    if path.exists() and doomed.exists() and not old.exists():
        doomed.rename(old)
    for leftover in (new, doomed) if spare else (new, doomed, old):
        shutil.rmtree(leftover, ignore_errors=True)
    return (path / CARD).exists()


def set_aside(path: Path) -> None:
    """Moves an unreadable folder to `damaged`, and the save before into its place. Raises OSError."""
    _, old, _, damaged = sibling_paths(path)
    shutil.rmtree(damaged, ignore_errors=True)
    _move_all((path, damaged), (old, path))


def delete_folder(path: Path) -> None:
    """Deletes the folder and all paths beside it; the folder itself last, so that no older save reappears after a crash."""
    new, old, doomed, damaged = sibling_paths(path)
    for folder in (old, damaged, new, doomed):
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.rename(doomed)
    for folder in (doomed, path):
        shutil.rmtree(folder, ignore_errors=True)


def tree_size(path: Path) -> int:
    """Returns the bytes of a file, or of all files below a folder; 0 if missing, or deleted meanwhile."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else (path,):
        with contextlib.suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def delete_temporary(folder: Path) -> None:
    """Deletes temporary files of crashed `write_file` calls below a folder, which must have no writer meanwhile."""
    for path in folder.rglob(".*"):
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def link(source: str | Path, target: str | Path) -> None:
    """Makes a hard link, or a copy of the same age where a disk has none. Raises OSError."""
    try:
        os.link(source, target)
    except OSError:
        _write_new(target, Path(source).read_bytes())
        shutil.copystat(source, target)


def to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def read_bytes(path: Path, most: int, file_name: str | None = None) -> bytes:
    """Reads a regular file of at most `most` bytes. Raises Refusal("runs.not_a_run")."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > most:
            raise OSError
        return path.read_bytes()
    except OSError as error:
        raise Refusal("runs.not_a_run", what=file_name or path.name) from error


def parse_json(data: bytes, file_name: str) -> Any:
    """Parses JSON without NaN. Raises Refusal("runs.not_a_run") for anything else."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refusal("runs.not_a_run", what=file_name) from error


def _no_constant(name: str) -> None:
    raise ValueError(name)


class FolderFiles:
    """A run's files as its run.json lists them, which the constructor reads. All methods raise Refusal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.card = parse_json(self._bytes(CARD, MAX_CARD_BYTES, CARD), CARD)
        check_version(self.card, path.name)
        try:
            self.entries = _entries(self.card["files"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise Refusal("runs.not_a_run", what=CARD) from error

    def has(self, name: str) -> bool:
        return name in self.entries

    def read(self, name: str) -> bytes:
        """Reads a file and checks its size and digest against run.json."""
        entry = self.entries.get(name)
        if entry is None:
            raise Refusal("runs.not_a_run", what=name)
        data = self._bytes(entry["called"], entry["bytes"], name)
        if digest(data) != entry["sha256"]:
            raise Refusal("runs.not_a_run", what=name)
        return data

    def files(self) -> dict[str, bytes]:
        """Reads all files but run.json."""
        return {name: self.read(name) for name in self.entries}

    def _bytes(self, called: str, most: int, name: str) -> bytes:
        """Reads the file `called`, of at most `most` bytes; errors mention its `name`."""
        return read_bytes(self.path / called, most, name)


def check_version(card: Any, folder: str) -> None:
    """Raises Refusal when a later version of this program wrote this run.json, whose meaning is unknown."""
    version = card.get("format") if isinstance(card, dict) else None
    if type(version) is int and version > FORMAT:
        raise Refusal("runs.newer_format", folder=folder, format=version, known=FORMAT)


def _entries(raw: Any) -> dict[str, dict[str, Any]]:
    """Returns each file's {"bytes", "sha256"} by present name, with its name on disk as "called". Raises ValueError and its like."""
    entries = {FORMER.get(name, name): {"bytes": entry["bytes"], "sha256": entry["sha256"], "called": name} for name, entry in raw.items()}
    for name, entry in entries.items():
        most = JSON_LIMIT if name.endswith(".json") else MAX_TENSOR_BYTES
        if name not in NAMES or type(entry["bytes"]) is not int or not 0 <= entry["bytes"] <= most:
            raise ValueError(name)
        if not re.fullmatch(r"[0-9a-f]{64}", entry["sha256"]):
            raise ValueError(name)
    return entries
