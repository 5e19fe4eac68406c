"""The benchmark of the labs trains real arms, side by side."""

import json

import pytest

from benchmarks import suite
from playground.lessons.labs import LABS


@pytest.mark.slow
def test_experiments_come_to_a_verdict(capsys):
    assert suite.main(["labs", "--smoke", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert [(row["lab"], row["arms"], len(row["answers"])) for row in rows] == [("skip", 2, 2), ("bug_source", 2, 2)]
    for row in rows:
        assert row["seconds"]["median"] > 0
        assert row["numbers"]["seeds"] == 2
        assert row["overall"] in LABS[row["lab"]].guesses
    assert suite.main(["labs", "--smoke"]) == 0
    assert "bug_source" in capsys.readouterr().out
