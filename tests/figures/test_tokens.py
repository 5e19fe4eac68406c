"""Tokens as labels."""

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.figures import tokens


@pytest.mark.parametrize(("token", "shown"), [
    ("hello", "hello"), (" ", "␣"), ("  ", "␣␣"), ("", "∅"), ("a b", "a␣b"), ("\u3000", "␣"), ("a\nb", "a↵b"), ("\t", "⇥"),
    ("\x00", "�"), ("\u200b", "�"), ("\u202eabc", "�abc"), ("\u200d", "�"),
    ("می\u200cروم", "می\u200cروم"), ("\ud800", "�"), ("狗", "狗"),
])  # fmt: skip
def test_what_would_not_be_seen_is_shown(token, shown):
    assert tokens.visible(token) == shown


@given(st.text("aé狗<>&;$%{}/\"' \n\r\t\x00\u200b\u202e\u3000\ud800", max_size=40))
def test_a_label_is_the_visible_token_once_plotly_has_decoded_it(token):
    label = tokens.label(token, longest=1000)
    assert unescape(label) == tokens.visible(token) or "&" in token  # unescape also reads entities without a semicolon
    assert not set(label) & set("<>$\n\r\t ")
    assert label
    escaped = {"<s>": "&lt;s&gt;", "$x$": "&#36;x&#36;", "&amp;": "&amp;amp;", "%{x}": "%{x}"}
    assert {text: tokens.escape(text) for text in escaped} == escaped


def test_long_tokens_are_cut_and_thinned_ticks_lose_no_token():
    assert tokens.label("Donaudampfschifffahrt") == "Donaudampfsch…"
    assert tokens.extent("Donaudampfschifffahrt") == pytest.approx(tokens.MAX_LABEL_CHARACTERS * tokens.NARROW)
    assert tokens.extent("狗x") == pytest.approx(tokens.WIDE + tokens.NARROW)
    ticks = tokens.ticks([f"t{i}" for i in range(10)], 4)
    assert (ticks["tickvals"], ticks["ticktext"]) == ([0, 4, 8], ["t0", "t4", "t8"])
    assert ticks["labelalias"] == {str(i): f"t{i}" for i in range(10) if i % 4}


@pytest.mark.parametrize("width", [280, 1100])
def test_a_step_is_its_input_and_the_next_token_both_cut_alike(width):
    """However long the tokens and however narrow the page: what is read stands before the arrow, what follows after it."""
    names = tokens.steps(["<bos>", "a", " "], ["a", " ", "<eos>"])
    assert names == [*map(tokens.visible, names)] == ["<bos> → a", "a → ␣", "␣ → <eos>"]
    assert tokens.label(names[0]) == "&lt;bos&gt; → a"
    with pytest.raises(ValueError, match="argument 2"):
        tokens.steps(["<bos>", "a"], ["a"])
    (name,) = tokens.steps(["Donaudampfschifffahrt"], ["Gesellschaft"])
    short = tokens.shortened(name, tokens.longest(width))
    read, following = (part.strip() for part in short.split("→"))
    assert read.endswith("…") and following.endswith("…")  # noqa: PT018
    assert "Donaudampfschifffahrt".startswith(read[:-1]) and "Gesellschaft".startswith(following[:-1])  # noqa: PT018
    assert len(read) == len(following) >= tokens.SPECIAL
    (special,) = tokens.steps(["<bos>"], ["<eos>"])
    assert tokens.shortened(special, tokens.longest(width)).replace(" ", "") == "<bos>→<eos>"
