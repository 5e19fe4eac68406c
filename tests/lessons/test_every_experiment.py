"""Truths about every controlled experiment that is declared: its arms differ in one thing, its judge goes by it, and it has its words."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import torch

from playground.config import EOS, KNOBS, Experiment
from playground.lessons.controlled import SMALL, ControlledExperiment, Result
from playground.lessons.lab import Lines, TextTable
from playground.lessons.labs import KINDS, LABS
from playground.runs.model_cache import ModelCache
from playground.runs.queue import train_inline
from playground.variants import ALL, build
from playground.words import LANGUAGES, entries
from tests.runs.tiny import CORPORA

EXPERIMENTS = [name for name, lab in LABS.items() if isinstance(lab, ControlledExperiment)]
TOLD_APART = [name for name in EXPERIMENTS if not LABS[name].is_mystery]  # the judge of a mystery asks the run itself
TINY = dict(d_model=8, n_heads=2, d_ff=8, steps=3, batch_size=4, train_size=100, validation_size=10)
LAYERS = {"encoder_layers": "layers", "decoder_layers": "layers"}  # as many on both sides: one thing
OF_OTHER_PARTS = {  # arms that differ in parameters
    "w_o", "key_size", "no_ffn", "encodings", "beyond", "shared", "depth", "norm_depth", "scores", "batch_norm", "bug_shared",
    "why_attention",
}  # fmt: skip
GOES_BY = {  # the numbers of a judge that goes by more than one
    "exposure_bias": ("exact", "written", "forced_after", "free_after"), "why_attention": ("short", "long"), "rule_or_list": ("harder",),
}  # fmt: skip
SHARES, NATS = (0.0, 0.5, 1.0), (0.1, 0.5, 2.0)
EVERY = pytest.mark.parametrize("name", EXPERIMENTS)


@EVERY
def test_what_it_expects_is_one_of_its_guesses(name):
    assert LABS[name].expects in (None, "", *LABS[name].guesses)


def groups(name: str) -> list[list[str]]:
    """Arms that are compared with each other, the first of each as the others: all, or of a question about pairs the two of each."""
    arms = list(LABS[name].arms_of(1))
    if not all("_" in arm for arm in arms):
        return [arms]
    return [[arm for arm in arms if arm.rpartition("_")[0] == pair] for pair in dict.fromkeys(arm.rpartition("_")[0] for arm in arms)]


@cache
def ended(name: str, arm: str) -> Result:
    """An arm with seed 1, in little and for a few steps."""
    lab, models = LABS[name], ModelCache()
    run = train_inline.new_run(lab.experiment(arm, 1).with_(**TINY | dict(lab.arms_of(1)[arm])))
    for _ in train_inline.train(run, CORPORA, replay_bytes=0):
        pass
    return lab.result(arm, 1, run, lab.measured(run, CORPORA, models))


def numbers_of(name: str) -> tuple[str, ...]:
    """What its judge may go by."""
    return tuple(ended(name, next(iter(LABS[name].arms_of(1)))).numbers)


def own_exhibits(name: str) -> list[Lines | TextTable]:
    """What it shows beside its course and its table."""
    found = LABS[name].exhibits([[ended(name, arm)] for arm in LABS[name].arms_of(1)])
    return [exhibit for exhibit in found if exhibit.name not in ("course", "ends")]


def parts_of(exhibit: Lines | TextTable) -> tuple[str, ...]:
    return ("show", "caption", "axis") if isinstance(exhibit, Lines) else ("show", "caption")


def labels_of(exhibit: Lines | TextTable) -> tuple[str, ...]:
    return tuple(exhibit.lines) if isinstance(exhibit, Lines) else exhibit.columns


def drawn(name: str, dice: np.random.Generator) -> dict[str, dict[str, float]]:
    """Numbers of every arm as they might have come out."""
    return {
        arm: {number: float(dice.choice(NATS if number in ("loss", "train") else SHARES)) for number in numbers_of(name)}
        for arm in LABS[name].arms_of(1)
    }


def judged(name: str, numbers: dict[str, dict[str, float]]) -> str:
    return LABS[name].judge({arm: [Result(arm, 1, None, {}, found)] for arm, found in numbers.items()})


@EVERY
def test_its_arms_can_be_trained_side_by_side(name):
    lab = LABS[name]
    assert lab.kind in KINDS
    assert 2 <= len(lab.arms_of(1)) <= 6
    for arm in lab.arms_of(3):
        experiment = lab.experiment(arm, 3)
        assert experiment.training.seed == 3
        assert lab.recognise(train_inline.new_run(experiment)) == (arm, 3)
        changed = {knob for knob, value in experiment.flat().items() if value != (SMALL | dict(lab.base)).get(knob, KNOBS[knob].default)}
        assert changed <= {*lab.arms_of(3)[arm], "seed"}
    assert lab.recognise(train_inline.new_run(Experiment())) is None


@EVERY
def test_arms_that_are_compared_differ_in_one_thing(name):
    """From the first of them, which is as the experiment takes it for granted."""
    for first, *others in groups(name):
        settings = LABS[name].experiment(first, 1).flat()
        assert others
        for arm in others:
            changed = {knob for knob, value in LABS[name].experiment(arm, 1).flat().items() if value != settings[knob]}
            assert len({LAYERS.get(knob, knob) for knob in changed}) == 1, changed


@pytest.mark.sample(3)
@EVERY
def test_what_they_differ_in_makes_a_difference(name):
    """Dropout that is left on, for one, is no bug where nothing is dropped."""
    if name == "bug_lengths":  # is seen only where the output is written: see tests/variants/test_bugs.py
        return
    histories = [ended(name, arm).run.history for arm in LABS[name].arms_of(1)]
    found = [(*history.steps.column("loss"), *history.validations.column("loss")) for history in histories]
    assert len(set(found)) == len(found)


@EVERY
def test_every_arm_sees_its_source_before_it_is_trained(name):
    """Where sublayers begin at zero and nothing goes around them, all sources look alike, and that is another question."""
    for arm in LABS[name].arms_of(1):
        model = build(LABS[name].experiment(arm, 1).model, 30, 30, torch.Generator().manual_seed(1)).eval()
        one, other = (model.encode(torch.tensor([[token, 9, 8, EOS]]))[0] for token in (5, 6))
        assert not torch.allclose(one, other, atol=1e-4), arm


@EVERY
def test_the_code_of_what_was_changed_is_shown(name):
    lab = LABS[name]
    for knobs in lab.arms_of(1).values():
        if "variant" in knobs and not lab.is_mystery:
            variant = ALL[knobs["variant"]]
            parts = filter(None, (variant.change, variant.batch, variant.loss))
            named = {name for part in parts for name in (part.__name__, *part.__code__.co_names)}
            assert {code.__name__ for code in lab.code} & named


@pytest.mark.parametrize("name", TOLD_APART)
def test_its_guesses_are_what_its_judge_can_say(name):
    dice = np.random.default_rng(1)
    assert {judged(name, drawn(name, dice)) for _ in range(150)} == set(LABS[name].guesses)


@pytest.mark.parametrize("name", [name for name in TOLD_APART if LABS[name].kind == "ablation"])
def test_its_judge_goes_by_nothing_else(name):
    dice, by = np.random.default_rng(2), GOES_BY.get(name, (LABS[name].judged,))
    for _ in range(50):
        one, other = drawn(name, dice), drawn(name, dice)
        assert judged(name, {arm: other[arm] | {number: one[arm][number] for number in by} for arm in one}) == judged(name, one)


@EVERY
def test_a_bug_is_seen_by_two_metrics_and_a_question_by_one(name):
    lab = LABS[name]
    assert lab.measures == (("token_accuracy", "exact_match") if lab.kind == "bug" else ("exact_match",))
    assert lab.is_mystery == (lab.arms_of(1) != lab.arms_of(2))


@EVERY
def test_its_words_say_how_long_and_how_large(name):
    lab = LABS[name]
    for experiment in (lab.experiment(arm, 1) for arm in lab.arms_of(1)):
        training = experiment.training
        steps = {int(number) for number in re.findall(r"(\d+) steps of", lab.say("en", "about"))}
        assert steps == {training.steps}
        assert f"{training.steps} steps of {training.batch_size}" in lab.say("en", "about")
        assert f"{training.steps} " in lab.say("zh", "about")
        assert f"d_model {experiment.model.d_model}" in lab.say("en", "about")


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in OF_OTHER_PARTS])
def test_arms_that_are_compared_have_as_many_parameters(name):
    """But where the part in question is made of them."""
    for arms in groups(name):
        models = [build(LABS[name].experiment(arm, 1).model, 30, 30) for arm in arms]
        assert len({sum(parameter.numel() for parameter in model.parameters()) for model in models}) == 1


@EVERY
def test_how_wide_a_head_is_stands_in_the_question_where_it_is_one(name):
    models = [LABS[name].experiment(arm, 1).model for arm in LABS[name].arms_of(1)]
    widths = {str(model.d_model // model.n_heads) for model in models}
    assert len(widths) == 1 or all(width in re.findall(r"\d+", LABS[name].say("en", "question")) for width in widths)


@pytest.mark.parametrize("language", LANGUAGES)
@EVERY
def test_all_its_sentences_can_be_said(name, language):
    lab = LABS[name]
    guesses, arms = (f"guess_{guess}" for guess in lab.guesses), (f"name_{arm}" for arm in lab.arms_of(1))
    for key in ("title", "short", "question", "about", "axis_percent", *guesses, *arms):
        assert lab.say(language, key)
    numbers = {f"{arm}_{number}": 12.5 for arm in lab.arms_of(1) for number in numbers_of(name)} | {"seeds": 2, "spread": 1.5}
    for guess in lab.guesses:
        assert lab.say(language, f"why_{guess}", **numbers)
    for arm in lab.arms_of(1):
        for measure in lab.measures if len(lab.measures) > 1 else ():
            assert lab.say(language, f"name_{arm}_{measure}")
    for number in ("arm", "seed", *numbers_of(name)):
        assert lab.say(language, f"name_{number}")
    for exhibit in own_exhibits(name):
        assert all(lab.say(language, f"{part}_{exhibit.name}", **exhibit.said) for part in parts_of(exhibit))
        assert all(lab.say(language, f"name_{label}") for label in labels_of(exhibit))


@EVERY
def test_it_has_no_words_that_nobody_says(name):
    lab = LABS[name]
    asked = {"title", "short", "question", "about", *(f"{what}_{guess}" for what in ("guess", "why") for guess in lab.guesses)}
    asked |= {f"name_{arm}" for arm in lab.arms_of(1)} | {"show_course", "caption_course", "show_ends", "caption_ends"}
    asked |= {f"name_{number}" for number in numbers_of(name)}
    asked |= {f"{part}_{exhibit.name}" for exhibit in own_exhibits(name) for part in parts_of(exhibit)}
    asked |= {f"name_{label}" for exhibit in own_exhibits(name) for label in labels_of(exhibit)}
    assert {key.partition(".")[2] for key in entries("en") if key.startswith(f"{lab.area}.")} <= asked
