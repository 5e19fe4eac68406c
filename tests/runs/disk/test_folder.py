"""A run's folder is believed in nothing: it is refused before memory is taken for it; and a crash leaves the old folder or the new one."""

import contextlib
import itertools
import json
import os
import pickle
import shutil

import pytest
import torch
from hypothesis import given, strategies as st

from playground.config import Refusal, limits
from playground.model.costs import parameter_count
from playground.reading.pairs import to_json
from playground.reading.uploads import read_files
from playground.runs.disk import files, replay_file
from playground.runs.disk.folder import Folder, describe, pack_state
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.runs.upload_process import pairs_from_json
from playground.training.loop import Training
from tests.runs.tiny import CORPORA, PAIRS, curve, refused, same_parameters, same_replay, tiny, train_here

PARTS = ("history", "replay", "snapshot", "tokenizers", "pairs")
EXPERIMENT = tiny(task="own", own="upload", steps=3, share_embeddings="output")
ENTRY = {"bytes": 1, "sha256": "0" * 64}
IMPOSSIBLE = [
    *(("config.json", {"model": values}) for values in ({"d_model": 10**9}, {"d_model": "NaN"}, {"surprise": 1}, {"n_heads": 3})),
    ("config.json", {"training": []}),
    *(("run.json", text) for text in ("[]", "1", '"run"', "null", "{}")),
    *(("run.json", {name: value}) for name, values in {
        "format": [2], "status": ["winning"], "owner": ["me"], "step": [-1, True, 1.5], "seconds": ["many"], "created": [1e300],
        "name": [7], "label": ["x" * 3000], "parent": [["a"]], "live": [{"learning_rate": 7}, {"d_model": 8}, []],
        "message": [{"key": "runs.nothing", "values": {}}, {"key": "runs.diverged", "values": {}}, "hello"],
        "files": [
            {"../../escape": ENTRY}, {"/etc/passwd": ENTRY}, {"weights.safetensors": ENTRY | {"bytes": 10**18}},
            {"weights.safetensors": ENTRY | {"bytes": -1}}, {"weights.safetensors": ENTRY | {"sha256": "../x"}}, [], None,
        ],
    }.items() for value in values),
    *(("pairs.json", text) for text in ('{"pairs": [["a"]]}', '{"pairs": 3}', "[]", '{"pairs": [["a", "b", "c"]], "lines": 1}')),
]  # fmt: skip
OPERATIONS = ("fsync", "replace", "rename", "open", "link", "mkdir", "unlink", "rmdir")
OLDER = {"big.bin": b"older", "run.json": b'{"version": 0}'}
OLD = {"big.bin": b"old" * 1000, "pairs.json": b"[1]", "run.json": b'{"version": 1}'}
NEW = {"big.bin": b"new" * 1000, "more.bin": b"more", "run.json": b'{"version": 2}'}
TENSORS = {"a": torch.arange(6, dtype=torch.float32).reshape(2, 3), "b": torch.tensor([1, 2], dtype=torch.int32)}
EXPECTED = {"a": ("F32", (2, 3)), "b": ("I32", (2,))}


@pytest.fixture(scope="module")
def trained():
    return train_here(EXPERIMENT, PAIRS, replay_bytes=200_000)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, trained):
    path = tmp_path_factory.mktemp("whole") / "run"
    training = Training(EXPERIMENT, CORPORA.get(EXPERIMENT, PAIRS))
    next(training.steps())
    write_run(path, trained, train_inline.contents(trained) | {"state.safetensors": pack_state(training)})
    return path


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def read_and_restore(path):
    folder = Folder(path)
    for part in PARTS:
        getattr(folder.run, part)
    folder.restore(Training(folder.experiment, CORPORA.get(folder.experiment, folder.run.pairs)))


def is_refused(path):
    with pytest.raises(Refusal) as refusal:
        read_and_restore(path)
    assert refusal.value.key in ("runs.not_a_run", "runs.newer_format") or refusal.value.key.startswith(("config.", "data."))
    assert refusal.value.say("zh")


def rewrite(path, name, data):
    """Puts other bytes into the folder and makes run.json vouch for them, as a careful attacker would."""
    card = json.loads((path / "run.json").read_bytes())
    (path / name).write_bytes(data)
    card["files"] |= describe({name: data})
    (path / "run.json").write_text(json.dumps(card))


