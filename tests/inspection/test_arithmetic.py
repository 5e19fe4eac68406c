"""Arithmetic on paper, with numbers small enough to check in the head."""


from playground.inspection.arithmetic import Given, Label, Sheet, added, bracketed, near


def numbered(name: str, *values: float) -> list[Given]:
    return [Given(Label(name, (i,)), value) for i, value in enumerate(values)]


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
