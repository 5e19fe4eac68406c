"""Every controlled experiment that is declared: its arms differ in one thing, its judge goes by it, and it has its words."""

import re
from functools import cache

import numpy as np
import pytest
import torch

from playground.config import EOS, KNOBS, Experiment
from playground.lessons.controlled import SMALL, ControlledExperiment, Result
from playground.lessons.lab import Lines
from playground.lessons.labs import LABS, why_attention
from playground.lessons.labs.ablations import judges
from playground.runs.corpora import ModelCache
from playground.runs.queue import train_inline
from playground.variants import ALL, build
from playground.words import LANGUAGES, entries
from tests.runs.tiny import CORPORA

EXPERIMENTS = [name for name, lab in LABS.items() if isinstance(lab, ControlledExperiment)]
TINY = dict(d_model=8, n_heads=2, d_ff=8, steps=3, batch_size=4, train_size=100, validation_size=10)
LAYERS = {"encoder_layers": "layers", "decoder_layers": "layers"}  # as many on both sides: one thing
SHARES, NATS = (0.0, 0.5, 1.0), (0.1, 0.5, 2.0)
EVERY = pytest.mark.parametrize("name", EXPERIMENTS)


@pytest.fixture(scope="module", autouse=True)
def _no_time_is_taken_of_long_sentences_and_deep_models():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(why_attention, "CLOCKED", (2, 3))
        patch.setattr(why_attention, "TRIES", 1)
        patch.setattr(judges, "DEPTHS", (2,))
        yield


@cache
def ended(name: str, arm: str) -> Result:
    """An arm with seed 1, in little and for a few steps."""
    lab = LABS[name]
    run = train_inline.new_run(lab.experiment(arm, 1).with_(**TINY | dict(lab.arms_of(1)[arm])))
    for _ in train_inline.train(run, CORPORA, replay_bytes=0):
        pass
    return lab.result(arm, 1, run, lab.measured(run, CORPORA, ModelCache()))


@EVERY
def test_its_arms_differ_in_one_thing_and_can_be_trained_side_by_side(name):
    """Of a question about pairs the two of each. The code of what was changed is shown, and every arm sees its source from the start."""
    lab = LABS[name]
    arms, pairs = lab.arms_of(3), {arm.rpartition("_")[0] if all("_" in name for name in lab.arms_of(1)) else "" for arm in lab.arms_of(1)}
    assert lab.is_mystery == (lab.arms_of(1) != lab.arms_of(2))
    assert lab.recognise(train_inline.new_run(Experiment())) is None
    assert {*lab.decisive} <= {*arms}
    experiments = {arm: lab.experiment(arm, 3) for arm in arms}
    for arm, experiment in experiments.items():
        assert lab.recognise(train_inline.new_run(experiment)) == (arm, 3)
        changed = {knob for knob, value in experiment.flat().items() if value != (SMALL | dict(lab.base)).get(knob, KNOBS[knob].default)}
        assert changed <= {*arms[arm], "seed"}
        model = build(experiment.model, 30, 30, torch.Generator().manual_seed(1)).eval()
        first, second = (model.encode(torch.tensor([[token, 9, 8, EOS]]))[0] for token in (5, 6))
        assert not torch.allclose(first, second, atol=1e-4), arm
        if "variant" in arms[arm] and not lab.is_mystery:
            variant = ALL[arms[arm]["variant"]]
            parts = filter(None, (variant.change, variant.batch, variant.loss))
            assert {code.__name__ for code in lab.code} & {name for part in parts for name in (part.__name__, *part.__code__.co_names)}
    for pair in pairs:
        first, *rest = (arm for arm in arms if arm.startswith(pair))
        assert rest
        for other in rest:
            changed = {knob for knob, value in experiments[other].flat().items() if value != experiments[first].flat()[knob]}
            assert len({LAYERS.get(knob, knob) for knob in changed}) == 1, changed


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if not LABS[name].is_mystery])  # a mystery's asks the run itself
def test_its_judge_says_each_of_its_guesses(name):
    lab, dice, answers = LABS[name], np.random.default_rng(1), set()
    numbers = ended(name, next(iter(lab.arms))).numbers
    choices = {number: NATS if number in ("loss", "train") else SHARES for number in numbers}
    for _ in range(150):
        drawn = {arm: {number: float(dice.choice(values)) for number, values in choices.items()} for arm in lab.arms}
        answers.add(lab.judge({arm: [Result(arm, 1, None, {}, of_arm)] for arm, of_arm in drawn.items()}))
    assert answers == set(lab.guesses) >= {lab.expects or lab.guesses[0]}


@EVERY
def test_all_its_sentences_can_be_said_and_it_has_no_others(name):
    lab, arms = LABS[name], tuple(LABS[name].arms_of(1))
    numbers = tuple(ended(name, arms[0]).numbers)
    values = {f"{arm}_{number}": 12.5 for arm in arms for number in numbers} | {"seeds": 2, "spread": 1.5}
    own = lab.shows([[ended(name, arm)] for arm in arms]) if lab.shows else ()  # beside the course and the ends
    plain = {"title", "short", "question", "about", *(f"guess_{guess}" for guess in lab.guesses)}
    plain |= {f"name_{word}" for word in (*arms, *numbers)}
    plain |= {f"name_{label}" for exhibit in own for label in (exhibit.lines if isinstance(exhibit, Lines) else exhibit.columns)}
    curves = {f"name_{arm}_{measure}" for arm in arms for measure in lab.measures if len(lab.measures) > 1}
    steps = {str(lab.experiment(arm, 1).training.steps) for arm in arms}
    for language in LANGUAGES:
        assert all(lab.say(language, key) for key in (*plain, *curves, "axis_percent", "name_arm", "name_seed"))
        shared = [lab.say(language, part, **values) for part in ("verdict_numbers", "verdict_reason") if lab.knows(language, part)]
        assert all((why := lab.say(language, f"why_{guess}", **values)) and all(map(why.count, shared)) for guess in lab.guesses)
        for exhibit in own:
            parts = ("show", "caption", "axis") if isinstance(exhibit, Lines) else ("show", "caption")
            assert all(lab.say(language, f"{part}_{exhibit.name}", **exhibit.caption) for part in parts)
        assert steps <= set(re.findall(r"\d+", lab.say(language, "about")))
    spoken = plain | {"asks", "setup", "verdict_numbers", "verdict_reason", *(f"why_{guess}" for guess in lab.guesses)}
    spoken |= {f"{part}_{end}" for part in ("show", "caption", "axis") for end in ("course", "ends", *(exhibit.name for exhibit in own))}
    assert {key.partition(".")[2] for key in entries("en") if key.startswith(f"{lab.area}.")} <= spoken


def test_only_torchs_initialisation_starves_the_first_layers_of_a_deep_post_norm_decoder(monkeypatch):
    monkeypatch.setattr(judges, "DEPTHS", (12,))
    for seed in (1, 2):
        ratios = {}
        for arm in judges.NORM_DEPTH.arms:
            experiment = judges.NORM_DEPTH.experiment(arm, seed).with_(train_size=100)
            (ratios[arm],) = judges.gradients_at_start(build(experiment.model, 30, 30).eval(), CORPORA.get(experiment), seed)["ratios"]
        assert ratios.pop("plain_post") < 0.05
        assert 0.3 < min(ratios.values()) <= max(ratios.values()) < 4
