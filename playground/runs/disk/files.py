"""Crash-safe, validated files: an atomic write leaves the old or the new content, and reads validate untrusted data.

Only JSON and safetensors are ever read. A safetensors file's header is checked before its size is allocated.
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

import numpy as np
import safetensors.torch
import torch

from playground.config import Refusal

MAX_HEADER_BYTES = 4_000_000
CARD = "run.json"  # written last: a folder with it is complete
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}")  # the names used by write_file
TYPES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
Shapes = Mapping[str, tuple[str, tuple[int, ...]]]  # name -> (safetensors type, shape)


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


def to_safetensors(tensors: Mapping[str, torch.Tensor | np.ndarray], note: str | None = None) -> bytes:
    """Packs the tensors as a safetensors file, with `note` in its header."""
    contiguous = {name: (torch.from_numpy(t) if isinstance(t, np.ndarray) else t).contiguous() for name, t in tensors.items()}
    return safetensors.torch.save(contiguous, {"note": note} if note is not None else None)


def header(data: bytes, file_name: str) -> tuple[dict[str, tuple[str, tuple[int, ...]]], str]:
    """Returns ({name: (type, shape)}, note) of a safetensors file, validated to describe exactly the bytes that follow. Raises Refusal."""
    try:
        length = int.from_bytes(data[:8], "little")
        if len(data) < 8 or not 2 <= length <= min(MAX_HEADER_BYTES, len(data) - 8):
            raise ValueError
        entries = json.loads(data[8 : 8 + length])
        note = entries.pop("__metadata__", {}).get("note", "")
        shapes, spans = {}, []
        for name, entry in entries.items():
            size, shape = TYPES[entry["dtype"]], entry["shape"]
            if not all(type(n) is int and 0 <= n < 2**40 for n in shape) or len(shape) > 8:
                raise ValueError
            for n in shape:
                size *= n
            start, stop = entry["data_offsets"]
            if stop - start != size:
                raise ValueError
            shapes[name] = (entry["dtype"], tuple(shape))
            spans.append((start, stop))
        ends = [0, *(stop for _, stop in sorted(spans))]
        if [start for start, _ in sorted(spans)] != ends[:-1] or ends[-1] != len(data) - 8 - length or not isinstance(note, str):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refusal("runs.not_a_run", what=file_name) from error
    return shapes, note


def read_safetensors(data: bytes, expected: Shapes | None, file_name: str, finite: bool = True) -> dict[str, torch.Tensor]:
    """Reads a safetensors file's tensors, all `finite`, with exactly the `expected` names, types and shapes. Raises Refusal."""
    shapes, _ = header(data, file_name)
    if expected is not None and shapes != dict(expected):
        raise Refusal("runs.not_a_run", what=file_name)
    try:
        tensors = safetensors.torch.load(data)
    except Exception as error:  # any parser error: not a file of ours
        raise Refusal("runs.not_a_run", what=file_name) from error
    if finite and not all(bool(torch.isfinite(t).all()) for t in tensors.values() if t.is_floating_point()):
        raise Refusal("runs.not_a_run", what=file_name)
    return tensors
