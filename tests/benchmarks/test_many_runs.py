"""Many runs at once are counted, and fairness is what it says."""

import pytest

from benchmarks.many_runs.crowds import CROWDS, EVENTS, jain
from tests.benchmarks.test_benchmarks import SUMMARY, result_of


def test_fairness():
    assert jain([3.0, 3.0, 3.0]) == pytest.approx(1)
    assert jain([5.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert jain([1.0, 1.0, 0.0, 0.0]) == pytest.approx(1 / 2)
    assert jain([0.0, 0.0]) == 1


def test_no_owner_has_more_runs_than_a_server_allows():
    from playground.runs.limits import Limits

    assert max(map(max, CROWDS.values())) <= Limits().runs_each
    assert max(map(sum, CROWDS.values())) <= Limits().runs_unfinished


@pytest.mark.night
def test_many_runs(capsys):
    result = result_of(capsys, "many_runs", "--first-seed", "7")
    nobody, one, five = result["crowds"]["rows"]
    assert [(row["runs"], row["owners"]) for row in (nobody, one, five)] == [(0, 0), (1, 1), (5, 2)]
    assert nobody["events"].keys() == EVENTS.keys() - {"own"}
    for row in (one, five):
        assert row["steps"] > 0
        assert row["bytes"] is None or row["bytes"] > 2**20
        assert row["tokens"] > row["steps"]
        assert row["lost"] == pytest.approx(1 - row["watched"] / row["steps"])
        assert 1 / row["runs"] <= row["fair_runs"] <= 1 + 1e-9
        assert 1 / row["owners"] <= row["fair_owners"] <= 1 + 1e-9
        assert row["events"].keys() == EVENTS.keys()
        for median, most, nearly_all in row["events"].values():
            assert 0 < median <= most <= nearly_all
    waiting = result["waiting"]
    assert result["first_seed"] == 7
    assert waiting["alone"].keys() == SUMMARY
    assert 0 < waiting["mean"]["median"] <= waiting["last"]["median"]
    assert waiting["ratio"]["median"] == pytest.approx(waiting["mean"]["median"] / waiting["alone"]["median"])


@pytest.mark.night
def test_a_target_that_is_never_reached_is_said(capsys):
    result = result_of(capsys, "many_runs", "--parts", "waiting", "--target", "2")
    assert result["waiting"]["mean"]["values"] == [None]
    assert result["waiting"]["mean"]["median"] is None
