"""Addition and number words: every sum by Python's arithmetic, number words by hand and by reading them back."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.tasks.numbers import CHINESE_DIGITS, ENGLISH_ONES, ENGLISH_TENS, GERMAN_ONES, GERMAN_TENS, UNSEEN_PAIRS
from playground.tasks.toy_tasks import answers, examples, references, split_of
from tests.thoroughness import every_case

NUMBER = st.integers(0, 5).flatmap(lambda power: st.integers(0, 10 ** (power + 1) - 1))
NUMBER_TASKS = ("numbers_de", "numbers_zh", "numbers_en")


@given(st.integers(100, 999), st.integers(100, 999))
def test_a_sum_is_right_and_written_units_first(first, second):
    (answer,) = answers("addition", f"{first}+{second}")
    assert int(answer.tgt[::-1]) == first + second
    assert answer.tgt[-1] != "0"
    assert answer.alignment == ((2, 1, 0) if first + second < 1000 else (2, 1, 0, None))


def test_347_and_589():
    assert references("addition", "347+589") == ("639",)


@pytest.mark.parametrize("src", ["47+589", "1347+589", "347 + 589", "347-589", "047+589", "347+", "٣٤٧+589"])
def test_other_sums_are_refused(src):
    assert references("addition", src) is None


def _carries(src):
    carry = carries = 0
    first, second = src.split("+")
    for a, b in zip(reversed(first), reversed(second), strict=True):
        carry = int(int(a) + int(b) + carry >= 10)
        carries += carry
    return carries


def test_only_the_harder_sums_carry_three_times():
    assert {_carries(example.src) for example in examples("addition", "train", 20_000, 1)} == {0, 1, 2}
    assert {_carries(example.src) for example in examples("addition", "harder", 500, 1)} == {3}


@every_case(
    ("number", "german", "chinese", "english"),
    [
        (0, "null", "零", "zero"),
        (1, "eins", "一", "one"),
        (10, "zehn", "十", "ten"),
        (11, "elf", "十一", "eleven"),
        (12, "zwölf", "十二", "twelve"),
        (16, "sechzehn", "十六", "sixteen"),
        (17, "siebzehn", "十七", "seventeen"),
        (20, "zwanzig", "二十", "twenty"),
        (21, "ein und zwanzig", "二十一", "twenty one"),
        (30, "dreißig", "三十", "thirty"),
        (66, "sechs und sechzig", "六十六", "sixty six"),
        (77, "sieben und siebzig", "七十七", "seventy seven"),
        (100, "ein hundert", "一百", "one hundred"),
        (101, "ein hundert eins", "一百零一", "one hundred one"),
        (110, "ein hundert zehn", "一百一十", "one hundred ten"),
        (112, "ein hundert zwölf", "一百一十二", "one hundred twelve"),
        (200, "zwei hundert", "二百", "two hundred"),
        (347, "drei hundert sieben und vierzig", "三百四十七", "three hundred forty seven"),
        (1001, "ein tausend eins", "一千零一", "one thousand one"),
        (1010, "ein tausend zehn", "一千零一十", "one thousand ten"),
        (1984, "ein tausend neun hundert vier und achtzig", "一千九百八十四", "one thousand nine hundred eighty four"),
        (2222, "zwei tausend zwei hundert zwei und zwanzig", "两千二百二十二", "two thousand two hundred twenty two"),
        (10_001, "zehn tausend eins", "一万零一", "ten thousand one"),
        (12_000, "zwölf tausend", "一万二千", "twelve thousand"),
        (20_005, "zwanzig tausend fünf", "两万零五", "twenty thousand five"),
        (21_000, "ein und zwanzig tausend", "两万一千", "twenty one thousand"),
        (100_000, "ein hundert tausend", "十万", "one hundred thousand"),
        (100_500, "ein hundert tausend fünf hundert", "十万零五百", "one hundred thousand five hundred"),
        (105_000, "ein hundert fünf tausend", "十万五千", "one hundred five thousand"),
        (201_000, "zwei hundert ein tausend", "二十万一千", "two hundred one thousand"),
        (220_202, "zwei hundert zwanzig tausend zwei hundert zwei", "二十二万零二百零二", "two hundred twenty thousand two hundred two"),
        (310_012, "drei hundert zehn tausend zwölf", "三十一万零一十二", "three hundred ten thousand twelve"),
    ],
)
def test_number_words_by_hand(number, german, chinese, english):
    assert references("numbers_de", str(number)) == (german,)
    assert references("numbers_zh", str(number)) == (chinese,)
    assert references("numbers_en", str(number)) == (english,)


@pytest.mark.parametrize(
    ("task", "src", "alignment"),
    [
        ("numbers_de", "347", (0, 0, 2, None, 1)),  # drei hundert sieben und vierzig: the last two cross
        ("numbers_de", "10012", (1, 1, 4)),  # zehn tausend zwölf
        ("numbers_de", "21000", (1, None, 0, 1)),  # ein und zwanzig tausend
        ("numbers_zh", "347", (0, 0, 1, 1, 2)),
        ("numbers_zh", "20005", (0, 0, 1, 4)),  # 两 万 零 五
        ("numbers_en", "347", (0, 0, 1, 2)),
    ],
)
def test_the_digits_behind_the_words(task, src, alignment):
    assert answers(task, src)[0].alignment == alignment


def _read_western(words, ones, tens, hundred, thousand):
    total = group = 0
    for word in words:
        if word == hundred:
            group *= 100
        elif word == thousand:
            total, group = group * 1000, 0
        elif word != "und":
            group += ones.index(word) if word in ones else 10 * tens.index(word)
    return total + group


def _read_chinese(text):
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
    german, chinese, english = (references(task, str(number))[0] for task in NUMBER_TASKS)
    assert _read_western(german.replace("eins", "ein").split(), GERMAN_ONES, GERMAN_TENS, "hundert", "tausend") == number
    assert _read_western(english.split(), ENGLISH_ONES, ENGLISH_TENS, "hundred", "thousand") == number
    assert _read_chinese(chinese) == number


@given(NUMBER)
def test_a_chinese_digit_stands_where_the_alignment_says(number):
    (answer,) = answers("numbers_zh", str(number))
    for symbol, place in zip(answer.tgt, answer.alignment, strict=True):
        if symbol in CHINESE_DIGITS:
            assert answer.src[place] == str(CHINESE_DIGITS.index(symbol))
    assert list(answer.alignment) == sorted(answer.alignment)  # Chinese goes straight


@pytest.mark.sample(1)
@pytest.mark.parametrize("task", NUMBER_TASKS)
def test_harder_numbers_say_a_pair_that_training_never_says(task):
    width = 4 if task == "numbers_zh" else 3

    def pairs(src):
        groups = [src[max(0, end - width) : end] for end in range(len(src), 0, -width)]
        return {group[-2:] for group in groups if len(group) >= 2}

    seen = set().union(*(pairs(example.src) for example in examples(task, "train", 20_000, 1)))
    assert seen == {f"{pair:02}" for pair in range(100)} - set(UNSEEN_PAIRS)
    assert all(pairs(example.src) & set(UNSEEN_PAIRS) for example in examples(task, "harder", 500, 1))


def test_the_unseen_pairs_name_each_ten_from_twenty_and_each_unit_but_nine_once():
    assert sorted(pair[0] for pair in UNSEEN_PAIRS) == list("23456789")
    assert len({pair[1] for pair in UNSEEN_PAIRS}) == 8


def test_zero_is_trained_on_since_nothing_else_says_it_in_german_and_english():
    assert {split_of(task, "0") for task in NUMBER_TASKS} == {"train"}


@pytest.mark.parametrize("task", NUMBER_TASKS)
def test_short_numbers_come_as_often_as_long_ones(task):
    lengths = [len(example.src) for example in examples(task, "train", 6000, 1)]
    assert set(lengths) == {1, 2, 3, 4, 5, 6}
    assert min(lengths.count(length) for length in set(lengths)) > 700


@every_case("task", NUMBER_TASKS)
@every_case("src", ["007", "1000000", "-3", "3.5", "1,000", "三", "٣", "12 "])
def test_other_numbers_are_refused(task, src):
    assert references(task, src) is None


def test_random_numbers_have_only_known_words():
    rng = random.Random(0)
    known = {*GERMAN_ONES, *GERMAN_TENS, "und", "hundert", "tausend", "eins"} - {""}
    for _ in range(500):
        assert set(references("numbers_de", str(rng.randrange(1_000_000)))[0].split()) <= known
