"""Benches: arms that differ in one thing only, judged by what became of them; every one that is declared does, and has its words."""

import json
from dataclasses import replace
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.choices import BUGS
from playground.config import EOS, KNOBS, PAD, Experiment
from playground.knobs import shown_setting, shown_value
from playground.lessons import controlled
from playground.lessons.controlled import CLOSE, SMALL, STATED, ControlledExperiment, Result, best, margin, measure_harder, spread
from playground.lessons.lab import Lines
from playground.lessons.labs import LABS, bugs, why_attention
from playground.lessons.labs.ablations import judges
from playground.lessons.labs.exposure_bias import AROUND, WAYS, Decoded, by_distance, compared, cost, decode, first_mistake
from playground.runs.corpora import ModelCache
from playground.runs.queue import train_inline
from playground.tasks.toy_tasks import TASKS
from playground.training.metrics import build_eval_set
from playground.variants import ALL, build
from playground.words import LANGUAGES, entries
from tests.runs.tiny import CORPORA, train_here
from tests.variants.varied import SRC, TGT, paper_and_variant, taught, training_of

CURVE = {"step": [10], "token_accuracy": [0.5], "exact_match": [0.5]}
TINY = dict(d_model=8, n_heads=2, d_ff=8, steps=4, train_size=100, batch_size=4, validation_size=10, eval_every=2)


def made_up(arms: dict[str, list[float] | dict[str, float]]) -> dict[str, list[Result]]:
    results = {arm: [by_seed] if isinstance(by_seed, dict) else by_seed for arm, by_seed in arms.items()}
    results = {arm: [each if isinstance(each, dict) else {"exact": each} for each in by_seed] for arm, by_seed in results.items()}
    return {arm: [Result(arm, seed, None, {}, numbers) for seed, numbers in enumerate(of_arm, 1)] for arm, of_arm in results.items()}


@pytest.mark.night
def test_a_whole_experiment_on_the_command_lines_way():
    bench = replace(LABS["bug_source"], base=TINY)
    outcome = bench.outcome(2)
    results = [[result for seed in (1, 2) for result in bench.train(seed) if result.arm == arm] for arm in bench.arms]
    verdict = bench.verdict(results)
    assert (verdict.numbers["seeds"], len(verdict.exhibits[2].rows)) == (2, 4)
    for result in results[0]:
        last = result.run.history.validations.last()
        assert [result.numbers[name] for name in ("exact", "tokens")] == [last["exact_match"], last["token_accuracy"]]
        assert [result.numbers[name] for name in ("loss", "train")] == [last["loss"], result.run.history.steps.last()["loss"]]
    assert json.loads(json.dumps(dict(outcome.numbers), allow_nan=False)) == dict(outcome.numbers)
    _, course, ends = outcome.exhibits
    assert (course.x.tolist(), course.percent) == ([2, 4], True)
    assert [row[:2] for row in ends.rows] == [("right", "2"), ("broken", "2")]
    again = bench.verdict([of_arm[1:] for of_arm in results])  # of the second seed
    assert again.numbers == outcome.numbers
    np.testing.assert_array_equal(again.exhibits[1].lines["broken_exact_match"], course.lines["broken_exact_match"])


def came(arm: str, seed: int, *shares: float, **numbers: float) -> Result:
    run = train_inline.new_run(Experiment())
    return Result(arm, seed, run, {"step": [10, 20, 30][: len(shares)], "exact_match": list(shares), "loss": list(shares)}, numbers)


def test_a_course_is_the_mean_over_the_seeds_as_far_as_all_have_come():
    two = [[came("with", 1, 0.2, 0.4, 0.6), came("with", 2, 0.4, 0.8)], [came("without", 1, 0, 0.2, 0.3), came("without", 2, 0.1, 0.1)]]
    course = LABS["no_ffn"].course(two)
    assert (course.x.tolist(), course.caption) == ([10, 20], {"step": 20, "seeds": 2})
    assert [line.tolist() for line in course.lines.values()] == [pytest.approx([30, 60]), pytest.approx([5, 15])]
    assert [side.tolist() for side in course.bands["with"]] == [pytest.approx([20, 40]), pytest.approx([40, 80])]
    by_loss = LABS["depth"].course(two)
    assert (by_loss.percent, by_loss.lines["with"].tolist()) == (False, pytest.approx([0.3, 0.6])), "what decides is drawn"
    decides, *_ = LABS["beyond"].exhibits([[came("with", seed, 0.1, exact=0.5, harder=seed / 4) for seed in (1, 2)]])
    assert decides.values == {"with": (25, 50)}


