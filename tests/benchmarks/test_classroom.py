"""A class in one room is counted, and a secret that somebody else hears is noticed."""

import pytest

from benchmarks.classroom.records import LONGEST, Canaries, Records
from tests.benchmarks.test_benchmarks import result_of

MINE, OTHERS = Canaries.of(1, "abcdefgh"), Canaries.of(2, "abcdefgh")
SECONDS, STUDENTS = 30, 8


def test_everybody_has_secrets_of_their_own():
    all = [canary for person in range(61) for canary in Canaries.of(person, "abcdefgh")]
    assert len(set(all)) == 3 * 61
    assert max(map(len, all)) <= LONGEST
    assert len(MINE.name) <= 24, "a nickname is cut there"


def test_a_secret_is_a_leak_where_somebody_else_hears_it():
    records = Records()
    records.heard(f'{{"name": "{MINE.name}", "text": "{MINE.words}a"}}'.encode(), MINE)
    assert not records.leaks
    records.heard(f"{OTHERS.name} and {OTHERS.name} and {MINE.token}".encode(), {MINE.name})
    records.heard(f"…{OTHERS.words}…".encode(), {MINE.name, MINE.words}, 3)
    assert records.leaks == {"name": 1, "token": 1, "words": 1}
    assert records.bytes > 3


@pytest.mark.night
def test_a_class_of_eight_meets_no_error_hears_no_secret_and_trains_fairly(capsys):
    result = result_of(capsys, "classroom", "--students", str(STUDENTS), "--minutes", str(SECONDS / 60), "--every", "10")
    assert result["errors"] == result["leaks"] == {}
    assert result["training"]["fair"] >= 0.9
    assert result["training"]["together"] > 0
    assert result["heard"] > 100_000
    assert result["times"]["joining"]["count"] == STUDENTS + 1
    assert result["times"]["cursor to a follower"]["count"] >= STUDENTS * SECONDS / 2
    asked = {"own run", "what the teacher shows", "guessing", "what the class guessed", "board", "the teacher's board", "translating"}
    assert result["times"].keys() >= asked
    for times in result["times"].values():
        assert 0 < times["median"] <= times["p95"] <= times["p99"]
    assert result["held"][0]["time"] == 0
    assert len(result["held"]) >= 4