def test_it_comes_back_whole(trained, folder):
    read_and_restore(folder)
    run = Folder(folder).run
    assert (curve(run), run.probes) == (curve(trained), trained.probes)
    assert same_replay(run, trained)
    assert run.replay.parameter_steps[-1] == run.snapshot.step == 3
    assert same_parameters(run.snapshot.parameters, trained.snapshot.parameters)
    assert [tokenizer.to_bytes() for tokenizer in run.tokenizers] == [tokenizer.to_bytes() for tokenizer in trained.tokenizers]
    assert (run.pairs.pairs, run.pairs.credit, run.pairs.names) == (PAIRS.pairs, PAIRS.credit, PAIRS.names)
    assert (run.experiment, run.status, run.step, run.credit) == (EXPERIMENT, "done", 3, PAIRS.credit)
    for config in (EXPERIMENT.model, tiny(share_embeddings="all", norm="pre", bias=False, positions="learned").model):
        shapes = replay_file.parameter_shapes(config, 20, 20)
        assert sum(torch.Size(shape).numel() for shape in shapes.values()) == parameter_count(config, 20, 20)


@pytest.mark.parametrize("name", ["run.json", *files.NAMES])
def test_every_file_must_be_whole(folder, name):
    data = (folder / name).read_bytes()
    for spoiled in (data[: len(data) // 2], data + b"?", b"", data[:-1] + bytes([data[-1] ^ 1])):
        (folder / name).write_bytes(spoiled)
        is_refused(folder)
    (folder / name).unlink()
    is_refused(folder)
    (folder / name).symlink_to("/etc/passwd")
    is_refused(folder)


class Bomb:
    fired = False

    def __reduce__(self):
        return setattr, (Bomb, "fired", True)


@pytest.mark.fault("a pickle in the place of any file of a run", "it is not opened; a sentence")
@pytest.mark.parametrize("name", ["run.json", *files.NAMES])
def test_a_pickle_is_not_opened_under_any_name(folder, name):
    bomb = pickle.dumps(Bomb())
    pickle.loads(bomb)
    assert Bomb.fired, "opened, it goes off"
    Bomb.fired = False
    if name == "run.json":
        (folder / name).write_bytes(bomb)
    else:
        rewrite(folder, name, bomb)
    is_refused(folder)
    assert not Bomb.fired


@pytest.mark.fault("a config of a model larger than any memory", "refused before anything is made")
def test_an_absurd_config_is_refused_before_a_model_is_made(folder, monkeypatch):
    """A config of 44 million parameters over weights of a few kilobytes: nothing of that size is ever built."""
    monkeypatch.setattr("playground.runs.disk.replay_file.build", None)
    replay_file.parameter_shapes.cache_clear()
    config = json.loads((folder / "config.json").read_bytes())
    for variant in limits("variant").choices:
        config["model"] |= {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "variant": variant}
        rewrite(folder, "config.json", json.dumps(config).encode())
        with refused("runs.not_a_run") as refusal:
            _ = Folder(folder).run.snapshot
        assert refusal.value.values["what"] == "weights.safetensors"


@pytest.mark.parametrize(("name", "change"), IMPOSSIBLE)
def test_what_cannot_be_is_refused(folder, name, change):
    if isinstance(change, dict):
        before = json.loads((folder / name).read_bytes())
        nested = name == "config.json"
        change = json.dumps(before | {key: before[key] | value if nested and value else value for key, value in change.items()})
    if name == "run.json":
        (folder / name).write_text(change)
    else:
        rewrite(folder, name, change.encode())
    with pytest.raises(Refusal):
        _ = Folder(folder).run.pairs


def test_what_runs_of_before_do_not_say_is_as_it_was(folder):
    """And a part of a config that is asked for by no one changes nothing."""
    card, history, config = (json.loads((folder / name).read_bytes()) for name in ("run.json", "history.json", "config.json"))
    del card["live"]["memory_mode"], card["first_step"], history["diagnostics"]
    message = {"key": "runs.tuned", "values": {"name": "tasks.copy.label", "step": 1, "src": "0", "tgt": "0"}}
    (folder / "run.json").write_text(json.dumps(card | {"message": message}))
    rewrite(folder, "history.json", json.dumps(history).encode())
    rewrite(folder, "config.json", json.dumps(config | {"extra": {}}).encode())
    run = Folder(folder).run
    assert (run.live["memory_mode"], run.first_step, run.history.diagnostics, run.experiment) == ("whole", 0, None, EXPERIMENT)
    assert "tasks.copy" not in run.message.say("en")


def test_a_state_of_another_model_and_other_sentences_are_refused(folder):
    other = Training(tiny(d_model=16), CORPORA.get(tiny()))
    with refused("runs.data_changed"):
        Folder(folder).restore(Training(tiny(), CORPORA.get(tiny())))
    next(other.steps())
    rewrite(folder, "state.safetensors", pack_state(other))
    is_refused(folder)


@pytest.mark.parametrize(("name", "value"), [
    ("lines", "many"), ("names", [3]), ("names", None), ("kind", None), ("credit", 3), ("dropped", [1]), ("dropped", {"no reason": [1]}),
    ("dropped", {"blank": ["first"]}), ("notes", [["data.no_such_note", {}]]), ("notes", [["data.note_same", {}]]),
    ("notes", [["data.note_same", {"count": [], "line": 1}]]), ("unit", "page"), ("columns", [["a", 1]]), ("chosen", [0]),
    ("encodings", [{"file": "a"}]), ("preview", [[1, [2], ""]]), ("dropped_rows", {"blank": 3}), ("traces", [None]),
])  # fmt: skip
def test_what_cannot_have_been_written_is_refused(name, value):
    pairs = read_files([("a.tsv", b"a\tb\nc\td\n")])
    report = json.loads(json.dumps(to_json(pairs)))
    assert pairs_from_json(report, pairs.pairs) == pairs
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        pairs_from_json(report | {name: value}, pairs.pairs)


class Crash(BaseException):
    """The power goes out."""


def failing(monkeypatch, fails, error, operations=OPERATIONS):
    """Raises the error in those operations on the disk whose number, counted from 1, `fails`. Returns as many as there were."""
    calls = []
    for name in operations:
        real = getattr(os, name)

        def step(*arguments, name=name, real=real, **options):
            if name != "open" or arguments[1] & os.O_CREAT:  # what is only read needs no space
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


@pytest.mark.parametrize("spare", [False, True])
def test_a_crash_at_any_moment_leaves_the_old_folder_or_the_new_one(tmp_path, spare):
    """Every operation on the disk is the last one once; what `recover` finds is whole, and so is a spare one; both outcomes occur."""
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


def forged(header: dict, body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


HOSTILE = {
    "empty": b"", "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "zip, as torch.save writes": b"PK\x03\x04" + b"\0" * 60,
    "endless header": (2**60).to_bytes(8, "little") + b"{}", "deep header": (60_000).to_bytes(8, "little") + b"[" * 60_000,
    "absurd shape": forged({"a": {"dtype": "F32", "shape": [2**39, 2**39], "data_offsets": [0, 2**80]}}),
    "negative shape": forged({"a": {"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]}}, b"\0" * 24),
    "nine axes": forged({"a": {"dtype": "F32", "shape": [1] * 9, "data_offsets": [0, 4]}}, b"\0" * 4),
    "unknown type": forged({"a": {"dtype": "OBJECT", "shape": [1], "data_offsets": [0, 8]}}, b"\0" * 8),
    "overlap": forged({n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for n in "ab"}, b"\0" * 4),
    "hole": forged({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, b"\0" * 8),
    "rest behind": forged({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 8),
    "note that is a number": forged({"__metadata__": {"note": 3}}),
}  # fmt: skip


def not_a_run(read, *arguments):
    with refused("runs.not_a_run"):
        read(*arguments)


@given(st.binary(max_size=200) | st.sampled_from([*HOSTILE.values()]) | st.integers(0, len(replay_file.to_safetensors(TENSORS)) - 1))
def test_hostile_and_torn_tensor_files_are_refused_by_their_header(data):
    not_a_run(replay_file.header, replay_file.to_safetensors(TENSORS)[:data] if isinstance(data, int) else data, "weights.safetensors")


def test_other_names_types_shapes_and_numbers_that_are_none_are_refused_and_files_that_are_not_plain(tmp_path):
    for data in HOSTILE.values():
        not_a_run(replay_file.header, data, "x")
    for text in (b"", b"{", b'{"a": NaN}', b'{"a": Infinity}', b"[" * 100_000, b"\xff\xfe", b"\x80\x04."):
        not_a_run(files.parse_json, text, "x")
    data = replay_file.to_safetensors(TENSORS)
    for other in ({"c": ("F32", (1,))}, {"a": ("F32", (3, 2))}, {"b": ("I64", (2,))}):
        not_a_run(replay_file.read_safetensors, data, EXPECTED | other, "x")
    not_a_run(replay_file.read_safetensors, data, {"a": EXPECTED["a"]}, "x")
    for value in (float("nan"), float("inf")):
        data = replay_file.to_safetensors({"a": torch.tensor([1.0, value])})
        not_a_run(replay_file.read_safetensors, data, {"a": ("F32", (2,))}, "x")
        assert replay_file.read_safetensors(data, {"a": ("F32", (2,))}, "x", finite=False)
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert files.read_bytes(tmp_path / "file", 5) == b"12345"
    for name, most in (("file", 4), ("link", 5), ("missing", 5), (".", 5)):
        not_a_run(files.read_bytes, tmp_path / name, most)
