"""Made-up words follow their rules, are read as what they are, and those that are asked were never learnt."""

import json

import pytest

from benchmarks import real, suite
from benchmarks.made_words import inflections, pronunciations
from playground.reading.uploads import read_files


def test_forms_are_read_with_their_features_and_asked_of_other_lemmas():
    made = inflections(40, 10, 1)
    pairs = read_files([(made.name, made.content)])
    assert len(pairs.pairs) == 8 * 40
    assert (pairs.joined, pairs.group) == ((2,), 0)
    known = dict(pair[:2] for pair in pairs.pairs)
    assert len({src.split()[0] for src in known}) == 40
    assert not {src.split()[0] for src, _ in made.asked} & {src.split()[0] for src in known}
    assert len({src.split()[1] for src, _ in made.asked}) == 8
    assert all(form == src.split()[0] for src, form in known.items() if src.endswith("V;IND;PRS;1;PL"))
    assert made == inflections(40, 10, 1) != inflections(40, 10, 2)


def test_sounds_are_read_and_asked_of_other_words():
    made = pronunciations(60, 10, 1)
    pairs = read_files([(made.name, made.content)])
    assert (len(pairs.pairs), pairs.kind) == (60, "dictionary")
    assert not {word for word, _ in made.asked} & {pair.src for pair in pairs.pairs}
    sounds = dict(line.split("  ") for line in pronunciations(3000, 0, 1).content.decode().splitlines())
    assert {spelt: said for spelt, said in sounds.items() if spelt in ("CE", "GAT", "GATE")}.items() <= {
        "CE": "S EH1", "GAT": "G AE1 T", "GATE": "G EY1 T"
    }.items()  # fmt: skip


def test_files_that_are_not_there_are_named(tmp_path, capsys):
    assert suite.main(["real", "--smoke", "--tasks", "scan", "--data", str(tmp_path)]) == 2
    assert "tasks_train_simple.txt.gz" in capsys.readouterr().err


@pytest.mark.night
def test_both_ways_are_trained_and_asked(capsys):
    assert suite.main(["real", "--smoke", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert [(row["task"], row["settings"]) for row in rows] == [(task, way) for task in real.MADE for way in ("before", "suggested")]
    assert all(row["steps"] == 3 and row["new"]["asked"] > 0 and 0 <= row["held_out"]["exact"] <= 1 for row in rows)
    assert rows[1]["knobs"]["tokenizer"] == "characters"
    assert "tokenizer" not in rows[0]["knobs"]
