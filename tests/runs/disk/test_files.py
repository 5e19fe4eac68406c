import contextlib
import itertools
import json
import os

import pytest
import torch
from hypothesis import given, strategies as st

from playground.runs.disk import files
from tests.runs.by_hand import refused

OPERATIONS = ("fsync", "replace", "rename", "open", "link", "mkdir", "unlink", "rmdir")


class Crash(BaseException):
    """The power goes out."""


def failing(monkeypatch, fails, error):
    """Raises the error in those operations on the disk whose number `fails`. Returns as many as there were."""
    calls = []
    for name in OPERATIONS:
        real = getattr(os, name)

        def step(*arguments, real=real, **options):
            calls.append(1)
            if fails(len(calls)):
                raise error
            return real(*arguments, **options)

        monkeypatch.setattr(os, name, step)
    return calls


def folder_of(parent, spare):
    """Written twice."""
    parent.mkdir()
    for data in (OLDER, OLD):
        files.replace_folder(parent / "run", data, spare=spare)
    return parent / "run"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


OLDER = {"big.bin": b"older", "run.json": b'{"version": 0}'}
OLD = {"big.bin": b"old" * 1000, "pairs.json": b"[1]", "run.json": b'{"version": 1}'}
NEW = {"big.bin": b"new" * 1000, "more.bin": b"more", "run.json": b'{"version": 2}'}


@pytest.mark.parametrize("spare", [False, True])
def test_a_crash_at_any_moment_leaves_the_old_folder_or_the_new_one(tmp_path, spare):
    """Every operation on the disk is the last one once; what `recover` finds is whole each time, and both outcomes occur. With a spare one
    there is a whole one before it as well, each time."""
    outcomes = []
    for at in itertools.count(1):
        folder = folder_of(tmp_path / str(at), spare)
        with pytest.MonkeyPatch.context() as patch:
            calls = failing(patch, lambda number, at=at: number >= at, Crash())
            with contextlib.suppress(Crash):
                files.replace_folder(folder, NEW, {"pairs.json": folder / "pairs.json"}, spare=spare)
            is_over = len(calls) < at
        assert files.recover(folder, spare=spare)
        assert contents(folder) in (OLD, NEW | {"pairs.json": b"[1]"})
        assert {path.name for path in folder.parent.iterdir()} == ({"run", "run.old"} if spare else {"run"})
        outcomes.append(contents(folder) != OLD)
        if spare:
            assert contents(files.sibling_paths(folder).old) == (OLD if outcomes[-1] else OLDER)
        if is_over:
            break
    assert outcomes == sorted(outcomes)  # first always the old, then always the new
    assert len(outcomes) > 10
    assert (outcomes[0], outcomes[-1]) == (False, True)


TENSORS = {"a": torch.arange(6, dtype=torch.float32).reshape(2, 3), "b": torch.tensor([1, 2], dtype=torch.int32)}
EXPECTED = {"a": ("F32", (2, 3)), "b": ("I32", (2,))}


def test_tensors_come_back():
    data = files.to_safetensors(TENSORS, "a note")
    back = files.read_safetensors(data, EXPECTED, "x")
    assert all(torch.equal(back[name], tensor) for name, tensor in TENSORS.items())
    assert files.header(data, "x")[1] == "a note"


def forged(header: dict, body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


HOSTILE = {
    "empty": b"",
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "zip, as torch.save writes": b"PK\x03\x04" + b"\0" * 60,
    "endless header": (2**60).to_bytes(8, "little") + b"{}",
    "deep header": (60_000).to_bytes(8, "little") + b"[" * 60_000,
    "absurd shape": forged({"a": {"dtype": "F32", "shape": [2**39, 2**39], "data_offsets": [0, 2**80]}}),
    "negative shape": forged({"a": {"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]}}, b"\0" * 24),
    "nine axes": forged({"a": {"dtype": "F32", "shape": [1] * 9, "data_offsets": [0, 4]}}, b"\0" * 4),
    "unknown type": forged({"a": {"dtype": "OBJECT", "shape": [1], "data_offsets": [0, 8]}}, b"\0" * 8),
    "overlap": forged({n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for n in "ab"}, b"\0" * 4),
    "hole": forged({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, b"\0" * 8),
    "rest behind": forged({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 8),
    "note that is a number": forged({"__metadata__": {"note": 3}}),
}


def not_a_run(read, *arguments):
    with refused("runs.not_a_run"):
        read(*arguments)


@given(st.binary(max_size=200) | st.sampled_from([*HOSTILE.values()]) | st.integers(0, len(files.to_safetensors(TENSORS)) - 1))
def test_hostile_and_torn_tensor_files_are_refused_by_their_header(data):
    not_a_run(files.header, files.to_safetensors(TENSORS)[:data] if isinstance(data, int) else data, "weights.safetensors")


def test_other_names_types_shapes_and_numbers_that_are_none_are_refused():
    for data in HOSTILE.values():
        not_a_run(files.header, data, "x")
    data = files.to_safetensors(TENSORS)
    for other in ({"c": ("F32", (1,))}, {"a": ("F32", (3, 2))}, {"b": ("I64", (2,))}):
        not_a_run(files.read_safetensors, data, EXPECTED | other, "x")
    not_a_run(files.read_safetensors, data, {"a": EXPECTED["a"]}, "x")
    for value in (float("nan"), float("inf")):
        data = files.to_safetensors({"a": torch.tensor([1.0, value])})
        not_a_run(files.read_safetensors, data, {"a": ("F32", (2,))}, "x")
        assert files.read_safetensors(data, {"a": ("F32", (2,))}, "x", finite=False)


@pytest.mark.parametrize("text", [b"", b"{", b'{"a": NaN}', b'{"a": Infinity}', b"[" * 100_000, b"\xff\xfe", b"\x80\x04."])
def test_what_is_no_json_is_refused(text):
    not_a_run(files.parse_json, text, "x")


def test_only_plain_files_of_bounded_size_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert files.read_bytes(tmp_path / "file", 5) == b"12345"
    for name, most in (("file", 4), ("link", 5), ("missing", 5), (".", 5)):
        not_a_run(files.read_bytes, tmp_path / name, most)
