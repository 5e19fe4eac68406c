"""Knobs, choices and places to look: what they accept, what they refuse, and what was called otherwise before is still read."""

import json
import math
from dataclasses import fields
from itertools import product
from urllib.parse import urlencode

import pytest
from hypothesis import given, strategies as st

from playground import config, cursor
from playground.choices import ENCODINGS, OPTIMISERS, Encoding
from playground.cli import parser
from playground.config import FORMER_NAMES, KNOBS, Experiment, ModelConfig, Refusal, check, default, from_json, limits, read_query
from playground.cursor import FIELDS
from playground.features.shared.naming import CONTROLLED
from playground.inspection.activations import record
from playground.inspection.formulas import describe
from playground.inspection.interventions import HeadId, WeightEdit
from playground.knobs import Choice, Number, Text
from playground.lessons.labs import LABS
from playground.model import positions
from playground.model.costs import parameter_count, training_bytes, update_counts
from playground.model.positions import LearnedPositions
from playground.model.transformer import Transformer
from playground.runs.disk import SHIPPED
from playground.runs.disk.files import FORMER, NAMES
from playground.runs.disk.folder import Folder
from playground.runs.history import History
from playground.runs.identity import new_id
from playground.training.optimisers import MAKERS
from playground.ui.boot import LISTS
from playground.ui.controls import GROUPS, make_control
from playground.variants import build
from playground.words import LANGUAGES
from tests.inspection.test_activations import SRC, TGT
from tests.inspection.test_derivation import build as small
from tests.runs.tiny import refused
from tests.variants.varied import training_of

NUMBERS = [name for name in KNOBS if limits(name).low is not None]
heads = st.builds(HeadId, st.sampled_from(("encoder", "decoder", "cross")), st.integers(0, 5), st.integers(0, 7))
edits = st.builds(
    lambda row, weighted, masked: WeightEdit(0, 3, row).mask(masked).give(*weighted),
    st.integers(0, 250), st.tuples(st.integers(0, 250), st.floats(0, 1).map(lambda weight: round(weight, 2))), st.integers(0, 250),
)  # fmt: skip
ids = st.lists(st.builds(new_id), min_size=1, max_size=40)
# a link, settings and a run as they were written when knobs were called otherwise
OLD = {
    "memory": "mean", "twist": "bilinear", "pairs": "500", "vocabulary": "512", "heldout": "40", "test": "20", "clip": "0.5",
    "validate_every": "7", "schedule": "one_cycle", "attention_scale": "off",
}  # fmt: skip
NEW = {
    "memory_mode": "mean", "variant": "bilinear", "train_size": 500, "vocab_size": 512, "validation_size": 40, "test_size": 20,
    "max_grad_norm": 0.5, "eval_every": 7, "schedule": "linear", "attention_scale": 0.0,
}  # fmt: skip