def test_the_early_step_is_the_first_that_was_validated_from_there_on():
    rows = {"step": [140, 160, 600], "exact_match": [0.1, 0.4, 0.9], "token_accuracy": [0.5] * 3, "loss": [1.0] * 3}
    table = SimpleNamespace(rows=lambda: rows, last=lambda: {name: column[-1] for name, column in rows.items()})
    run = SimpleNamespace(history=SimpleNamespace(validations=table, steps=SimpleNamespace(last=lambda: None)), steps=600)
    numbers = LABS["skip"].result("with", 1, run).numbers
    assert (numbers["early"], numbers["exact"]) == (0.4, 0.9)
    rows["step"] = [110, 120, 140]
    assert "early" not in LABS["skip"].result("with", 1, run).numbers, "it has not come so far"


def test_spread_and_the_best_arm_by_hand():
    for arms, deviation in (([[1.0, 0.5], [0.2, 0.2]], 0.25), ([[0.1, 0.2, 0.3]], 0.1), ([[1.0], [0.2]], 0)):
        assert spread(made_up(dict(enumerate(arms))).values(), "exact") == pytest.approx(deviation)
    near, noisy = ([0.9], [0.9 - CLOSE / 2]), ([1.0, 0.4], [0.6, 0.6])
    for (first, second), answer in ((([0.9], [0.5]), "one"), (([0.9], [0.84]), "one"), (near, "same"), (noisy, "same")):
        assert best(made_up({"one": first, "two": second})) == answer
    early, late = came("with", 1, 0.2, exact=0.2, train=1.0), came("without", 1, 0.2, 0.6, exact=0.6, train=0.5)
    for result, pairs in ((early, [100]), (late, [100, 300])):
        result.curve.update(pairs=pairs, all_pairs=[300] * len(pairs))
    rows = (("with", "1", "≈ 20.0 %", "1.000"), ("without", "1", "60.0 %", "0.500"))
    assert LABS["no_ffn"].ends([[early], [late]]).rows == rows, "what was measured on a sample is marked"


