"""Every worked example: its answer and what it says of its numbers are true, and it has words for all that it shows."""

import json
import math
from functools import cache

import numpy as np
import orjson
import pytest

from playground.config import Refusal
from playground.lessons import thumbnails
from playground.lessons.lab import Grid, Lines, TextTable
from playground.lessons.labs import LABS, START, get
from playground.lessons.thumbnails import kept
from playground.words import LANGUAGES, entries, known

approx = pytest.approx
EVERY = pytest.mark.parametrize("name", [name for name, lab in LABS.items() if lab.kind == "worked_example"])


@cache
def outcomes(name, seed):
    """The settings and outcomes of a lab: its defaults, then every control at each of its other choices."""
    controls = get(name).controls
    others = ({control.name: choice} for control in controls for choice in control.choices if choice != control.default)
    return [(asked, get(name).outcome(seed, **asked)) for asked in ({}, *others)]


def labels(exhibit):
    """Everything in it that may be a word."""
    if isinstance(exhibit, Lines):
        return exhibit.lines
    cells = (cell for row in exhibit.rows for cell in row) if isinstance(exhibit, TextTable) else exhibit.rows
    return (*cells, *exhibit.columns)


def plain(exhibit):
    """What it shows, for a comparison."""
    if isinstance(exhibit, Lines):
        return {name: list(line) for name, line in exhibit.lines.items()}
    return exhibit.rows if isinstance(exhibit, TextTable) else np.nan_to_num(exhibit.values, nan=-99).tolist()


