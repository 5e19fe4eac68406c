"""Truths about every lab: it answers one of its guesses, at once and the same each time, and has words for all that it shows."""

import json
import time
from functools import cache

import numpy as np
import pytest

from playground.config import Refusal
from playground.lessons.lab import Grid, Lines, TextTable
from playground.lessons.labs import LABS, START, get
from playground.lessons.thumbnails import kept
from playground.words import LANGUAGES, entries, known
from tests.thoroughness import every_case

SEEDS = (1, 2, 3)
TENSORS = [name for name, lab in LABS.items() if lab.kind == "worked_example"]  # the others train: see test_bench.py


def variants(lab):
    """The defaults, then every control at each of its other choices."""
    yield {}
    for control in lab.controls:
        for choice in control.choices:
            if choice != control.default:
                yield {control.name: choice}


@cache
def outcomes(name, seed=1):
    """The outcomes of a lab, with each of its variants."""
    return [get(name).outcome(seed, **asked) for asked in variants(get(name))]


def labels(exhibit):
    """Everything in it that may be a word."""
    if isinstance(exhibit, Lines):
        return exhibit.lines
    cells = (cell for row in exhibit.rows for cell in row) if isinstance(exhibit, TextTable) else exhibit.rows
    return (*cells, *exhibit.columns)


@pytest.mark.sample
@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("seed", SEEDS)
def test_it_answers_one_of_its_guesses_with_plain_numbers(name, seed):
    for outcome in outcomes(name, seed):
        assert outcome.answer in get(name).guesses
        assert json.loads(json.dumps(dict(outcome.numbers), allow_nan=False)) == dict(outcome.numbers)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TENSORS)
def test_the_same_seed_gives_the_same(name):
    first, second = get(name).outcome(7), get(name).outcome(7)
    assert (first.answer, first.numbers) == (second.answer, second.numbers)
    for one, other in zip(first.exhibits, second.exhibits, strict=True):
        if isinstance(one, Grid):
            np.testing.assert_array_equal(one.values, other.values)
        elif isinstance(one, TextTable):
            assert one.rows == other.rows
        else:
            assert all(np.array_equal(one.lines[name], other.lines[name]) for name in one.lines)


@pytest.mark.parametrize("name", TENSORS)
def test_exhibits_fit_their_names(name):
    for exhibits in (outcome.exhibits for outcome in outcomes(name)):
        assert len({exhibit.name for exhibit in exhibits}) == len(exhibits)
        for exhibit in exhibits:
            if isinstance(exhibit, Lines):
                assert all(len(line) == len(exhibit.x) and np.isfinite(line).all() for line in exhibit.lines.values())
                continue
            if isinstance(exhibit, TextTable):
                assert exhibit.rows
                assert all(len(row) == len(exhibit.columns) and all(isinstance(cell, str) for cell in row) for row in exhibit.rows)
                continue
            assert exhibit.values.shape == (len(exhibit.rows), len(exhibit.columns))
            shown = exhibit.values if exhibit.mask is None else exhibit.values[np.broadcast_to(exhibit.mask, exhibit.values.shape)]
            if exhibit.scale == "probability":
                assert not ((shown < 0) | (shown > 1)).any(), exhibit.name  # NaN is neither: a lab may show where it comes from


@every_case("language", LANGUAGES)
@every_case("name", TENSORS)
def test_all_its_sentences_can_be_said(name, language):
    lab = get(name)
    for key in ("title", "short", "question", "about", *(f"guess_{guess}" for guess in lab.guesses)):
        assert lab.say(language, key)
    for control in lab.controls:
        assert lab.say(language, f"control_{control.name}")
    for outcome in outcomes(name):
        for guess in lab.guesses:
            assert lab.say(language, f"why_{guess}", **outcome.numbers)
        for exhibit in outcome.exhibits:
            assert lab.say(language, f"show_{exhibit.name}")
            assert lab.say(language, f"caption_{exhibit.name}", **exhibit.said)
            if isinstance(exhibit, Lines):
                assert lab.say(language, f"axis_{exhibit.name}")
                assert all(known(language, f"{lab.area}.name_{line}") for line in exhibit.lines)
            if isinstance(exhibit, TextTable):
                assert all(known(language, f"{lab.area}.name_{column}") for column in exhibit.columns)


@pytest.mark.parametrize("name", TENSORS)
def test_it_has_no_words_that_nobody_says(name):
    lab = get(name)
    asked = {"title", "short", "question", "about", *(f"{what}_{guess}" for what in ("guess", "why") for guess in lab.guesses)}
    asked |= {f"control_{control.name}" for control in lab.controls}
    asked |= {f"name_{choice}" for control in lab.controls for choice in control.choices}
    asked |= {f"card_{kept()[name]['exhibit']}"} if name in START else set()
    for outcome in outcomes(name):
        for exhibit in outcome.exhibits:
            asked |= {f"{part}_{exhibit.name}" for part in ("show", "caption", "axis", "hatched")}
            asked |= {f"name_{label}" for label in labels(exhibit)}
    there = {key.partition(".")[2] for key in entries("en") if key.startswith(f"{lab.area}.")}
    assert there <= asked


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TENSORS)
def test_it_is_there_at_once(name):
    """Nobody waits for a tensor on the bench; far above what it takes, so that a busy machine does not matter."""
    started = time.process_time()
    get(name).outcome(1)
    assert time.process_time() - started < 5


def test_what_there_is_not_is_said_to_be():
    lab = get(TENSORS[0])
    for asked in ({"no such control": 1}, {lab.controls[0].name: "no such choice"}):
        with pytest.raises(Refusal):
            lab.outcome(1, **asked)
    with pytest.raises(Refusal) as refused:
        get("no such lab")
    assert all(refused.value.say(language) for language in LANGUAGES)
    assert all(name in LABS for lab in LABS.values() for name in lab.next)
