"""Truths about the lab of byte-pair encoding."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.lessons.tensors import bpe as lab


@pytest.mark.parametrize("text", lab.TEXTS)
@pytest.mark.parametrize("merges", lab.MERGES)
def test_merges_and_cuts_are_sentencepieces(text, merges):
    outcome = lab.run(1, text, merges)
    assert outcome.numbers["same"]
    assert outcome.numbers["merges"] == merges
    assert all(row[3] == row[4] for row in outcome.exhibits[0].rows)


def test_by_hand():
    words = lab.words_of(("aab ab",))
    assert words == {("▁", "a", "a", "b"): 1, ("▁", "a", "b"): 1}
    assert lab.count_pairs(words) == {("▁", "a"): 2, ("a", "a"): 1, ("a", "b"): 2}
    assert lab.learn(("aab ab",), 1) == [(("a", "b"), 2)]  # as frequent as ▁a, and before it in the alphabet
    assert lab.encode("ab", lab.learn(("aab ab",), 1)) == [("▁", "a", "b"), ("▁", "ab")]


def test_pairs_are_merged_from_left_to_right():
    assert lab.merged(("a", "a", "a"), ("a", "a")) == ("aa", "a")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=5), st.integers(1, 6))
def test_pieces_are_always_the_word_again(words, most):
    merges = lab.learn((" ".join(words),), most)
    assert [count for _, count in merges] == sorted((count for _, count in merges), reverse=True)
    for word in words:
        assert all("".join(stage) == lab.BEGIN + word for stage in lab.encode(word, merges))


def test_what_the_prose_says():
    assert {lab.run(1, text, merges).answer for text in lab.TEXTS for merges in lab.MERGES} == {"pieces"}
