"""Tasks about numbers: addition, numbers in the words of German, Chinese and English, and dates."""

import random
import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from playground.tasks import Example, Task

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


def _number_task(name: str, place: int, tgt_unit: str, speak: Callable[[str], TargetWords], pair_places: tuple[int, ...]) -> Task:
    """Returns a task from digits to words. `pair_places`: where a pair of tens and units may end, in digits from the end of the number."""
    joint = "" if tgt_unit == "characters" else " "

    def is_harder(src: str) -> bool:
        return any(src[: len(src) - place][-2:] in UNSEEN_PAIRS for place in pair_places if len(src) - place >= 2)

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


# German: units before tens, so that the alignment crosses; written as one word in German, here its parts are separate. English: the same
# order as the digits, except from 11 to 19, with spaces between all parts instead of hyphens.

GERMAN_ONES = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn",
    "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
GERMAN_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
ENGLISH_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
ENGLISH_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def german(src: str) -> TargetWords:
    """Returns the words: 347 -> drei hundert sieben und vierzig. A one at the very end is "eins", elsewhere "ein"."""
    words = _speak(src, GERMAN_ONES, GERMAN_TENS, ("hundert", "tausend"), between="und")
    return [*words[:-1], ("eins", words[-1][1])] if words[-1][0] == "ein" else words


def english(src: str) -> TargetWords:
    """Returns the words: 347 -> three hundred forty seven."""
    return _speak(src, ENGLISH_ONES, ENGLISH_TENS, ("hundred", "thousand"))


def _speak(src: str, ones: tuple[str, ...], tens: tuple[str, ...], powers: tuple[str, str], between: str = "") -> TargetWords:
    """Returns the words of a number: its thousands, then the rest. With a word between them, units stand before tens."""

    def speak_group(digits: str, at: int) -> TargetWords:
        """Returns the words of up to three digits that start at index `at` of the source."""
        hundreds, ten, unit = (int(digit) for digit in digits.zfill(3))
        last = at + len(digits) - 1
        words: TargetWords = [(ones[hundreds], last - 2), (powers[0], last - 2)] if hundreds else []
        if ten < 2:
            return [*words, (ones[10 * ten + unit], last)] if ten or unit else words
        units = [(ones[unit], last)] if unit else []
        joint = [(between, None)] if unit and between else []
        return [*words, *units, *joint, (tens[ten], last - 1)] if between else [*words, (tens[ten], last - 1), *units]

    if src == "0":
        return [(ones[0], 0)]
    thousands, rest = src[:-3], src[-3:]
    words = [*speak_group(thousands, 0), (powers[1], len(thousands) - 1)] if thousands else []
    return words + speak_group(rest, len(thousands))


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


# Dates: six ways to write one become ISO 8601, year-month-day.

MONTHS = {
    "english": (
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ),
    "german": ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"),
}  # fmt: skip
MONTHS["short"] = tuple(month[:3] for month in MONTHS["english"])
DATE_FORMS = (  # {month} is a number, the names are in the language of the form
    "{day} {english} {year}",
    "{english} {day}, {year}",
    "{day} {short} {year}",
    "{day}. {german} {year}",
    "{day}.{month}.{year}",
    "{year}年{month}月{day}日",
)
YEARS = (1900, 2099)
UNSEEN_YEARS = range(1990, 2000)  # the 2090s are in training, so each digit is known at its place


@cache
def date_pattern(form: str) -> re.Pattern[str]:
    """Returns the regular expression of a form, with a named group for each part."""
    part = {"day": "[1-9][0-9]?", "month": "[1-9][0-2]?", "year": "[0-9]{4}"} | {name: "|".join(months) for name, months in MONTHS.items()}
    return re.compile(re.sub(r"\\{(\w+)\\}", lambda slot: f"(?P<{slot[1]}>{part[slot[1]]})", re.escape(form)))


def draw_date(rng: random.Random, harder: bool, forms: tuple[str, ...] = DATE_FORMS) -> Example:
    while True:
        year = rng.choice(UNSEEN_YEARS) if harder else rng.randint(*YEARS)
        if (year in UNSEEN_YEARS) == harder:
            break
    month = rng.randint(1, 12)
    day = rng.randint(1, monthrange(year, month)[1])
    names = {name: months[month - 1] for name, months in MONTHS.items()}
    return _date_answers(rng.choice(forms).format(day=day, month=month, year=year, **names), forms)[0]


def _date_answers(src: str, forms: tuple[str, ...] = DATE_FORMS) -> tuple[Example, ...]:
    """Parses a date. Digits align with the same digits of the source; those of a month's name and a leading 0 align with None."""
    match = next(filter(None, (date_pattern(form).fullmatch(src) for form in forms)), None)
    if not match:
        return ()
    parts = match.groupdict()
    year, day = int(parts["year"]), int(parts["day"])
    month = int(parts.get("month") or next(1 + months.index(parts[name]) for name, months in MONTHS.items() if name in parts))
    if not YEARS[0] <= year <= YEARS[1] or not 1 <= month <= 12 or day > monthrange(year, month)[1]:
        return ()
    alignment = [*range(match.start("year"), match.end("year")), None]
    alignment += [*(_two_digits(match, "month") if "month" in parts else (None, None)), None, *_two_digits(match, "day")]
    return (Example(src, f"{year}-{month:02}-{day:02}", tuple(alignment)),)


def _two_digits(match: re.Match[str], part: str) -> list[int | None]:
    """Returns the source positions of the two digits of the day or month."""
    places = [*range(match.start(part), match.end(part))]
    return places if len(places) == 2 else [None, *places]


DATES = Task(
    "dates", "characters", "characters", draw_date, _date_answers, lambda src: any(str(year) in src for year in UNSEEN_YEARS), steps=150,
    place=110,
)  # fmt: skip


# Two forms, the second of which training may show only later, as when a model is fine-tuned: what becomes of the first? (After McCloskey
# and Cohen, "Catastrophic interference in connectionist networks", 1989.) The second has no comma, so that both have the same tokens. All
# these dates are held out in the first form.

TWO_FORMS = DAY_FIRST, MONTH_FIRST = ("{day} {english} {year}", "{english} {day} {year}")
FIRST_STAGE = 6400  # dates in training before the second form comes: 100 batches of 64


def _two_forms(name: str, shares: tuple[float, float], place: int) -> Task:
    """Returns a task with these fractions of the second form in the first stage of training and after it."""

    def draw_number(rng: random.Random, number: int) -> Example:
        return draw_date(rng, False, (TWO_FORMS[rng.random() < shares[number >= FIRST_STAGE]],))

    draw, answers = (lambda rng, harder: draw_date(rng, harder, (DAY_FIRST,))), (lambda src: _date_answers(src, TWO_FORMS))
    return replace(DATES, name=name, draw=draw, answers=answers, draw_number=draw_number, place=place)


DATES_MIXED = _two_forms("dates_mixed", (0.5, 0.5), 111)
DATES_LATER = _two_forms("dates_later", (0.0, 1.0), 112)
DATES_REHEARSED = _two_forms("dates_rehearsed", (0.0, 0.9), 113)
