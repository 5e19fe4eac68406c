"""Benches: arms that differ in one thing only, judged by what became of them."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.choices import BUGS
from playground.config import KNOBS, PAD, Experiment
from playground.lessons import ablations, bugs
from playground.lessons.controlled import CLOSE, SMALL, ControlledExperiment, Result, best, spread
from playground.lessons.labs import KINDS, LABS
from playground.runs.queue import train_inline
from playground.training.metrics import build_eval_set
from playground.variants import build
from playground.words import LANGUAGES, entries
from tests.training.corpora import corpus_of, training_of
from tests.variants.varied import SRC, TGT, beside

BENCHES = [name for name, lab in LABS.items() if isinstance(lab, ControlledExperiment)]
TINY = dict(d_model=8, n_heads=2, d_ff=8, steps=4, batch_size=4, validation_size=10, eval_every=2)

UNSCALED, WIDE, UNORDERED, OPEN = {"attention_scale": False}, {"d_model": 64, "n_heads": 1}, {"positions": "none"}, {"residual": False}
XAVIER, TWO, THREE = {"zero_init": False}, *({"encoder_layers": n, "decoder_layers": n} for n in (2, 3))
PRE, LATE, AT_ONCE, LEARNED, ROTARY = {"norm": "pre"}, {"warmup": 40}, {"warmup": 0}, {"positions": "learned"}, {"positions": "rotary"}

ASKED = {  # who judges (or the pairs that `which` judges), by what, what is the same for all arms, and in what each differs from SMALL
    "embedding_scale": (best, "exact", {}, {"with": {}, "without": {"embedding_scale": False}}),
    "attention_scale": (
        ("narrow", "wide"), "exact", {},
        {"narrow_with": {}, "narrow_without": UNSCALED, "wide_with": WIDE, "wide_without": WIDE | UNSCALED},
    ),
    "order": (
        ("reverse", "sort"), "exact", {},
        {"reverse_with": {}, "reverse_without": UNORDERED, "sort_with": {"task": "sort"}, "sort_without": {"task": "sort"} | UNORDERED},
    ),
    "encodings": (
        ablations.layout, "exact", {},
        {"interleaved": {}, "concatenated": {"variant": "concatenated"}, "learned": LEARNED, "rotary": ROTARY},
    ),
    "beyond": (ablations.farther, "harder", {"task": "sort"}, {"sinusoids": {}, "learned": LEARNED, "rotary": ROTARY}),
    "warmup": (
        ("post", "pre"), "exact", {"task": "sort", "optimiser": "adam", "learning_rate": 0.02, "steps": 220} | XAVIER | TWO,
        {"post_with": LATE, "post_without": AT_ONCE, "pre_with": LATE | PRE, "pre_without": AT_ONCE | PRE},
    ),
    "skip": (best, "exact", XAVIER, {"with": {}, "without": OPEN}),
    "deep": (
        ("one", "three"), "exact", {"task": "copy", "steps": 200} | XAVIER,
        {"one_with": {}, "one_without": OPEN, "three_with": THREE, "three_without": THREE | OPEN},
    ),
    "w_o": (best, "exact", XAVIER, {"with": {}, "without": {"variant": "identity_output"}}),
    "heads": (ablations.between, "loss", {}, {arm: {"n_heads": n} for arm, n in (("one", 1), ("two", 2), ("four", 4), ("eight", 8))}),
    "no_ffn": (best, "exact", {}, {"with": {}, "without": {"variant": "no_feed_forward"}}),
    "shared": (ablations.lowest, "loss", {}, {name: {"share_embeddings": name} for name in ("none", "output", "all")}),
    "smoothing": (best, "exact", {}, {"with": {"label_smoothing": 0.1}, "without": {}}),
    "depth": (ablations.lowest, "loss", {"task": "addition", "steps": 400}, {"one": {}, "two": TWO}),
    "scores": (
        best, "exact", {},
        {"scaled": {}, "dot": UNSCALED} | {name: {"variant": name} for name in ("additive", "bilinear", "cosine")},
    ),
    "batch_norm": (ablations.lowest, "loss", {}, {"layer": {}, "batch": {"variant": "batch_norm"}}),
    "attention_dropout": (
        best, "exact", {"task": "copy", "dropout": 0.2}, {"with": {}, "without": {"variant": "no_attention_dropout"}},
    ),
}  # fmt: skip
BROKEN = {  # the bug, who judges, and what is the same for both arms
    "leak_future": ("no_causal_mask", bugs.meters, {}),
    "leak_source": ("no_source_mask", bugs.neighbours, {}),
    "leak_memory": ("no_memory_mask", bugs.neighbours, {}),
    "leak_shift": ("unshifted", bugs.meters, {}),
    "leak_axis": ("softmax_over_queries", bugs.meters, {"steps": 250}),
    "leak_norm": ("norm_over_positions", bugs.meters, {}),
    "leak_view": ("view_for_transpose", bugs.meters, {}),
    "leak_loss": ("padding_in_loss", bugs.meters, {}),
    "leak_dropout": ("dropout_always", bugs.meters, {"task": "copy", "dropout": 0.2}),
    "leak_inverted": ("inverted_mask", bugs.meters, {}),
    "mystery": (bugs.bug_of(3), bugs._revealed, {"steps": 250, "dropout": 0.05}),
}
MEANT = ASKED | {name: (judge, "exact", base, {"right": {}, "broken": {"variant": bug}}) for name, (bug, judge, base) in BROKEN.items()}


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
        assert bench.recognise(train_inline.new_run(experiment)) == (arm, 3)
        changed = {knob for knob, value in experiment.flat().items() if value != (SMALL | dict(bench.base)).get(knob, KNOBS[knob].default)}
        assert changed <= {*bench.arms_of(3)[arm], "seed"}
    assert bench.recognise(train_inline.new_run(Experiment())) is None


@pytest.mark.parametrize("name", BENCHES)
def test_it_trains_and_judges_what_its_question_is_about(name):
    bench, (judge, judged, base, arms) = LABS[name], MEANT[name]
    assert inspect.getclosurevars(bench.judge).nonlocals.get("pairs", bench.judge) == judge
    assert bench.judged == judged
    assert bench.is_mystery == (name == "mystery")
    assert bench.measures == (("token_accuracy", "exact_match") if bench.kind == "leak" else ("exact_match",))
    assert list(bench.arms_of(3)) == list(arms)
    for arm, own in arms.items():
        assert bench.experiment(arm, 3) == Experiment().with_(**SMALL | base | own, seed=3)


def test_what_else_is_measured():
    more = {name: bench.more for name in BENCHES if (bench := LABS[name]).more}
    padded = dict.fromkeys(("leak_source", "leak_memory", "mystery"), bugs.padded)
    assert more == padded | {"leak_dropout": bugs.without_dropout, "beyond": ablations.harder}


@pytest.mark.parametrize("name", BENCHES)
def test_its_words_say_how_long_and_how_large(name):
    bench = LABS[name]
    for experiment in (bench.experiment(arm, 1) for arm in bench.arms_of(1)):
        training = experiment.training
        steps = {int(number) for number in re.findall(r"(\d+) steps of", bench.say("en", "about"))}
        assert steps == {training.steps}
        assert f"{training.steps} steps of {training.batch_size}" in bench.say("en", "about")
        assert f"{training.steps} " in bench.say("zh", "about")
        assert f"d_model {experiment.model.d_model}" in bench.say("en", "about")


@pytest.mark.parametrize("name", sorted(set(BENCHES) - {"w_o", "no_ffn", "encodings", "beyond", "shared", "depth", "scores", "batch_norm"}))
def test_arms_that_are_compared_have_as_many_parameters(name):
    """But where the part in question is made of them. The pairs of a question are compared each with its own twin."""
    bench, counts = LABS[name], {}
    for arm in bench.arms_of(1):
        config = bench.experiment(arm, 1).model
        counts.setdefault(arm.rpartition("_")[0], set()).add(sum(parameter.numel() for parameter in build(config, 30, 30).parameters()))
    assert all(len(found) == 1 for found in counts.values())


@pytest.mark.parametrize(
    ("name", "widths"),
    [
        ("heads", {"one": 32, "two": 16, "four": 8, "eight": 4}),
        ("attention_scale", {"narrow_with": 8, "narrow_without": 8, "wide_with": 64, "wide_without": 64}),
    ],
)
def test_how_wide_a_head_is(name, widths):
    models = {arm: LABS[name].experiment(arm, 1).model for arm in widths}
    assert {arm: model.d_model // model.n_heads for arm, model in models.items()} == widths
    assert all(str(width) in LABS[name].say("en", "question") for width in widths.values())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", BENCHES)
def test_all_its_sentences_can_be_said(name, language):
    bench = LABS[name]
    for key in ("title", "question", "about", *(f"guess_{guess}" for guess in bench.guesses), *(f"name_{arm}" for arm in bench.arms_of(1))):
        assert bench.say(language, key)
    kinds = [
        "exact",
        "tokens",
        "loss",
        "train",
        *({"padded": bugs.padded, "quiet": bugs.without_dropout, "harder": ablations.harder}.items()),
    ]
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


def test_a_result_is_the_end_of_its_run():
    last, rows = {"exact_match": 0.1, "token_accuracy": 0.6, "loss": 1.5}, {"step": [2, 4]}
    validations = SimpleNamespace(rows=lambda: rows, last=lambda: last)
    run = SimpleNamespace(history=SimpleNamespace(validations=validations, steps=SimpleNamespace(last=lambda: {"loss": 1.2})))
    found = LABS["skip"].result("with", 7, run, {"padded": 0.3})
    assert (found.arm, found.seed, found.run, found.curve) == ("with", 7, run, rows)
    assert found.numbers == {"exact": 0.1, "tokens": 0.6, "loss": 1.5, "train": 1.2, "padded": 0.3}


def came(arm: str, seed: int, *shares: float, **numbers: float) -> Result:
    """With these shares of right sentences every ten steps."""
    run = train_inline.new_run(Experiment())
    return Result(arm, seed, run, {"step": [10, 20, 30][: len(shares)], "exact_match": list(shares)}, numbers)


def test_a_course_is_the_mean_over_the_seeds_as_far_as_all_have_come():
    arms = [
        [came("with", 1, 0.2, 0.4, 0.6), came("with", 2, 0.4, 0.8)],
        [came("without", 1, 0, 0.2, 0.3), came("without", 2, 0.1, 0.1, 0.1)],
    ]
    course = LABS["skip"].course(arms)
    assert course.x.tolist() == [10, 20]
    assert {arm: line.tolist() for arm, line in course.lines.items()} == {
        "with": pytest.approx([30, 60]),
        "without": pytest.approx([5, 15]),
    }
    assert course.said == {"step": 20, "seeds": 2}


@pytest.mark.parametrize(("name", "first", "second", "apart"), [("skip", "with", "without", 12.5), ("depth", "one", "two", 0.25)])
def test_how_far_seeds_are_apart_is_said_in_points_or_nats(name, first, second, apart):
    ends = {first: [{"exact": 1.0, "loss": 2.0}, {"exact": 0.5, "loss": 1.0}], second: [{"exact": 0.2, "loss": 3.0}] * 2}
    found = [[came(arm, seed, 0.5, **numbers) for seed, numbers in enumerate(both, 1)] for arm, both in ends.items()]
    numbers = LABS[name].verdict(found).numbers
    assert numbers["spread"] == pytest.approx(apart)
    assert (numbers[f"{first}_exact"], numbers[f"{second}_exact"], numbers[f"{first}_loss"]) == pytest.approx((75, 20, 1.5))


def test_the_best_arm_is_named_only_when_no_other_comes_near():
    assert best(made_up(one=[0.9], two=[0.5])) == "one"
    assert best(made_up(one=[0.9], two=[0.9 - CLOSE / 2])) == "same"
    assert best(made_up(one=[0.9], two=[0.84])) == "one"  # six points are something
    assert best(made_up(one=[1.0, 0.4], two=[0.6, 0.6])) == "same"  # the seeds differ more than the arms
    assert spread(made_up(one=[1.0, 0.5], two=[0.2, 0.2]).values(), "exact") == pytest.approx(0.125)


def test_the_judges_of_questions_by_hand():
    judge = ablations.which("one", "other")
    arms = {"one_with": [1.0], "one_without": [0.1], "other_with": [1.0], "other_without": [0.9]}
    assert judge(made_up(**arms)) == "one"
    assert judge(made_up(**arms | {"other_without": [0.0]})) == "both"
    assert judge(made_up(**arms | {"one_without": [0.9]})) == "neither"
    assert judge(made_up(**arms | {"one_without": [0.9], "other_without": [0.2]})) == "other"
    losses = {"a": {"loss": 0.1}, "b": {"loss": 0.2}, "c": {"loss": 0.3}}
    assert ablations.lowest(measured(**losses)) == "a"
    assert ablations.lowest(measured(**losses | {"b": {"loss": 0.12}})) == "same"
    heads = {"one": {"loss": 0.2}, "two": {"loss": 0.1}, "four": {"loss": 0.1}, "eight": {"loss": 0.15}}
    assert ablations.between(measured(**heads)) == "between"
    assert ablations.between(measured(**heads | {"eight": {"loss": 0.1}})) == "more"
    assert ablations.between(measured(**heads | {"one": {"loss": 0.11}})) == "one"
    kinds = {"interleaved": [1.0], "concatenated": [0.95], "learned": [0.5], "rotary": [1.0]}
    assert ablations.layout(made_up(**kinds)) == "kind"
    assert ablations.layout(made_up(**kinds | {"learned": [1.0]})) == "same"
    assert ablations.layout(made_up(**kinds | {"concatenated": [0.1]})) == "order"
    far = {"sinusoids": {"harder": 0.4}, "learned": {"harder": 0.0}, "rotary": {"harder": 1.0}}
    assert ablations.farther(measured(**far)) == "rotary"
    assert ablations.farther(measured(**far | {"sinusoids": {"harder": 0.9}})) == "some"
    assert ablations.farther(measured(**far | {"rotary": {"harder": 0.1}})) == "none"


def test_the_two_meters_by_hand():
    right = {"exact": 1.0, "tokens": 1.0, "padded": 1.0}
    assert bugs.meters(measured(right=right, broken={"exact": 0.0, "tokens": 0.98})) == "lies"
    assert bugs.meters(measured(right=right, broken={"exact": 0.1, "tokens": 0.4})) == "broken"
    assert bugs.meters(measured(right=right, broken={"exact": 0.95, "tokens": 0.99})) == "fine"
    assert bugs.neighbours(measured(right=right, broken={"exact": 0.95, "tokens": 0.99, "padded": 0.2})) == "padding"
    assert bugs.neighbours(measured(right=right, broken={"exact": 0.95, "tokens": 0.99, "padded": 0.94})) == "fine"
    assert bugs.neighbours(measured(right=right, broken={"exact": 0.1, "tokens": 0.99, "padded": 0.1})) == "broken"


@pytest.fixture
def examined(monkeypatch):
    """An examination gives, instead of a share, who was examined, with what and how."""
    for module in (bugs, ablations):
        monkeypatch.setattr(module, "validate", lambda model, exam, **how: SimpleNamespace(exact_match=(model, exam, how)))


@pytest.mark.parametrize("variant", ["none", "no_source_mask", "no_causal_mask", "unshifted"])
def test_padded_sentences_are_the_same_with_room_for_a_longer_one(examined, variant):
    """Who sees what it is to predict has to write."""
    training = training_of(variant=variant)
    model, exam, how = bugs.padded(training.model, training.corpus)["padded"]
    assert model is training.model
    assert how.get("written", False) == (variant in ("no_causal_mask", "unshifted"))
    for chunk, plain in zip(exam.batches, build_eval_set(training.corpus, training.corpus.heldout).batches, strict=True):
        wider = chunk.batch.src.shape[1] - plain.batch.src.shape[1]
        assert wider >= training.corpus.longest
        assert torch.equal(chunk.batch.src, torch.nn.functional.pad(plain.batch.src, (0, wider), value=PAD))
        assert torch.equal(chunk.batch.tgt_out, plain.batch.tgt_out)


def test_a_quiet_model_has_the_same_parameters_and_throws_no_dice(examined):
    paper, restless = beside("dropout_always", dropout=0.5)
    model, exam, _ = bugs.without_dropout(restless, corpus_of())["quiet"]
    assert exam.pairs == len(corpus_of().heldout)
    assert torch.equal(model(SRC, TGT).logits, paper(SRC, TGT).logits)
    assert not torch.equal(restless(SRC, TGT).logits, restless(SRC, TGT).logits)


def test_harder_sentences_are_longer_than_all_that_was_trained_on(examined):
    training = training_of(task="sort")
    model, exam, _ = ablations.harder(training.model, training.corpus)["harder"]
    assert model is training.model
    assert exam.pairs == len(training.corpus.harder)
    assert min(int((chunk.batch.src != PAD).sum(dim=1).min()) for chunk in exam.batches) > training.corpus.longest


def test_a_mystery_is_one_of_all_bugs_and_its_runs_keep_the_secret():
    assert sorted(map(bugs.bug_of, range(1, len(BUGS) + 1))) == sorted(BUGS)
    assert sorted(map(bugs.bug_of, range(101, 101 + len(BUGS)))) == sorted(BUGS)
    assert [bugs.bug_of(n) for n in range(1, 11)] != [bugs.bug_of(n) for n in range(11, 21)]
    mystery = LABS["mystery"]
    for number in (1, 7, 31):
        run = train_inline.new_run(mystery.experiment("broken", number))
        assert run.experiment.model.variant == bugs.bug_of(number)
        assert mystery.recognise(run) == ("broken", number)
        assert mystery.judge({"right": [], "broken": [Result("broken", number, run, {}, {})]}) == bugs.bug_of(number)
    assert all(leak.arms["broken"]["variant"] in BUGS for leak in bugs.LEAKS if leak.arms)
    assert {leak.arms["broken"]["variant"] for leak in bugs.LEAKS if leak.arms} == set(BUGS)  # every bug has a leak of its own
