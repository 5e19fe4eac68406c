"""Dates against Python's own calendar."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.tasks.dates import PATTERNS
from playground.tasks.toy_tasks import answers, examples, references


@pytest.mark.parametrize(
    "src", ["3 March 1987", "March 3, 1987", "3 Mar 1987", "3. März 1987", "3.3.1987", "1987年3月3日"]
)  # fmt: skip
def test_six_ways_to_write_a_day(src):
    assert references("dates", src) == ("1987-03-03",)


@pytest.mark.parametrize(
    ("src", "alignment"),
    [
        ("3 March 1987", (8, 9, 10, 11, None, None, None, None, None, 0)),
        ("25.12.1987", (6, 7, 8, 9, None, 3, 4, None, 0, 1)),
        ("1987年3月25日", (0, 1, 2, 3, None, None, 5, None, 7, 8)),
    ],
)
def test_where_each_digit_stands(src, alignment):
    assert answers("dates", src)[0].alignment == alignment


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)))
def test_every_day_of_two_centuries(day):
    assert references("dates", f"{day.day}.{day.month}.{day.year}") == (day.isoformat(),)
    assert references("dates", f"{day:%B} {day.day}, {day.year}") == (day.isoformat(),)
    assert references("dates", f"{day.day} {day:%b} {day.year}") == (day.isoformat(),)


@given(st.sampled_from(["train", "heldout", "harder"]), st.integers(0, 80))
def test_an_aligned_digit_is_the_digit_itself(split, seed):
    (example,) = examples("dates", split, 1, seed)
    datetime.date.fromisoformat(example.tgt)
    for digit, place in zip(example.tgt, example.alignment, strict=True):
        assert place is None or example.src[place] == digit


@pytest.mark.parametrize("src", ["31.4.1987", "29.2.1900", "0.3.1987", "3.13.1987", "3.3.1899", "3.3.2100"])
def test_days_outside_the_calendar_are_refused(src):
    assert references("dates", src) is None


@pytest.mark.parametrize("src", ["3 march 1987", "3. March 1987", "3 Sept 1987", "1987-03-03", "03.03.1987", "٣.3.1987", "3.3.1987 "])
def test_other_forms_are_refused(src):
    assert references("dates", src) is None


def test_leap_days_are_days():
    assert references("dates", "29.2.2000") == ("2000-02-29",)


def test_training_never_shows_the_nineties_but_every_digit_at_every_place():
    train, harder = examples("dates", "train", 20_000, 1), examples("dates", "harder", 500, 1)
    years = {example.tgt[:4] for example in train}
    assert years == {str(year) for year in range(1900, 2100)} - {str(year) for year in range(1990, 2000)}
    assert {example.tgt[:4] for example in harder} == {str(year) for year in range(1990, 2000)}
    for place in range(4):
        assert {year[place] for year in years} >= {example.tgt[place] for example in harder}


def test_every_form_and_month_is_drawn():
    train = examples("dates", "train", 2000, 1)
    for pattern in PATTERNS:
        assert sum(pattern.fullmatch(example.src) is not None for example in train) > 200
    assert {example.tgt[5:7] for example in train} == {f"{month:02}" for month in range(1, 13)}
