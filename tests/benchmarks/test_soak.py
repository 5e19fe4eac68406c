"""A soak tells what grows from what only fills."""

import pytest

from benchmarks.soak import drawing, slope, table, verdict
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


def test_the_parts_lie_upon_each_other_below_what_is_held():
    mb = 2**20
    rows = [{"seconds": 60.0 * at, "bytes": 500 * mb, "all": None, "parts": {"runs": at * mb, "panels": 3 * mb}} for at in (1, 2)]
    runs, panels, page, everything = drawing(rows).data
    assert (runs.x, runs.y, runs.stackgroup) == ((1.0, 2.0), (1.0, 2.0), panels.stackgroup)
    assert (panels.y, page.y, page.stackgroup, everything.y) == ((3.0, 3.0), (500.0, 500.0), None, (None, None))


@pytest.mark.night
def test_a_soak_is_soaked(capsys, tmp_path):
    found = result_of(capsys, "soak", "--drawing", str(tmp_path / "new" / "soak.html"))
    assert found["problems"] == []
    assert found["rows"][-1]["bytes"] > 0
    assert "trainings" in found["rows"][-1]["parts"]
    assert "trainings" in (tmp_path / "new" / "soak.html").read_text(encoding="utf-8")
