"""What a class guessed, as a picture."""

from html import unescape
from itertools import pairwise

import pytest

from playground.figures import guesses

DEGREES = ("50 %", "75 %", "95 %")
COUNTS = [[1, 0, 3], [0, 0, 0], [2, 2, 0]]


def test_each_guess_has_a_bar_in_parts_and_its_sum_beside_it():
    figure = guesses.histogram(["yes", "no", "maybe"], COUNTS, DEGREES)
    assert [(trace["name"], trace["x"]) for trace in figure["data"]] == [("50 %", [1, 0, 2]), ("75 %", [0, 0, 2]), ("95 %", [3, 0, 0])]
    assert figure["layout"]["barmode"] == "stack"
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["yes", "no", "maybe", "4", "0", "4"]
    assert figure["layout"]["meta"]["table"]["rows"][0] == ["yes", 1, 0, 3, 4]


def test_the_right_guess_is_marked_by_more_than_a_colour():
    figure = guesses.histogram(["yes", "no"], COUNTS[:2], DEGREES, right=1)
    assert [note["text"] for note in figure["layout"]["annotations"][:2]] == ["yes", "<b>✓ no</b>"]
    assert all(trace["marker"]["line"]["width"] == [1, 2] for trace in figure["data"])


@pytest.mark.parametrize("dark", [False, True])
def test_how_sure_people_were_is_seen_without_colour(dark):
    """By lightness alone, which the colour-blind see too."""
    figure = guesses.histogram(["yes"], COUNTS[:1], DEGREES, dark=dark)
    levels = [sum(int(trace["marker"]["color"][at : at + 2], 16) for at in (1, 3, 5)) for trace in figure["data"]]
    assert levels == sorted(levels, reverse=not dark)
    assert min(abs(one - other) for one, other in pairwise(levels)) > 90


def test_answers_of_which_nobody_says_how_sure_they_are_have_one_bar_each_and_no_legend():
    figure = guesses.histogram(["a", "b"], [[2], [5]], [""], right=1)
    assert [trace["x"] for trace in figure["data"]] == [[2, 5]]
    assert not figure["layout"]["showlegend"]
    assert figure["layout"]["meta"]["table"]["rows"] == [["a", 2], ["✓ b", 5]]


LONG = ("It vanishes: almost no gradient passes through the softmax any more", "消失：几乎没有梯度能通过，训练因此停滞不前")


@pytest.mark.parametrize("text", LONG)
def test_a_long_guess_is_broken_into_lines_and_none_of_it_is_lost(text):
    lines = guesses.wrapped(text, 200)
    assert len(lines) > 1
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert not any(line.startswith(("：", "，", " ")) for line in lines)
    narrow, wide = (guesses.histogram([text], COUNTS[:1], DEGREES, width=width)["layout"]["height"] for width in (250, 1200))
    assert narrow > wide


def test_text_is_shown_as_it_is():
    note = guesses.histogram(["<b>$x$</b>"], COUNTS[:1], DEGREES)["layout"]["annotations"][0]["text"]
    assert not set(note) & set("<>$")
    assert unescape(note) == "<b>$x$</b>"
