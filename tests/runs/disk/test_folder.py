"""A run's folder is believed in nothing: every file that is not what it should be is refused, before memory is taken for it."""

import json
import pickle
import secrets
import shutil
from unittest.mock import patch

import pytest
import torch
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from playground.config import Refusal, limits
from playground.reading.formats import limits as sizes
from playground.reading.pairs import json_parts
from playground.reading.uploads import Pair, Pairs
from playground.runs.disk import files
from playground.runs.disk.folder import Folder, describe, pack_run, pack_state
from playground.runs.disk.parameters import parameter_shapes
from playground.runs.disk.store import first_files, write_run
from playground.runs.queue import train_inline
from playground.runs.run import Run
from playground.training.loop import Training
from tests.runs.tiny import CORPORA, LIMITS, PAIRS, alone, curve, same_parameters, same_replay, tiny
from tests.thoroughness import examples_at_night

PARTS = ("history", "replay", "snapshot", "tokenizers", "pairs")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a finished run of own data, with everything a folder can have."""
    run = train_inline.new_run(tiny(task="own", own="upload", steps=3, share_embeddings="output"), PAIRS, LIMITS)
    for _ in train_inline.train(run, CORPORA, 200_000):
        pass
    path = tmp_path_factory.mktemp("whole") / "run"
    training = Training(run.experiment, CORPORA.get(run.experiment, PAIRS))
    next(training.steps())
    write_run(path, run, train_inline.contents(run) | {"state.safetensors": pack_state(training)})
    return path


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def read_everything(path):
    found = Folder(path)
    return [getattr(found.run, part) for part in PARTS]


def read_and_restore(path):
    read_everything(path)
    found = Folder(path)
    found.restore(Training(found.experiment, CORPORA.get(found.experiment, found.run.pairs)))


def refused(path):
    with pytest.raises(Refusal) as refusal:
        read_and_restore(path)
    assert refusal.value.key == "runs.not_a_run" or refusal.value.key.startswith(("config.", "data."))
    assert refusal.value.say("zh")


def rewrite(path, name, data):
    """Puts other bytes into the folder and makes run.json vouch for them, as a careful attacker would."""
    card = json.loads((path / "run.json").read_bytes())
    (path / name).write_bytes(data)
    card["files"] |= describe({name: data})
    (path / "run.json").write_text(json.dumps(card))


def test_it_comes_back_whole(folder):
    history, replay, snapshot, tokenizers, pairs = read_everything(folder)
    assert len(history.steps) == 3
    assert replay.steps == (0, 1, 2, 3)
    assert replay.parameter_steps[-1] == snapshot.step == 3
    assert same_parameters(replay.parameters(3)[1], snapshot.parameters)
    assert [tokenizer.kind for tokenizer in tokenizers] == ["words", "words"]
    assert (pairs.pairs, pairs.credit, pairs.names) == (PAIRS.pairs, PAIRS.credit, PAIRS.names)
    run = Folder(folder).run
    assert run.experiment == tiny(task="own", own="upload", steps=3, share_embeddings="output")
    assert (run.status, run.step, run.credit) == ("done", 3, PAIRS.credit)


def test_packed_and_read_it_is_the_same_run(tmp_path):
    run, _ = alone(tiny(steps=60))
    write_run(tmp_path / "run", run, train_inline.first_files(run) | pack_run(run, run.snapshot.parameters))
    back = Folder(tmp_path / "run").run
    assert curve(back) == curve(run)
    assert same_replay(back, run)
    assert back.probes == run.probes
    assert same_parameters(back.snapshot.parameters, run.snapshot.parameters)


@pytest.mark.parametrize("name", ["run.json", "config.json", "weights.safetensors", "history.json", "replay.json", "replay.safetensors",
                                  "src_tokenizer.json", "tgt_tokenizer.json", "pairs.json", "state.safetensors"])  # fmt: skip
def test_every_file_must_be_whole(folder, name):
    data = (folder / name).read_bytes()
    for spoiled in (data[: len(data) // 2], data + b" ", b"", data[:-1] + bytes([data[-1] ^ 1])):
        (folder / name).write_bytes(spoiled)
        if name == "run.json" and spoiled.strip() == data:
            continue  # a blank behind run.json is nothing
        refused(folder)
    (folder / name).unlink()
    refused(folder)
    (folder / name).symlink_to("/etc/passwd")
    refused(folder)


def test_a_single_flipped_bit_is_seen(folder):
    data = bytearray((folder / "weights.safetensors").read_bytes())
    data[-3] ^= 0x10
    (folder / "weights.safetensors").write_bytes(data)
    refused(folder)


class Bomb:
    fired = False

    def __reduce__(self):
        return fire, ()


def fire():
    Bomb.fired = True


@pytest.mark.fault("a pickle in the place of any file of a run", "it is not opened; a sentence")
@pytest.mark.parametrize("name", ["weights.safetensors", "replay.safetensors", "state.safetensors", "config.json", "history.json",
                                  "src_tokenizer.json", "run.json", "replay.json", "pairs.json"])  # fmt: skip
def test_a_pickle_is_not_opened_under_any_name(folder, name):
    bomb = pickle.dumps(Bomb())
    pickle.loads(bomb)
    assert Bomb.fired, "opened, it goes off"
    Bomb.fired = False
    if name == "run.json":
        (folder / name).write_bytes(bomb)
    else:
        rewrite(folder, name, bomb)
    refused(folder)
    assert not Bomb.fired


def test_weights_of_another_shape_are_refused(folder):
    found = Folder(folder).run.snapshot.parameters
    name = next(name for name, tensor in found.items() if tensor.ndim == 2 and len(tensor) != tensor.shape[1])
    for tensors in (
        {**found, name: found[name].T.contiguous()},  # as many numbers, another shape
        {**found, "extra": torch.zeros(1)},
        {key: tensor for key, tensor in found.items() if key != name},
        {("other" if key == name else key): tensor for key, tensor in found.items()},
        {**found, name: found[name].double()},
        {**found, name: found[name] * float("nan")},
        {**found, name: found[name].int()},
    ):
        rewrite(folder, "weights.safetensors", files.to_safetensors(tensors))
        refused(folder)


@pytest.mark.fault("a config of a model larger than any memory", "refused before anything is made")
@pytest.mark.parametrize("variant", limits("variant").choices)
def test_an_absurd_config_is_refused_before_a_model_is_made(folder, monkeypatch, variant):
    """A config of 44 million parameters over weights of a few kilobytes: nothing of that size is ever built."""
    monkeypatch.setattr("playground.runs.disk.parameters.build", None)
    parameter_shapes.cache_clear()
    config = json.loads((folder / "config.json").read_bytes())
    config["model"] |= {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "variant": variant}
    rewrite(folder, "config.json", json.dumps(config).encode())
    with pytest.raises(Refusal, match=r"weights\.safetensors"):
        _ = Folder(folder).run.snapshot


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"d_model": 10**9}},
        {"model": {"d_model": "NaN"}},
        {"model": {"surprise": 1}},
        {"model": {"n_heads": 3}},
        {"extra": {}},
        {"training": []},
    ],
)
def test_an_impossible_config_is_refused(folder, change):
    config = json.loads((folder / "config.json").read_bytes())
    for part, values in change.items():
        config[part] = {**config.get(part, {}), **values} if isinstance(values, dict) else values
    rewrite(folder, "config.json", json.dumps(config).encode())
    if "extra" in change:
        assert Folder(folder)  # a part nobody asks for changes nothing
    else:
        with pytest.raises(Refusal, match=r"config|can’t be|no setting"):
            Folder(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"status": "winning"},
        {"owner": "me"},
        {"step": -1},
        {"step": True},
        {"step": 1.5},
        {"seconds": "many"},
        {"created": 1e300},
        {"name": 7},
        {"label": "x" * 3000},
        {"parent": ["a"]},
        {"message": {"key": "runs.nothing", "values": {}}},
        {"message": {"key": "runs.diverged", "values": {}}},
        {"message": "hello"},
        {"live": {"learning_rate": 7}},
        {"live": {"d_model": 8}},
        {"live": []},
        {"files": {"../../escape": {"bytes": 1, "sha256": "0" * 64}}},
        {"files": {"/etc/passwd": {"bytes": 1, "sha256": "0" * 64}}},
        {"files": {"weights.safetensors": {"bytes": 10**18, "sha256": "0" * 64}}},
        {"files": {"weights.safetensors": {"bytes": -1, "sha256": "0" * 64}}},
        {"files": {"weights.safetensors": {"bytes": 1, "sha256": "../x"}}},
        {"files": []},
        {"files": None},
    ],
)
def test_an_impossible_card_is_refused(folder, change):
    card = json.loads((folder / "run.json").read_bytes())
    (folder / "run.json").write_text(json.dumps(card | change))
    with pytest.raises(Refusal):
        Folder(folder)


def test_a_run_older_than_a_live_knob_has_it_as_its_experiment_says(folder):
    card = json.loads((folder / "run.json").read_bytes())
    del card["live"]["memory_mode"]
    (folder / "run.json").write_text(json.dumps(card))
    assert Folder(folder).run.live["memory_mode"] == "whole"


def test_a_run_without_diagnostics_is_whole(folder):
    data = json.loads((folder / "history.json").read_bytes())
    del data["diagnostics"]
    rewrite(folder, "history.json", json.dumps(data).encode())
    assert Folder(folder).run.history.diagnostics is None


def test_a_card_that_is_no_mapping_is_refused(folder):
    for text in ("[]", "1", '"run"', "null", "{}"):
        (folder / "run.json").write_text(text)
        with pytest.raises(Refusal, match="not a run"):
            Folder(folder)


@pytest.mark.parametrize("said", [{"pairs": [["a"]]}, {"pairs": 3}, [], {"pairs": [["a", "b", "c"]], "lines": 1}])
def test_impossible_pairs_are_refused(folder, said):
    rewrite(folder, "pairs.json", json.dumps(said).encode())
    with pytest.raises(Refusal, match="pairs"):
        _ = Folder(folder).run.pairs


def test_a_state_of_another_model_is_refused(folder):
    other = Training(tiny(d_model=16), CORPORA.get(tiny()))
    next(other.steps())
    rewrite(folder, "state.safetensors", pack_state(other))
    refused(folder)


def test_other_sentences_than_it_was_trained_on_are_refused(folder):
    found = Folder(folder)
    with pytest.raises(Refusal) as refusal:
        found.restore(Training(tiny(), CORPORA.get(tiny())))
    assert refusal.value.key == "runs.data_changed"


@given(st.lists(st.text(st.sampled_from('ab"\\é狗👍'), min_size=1, max_size=40), min_size=2, max_size=30), st.integers(-40, 40))
@examples_at_night(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_own_data_are_written_only_if_they_can_be_read_back(tmp_path, texts, room):
    """Around a limit that is small enough to be met: whatever was written opens again, and what is too large leaves nothing."""
    path = tmp_path / secrets.token_hex(8)
    pairs = Pairs(tuple(Pair(text, text[::-1], n) for n, text in enumerate(texts * 40, 1)), {"blank": (0,)}, 1, "tsv", ("a",))
    run = Run(path.name, "some-name", tiny(task="own", own="upload"), data=pairs)
    size = sum(map(len, json_parts(pairs)))
    with patch.object(sizes, "JSON_LIMIT", size + room):
        if room < 0:
            with pytest.raises(Refusal) as refusal:
                write_run(path, run, first_files(run))
            assert refusal.value.key == "data.too_large_to_keep"
            assert not path.exists()
        else:
            write_run(path, run, first_files(run))
            assert Folder(path).run.pairs == pairs
