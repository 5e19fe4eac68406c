"""Which tokens of an output are right: cases that can be checked by hand."""

from __future__ import annotations

import itertools

import pytest

from playground.config import EOS, UNK
from playground.runs.tokens import tokens_correct

# letters are tokens, "." is the end, "?" is <unk>; in the marks "+" is right, "-" is wrong
IDS = {".": EOS, "?": UNK}


def ids(text: str) -> tuple[int, ...]:
    return tuple(IDS.get(letter, ord(letter)) for letter in text)


@pytest.mark.parametrize(
    ("written", "answer", "marks"),
    [
        ("abcd.", "abcd", "+++++"),
        ("axcd.", "abcd", "+-+++"),  # one replaced
        ("acd.", "abcd", "+-++"),  # one missing: only the token that stands in its place
        ("bcd.", "abcd", "-+++"),
        ("abc.", "abcd", "+++-"),  # the end comes too early
        ("abxcd.", "abcd", "++-+++"),  # one too many
        ("abcdd.", "abcd", "++++-+"),  # of two that are the same the first counts
        ("aabcd.", "abcd", "+-++++"),
        ("abcd", "abcd", "++++"),  # not ended yet
        ("a?cd.", "a?cd", "+-+++"),  # nobody could read it
        ("a.", "", "-+"),
        ("xyz.", "ab", "---+"),
        ("", "ab", ""),
    ],
)
def test_one_slip_does_not_make_the_rest_wrong(written, answer, marks):
    assert "".join("-+"[right] for right in tokens_correct(ids(written), [ids(answer)])) == marks


def test_the_answer_that_agrees_most_is_the_one_that_counts():
    assert tokens_correct(ids("acd."), [ids("xyz"), ids("acd"), ids("abcd")]) == (True,) * 4
    assert tokens_correct(ids("ab."), []) == (False,) * 3


def test_all_are_right_exactly_where_the_answer_was_written():
    texts = ["".join(letters) for size in range(4) for letters in itertools.product("ab", repeat=size)]
    for written, answer in itertools.product(texts, texts):
        assert all(tokens_correct(ids(written + "."), [ids(answer)])) == (written == answer)
