"""A word and its sounds on one line, with one blank or two between them."""

import random

import pytest

from playground.config import Refusal
from playground.reading.uploads import read_files
from tests.reading.formats.made_words import word


def entries(blanks: str) -> list[str]:
    dice = random.Random(1)
    words = sorted({word(dice).upper() for _ in range(60)})
    return [f"{one}{blanks}{' '.join(f'{letter}0' for letter in one)}" for one in words]


@pytest.mark.parametrize("blanks", [" ", "  "])
def test_a_word_and_its_sounds_are_a_pair(blanks):
    lines = entries(blanks)
    found = read_files([("cmudict.dict", "\n".join([";;; # a remark", *lines]).encode())])
    assert [(pair.src, pair.tgt) for pair in found.pairs] == [tuple(line.split(None, 1)) for line in lines]
    assert found.dropped == {"header": (1,)}


def test_another_pronunciation_is_another_answer_to_the_same_word():
    lines = entries(" ")
    first, rest = lines[0].split(" ", 1)
    found = read_files([("a.dict", "\n".join([*lines, f"{first}(2) {rest} B0 # place, irish"]).encode())])
    assert found.references[first] == (rest, f"{rest} B0")


def test_prose_is_no_dictionary():
    """Its first words come again, and its words are no small set of symbols."""
    dice = random.Random(1)
    lines = [" ".join(["The", *(word(dice) for _ in range(5))]) for _ in range(40)]
    with pytest.raises(Refusal):
        read_files([("a.txt", "\n".join(lines).encode())])
    with pytest.raises(Refusal):
        read_files([("a.txt", "\n".join(" ".join(word(dice) for _ in range(6)) for _ in range(40)).encode())])
