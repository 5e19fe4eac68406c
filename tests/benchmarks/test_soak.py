"""A soak tells what grows from what only fills."""

import pytest

from benchmarks.soak import slope, table, verdict
from tests.benchmarks.test_benchmarks import result_of


def rows_of(held):
    return [{"seconds": float(at), "visits": at, "bytes": held(at), "threads": 9, "files": 30} for at in range(60, 3601, 60)]


def test_the_slope_of_a_line_is_its_own():
    assert slope([1.0, 2.0, 4.0], [5.0, 8.0, 14.0]) == pytest.approx(3.0)
    assert slope([1.0], [5.0]) == 0.0


@pytest.mark.parametrize(
    ("held", "is_flat"),
    [(lambda at: 5e8, True), (lambda at: 5e8 + min(at, 1500) * 1e5, True), (lambda at: 5e8 + at * 1e5, False)],
    ids=["flat", "fills", "grows"],
)
def test_what_fills_in_the_first_half_is_flat_and_what_goes_on_grows(held, is_flat):
    rows = rows_of(held)
    flat = {name: verdict(rows, name) for name in ("bytes", "threads", "files")}
    assert [one["is_flat"] for one in flat.values()] == [is_flat, True, True]
    assert ("GROWS" in table({"rows": rows, "flat": flat, "problems": []})) != is_flat


@pytest.mark.slow
def test_a_soak_is_soaked(capsys):
    found = result_of(capsys, "soak")
    assert found["problems"] == []
    assert found["rows"][-1]["bytes"] > 0
