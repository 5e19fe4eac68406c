"""Numbers as they stand in sentences."""

import pytest

from playground.inspection.fact import percent, short


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, 0), (1e-9, 1), (0.004, 1), (0.125, 13), (0.914, 91), (0.995, 99), (0.9999999, 99), (1.0, 100)]
)
def test_only_all_is_a_hundred_and_only_nothing_is_zero(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(("value", "text"), [(0.03141, "0.031"), (2.3e-16, "2.3e-16"), (0.0, "0"), (12.0, "12"), (1.0, "1")])
def test_short_numbers(value, text):
    assert short(value) == text
