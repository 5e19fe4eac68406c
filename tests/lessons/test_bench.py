"""Benches: arms that differ in one thing only, judged by what became of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from playground.config import BUGS, KNOBS, Experiment
from playground.lessons import leaks, questions
from playground.lessons.bench import CLOSE, SMALL, Bench, Result, best, spread
from playground.lessons.labs import KINDS, LABS
from playground.runs import solo
from playground.words import LANGUAGES, entries

BENCHES = [name for name, lab in LABS.items() if isinstance(lab, Bench)]
TINY = dict(d_model=8, n_heads=2, d_ff=8, steps=4, batch_size=4, heldout=10, validate_every=2)


def made_up(**arms: list[float]) -> dict[str, list[Result]]:
    """Results with these shares of right sentences, one for each seed."""
    return {arm: [Result(arm, seed, None, {}, {"exact": share}) for seed, share in enumerate(found, 1)] for arm, found in arms.items()}


def measured(**arms: dict[str, float]) -> dict[str, list[Result]]:
    return {arm: [Result(arm, 1, None, {}, numbers)] for arm, numbers in arms.items()}


@pytest.mark.parametrize("name", BENCHES)
def test_its_arms_can_be_trained_side_by_side(name):
    bench = LABS[name]
    assert bench.kind in KINDS
    assert 2 <= len(bench.arms_of(1)) <= 5
    made = {arm: bench.experiment(arm, 3) for arm in bench.arms_of(3)}
    assert len({tuple(experiment.flat().items()) for experiment in made.values()}) == len(made)  # no two arms are the same
    for arm, experiment in made.items():
        assert experiment.training.seed == 3
        assert bench.recognise(solo.new_run(experiment)) == (arm, 3)
        changed = {knob for knob, value in experiment.flat().items() if value != (SMALL | dict(bench.base)).get(knob, KNOBS[knob].default)}
        assert changed <= {*bench.arms_of(3)[arm], "seed"}
    assert bench.recognise(solo.new_run(Experiment())) is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", BENCHES)
def test_all_its_sentences_can_be_said(name, language):
    bench = LABS[name]
    for key in ("title", "question", "about", *(f"guess_{guess}" for guess in bench.guesses), *(f"name_{arm}" for arm in bench.arms_of(1))):
        assert bench.say(language, key)
    kinds = ["exact", "tokens", "loss", "train", *({"padded": leaks.padded, "quiet": leaks.quiet, "harder": questions.harder}.items())]
    kinds = [kind if isinstance(kind, str) else kind[0] for kind in kinds if isinstance(kind, str) or kind[1] is bench.more]
    numbers = {f"{arm}_{kind}": 12.5 for arm in bench.arms_of(1) for kind in kinds} | {"seeds": 2, "spread": 1.5}
    for guess in bench.guesses:
        assert bench.say(language, f"why_{guess}", **numbers)
    for arm in bench.arms_of(1):
        for measure in bench.measures if len(bench.measures) > 1 else ():
            assert bench.say(language, f"name_{arm}_{measure}")
    for kind in ("arm", "seed", *kinds):
        assert bench.say(language, f"name_{kind}")


@pytest.mark.parametrize("name", BENCHES)
def test_it_has_no_words_that_nobody_says(name):
    bench = LABS[name]
    asked = {"title", "question", "about", *(f"{what}_{guess}" for what in ("guess", "why") for guess in bench.guesses)}
    asked |= {f"name_{arm}" for arm in bench.arms_of(1)} | {"show_course", "caption_course", "show_ends", "caption_ends"}
    assert {key.partition(".")[2] for key in entries("en") if key.startswith(f"{bench.area}.")} <= asked


def test_a_whole_experiment_on_the_command_lines_way():
    bench = replace(LABS["leak_source"], base=TINY)
    outcome = bench.outcome(2)
    assert outcome.answer in bench.guesses
    assert json.loads(json.dumps(dict(outcome.numbers), allow_nan=False)) == dict(outcome.numbers)
    assert {"right_exact", "broken_exact", "right_padded", "broken_tokens", "seeds", "spread"} <= outcome.numbers.keys()
    course, ends = outcome.exhibits
    assert course.x.tolist() == [2, 4]
    assert {"right_token_accuracy", "broken_exact_match"} <= course.lines.keys()
    assert [row[:2] for row in ends.rows] == [("right", "2"), ("broken", "2")]
    assert len(ends.columns) == len(ends.rows[0])
    again = bench.outcome(2)
    assert again.numbers == outcome.numbers
    np.testing.assert_array_equal(again.exhibits[0].lines["broken_exact_match"], course.lines["broken_exact_match"])


def test_a_verdict_is_over_all_seeds():
    bench = replace(LABS["skip"], base=TINY)
    results = [[result for seed in (1, 2) for result in bench.train(seed) if result.arm == arm] for arm in bench.arms]
    outcome = bench.verdict(results)
    assert outcome.numbers["seeds"] == 2
    losses = [result.numbers["loss"] for result in results[0]]
    assert outcome.numbers["with_loss"] == pytest.approx(sum(losses) / 2, abs=1e-4)
    assert len(outcome.exhibits[1].rows) == 4


def test_the_best_arm_is_named_only_when_no_other_comes_near():
    assert best(made_up(one=[0.9], two=[0.5])) == "one"
    assert best(made_up(one=[0.9], two=[0.9 - CLOSE / 2])) == "same"
    assert best(made_up(one=[1.0, 0.4], two=[0.6, 0.6])) == "same"  # the seeds differ more than the arms
    assert spread(made_up(one=[1.0, 0.5], two=[0.2, 0.2]).values(), "exact") == pytest.approx(0.125)


def test_the_judges_of_questions_by_hand():
    judge = questions.which("one", "other")
    arms = {"one_with": [1.0], "one_without": [0.1], "other_with": [1.0], "other_without": [0.9]}
    assert judge(made_up(**arms)) == "one"
    assert judge(made_up(**arms | {"other_without": [0.0]})) == "both"
    assert judge(made_up(**arms | {"one_without": [0.9]})) == "neither"
    assert judge(made_up(**arms | {"one_without": [0.9], "other_without": [0.2]})) == "other"
    losses = {"a": {"loss": 0.1}, "b": {"loss": 0.2}, "c": {"loss": 0.3}}
    assert questions.lowest(measured(**losses)) == "a"
    assert questions.lowest(measured(**losses | {"b": {"loss": 0.12}})) == "same"
    heads = {"one": {"loss": 0.2}, "two": {"loss": 0.1}, "four": {"loss": 0.1}, "eight": {"loss": 0.15}}
    assert questions.between(measured(**heads)) == "between"
    assert questions.between(measured(**heads | {"eight": {"loss": 0.1}})) == "more"
    assert questions.between(measured(**heads | {"one": {"loss": 0.11}})) == "one"
    kinds = {"interleaved": [1.0], "concatenated": [0.95], "learned": [0.5], "rotary": [1.0]}
    assert questions.layout(made_up(**kinds)) == "kind"
    assert questions.layout(made_up(**kinds | {"learned": [1.0]})) == "same"
    assert questions.layout(made_up(**kinds | {"concatenated": [0.1]})) == "order"
    far = {"sinusoids": {"harder": 0.4}, "learned": {"harder": 0.0}, "rotary": {"harder": 1.0}}
    assert questions.farther(measured(**far)) == "rotary"
    assert questions.farther(measured(**far | {"sinusoids": {"harder": 0.9}})) == "some"
    assert questions.farther(measured(**far | {"rotary": {"harder": 0.1}})) == "none"


def test_the_two_meters_by_hand():
    right = {"exact": 1.0, "tokens": 1.0, "padded": 1.0}
    assert leaks.meters(measured(right=right, broken={"exact": 0.0, "tokens": 0.98})) == "lies"
    assert leaks.meters(measured(right=right, broken={"exact": 0.1, "tokens": 0.4})) == "broken"
    assert leaks.meters(measured(right=right, broken={"exact": 0.95, "tokens": 0.99})) == "fine"
    assert leaks.neighbours(measured(right=right, broken={"exact": 0.95, "tokens": 0.99, "padded": 0.2})) == "padding"
    assert leaks.neighbours(measured(right=right, broken={"exact": 0.95, "tokens": 0.99, "padded": 0.94})) == "fine"
    assert leaks.neighbours(measured(right=right, broken={"exact": 0.1, "tokens": 0.99, "padded": 0.1})) == "broken"


def test_a_mystery_is_one_of_all_bugs_and_its_runs_keep_the_secret():
    assert sorted(map(leaks.bug_of, range(1, len(BUGS) + 1))) == sorted(BUGS)
    assert sorted(map(leaks.bug_of, range(101, 101 + len(BUGS)))) == sorted(BUGS)
    assert [leaks.bug_of(n) for n in range(1, 11)] != [leaks.bug_of(n) for n in range(11, 21)]
    mystery = LABS["mystery"]
    for number in (1, 7, 31):
        run = solo.new_run(mystery.experiment("broken", number))
        assert run.experiment.model.twist == leaks.bug_of(number)
        assert mystery.recognise(run) == ("broken", number)
    assert all(leak.arms["broken"]["twist"] in BUGS for leak in leaks.LEAKS if leak.arms)
    assert {leak.arms["broken"]["twist"] for leak in leaks.LEAKS if leak.arms} == set(BUGS)  # every bug has a leak of its own
