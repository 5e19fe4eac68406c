"""A run's folder is believed in nothing: every file that is not what it should be is refused, before memory is taken for it."""

import json
import pickle
import shutil

import pytest
import torch

from playground.config import Refusal, limits
from playground.model.costs import parameter_count
from playground.reading.pairs import to_json
from playground.reading.uploads import read_files
from playground.runs.disk.folder import NAMES, Folder, describe, pack_state
from playground.runs.disk.replay_file import parameter_shapes
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.runs.upload_process import pairs_from_json
from playground.training.loop import Training
from tests.runs.by_hand import refused
from tests.runs.tiny import CORPORA, LIMITS, PAIRS, curve, same_parameters, same_replay, tiny

PARTS = ("history", "replay", "snapshot", "tokenizers", "pairs")
EXPERIMENT = tiny(task="own", own="upload", steps=3, share_embeddings="output")


@pytest.fixture(scope="module")
def trained():
    run = train_inline.new_run(EXPERIMENT, PAIRS, LIMITS)
    for _ in train_inline.train(run, CORPORA, 200_000):
        pass
    return run


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
        shapes = parameter_shapes(config, 20, 20)
        assert sum(torch.Size(shape).numel() for shape in shapes.values()) == parameter_count(config, 20, 20)


@pytest.mark.parametrize("name", ["run.json", *NAMES])
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
@pytest.mark.parametrize("name", ["run.json", *NAMES])
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
    parameter_shapes.cache_clear()
    config = json.loads((folder / "config.json").read_bytes())
    for variant in limits("variant").choices:
        config["model"] |= {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "variant": variant}
        rewrite(folder, "config.json", json.dumps(config).encode())
        with refused("runs.not_a_run") as refusal:
            _ = Folder(folder).run.snapshot
        assert refusal.value.values["what"] == "weights.safetensors"


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
    (folder / "run.json").write_text(json.dumps(card))
    rewrite(folder, "history.json", json.dumps(history).encode())
    rewrite(folder, "config.json", json.dumps(config | {"extra": {}}).encode())
    run = Folder(folder).run
    assert (run.live["memory_mode"], run.first_step, run.history.diagnostics, run.experiment) == ("whole", 0, None, EXPERIMENT)


def test_a_state_of_another_model_and_other_sentences_are_refused(folder):
    other = Training(tiny(d_model=16), CORPORA.get(tiny()))
    with refused("runs.data_changed"):
        Folder(folder).restore(Training(tiny(), CORPORA.get(tiny())))
    next(other.steps())
    rewrite(folder, "state.safetensors", pack_state(other))
    is_refused(folder)


@pytest.mark.parametrize(("name", "value"), [
    ("lines", "many"), ("names", [3]), ("names", None), ("kind", None), ("credit", 3), ("dropped", [1]),
    ("dropped", {"no reason": [1]}),
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
