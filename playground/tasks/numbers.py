"""Tasks about numbers: addition, and numbers in the words of German, Chinese and English."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from playground.tasks.example import Example, Task

TargetWords = list[tuple[str, "int | None"]]  # words in order, each with the index of the source digit it aligns with


# Addition, units first: the sum of 347 and 589 is written 639 (reversed), so that a carry is known before it is needed.


def _draw_sum(rng: random.Random, harder: bool) -> Example:
    while True:
        src = f"{rng.randint(100, 999)}+{rng.randint(100, 999)}"
        if _three_carries(src) == harder:
            return _sum_answers(src)[0]


def _sum_answers(src: str) -> tuple[Example, ...]:
    """Adds. Each digit of the sum depends on two digits, one above the other; the alignment points to the first number's."""
    match = re.fullmatch("([1-9][0-9]{2})[+]([1-9][0-9]{2})", src)
    if not match:
        return ()
    tgt = str(int(match[1]) + int(match[2]))[::-1]
    return (Example(src, tgt, (2, 1, 0, None)[: len(tgt)]),)


def _three_carries(src: str) -> bool:
    first, second = src.split("+")
    return all(int(first[place:]) + int(second[place:]) >= 10 ** (3 - place) for place in range(3))


ADDITION = Task("addition", "characters", "characters", _draw_sum, _sum_answers, is_harder=_three_carries, steps=600, place=70)


# Number words. A number is harder when it contains a pair of tens and units excluded from training: each of these tens and each of these
# units is frequent there, never the two together.

DIGITS = 6  # up to 999,999
UNSEEN_PAIRS = ("24", "37", "42", "58", "63", "76", "85", "91")


def _has_unseen_pair(src: str, places: tuple[int, ...]) -> bool:
    """Returns whether the pair that ends `places` digits before the end is an unseen one, for any of the places."""
    return any(src[: len(src) - place][-2:] in UNSEEN_PAIRS for place in places if len(src) - place >= 2)


def _number_task(name: str, place: int, tgt_unit: str, speak: Callable[[str], TargetWords], pair_places: tuple[int, ...]) -> Task:
    """Returns a task from digits to words. `pair_places`: where a pair of tens and units may end, in digits from the end of the number."""
    joint = "" if tgt_unit == "characters" else " "

    def is_harder(src: str) -> bool:
        return _has_unseen_pair(src, pair_places)

    def draw(rng: random.Random, harder: bool) -> Example:
        while True:
            src = str(rng.randrange(10 ** rng.randint(1, DIGITS)))  # the size first: short numbers are as frequent as long ones
            if is_harder(src) == harder:
                return answers(src)[0]

    def answers(src: str) -> tuple[Example, ...]:
        if not re.fullmatch(f"0|[1-9][0-9]{{0,{DIGITS - 1}}}", src):
            return ()
        words = speak(src)
        return (Example(src, joint.join([word for word, _ in words]), tuple([place for _, place in words])),)

    return Task(name, "characters", tgt_unit, draw, answers, is_harder, place=place)


# German: units before tens, so that the alignment crosses. Written as one word in German; here its parts are separate.

GERMAN_ONES = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn",
    "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
GERMAN_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")


def german(src: str) -> TargetWords:
    """Returns the words: 347 -> drei hundert sieben und vierzig. A one at the very end is "eins", elsewhere "ein"."""
    if src == "0":
        return [("null", 0)]
    thousands, rest = src[:-3], src[-3:]
    words = [*_german_group(thousands, 0), ("tausend", len(thousands) - 1)] if thousands else []
    words += _german_group(rest, len(thousands))
    return [*words[:-1], ("eins", words[-1][1])] if words[-1][0] == "ein" else words


def _german_group(digits: str, at: int) -> TargetWords:
    """Returns the words of up to three digits that start at index `at` of the source."""
    hundreds, tens, ones = (int(digit) for digit in digits.zfill(3))
    last = at + len(digits) - 1
    words: TargetWords = [(GERMAN_ONES[hundreds], last - 2), ("hundert", last - 2)] if hundreds else []
    if tens >= 2:
        words += [(GERMAN_ONES[ones], last), ("und", None)] if ones else []
        words += [(GERMAN_TENS[tens], last - 1)]
    elif tens or ones:
        words += [(GERMAN_ONES[10 * tens + ones], last)]
    return words


# English: the same order as the digits, except from 11 to 19.

ENGLISH_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
ENGLISH_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def english(src: str) -> TargetWords:
    """Returns the words: 347 -> three hundred forty seven, with spaces between all parts instead of hyphens."""
    if src == "0":
        return [("zero", 0)]
    thousands, rest = src[:-3], src[-3:]
    words = [*_english_group(thousands, 0), ("thousand", len(thousands) - 1)] if thousands else []
    return words + _english_group(rest, len(thousands))


def _english_group(digits: str, at: int) -> TargetWords:
    """Returns the words of up to three digits that start at index `at` of the source."""
    hundreds, tens, ones = (int(digit) for digit in digits.zfill(3))
    last = at + len(digits) - 1
    words: TargetWords = [(ENGLISH_ONES[hundreds], last - 2), ("hundred", last - 2)] if hundreds else []
    if tens >= 2:
        words += [(ENGLISH_TENS[tens], last - 1)]
        words += [(ENGLISH_ONES[ones], last)] if ones else []
    elif tens or ones:
        words += [(ENGLISH_ONES[10 * tens + ones], last)]
    return words


# Chinese: digit by digit, each with its unit, in groups of four (not three).

CHINESE_DIGITS = "零一二三四五六七八九"
CHINESE_UNITS = ("", "十", "百", "千")


def chinese(src: str) -> TargetWords:
    """Returns the characters: 347 -> 三百四十七.

    A run of zeros becomes one 零, or none at the end of a group of four. A ten that opens the number is 十, elsewhere 一十. A two that
    opens the number before 千 or 万 is 两, elsewhere 二.
    """
    if src == "0":
        return [("零", 0)]
    words: TargetWords = []
    zero = None  # where a run of zeros began that is not written yet
    for place, digit in enumerate(src):
        power = len(src) - 1 - place
        if digit == "0":
            zero = place if zero is None else zero
        else:
            words += [("零", zero)] if zero is not None else []
            zero = None
            if place == 0 and digit == "2" and power in (3, 4):
                words.append(("两", place))
            elif place > 0 or digit != "1" or power % 4 != 1:
                words.append((CHINESE_DIGITS[int(digit)], place))
            words += [(CHINESE_UNITS[power % 4], place)] if power % 4 else []
        if power == 4:
            words.append(("万", place))
            zero = None
    return words


NUMBERS_DE = _number_task("numbers_de", 80, "words", german, (0, 3))
NUMBERS_EN = _number_task("numbers_en", 100, "words", english, (0, 3))
NUMBERS_ZH = _number_task("numbers_zh", 90, "characters", chinese, (0, 4))
