"""What was called otherwise before is still read: links, config.json files, runs on the disk, options of the command line."""

import json
from itertools import product

import pytest

from playground import config
from playground.arguments import parser
from playground.config import FORMER_NAMES, FORMER_VALUES, KNOBS, Experiment, Refusal, from_json, read_query, to_json
from playground.runs.disk.folder import FORMER, NAMES, Folder
from playground.runs.history import History
from playground.runs.registry import SHIPPED

# a link, settings and a run as they were written when knobs were called otherwise
OLD = {
    "memory": "mean", "twist": "bilinear", "pairs": "500", "vocabulary": "512", "heldout": "40", "test": "20", "clip": "0.5",
    "validate_every": "7", "schedule": "one_cycle", "attention_scale": "off",
}  # fmt: skip
NEW = {
    "memory_mode": "mean", "variant": "bilinear", "train_size": 500, "vocab_size": 512, "validation_size": 40, "test_size": 20,
    "max_grad_norm": 0.5, "eval_every": 7, "schedule": "linear", "attention_scale": 0.0,
}  # fmt: skip


def test_every_former_name_is_read_from_a_link_a_file_and_an_option():
    assert OLD.keys() - FORMER_VALUES.keys() == FORMER_NAMES.keys()
    assert not FORMER_NAMES.keys() & KNOBS.keys()
    otherwise, wanted = Experiment().with_(schedule="constant"), Experiment().with_(**NEW)
    assert read_query(OLD, otherwise) == (otherwise.with_(**NEW), [])
    assert not wanted.query().keys() & FORMER_NAMES.keys()
    file = {"model": {}, "data": {}, "training": {}}
    place = {name: part for part, values in to_json(Experiment()).items() for name in values}
    for name, value in OLD.items():
        file[place[FORMER_NAMES.get(name, name)]][name] = value
    assert from_json(json.loads(json.dumps(file))) == wanted
    for former, name in FORMER_NAMES.items():
        options = parser().parse_args(["train", f"--{former.replace('_', '-')}", OLD[former]])
        assert config.check(name, getattr(options, name)) == NEW[name]
    for knob, values in FORMER_VALUES.items():
        assert set(values.values()) <= set(config.limits(knob).choices)
        assert not values.keys() & set(config.limits(knob).choices)


def test_the_present_name_goes_first_and_is_the_one_in_a_refusal():
    assert read_query({"pairs": "500", "train_size": "700"})[0].data.train_size == 700
    _, (refusal,) = read_query({"clip": "many"})
    assert refusal.values["name"] == "max_grad_norm"
    with pytest.raises(Refusal, match=r"data\.hold_out"):
        from_json({"data": {"hold_out": 5}})
    for name, (former, deviation) in product(("variant", "twist"), (("root_embeddings", 0.25), ("unit_embeddings", 1.0))):
        now = Experiment().with_(d_model=16, embedding_std=deviation)  # a variant that is a value of another knob now
        assert (read_query({"d_model": "16", name: former}), from_json({"model": {"d_model": 16, name: former}})) == ((now, []), now)


def test_a_shipped_run_with_its_files_and_settings_called_as_before(tmp_path):
    name, folder = "reverse", tmp_path / "reverse"
    folder.mkdir()
    former = {present: old for old, present in (FORMER_NAMES | FORMER).items()}
    card = json.loads((SHIPPED / name / "run.json").read_text())
    card["files"] = {former.get(file, file): entry for file, entry in card["files"].items()}
    card["live"] = {former.get(knob, knob): value for knob, value in card["live"].items()}
    for old in card["files"]:
        present = SHIPPED / name / FORMER.get(old, old)
        (folder / old).write_bytes((present if present.exists() else SHIPPED / name / old).read_bytes())
    (folder / "run.json").write_text(json.dumps(card))
    there, now = Folder(folder, name), Folder(SHIPPED / name, name).run
    assert there.entries.keys() <= set(NAMES)
    assert (there.run.experiment, there.run.live) == (now.experiment, now.live)
    assert there.run.replay.steps == now.replay.steps != ()
    history = History().to_json() | {"events": [[3, "clip", 0.5], [4, "memory", "cut"]]}
    assert History.from_json(history).events == [(3, "max_grad_norm", 0.5), (4, "memory_mode", "cut")]
