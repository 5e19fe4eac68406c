"""Arithmetic on paper, with numbers small enough to check in the head."""

import math

from playground.inspection.arithmetic import Given, Label, Sheet, added, bracketed, near


def numbered(name: str, *values: float) -> list[Given]:
    return [Given(Label(name, (i,)), value) for i, value in enumerate(values)]


def test_scores_and_softmax_by_hand():
    scores = Sheet(6)
    assert scores.multiply(numbered("q", 1.0, -2.0, 3.0), numbered("k", 0.5, 0.25, 0.1)) == "0.3"
    assert [term.part for term in scores.terms] == ["0.5", "-0.5", "0.3"]
    assert scores.steps[0].text == "0.5 - 0.5 + 0.3"
    weights = Sheet(6)
    assert weights.softmax(numbered("score", 0.0, math.log(3), -1e30), 1) == "0.75"
    assert [term.part for term in weights.terms] == ["0.333333", "1", "0"]
    assert [step.text for step in weights.steps] == ["max(0, 1.098612, -1e30)", "0.333333 + 1 + 0", "1 ÷ 1.333333"]


def test_a_norm_by_hand():
    sheet = Sheet(6)
    result = sheet.norm(numbered("x", 1.0, 3.0, 5.0, 7.0), 3, 0.0, Given(Label("gain", (3,)), 2.0), Given(Label("shift", (3,)), -1.0))
    assert [step.result for step in sheet.steps] == ["4", "5", "2.236068", "1.341641", "2.683282", "1.683282"]
    assert sheet.steps[3].text == "(7 - 4) ÷ 2.236068"
    assert result == "1.683282"


def test_numbers_are_written_short_and_the_masks_as_a_power():
    sheet = Sheet(6)
    assert [sheet.write(value) for value in (0.5, 8.0, -0.0000001, 1 / 3, -1e30)] == ["0.5", "8", "0", "0.333333", "-1e30"]
    assert added(["-0.1", "0.2", "-0.3"]) == "-0.1 + 0.2 - 0.3"
    assert (bracketed("-2"), bracketed("2")) == ("(-2)", "2")


def test_what_is_calculated_with_is_what_is_printed():
    sheet = Sheet(1)
    assert sheet.multiply(numbered("q", 0.26, 0.26), numbered("k", 1.0, 1.0)) == "0.6"  # 0.3 + 0.3, not 0.52


def test_near_is_absolute_up_to_1_and_relative_above():
    assert near(0.1, 0.100004)
    assert not near(0.1, 0.10001)
    assert near(1000.0, 1000.004)
