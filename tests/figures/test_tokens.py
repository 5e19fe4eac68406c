"""Tokens as labels."""

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.figures import tokens


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("hello", "hello"), (" ", "␣"), ("  ", "␣␣"), ("", "∅"), ("a b", "a␣b"), ("\u3000", "␣"), ("a\nb", "a↵b"), ("\t", "⇥"),
        ("\x00", "�"), ("\u200b", "�"), ("\u202eabc", "�abc"), ("\u200d", "�"),
        ("می\u200cروم", "می\u200cروم"), ("\ud800", "�"), ("狗", "狗"),
    ],
)  # fmt: skip
def test_what_would_not_be_seen_is_shown(token, shown):
    assert tokens.visible(token) == shown


@pytest.mark.parametrize(
    ("token", "escaped"),
    [("<s>", "&lt;s&gt;"), ("$x$", "&#36;x&#36;"), ("&amp;", "&amp;amp;"), ("%{x}", "%{x}"), ("{{x}}", "{{x}}"), ('"', '"')],
)
def test_escaping_is_exactly_this(token, escaped):
    assert tokens.escape(token) == escaped


@given(st.text(max_size=40))
def test_a_label_is_the_visible_token_once_plotly_has_decoded_it(token):
    label = tokens.label(token, longest=1000)
    assert unescape(label) == tokens.visible(token) or "&" in token  # unescape also reads entities without a semicolon
    assert not set(label) & set("<>$\n\r\t ")
    assert label


def test_long_tokens_are_cut_and_cut_tokens_fit():
    assert tokens.label("Donaudampfschifffahrt") == "Donaudampfsch…"
    assert len("Donaudampfsch…") == tokens.MAX_LABEL_CHARACTERS
    assert tokens.extent("Donaudampfschifffahrt") == pytest.approx(14 * tokens.NARROW)
    assert tokens.extent("狗x") == pytest.approx(tokens.WIDE + tokens.NARROW)


def test_thinned_ticks_lose_no_token():
    names = [f"t{i}" for i in range(10)]
    ticks = tokens.ticks(names, 4)
    assert ticks["tickvals"] == [0, 4, 8]
    assert ticks["ticktext"] == ["t0", "t4", "t8"]
    assert {**dict(zip(map(str, ticks["tickvals"]), ticks["ticktext"], strict=True)), **ticks["labelalias"]} == {
        str(i): name for i, name in enumerate(names)
    }


def test_a_step_of_the_decoder_is_its_input_and_the_next_token():
    names = tokens.steps(["<bos>", "a", " "], ["a", " ", "<eos>"])
    assert names == ["<bos> → a", "a → ␣", "␣ → <eos>"]
    assert [tokens.visible(name) for name in names] == names
    assert tokens.label(names[0]) == "&lt;bos&gt; → a"
    with pytest.raises(ValueError, match="argument 2"):
        tokens.steps(["<bos>", "a"], ["a"])


@pytest.mark.parametrize("width", [280, 390, 1100])
def test_a_step_is_cut_on_both_sides_alike_and_keeps_its_arrow(width):
    """However long the tokens and however narrow the page: what is read stands before the arrow, what follows after it."""
    (name,) = tokens.steps(["Donaudampfschifffahrt"], ["Gesellschaft"])
    short = tokens.shortened(name, tokens.longest(width))
    read, following = (part.strip() for part in short.split("→"))
    assert read.endswith("…") and following.endswith("…")  # noqa: PT018
    assert "Donaudampfschifffahrt".startswith(read[:-1]) and "Gesellschaft".startswith(following[:-1])  # noqa: PT018
    assert len(read) == len(following) >= tokens.SPECIAL
    (special,) = tokens.steps(["<bos>"], ["<eos>"])
    assert tokens.shortened(special, tokens.longest(width)).replace(" ", "") == "<bos>→<eos>"
