"""What was called otherwise before is still read: links, config.json files, runs on the disk, options of the command line."""

import json

import pytest

from playground.arguments import parser
from playground.config import (
    FORMER_NAMES,
    FORMER_VALUES,
    KNOBS,
    Experiment,
    Refusal,
    check,
    default,
    from_json,
    limits,
    read_query,
    to_json,
)
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
OTHERWISE = Experiment().with_(schedule="constant")


def test_every_former_name_leads_to_a_knob_and_is_none_itself():
    assert OLD.keys() - FORMER_VALUES.keys() == FORMER_NAMES.keys()
    assert set(FORMER_NAMES.values()) <= KNOBS.keys()
    assert not FORMER_NAMES.keys() & KNOBS.keys()
    for knob, values in FORMER_VALUES.items():
        assert set(values.values()) <= set(limits(knob).choices)
        assert not values.keys() & set(limits(knob).choices)


def test_a_link():
    assert read_query(OLD, OTHERWISE) == (OTHERWISE.with_(**NEW), [])


def test_a_link_that_says_both_means_the_present_name():
    assert read_query({"pairs": "500", "train_size": "700"})[0].data.train_size == 700


def test_what_a_former_name_can_t_be_is_said_by_the_present_one():
    _, (refusal,) = read_query({"clip": "many"})
    assert refusal.values["name"] == "max_grad_norm"


def test_a_link_written_now_says_present_names_only():
    assert not Experiment().with_(**NEW).query().keys() & FORMER_NAMES.keys()


def test_a_config_file():
    old = {"model": {}, "data": {}, "training": {}}
    place = {name: part for part, values in to_json(Experiment()).items() for name in values}
    for name, value in OLD.items():
        old[place[FORMER_NAMES.get(name, name)]][name] = value
    assert from_json(json.loads(json.dumps(old))) == Experiment().with_(**NEW)


@pytest.mark.parametrize("name", ["variant", "twist"])
@pytest.mark.parametrize(("former", "deviation"), [("root_embeddings", 0.25), ("unit_embeddings", 1.0)])
def test_a_variant_that_is_a_value_of_another_knob_now(name, former, deviation):
    now = Experiment().with_(d_model=16, embedding_std=deviation)
    assert read_query({"d_model": "16", name: former}) == (now, [])
    assert from_json({"model": {"d_model": 16, name: former}}) == now


def test_a_name_that_never_was_is_refused_as_it_was_written():
    with pytest.raises(Refusal, match=r"data\.hold_out"):
        from_json({"data": {"hold_out": 5}})


@pytest.mark.parametrize("former", FORMER_NAMES)
def test_an_option_of_the_command_line(former):
    options = parser().parse_args(["train", f"--{former.replace('_', '-')}", OLD[former]])
    assert check(FORMER_NAMES[former], getattr(options, FORMER_NAMES[former])) == NEW[FORMER_NAMES[former]]


def test_the_events_of_a_history():
    said = History().to_json() | {"events": [[3, "clip", 0.5], [4, "memory", "cut"]]}
    assert History.from_json(said).events == [(3, "max_grad_norm", 0.5), (4, "memory_mode", "cut")]


def as_it_was(folder, name):
    """The shipped run `name`, its files and settings called as they were before."""
    folder.mkdir()
    former = {present: old for old, present in (FORMER_NAMES | FORMER).items()}
    card = json.loads((SHIPPED / name / "run.json").read_text())
    card["files"] = {former.get(file, file): entry for file, entry in card["files"].items()}
    card["live"] = {former.get(knob, knob): value for knob, value in card["live"].items()}
    for old in card["files"]:
        present = SHIPPED / name / FORMER.get(old, old)
        (folder / old).write_bytes((present if present.exists() else SHIPPED / name / old).read_bytes())
    (folder / "run.json").write_text(json.dumps(card))
    return folder


@pytest.mark.parametrize("name", [path.name for path in sorted(SHIPPED.iterdir())])
def test_a_shipped_run(tmp_path, name):
    folder = Folder(as_it_was(tmp_path / name, name), name)
    found, there = folder.run, Folder(SHIPPED / name, name).run
    assert folder.entries.keys() <= set(NAMES)
    assert (found.experiment, found.live) == (there.experiment, there.live)
    assert set(found.live) == {"memory_mode", "learning_rate", "label_smoothing", "max_grad_norm"}
    assert found.replay.steps == there.replay.steps != ()
    assert len(found.replay.frames) == len(found.replay.steps)
    assert found.experiment.training.schedule in limits("schedule").choices
    assert found.live["max_grad_norm"] == default("max_grad_norm")