ANSWERS = {  # whatever the seed; where it depends on the controls, that of the defaults first
    "softmax": "vanishes", "masks": "nothing", "padding_sides": "right", "permutation": "moves", "positions": "one", "rotary": "same",
    "numbering": "sinusoids", "shapes": "mixed", "products": "head", "vocabulary": "same", "bpe": "pieces", "feedforward": "one",
    "norms": "batch", "layer_norm": "one_factor", "residuals": "hardly more same", "dropout": "larger", "loss": "smaller",
    "layouts": "wrong", "nn_transformer": "rounding",
}  # fmt: skip
TRUE = {  # what its sentences say of its numbers
    "softmax": lambda difference, **_: difference < 1e-15,
    "masks": lambda typo, before, large, infinite, difference, **_: (typo, large, infinite, difference) == (approx(before), 0, 0, 0),
    "padding_sides": lambda right, left_first, left_edge, unmasked, **_: (
        max(right, left_first) < 1e-5 < 1e-3 < min(left_edge, unmasked)
    ),
    "permutation": lambda positions, causal, **_: min(positions, causal) > 0.01,
    "positions": lambda error_learned, error_rotation, error_power, error_table, **_: (
        error_learned > 1 and max(error_rotation, error_power, error_table) < 1e-5
    ),
    "rotary": lambda product, moved, spread, spread_added, **_: abs(product - moved) < 1e-4 and spread_added > 100 * spread,
    "shapes": lambda back, mask, loop, chunk, **_: back == mask == 0 and max(loop, chunk) < 1e-5,
    "products": lambda n_heads, rank, d_k, rank_free, **_: (rank, d_k, rank_free) == (8 // n_heads, 8 // n_heads, 8),
    "vocabulary": lambda least, softmax, **_: least == approx(math.log(math.e + 5) - 1) and least <= softmax,
    "bpe": lambda same, **_: same,
    "feedforward": lambda kernel, difference, parameters, **_: (parameters, difference < 1e-12) == (4 * 8 + 8 + 8 * 4 + 4, kernel == 1),
    "norms": lambda layer_padding, layer_sentence, **_: layer_padding == layer_sentence == 0,
    "layer_norm": lambda factor, formula, **_: factor == approx(formula, rel=1e-3),
    "residuals": lambda weights, residual, **_: residual > (1000 if weights == "kaiming" else 1),
    "dropout": lambda p, factor, before, scaled, cut, **_: (
        factor == approx(1 / (1 - p)) and (scaled, cut) == approx((before, (1 - p) * before), rel=0.05)
    ),
    "loss": lambda padding, tokens, all_cells, all_cells_correct, tokens_correct, padding_correct, difference, **_: (
        padding < 0.2 < tokens and all_cells < all_cells_correct < padding_correct and difference < 1e-6
        and tokens_correct < min(tokens, all_cells_correct)
    ),
    "nn_transformer": lambda exact, **_: exact < 1e-13,
}  # fmt: skip


def check(name, seed):
    lab = get(name)
    first, *others = (outcome.answer for _, outcome in outcomes(name, seed))
    assert (first, {first, *others}) == (ANSWERS[name].split()[0], set(ANSWERS[name].split()) & set(lab.guesses))
    for settings, outcome in outcomes(name, seed):
        assert json.loads(json.dumps(dict(outcome.numbers), allow_nan=False)) == dict(outcome.numbers)
        assert TRUE.get(name, lambda **_: True)(**lab.settings(settings) | outcome.numbers), settings


@EVERY
def test_it_answers_one_of_its_guesses_with_plain_numbers_the_same_each_time(name):
    check(name, 1)
    (_, first), again = outcomes(name, 1)[0], get(name).outcome(1)
    assert (first.answer, first.numbers) == (again.answer, again.numbers)
    assert list(map(plain, first.exhibits)) == list(map(plain, again.exhibits))


@pytest.mark.night
@EVERY
def test_so_it_does_with_other_seeds(name):
    for seed in (2, 3):
        check(name, seed)


@EVERY
def test_all_its_sentences_can_be_said_and_it_has_no_others(name):
    lab = get(name)
    exhibits = [exhibit for _, outcome in outcomes(name, 1) for exhibit in outcome.exhibits]
    simple = {"title", "short", "question", "about", *(f"guess_{guess}" for guess in lab.guesses)}
    simple |= {f"control_{control.name}" for control in lab.controls} | {f"show_{exhibit.name}" for exhibit in exhibits}
    simple |= {f"axis_{exhibit.name}" for exhibit in exhibits if isinstance(exhibit, Lines)}
    named = [one.lines if isinstance(one, Lines) else one.columns for one in exhibits if not isinstance(one, Grid)]
    for language in LANGUAGES:
        assert all(lab.say(language, key) for key in simple)
        assert all(known(language, f"{lab.area}.name_{label}") for labels_of_one in named for label in labels_of_one)
        assert all(lab.say(language, f"why_{guess}", **outcome.numbers) for guess in lab.guesses for _, outcome in outcomes(name, 1))
        assert all(lab.say(language, f"caption_{exhibit.name}", **exhibit.said) for exhibit in exhibits)
    spoken = simple | {f"why_{guess}" for guess in lab.guesses}
    spoken |= {f"{part}_{exhibit.name}" for part in ("caption", "hatched") for exhibit in exhibits}
    spoken |= {f"name_{choice}" for control in lab.controls for choice in control.choices}
    spoken |= {f"name_{label}" for exhibit in exhibits for label in labels(exhibit)}
    spoken |= {f"card_{kept()[name]['exhibit']}"} if name in START else set()
    assert {key.partition(".")[2] for key in entries("en") if key.startswith(f"{lab.area}.")} <= spoken


def test_an_unknown_lab_control_or_choice_is_refused():
    lab = next(lab for lab in LABS.values() if lab.controls)
    for asked in ({"no such control": 1}, {lab.controls[0].name: "no such choice"}):
        with pytest.raises(Refusal):
            lab.outcome(1, **asked)
    with pytest.raises(Refusal) as refused:
        get("no such lab")
    assert all(refused.value.say(language) for language in LANGUAGES)
    assert all(name in LABS for lab in LABS.values() for name in lab.next)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.night) if LABS[name].kind != "worked_example" else name for name in START]
)
def test_what_is_drawn_is_what_the_lab_computes(name):
    """Of a training where its lines end: another machine rounds otherwise on the way."""
    now, before = thumbnails.thumbnail(LABS[name]), kept()[name]
    assert list(kept()) == list(START)
    assert now["exhibit"] == before["exhibit"]
    assert all(LABS[name].knows(language, f"card_{now['exhibit']}") for language in LANGUAGES), "what it is drawn against is said"
    assert len(orjson.dumps(before["lines"])) < 10_000
    assert all(0 <= value <= 1 for line in before["lines"] for value in line)
    if LABS[name].kind == "worked_example":
        assert np.allclose(now["lines"], before["lines"], atol=0.002)
    else:
        assert np.allclose(*([line[-1] for line in drawing["lines"]] for drawing in (now, before)), atol=0.15)