@settings(max_examples=settings.default.max_examples // 3)
@given(st.sampled_from([name for name, lab in LABS.items() if not getattr(lab, "more", True)]), st.data())
def test_the_margin_is_the_smallest_change_with_another_answer(name, data):
    lab = LABS[name]
    shares = st.integers(0, 100).map(lambda hundredth: hundredth / 100)
    arms = made_up({arm: {number: data.draw(shares) for number in ("exact", "tokens", "early", "loss", "train")} for arm in lab.arms})
    answer, nearest = lab.judge(arms), margin(lab.judge, arms)
    for change, arm, number in product((-0.05, -0.01, 0.01, 0.05), arms, ("exact", "tokens")):
        moved = min(max(arms[arm][0].numbers[number] + change, 0), 1)
        other = lab.judge({**arms, arm: [replace(arms[arm][0], numbers={**arms[arm][0].numbers, number: moved})]})
        assert other == answer or abs(nearest.change) <= abs(change)
    assert nearest is None or nearest.answer != answer


@pytest.mark.parametrize(("name", "first", "second", "answer", "weak"), [
    ("no_ffn", [0.9, 0.9], [0.2, 0.2], "with", "seeds"),
    ("no_ffn", [0.9, 0.8, 1.0], [0.2, 0.3, 0.1], "with", ""),  # 0.7 apart, standard deviation 0.1
    ("no_ffn", [0.9, 0.5, 0.7], [0.6, 0.4, 0.2], "with", "spread"),  # 0.3 apart, standard deviation 0.2
    ("no_ffn", [0.9, 0.9, 0.9], [0.88, 0.9, 0.89], "same", ""),
    ("depth", [1.50046, 1.0, 2.0], [3.0, 3.0, 3.0], "one", ""),  # in nats, which no rounding moves
])  # fmt: skip
def test_a_verdict_is_weak_with_few_seeds_or_a_small_difference(name, first, second, answer, weak):
    lab, measure, times = (LABS[name], "exact", 100) if name == "no_ffn" else (LABS[name], "loss", 1)
    arms = [
        [came(arm, seed, 0.5, **{"exact": 0.5, "loss": 1.0} | {measure: value}) for seed, value in enumerate(values, 1)]
        for arm, values in zip(lab.arms, (first, second), strict=False)
    ]
    numbers = (outcome := lab.verdict(arms)).numbers
    assert (outcome.answer, numbers["weak"], numbers["seeds"]) == (answer, weak, len(first))
    variances = [np.var(values, ddof=1) for values in (first, second) if len(values) > 1]
    assert numbers["spread"] == pytest.approx(times * np.sqrt(np.mean(variances)) if variances else 0)
    means = [numbers[f"{arm}_{measure}"] for arm in list(lab.arms)[:2]]
    assert means == pytest.approx([times * np.mean(values) for values in (first, second)])


PAIRS = {"one_with": [1.0], "one_without": [0.1], "other_with": [1.0], "other_without": [0.9]}
NORMS = {"ours_post": [0.9], "ours_pre": [0.1], "plain_post": [0.1], "plain_pre": [0.9]}
KINDS = {"interleaved": [1.0], "concatenated": [0.95], "learned": [0.5], "rotary": [1.0]}
LOSSES = {"a": {"loss": 0.1}, "b": {"loss": 0.2}, "c": {"loss": 0.3}}
HEADS = {"one": {"loss": 0.2}, "two": {"loss": 0.1}, "four": {"loss": 0.1}, "eight": {"loss": 0.15}}
FAR = {"sinusoids": {"harder": 0.4}, "learned": {"harder": 0.0}, "rotary": {"harder": 1.0}}
ONE, DEPTH = judges.which("one", "other"), judges.better_norm
RIGHT = {"exact": 1.0, "tokens": 1.0, "padded": 1.0}


def broken(exact: float, tokens: float, padded: float = 0.0) -> dict:
    return {"right": RIGHT, "broken": {"exact": exact, "tokens": tokens, "padded": padded}}


def wrote(free: float, written: float = 0.5) -> dict:
    return {"exact": 0.5, "forced_after": 0.8, "free_after": free, "written": written}


@pytest.mark.parametrize(("judge", "arms", "answer"), [
    (ONE, PAIRS, "one"), (ONE, PAIRS | {"other_without": [0.0]}, "both"), (ONE, PAIRS | {"one_without": [0.9]}, "neither"),
    (ONE, PAIRS | {"one_without": [0.9], "other_without": [0.2]}, "other"),
    (DEPTH, NORMS, "start"), (DEPTH, NORMS | {"plain_post": [0.8]}, "post"), (DEPTH, NORMS | {"ours_post": [0.1]}, "pre"),
    (judges.lowest, LOSSES, "a"), (judges.lowest, LOSSES | {"b": {"loss": 0.12}}, "same"), (judges.between, HEADS, "between"),
    (judges.between, HEADS | {"eight": {"loss": 0.1}}, "more"), (judges.between, HEADS | {"one": {"loss": 0.11}}, "one"),
    (judges.layout, KINDS, "kind"), (judges.layout, KINDS | {"learned": [1.0]}, "same"),
    (judges.layout, KINDS | {"concatenated": [0.1]}, "order"), (judges.farther, FAR | {"without": {"harder": 0.9}}, "both"),
    (judges.farther, FAR, "rotary"), (judges.number_of_heads, HEADS, "between"),
    (judges.farther, FAR | {"sinusoids": {"harder": 0.9}}, "added"), (judges.farther, FAR | {"rotary": {"harder": 0.1}}, "none"),
    (bugs.metrics, broken(0.0, 0.98), "lies"), (bugs.metrics, broken(0.1, 0.4), "broken"), (bugs.metrics, broken(0.95, 0.99), "fine"),
    (bugs.neighbours, broken(0.95, 0.99, 0.2), "padding"), (bugs.neighbours, broken(0.95, 0.99, 0.94), "fine"),
    (bugs.neighbours, broken(0.1, 0.99, 0.1), "broken"), (cost, {"reverse": [wrote(0.2)]}, "tokens"),
    (cost, {"reverse": [wrote(0.78)]}, "nothing"), (cost, {"reverse": [wrote(0.8)], "sort": [wrote(0.2)]}, "tokens"),
    (cost, {"reverse": [wrote(0.2, 0.49)]}, "sentences"),
    (cost, {"reverse": [wrote(free) for free in (0.8, 0.1, 0.6)]}, "nothing"),  # 0.3 on average, standard deviation 0.36
])  # fmt: skip
def test_a_judge_by_hand(judge, arms, answer):
    assert judge(made_up(arms)) == answer


@pytest.fixture
def examined(monkeypatch):
    """An examination gives, instead of a share, who was examined, with what and how."""
    for module in (bugs, controlled):
        monkeypatch.setattr(module, "validate", lambda model, exam, **how: SimpleNamespace(exact_match=(model, exam, how)))


@pytest.mark.parametrize("variant", ["none", "no_causal_mask", "unshifted"])
def test_padded_sentences_have_room_for_a_longer_one_and_harder_ones_are_longer_than_all_that_was_trained_on(examined, variant):
    training = training_of(task="sort", variant=variant)
    model, exam, how = bugs.padded(training.model, training.corpus)["padded"]
    assert (model, how.get("written", False)) == (training.model, variant != "none")
    for chunk, plain in zip(exam.batches, build_eval_set(training.corpus, training.corpus.heldout).batches, strict=True):
        wider = chunk.batch.src.shape[1] - plain.batch.src.shape[1]
        assert wider >= training.corpus.longest
        assert torch.equal(chunk.batch.src, torch.nn.functional.pad(plain.batch.src, (0, wider), value=PAD))
        assert torch.equal(chunk.batch.tgt_out, plain.batch.tgt_out)
    twice = bugs.zeros(paper_and_variant("dropout_twice", dropout=0.2)[1], training.corpus)["zeros"]
    assert twice == pytest.approx(1 - 0.8**2, abs=0.01)
    paper, restless = paper_and_variant("dropout_always", dropout=0.5)
    quiet, _, _ = bugs.without_dropout(restless, training.corpus)["quiet"]
    assert torch.equal(quiet(SRC, TGT).logits, paper(SRC, TGT).logits), "the same parameters, and no dice are thrown"
    model, exam, _ = measure_harder(training.model, training.corpus)["harder"]
    assert (model, exam.pairs) == (training.model, len(training.corpus.harder))
    assert min(int((chunk.batch.src != PAD).sum(dim=1).min()) for chunk in exam.batches) > training.corpus.longest


def test_a_mystery_is_one_of_all_bugs_and_its_runs_keep_the_secret():
    order = [bugs.bug_of(number) for number in range(1, 2 * len(bugs.MYSTERIES) + 1)]
    first, second = order[: len(bugs.MYSTERIES)], order[len(bugs.MYSTERIES) :]
    assert sorted(first) == sorted(second) == sorted(bugs.MYSTERIES)
    assert first != second
    mystery = LABS["mystery"]
    arms = [[Result(arm, 1, train_inline.new_run(mystery.experiment(arm, 1)), CURVE, {"exact": 0.5})] for arm in mystery.arms_of(1)]
    assert mystery.verdict(arms).numbers["weak"] == ""
    run = train_inline.new_run(mystery.experiment("broken", 31))
    assert (run.experiment.model.variant, mystery.recognise(run)) == (bugs.bug_of(31), ("broken", 31))
    assert mystery.judge({"right": [], "broken": [Result("broken", 31, run, {}, {})]}) == bugs.bug_of(31)
    assert {lab.arms["broken"]["variant"] for lab in bugs.LABS if lab.arms} == set(BUGS)  # every bug has a lab of its own


ONE_ANSWER = [name for name in TASKS if name != "one_to_many"]  # tests/tasks/test_toy_tasks.py holds that the others have one


@pytest.mark.parametrize(("task", "steps"), [("reverse", 15), *(pytest.param(task, 80, marks=pytest.mark.night) for task in ONE_ANSWER)])
def test_both_exact_matches_agree_to_the_sentence_and_part_only_after_the_first_mistake(task, steps):
    training = taught(task, steps)
    corpus = training.corpus
    decoded = decode(training.model.eval(), corpus, corpus.heldout)
    assert len(decoded) == len(corpus.heldout)
    for sentence in decoded:
        assert sentence.forced.all() == sentence.written
        first = first_mistake(sentence)
        assert (first is None) == sentence.written
        assert first is None or int(np.flatnonzero(~sentence.free)[0]) == first
    measured = compared(training.model, corpus)
    assert measured["written"] == training.validate().exact_match
    for way in WAYS:
        before = np.array(measured[way][:AROUND])
        assert (before[~np.isnan(before)] == 1).all()
        assert np.isnan(measured[way][AROUND]) or measured[way][AROUND] == 0


def flags(*right: int) -> np.ndarray:
    return np.array(right, dtype=bool)


def test_distances_by_hand():
    decoded = [
        Decoded(flags(1, 1, 0, 1, 1), flags(1, 1, 0, 0, 0), False),
        Decoded(flags(0, 1, 0), flags(0, 1, 0), False),
        Decoded(flags(1, 1, 1), flags(1, 1, 1), True),
    ]
    assert [first_mistake(sentence) for sentence in decoded] == [2, 0, None]
    assert by_distance(decoded, "forced", (-2, -1, 0, 1, 2)) == [1, 1, 0, 1, 0.5]
    assert by_distance(decoded, "free", (-2, -1, 0, 1, 2)) == [1, 1, 0, 0.5, 0]
    assert np.isnan(by_distance(decoded, "free", (3,))[0])


EXPERIMENTS = [name for name, lab in LABS.items() if isinstance(lab, ControlledExperiment)]
FEW_STEPS = dict(d_model=8, n_heads=2, d_ff=8, steps=1, batch_size=4, train_size=100, validation_size=10)
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
    run = train_here(lab.experiment(arm, 1).with_(**FEW_STEPS | dict(lab.arms_of(1)[arm])), replay_bytes=0)
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
            parts = {variant.part or variant.change, variant.batch, variant.loss} - {None}
            assert parts & {*lab.code} or {code.__name__ for code in lab.code} & {name for part in parts for name in part.__code__.co_names}
    for pair in pairs:
        first, *rest = (arm for arm in arms if arm.startswith(pair))
        assert rest
        for other in rest:
            changed = {knob for knob, value in experiments[other].flat().items() if value != experiments[first].flat()[knob]}
            changed -= {"d_ff"} if "architecture" in changed else set()  # which makes up for the parameters of cross-attention
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
    flats = [lab.experiment(arm, 1).flat() for arm in arms]
    named, bug = {arm for arm in arms if arm in lab.guesses}, lab.arms.get("broken", {}).get("variant", "")
    for language in LANGUAGES:
        assert not bug or shown_value("variant", bug, language).endswith(lab.say(language, "name_broken")), "named by what was changed"
        texts = {part: lab.say(language, part).lower() for part in ("question", *(f"guess_{guess}" for guess in lab.guesses))}
        names = {arm: lab.say(language, f"name_{arm}").lower() for arm in arms if len(named) > 1}  # the question is about which arm
        assert all(name in (texts[f"guess_{arm}"] if arm in named else " ".join(texts.values())) for arm, name in names.items()), names
        assert all(lab.say(language, key) for key in (*plain, *curves, "axis_percent", "name_arm", "name_seed"))
        shared = [lab.say(language, part, **values) for part in ("verdict_numbers", "verdict_reason") if lab.knows(language, part)]
        assert all((why := lab.say(language, f"why_{guess}", **values)) and all(map(why.count, shared)) for guess in lab.guesses)
        for exhibit in own:
            parts = ("show", "caption", "axis") if isinstance(exhibit, Lines) else ("show", "caption")
            assert all(lab.say(language, f"{part}_{exhibit.name}", **exhibit.caption) for part in parts)
        assert (settings := lab.name_settings(language)) in lab.say(language, "about")
        for knob in STATED:
            choices = {flat[knob] for flat in flats}
            assert (shown_setting(knob, min(choices), language) in settings) == (len(choices) == 1 and choices != {0}), knob
    spoken = plain | {"asks", "setup", "verdict_numbers", "verdict_reason", *(f"why_{guess}" for guess in lab.guesses)}
    spoken |= {f"{part}_{end}" for part in ("show", "caption", "axis") for end in ("course", "ends", *(exhibit.name for exhibit in own))}
    assert {key.partition(".")[2] for key in entries("en") if key.startswith(f"{lab.area}.")} <= spoken


@pytest.mark.parametrize(("name", "least", "most", "factor"), [("architectures", 24e3, 25e3, 1.01), ("why_attention", 49e3, 52e3, 1.05)])
def test_models_of_one_size_have_about_as_many_parameters_as_the_words_say(name, least, most, factor):
    lab = LABS[name]
    sizes = [sum(part.numel() for part in build(lab.experiment(arm, 1).model, 30, 30).parameters()) for arm in lab.arms]
    assert least < min(sizes) < max(sizes) < min(most, factor * min(sizes))


def test_one_matrix_for_queries_and_keys_makes_symmetric_scores_and_a_probe_finds_sinusoids():
    assert ended("qkv", "shared").numbers["asymmetry"] < 1e-6 < 0.05 < ended("qkv", "own").numbers["asymmetry"] < 1
    assert len(ended("deep", "three_with").profiles["probe"]) == 7
    assert 0.5 < ended("deep", "three_with").profiles["probe"][0] <= 1


def test_only_torchs_initialisation_starves_the_first_layers_of_a_deep_post_norm_decoder(monkeypatch):
    monkeypatch.setattr(judges, "DEPTHS", (12,))
    ratios = {}
    for arm in judges.NORM_DEPTH.arms:
        experiment = judges.NORM_DEPTH.experiment(arm, 1).with_(train_size=100)
        (ratios[arm],) = judges.gradients_at_start(build(experiment.model, 30, 30).eval(), CORPORA.get(experiment), 1)["ratios"]
    assert ratios.pop("plain_post") < 0.05
    assert 0.3 < min(ratios.values()) <= max(ratios.values()) < 4
