"""The benchmark of the labs trains real arms; what labs expect is what its results say."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import labs, suite
from playground.lessons.labs import LABS

RESULTS = Path(labs.__file__).parent / "results" / "labs.md"


@pytest.mark.night
def test_experiments_come_to_a_verdict(capsys):
    assert suite.main(["labs", "--smoke", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert [(row["lab"], row["arms"], len(row["answers"])) for row in rows] == [("skip", 2, 2), ("bug_source", 2, 2)]
    for row in rows:
        assert row["cpu_seconds"]["median"] > 0
        assert row["numbers"]["seeds"] == 2
        assert row["overall"] in LABS[row["lab"]].guesses
    assert suite.main(["labs", "--smoke", "--lab", "bug_source"]) == 0
    said = capsys.readouterr().out
    assert "bug_source" in said
    assert "skip" not in said


def test_every_lab_that_trains_is_asked():
    assert set(labs.BENCHES) == {name for name, lab in LABS.items() if hasattr(lab, "arms")}


@pytest.mark.parametrize(
    ("expects", "answers", "holds"),
    [
        ("with", ["with"] * 5, "yes"),
        ("with", ["with"] * 4 + ["same"], "yes"),
        ("with", ["with"] * 3 + ["same"] * 2, "NO"),
        ("without", ["with"] * 5, "NO"),
        ("", ["with"] * 3 + ["same"] * 2, "open"),
        ("", ["with"] * 4 + ["same"], "NO"),  # it is not open any more
        (None, ["with"] * 5, ""),
    ],
)
def test_four_of_five_seeds_bear_out_what_is_expected(expects, answers, holds):
    assert labs.holds(SimpleNamespace(is_mystery=False, expects=expects), answers) == holds


def test_what_labs_expect_is_what_the_results_say():
    found = {}
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        if row := re.match(r"\| (\w+) +\| +\d+ \|[^|]*\|[^|]*\| ([\w, ×]+?) +\|", line):
            counted = re.fullmatch(r"(\w+) × (\d+)", row[2])
            found[row[1]] = [counted[1]] * int(counted[2]) if counted else row[2].split(", ")
    assert found
    assert {name for name in labs.BENCHES if LABS[name].expects is not None} == set(found)
    wrong = {name: answers for name, answers in found.items() if len(answers) < 5 or labs.holds(LABS[name], answers) not in ("yes", "open")}
    assert wrong == {}
