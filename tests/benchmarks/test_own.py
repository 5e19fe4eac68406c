"""Real files are trained from: here small ones under the names of the real ones."""

import gzip
import json

import pytest

from benchmarks import own, suite
from playground.config import DataConfig
from playground.data.corpus import build_corpus
from playground.decoding.model_decoder import Hypothesis
from playground.reading.uploads import read_files

COMMANDS = [("jump", "I_JUMP"), ("walk", "I_WALK"), ("look", "I_LOOK"), ("run", "I_RUN")]
TIMES = [("", 1), (" twice", 2), (" thrice", 3)]
PARTS = [(f"{command}{often}", [act] * times) for command, act in COMMANDS for often, times in TIMES]
LINES = [f"IN: {one} and {two} OUT: {' '.join(acts + more)}\n" for one, acts in PARTS for two, more in PARTS]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "scan").mkdir()
    for name, lines in (("train", LINES[:120]), ("test", LINES[100:])):
        (tmp_path / "scan" / f"tasks_{name}_simple.txt.gz").write_bytes(gzip.compress("".join(lines).encode()))
    return tmp_path


@pytest.mark.night
def test_what_is_asked_was_never_learnt(folder, capsys):
    assert suite.main(["own", "--smoke", "--json", "--corpora", "scan_simple", "--data", str(folder)]) == 0
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert (row["pairs"], row["left_out"]) == (100, 20)  # lines 100 to 119 are in both files
    assert row["asked"] == 20
    assert row["own_asked"] == 10
    assert row["steps"] == 3
    assert 0 <= row["exact"]["median"] <= 1
    assert row["knobs"]["task"] == "own"


def test_files_that_are_not_there_are_named(folder, capsys):
    assert suite.main(["own", "--smoke", "--corpora", "scan_length", "--data", str(folder)]) == 2
    assert "tasks_train_length.txt.gz" in capsys.readouterr().err


def test_the_score_of_right_answers_is_full(monkeypatch):
    corpus = build_corpus(DataConfig(task="own"), read_files([("scan.txt", "".join(LINES).encode())]))

    def right(model, sources, most):
        known = {tuple(corpus.src_tokenizer.encode(src)): found[0] for src, found in corpus.references.items()}
        return [Hypothesis(tuple(corpus.tgt_tokenizer.encode(known[tuple(ids)])), (), 0.0) for ids in sources]

    monkeypatch.setattr(own, "greedy", right)
    sources = [item.src for item in corpus.test]
    found = own.scores_of(None, corpus, sources, [corpus.references[source] for source in sources])
    assert found == {"asked": len(sources), "exact": 1.0, "bleu": pytest.approx(100), "chrf": pytest.approx(100)}
