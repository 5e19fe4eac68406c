"""The benchmark of the engines trains on both of them."""

import json

import pytest

from benchmarks import suite


@pytest.mark.slow
def test_both_engines_are_counted(capsys):
    assert suite.main(["engines", "--smoke", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["engine"] for row in found["rows"]] == ["here", "processes"]
    assert all(row["rate"]["median"] > 0 and row["p95"] > 0 for row in found["rows"])
    assert found["ratio"]["median"] > 0
