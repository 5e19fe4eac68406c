"""Tasks about numbers: addition, and numbers in the words of German, Chinese and English."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from playground.tasks.example import Example, Task

Said = list[tuple[str, "int | None"]]  # words in order, each with the digit (its place in the source) that says it


# Addition, units first: the sum of 347 and 589 is written 639 (read it backwards), so that a carry is known before it is needed.


def _draw_sum(rng: random.Random, harder: bool) -> Example:
    while True:
        src = f"{rng.randint(100, 999)}+{rng.randint(100, 999)}"
        if _three_carries(src) == harder:
            return _sum_answers(src)[0]


def _sum_answers(src: str) -> tuple[Example, ...]:
    """Each digit of the sum is said by two digits, one above the other; the alignment points to the first number's."""
    found = re.fullmatch("([1-9][0-9]{2})[+]([1-9][0-9]{2})", src)
    if not found:
        return ()
    tgt = str(int(found[1]) + int(found[2]))[::-1]
    return (Example(src, tgt, (2, 1, 0, None)[: len(tgt)]),)


def _three_carries(src: str) -> bool:
    first, second = src.split("+")
    return all(int(first[place:]) + int(second[place:]) >= 10 ** (3 - place) for place in range(3))


ADDITION = Task("addition", "characters", "characters", _draw_sum, _sum_answers, is_harder=_three_carries, steps=600)


# Number words. A number is harder when it says a pair of tens and units that training never says: each of these tens and each of these
# units is seen often, never the two together.

DIGITS = 6  # up to 999,999
UNSEEN_PAIRS = ("24", "37", "42", "58", "63", "76", "85", "91")


def _says_unseen_pair(src: str, places: tuple[int, ...]) -> bool:
    """Whether the pair that ends `places` digits before the end is an unseen one, for any of the places."""
    return any(src[: len(src) - place][-2:] in UNSEEN_PAIRS for place in places if len(src) - place >= 2)


def _number_task(name: str, tgt_unit: str, speak: Callable[[str], Said], pair_places: tuple[int, ...]) -> Task:
    """Digits to words. `pair_places`: where a pair of tens and units may end, in digits from the end of the number."""
    joint = "" if tgt_unit == "characters" else " "

    def is_harder(src: str) -> bool:
        return _says_unseen_pair(src, pair_places)

    def draw(rng: random.Random, harder: bool) -> Example:
        while True:
            src = str(rng.randrange(10 ** rng.randint(1, DIGITS)))  # the size first: short numbers come as often as long ones
            if is_harder(src) == harder:
                return answers(src)[0]

    def answers(src: str) -> tuple[Example, ...]:
        if not re.fullmatch(f"0|[1-9][0-9]{{0,{DIGITS - 1}}}", src):
            return ()
        said = speak(src)
        return (Example(src, joint.join([word for word, _ in said]), tuple([place for _, place in said])),)

    return Task(name, "characters", tgt_unit, draw, answers, is_harder)


# German: units before tens, so that the words cross the digits. Written as one word in German; here its parts stand apart.

GERMAN_ONES = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn",
    "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
GERMAN_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")


def german(src: str) -> Said:
    """347 -> drei hundert sieben und vierzig. A one at the very end is "eins", before anything else "ein"."""
    if src == "0":
        return [("null", 0)]
    thousands, rest = src[:-3], src[-3:]
    said = [*_german_group(thousands, 0), ("tausend", len(thousands) - 1)] if thousands else []
    said += _german_group(rest, len(thousands))
    return [*said[:-1], ("eins", said[-1][1])] if said[-1][0] == "ein" else said


def _german_group(digits: str, at: int) -> Said:
    """Up to three digits that start at place `at` of the source."""
    hundreds, tens, ones = (int(digit) for digit in digits.zfill(3))
    last = at + len(digits) - 1
    said: Said = [(GERMAN_ONES[hundreds], last - 2), ("hundert", last - 2)] if hundreds else []
    if tens >= 2:
        said += [(GERMAN_ONES[ones], last), ("und", None)] if ones else []
        said += [(GERMAN_TENS[tens], last - 1)]
    elif tens or ones:
        said += [(GERMAN_ONES[10 * tens + ones], last)]
    return said


# English: the same order as the digits, except from 11 to 19.

ENGLISH_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
ENGLISH_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def english(src: str) -> Said:
    """347 -> three hundred forty seven: the hyphen of forty-seven is a gap here, as between all parts."""
    if src == "0":
        return [("zero", 0)]
    thousands, rest = src[:-3], src[-3:]
    said = [*_english_group(thousands, 0), ("thousand", len(thousands) - 1)] if thousands else []
    return said + _english_group(rest, len(thousands))


def _english_group(digits: str, at: int) -> Said:
    """Up to three digits that start at place `at` of the source."""
    hundreds, tens, ones = (int(digit) for digit in digits.zfill(3))
    last = at + len(digits) - 1
    said: Said = [(ENGLISH_ONES[hundreds], last - 2), ("hundred", last - 2)] if hundreds else []
    if tens >= 2:
        said += [(ENGLISH_TENS[tens], last - 1)]
        said += [(ENGLISH_ONES[ones], last)] if ones else []
    elif tens or ones:
        said += [(ENGLISH_ONES[10 * tens + ones], last)]
    return said


# Chinese: digit by digit, each with its unit, in groups of four (not three).

CHINESE_DIGITS = "零一二三四五六七八九"
CHINESE_UNITS = ("", "十", "百", "千")


def chinese(src: str) -> Said:
    """347 -> 三百四十七.

    A run of zeros is said 零 once, and not at all at the end of a group of four. A ten that opens the number is 十, elsewhere 一十. A two
    that opens the number before 千 or 万 is 两, elsewhere 二.
    """
    if src == "0":
        return [("零", 0)]
    said: Said = []
    zero = None  # where the run of zeros began that is still to be said
    for place, digit in enumerate(src):
        power = len(src) - 1 - place
        if digit == "0":
            zero = place if zero is None else zero
        else:
            said += [("零", zero)] if zero is not None else []
            zero = None
            if place == 0 and digit == "2" and power in (3, 4):
                said.append(("两", place))
            elif place > 0 or digit != "1" or power % 4 != 1:
                said.append((CHINESE_DIGITS[int(digit)], place))
            said += [(CHINESE_UNITS[power % 4], place)] if power % 4 else []
        if power == 4:
            said.append(("万", place))
            zero = None
    return said


NUMBERS_DE = _number_task("numbers_de", "words", german, (0, 3))
NUMBERS_EN = _number_task("numbers_en", "words", english, (0, 3))
NUMBERS_ZH = _number_task("numbers_zh", "characters", chinese, (0, 4))