@given(name=st.sampled_from(NUMBERS), share=st.floats(0, 1))
def test_a_number_is_accepted_in_its_range_and_on_its_steps(name, share):
    """Between two steps of a slider a link may ask for a dropout of 0.123; between two whole numbers is nothing."""
    knob, value = limits(name), limits(name).low + share * (limits(name).high - limits(name).low)
    if isinstance(default(name), float):
        value = min(value, knob.high)
        assert check(name, value) == check(name, repr(value)) == value
        return
    below = knob.low + int((value - knob.low) // knob.step) * knob.step
    for number in (below, float(below), str(below)):
        assert check(name, number) == below
        assert isinstance(check(name, number), int)
    above = below + knob.step
    for between in (below + 0.5, above - 0.25, *([below + 1] if knob.step > 1 else [])):
        if above <= knob.high:
            with refused("config.off_step") as refusal:
                check(name, between)
            assert (refusal.value.values["below"], refusal.value.values["above"]) == (below, above)


def test_what_is_no_number_of_the_range_is_refused():
    assert isinstance(check("dropout", 0), float)
    for name in NUMBERS:
        knob, beyond = limits(name), [limits(name).low - limits(name).step, limits(name).high + limits(name).step]
        highest = knob.high - (knob.high - knob.low) % knob.step if isinstance(default(name), int) else knob.high
        assert (check(name, knob.low), check(name, highest)) == (knob.low, highest)
        assert type(check(name, type(knob.low)(knob.low))) is type(default(name))
        for value in (math.nan, math.inf, -math.inf, "nan", "", "ten", None, True, [1], 10**400, *beyond):
            with refused("config.not_in_range") as refusal:
                check(name, value)
            assert all(name in refusal.value.say(language) for language in LANGUAGES)


def test_every_knob_but_the_free_text_has_its_place_and_names_and_lists_are_declared_once():
    placed = [name for first, more in GROUPS.values() for name in (*first, *more)]
    assert sorted(placed) == sorted(CONTROLLED) == sorted(name for name in KNOBS if not limits(name).text)
    for part, (first, more) in GROUPS.items():
        assert {*first, *more} <= {knob.name for knob in fields(config.PARTS[part])}
    for name in NUMBERS:
        assert type(make_control(name)).__name__ == ("Number" if limits(name).typed else "Slider"), name
    assert not FIELDS.keys() & {*KNOBS, *FORMER_NAMES}, "both stand in the same link"
    named = {field.choices for field in FIELDS.values() if isinstance(field, Choice) and isinstance(field.choices, str)}
    assert named == LISTS.keys()


@given(text=st.text(max_size=12) | st.floats().map(str) | st.integers().map(str))
def test_a_field_reads_what_it_accepts_and_its_default_is_possible(text):
    for name, field in FIELDS.items():
        assert not field.default or field.refusal(name, field.default, LISTS) is None, name
        assert name not in field.reset_by
        for cause in field.reset_by:
            assert {*FIELDS[cause].reset_by} <= {*field.reset_by, cause}, f"what lets go of {cause} lets go of {name}, which belongs to it"
        if isinstance(field, Text) and field.pattern:
            assert field.refusal(name, field.example) is None, name
            assert field.read(text) == (text if field.refusal(name, text) is None else field.default), name
        if isinstance(field, Number):
            value, default = field.read(text), field.read("")
            assert value == default or field.low <= value <= field.high, name
            assert default is None or field.low <= default <= field.high, name
            assert [field.read(word) for word in ("no", "nan", "-1", "１２", "1_0", "1e3")] == [default] * 6, name
            assert (field.read("999999999"), field.read("999999999", most=field.low)) == (field.high, field.low), name
            assert [field.refusal(name, f"{bound:.10g}") for bound in (field.low, field.high)] == [None, None], name
            assert field.refusal(name, f"{field.high + field.step:.10g}").key == "config.not_in_range", name
            assert type(field.read(f"{field.high:.10g}")) is type(field.step), name


@given(off=st.lists(heads, min_size=1, max_size=6 * 8 * 3), edit=edits, runs=ids, lab=st.sampled_from(list(LABS)))
def test_what_the_page_writes_into_a_field_is_accepted(off, edit, runs, lab):
    cursor.check("off", "_".join(map(str, off)))
    cursor.check("cells", str(edit))
    cursor.check("arms", ".".join(["german_english", *runs]))
    cursor.check("compare", ",".join(runs))
    cursor.check("mapped", runs[0])
    if settings := LABS[lab].settings({}):
        cursor.check("set", urlencode(settings))


def test_former_values_are_still_read_and_what_is_unknown_is_refused(monkeypatch):
    monkeypatch.setitem(cursor.FORMER_VALUES, "method", {"argmax": "greedy"})
    assert cursor.read_query({"method": "argmax"}, LISTS) == ({"method": "greedy"}, {})
    read, left = cursor.read_query({"method": "soul"}, LISTS)
    assert (read, {*left}) == ({}, {"method"})
    for name, key in (("teacher", "config.unknown"), ("view", "config.not_a_choice")):
        with refused(key):
            cursor.check(name, "x")
    cursor.check("view", "")
    cursor.check("tab", "x")  # without the lists nothing is known of it
    read = FIELDS["measure"].read
    assert [read("soul", ("aligned", "entropy")), read("aligned", ("entropy",))] == ["aligned", "entropy"], "the default or the first"
    assert FIELDS["sure"].read("12", ("50", "75")) == "", "an answer is never chosen for a visitor"


def test_every_former_name_is_read_and_the_present_one_goes_first_and_is_in_a_refusal():
    assert OLD.keys() - config.FORMER_VALUES.keys() == FORMER_NAMES.keys()
    assert not FORMER_NAMES.keys() & KNOBS.keys()
    otherwise, wanted = Experiment().with_(schedule="constant"), Experiment().with_(**NEW)
    assert read_query(OLD, otherwise) == (otherwise.with_(**NEW), [])
    assert not wanted.query().keys() & FORMER_NAMES.keys()
    file = {"model": {}, "data": {}, "training": {}}
    place = {name: part for part, values in config.to_json(Experiment()).items() for name in values}
    for name, value in OLD.items():
        file[place[FORMER_NAMES.get(name, name)]][name] = value
    assert from_json(json.loads(json.dumps(file))) == wanted
    for former, name in FORMER_NAMES.items():
        options = parser().parse_args(["train", f"--{former.replace('_', '-')}", OLD[former]])
        assert config.check(name, getattr(options, name)) == NEW[name]
    for knob, values in config.FORMER_VALUES.items():
        assert set(values.values()) <= set(config.limits(knob).choices)
        assert not values.keys() & set(config.limits(knob).choices)
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


def test_what_is_declared_in_part_or_not_at_all_is_refused(monkeypatch):
    monkeypatch.setitem(ENCODINGS, "waves", Encoding("waves"))
    monkeypatch.delitem(MAKERS, "adam")
    for ask, key in (
        (lambda: Transformer(ModelConfig(positions="waves"), 9, 9), "model.no_positions"),
        (lambda: training_bytes(Experiment(ModelConfig(positions="waves")), 9, 9, 20), "model.no_positions"),
        (lambda: training_of(optimiser="adam"), "config.not_a_choice"),
        *((lambda act=act: act("nobody's"), "config.not_a_choice") for act in (
            lambda name: parameter_count(ModelConfig(positions=name), 9, 9), lambda name: build(ModelConfig(variant=name), 9, 9),
            lambda name: training_bytes(Experiment(training=config.TrainingConfig(optimiser=name)), 9, 9, 20),
        )),
    ):  # fmt: skip
        with refused(key) as refusal:
            ask()
        assert all(refusal.value.say(language) for language in LANGUAGES)
    monkeypatch.setitem(positions.ADDED, "waves", LearnedPositions)
    model = small(positions="waves")
    with refused("map.no_formula"):
        describe(model.config, record(model, SRC, TGT)["src.positions"])  # never as a sinusoid


@pytest.mark.parametrize("name", OPTIMISERS)
def test_what_an_optimiser_keeps_is_what_is_declared(name):
    """Moments as large as their parameters; a counter of steps is none."""
    for knobs in ({"positions": "learned", "share_embeddings": "all"}, {"bias": False, "norm": "pre", "d_ff": 8}):
        training = training_of(optimiser=name, learning_rate=0.01, **knobs)
        next(training.steps())
        moments = sum(tensor.numel() for tensor in training.optimiser.state().values() if tensor.ndim)
        moved = update_counts(training.experiment, training.corpus.src_tokenizer.size, training.corpus.tgt_tokenizer.size)
        assert moments == sum(rule.moments * count for rule, count in moved)
        assert sum(count for _, count in moved) == sum(parameter.numel() for parameter in training.model.parameters())
