"""Answers against Python's own reversing, sorting, arithmetic, calendar and dictionaries, and number words read back."""

import datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from playground.tasks.numbers import CHINESE_DIGITS, ENGLISH_ONES, ENGLISH_TENS, GERMAN_ONES, GERMAN_TENS
from playground.tasks.toy_tasks import SPLITS, answers, examples, references

LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=30)
NUMBER = st.integers(0, 5).flatmap(lambda power: st.integers(0, 10 ** (power + 1) - 1))


@given(LETTERS)
def test_letters(src):
    turned = src[3 % len(src) :] + src[: 3 % len(src)]
    for task, tgt in {"copy": src, "reverse": src[::-1], "sort": "".join(sorted(src)), "rotate": turned}.items():
        (answer,) = answers(task, src)
        assert answer.tgt == tgt == "".join(src[place] for place in answer.alignment)
        assert sorted(answer.alignment) == list(range(len(src)))
        assert task != "sort" or all(src[a] < src[b] or a < b for a, b in pairwise(answer.alignment)), "equal letters keep their order"


@given(st.integers(100, 999), st.integers(100, 999))
def test_a_sum_is_written_units_first(first, second):
    (answer,) = answers("addition", f"{first}+{second}")
    assert answer.tgt == str(first + second)[::-1]
    assert answer.alignment == ((2, 1, 0) if first + second < 1000 else (2, 1, 0, None))


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)))
def test_every_day_of_two_centuries(day):
    for src in (f"{day.day}.{day.month}.{day.year}", f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}"):
        assert references("dates", src) == (day.isoformat(),)
    assert references("dates", "29.2.2000") == ("2000-02-29",)


@given(st.sampled_from(SPLITS), st.integers(0, 80))
def test_an_aligned_digit_of_a_day_is_the_digit_itself(split, seed):
    (example,) = examples("dates", split, 1, seed)
    datetime.date.fromisoformat(example.tgt)
    for digit, place in zip(example.tgt, example.alignment, strict=True):
        assert place is None or example.src[place] == digit


@given(st.sampled_from(SPLITS), st.integers(0, 50))
def test_brackets_close_what_was_opened(split, seed):
    (example,) = examples("brackets", split, 1, seed)
    text = example.src + example.tgt
    while text != (text := text.replace("()", "").replace("[]", "").replace("{}", "")):
        pass
    assert text == ""
    assert ["([{"[")]}".index(closing)] for closing in example.tgt] == [example.src[place] for place in example.alignment]


@given(st.sampled_from(SPLITS), st.integers(0, 50))
def test_a_lookup_agrees_with_a_dictionary(split, seed):
    (example,) = examples("lookup", split, 1, seed)
    facts, _, people = example.src.partition(" ? ")
    colours = dict(fact.split("=") for fact in facts.split())
    assert len(colours) == len(facts.split())
    assert len(people.split()) >= 2
    assert example.tgt == " ".join(colours[person] for person in people.split())
    for person, place in zip(people.split(), example.alignment, strict=True):
        assert example.src.split()[place].startswith(f"{person}=")


def western(words: str, ones: list[str], tens: list[str], hundred: str, thousand: str) -> int:
    total = group = 0
    for word in words.split():
        if word == hundred:
            group *= 100
        elif word == thousand:
            total, group = group * 1000, 0
        elif word != "und":
            group += ones.index(word) if word in ones else 10 * tens.index(word)
    return total + group


def chinese(text: str) -> int:
    total = group = digit = 0
    for symbol in text.replace("两", "二"):
        if symbol == "万":
            total, group, digit = (group + digit) * 10_000, 0, 0
        elif symbol in "十百千":
            group, digit = group + max(digit, 1) * 10 ** ("十百千".index(symbol) + 1), 0
        else:
            digit = CHINESE_DIGITS.index(symbol)
    return total + group + digit


@given(NUMBER)
def test_number_words_read_back_as_the_number(number):
    de, zh, en = (answers(f"numbers_{language}", str(number))[0] for language in ("de", "zh", "en"))
    assert western(de.tgt.replace("eins", "ein"), GERMAN_ONES, GERMAN_TENS, "hundert", "tausend") == number
    assert western(en.tgt, ENGLISH_ONES, ENGLISH_TENS, "hundred", "thousand") == number
    assert chinese(zh.tgt) == number
    for symbol, place in zip(zh.tgt, zh.alignment, strict=True):
        assert symbol not in CHINESE_DIGITS or zh.src[place] == str(CHINESE_DIGITS.index(symbol))
    assert list(zh.alignment) == sorted(zh.alignment), "Chinese goes straight"
