"""A forecast stands beside what a training really took."""

import pytest

from benchmarks.forecast import sentences, trained
from playground.config import Experiment
from tests.benchmarks.test_benchmarks import result_of


@pytest.mark.night
def test_forecast(capsys):
    (row,) = result_of(capsys, "forecast")["rows"]
    assert row["ratio"] == pytest.approx(row["forecast"] / row["seconds"])
    assert row["admitted"] > 0 < row["peak"]


@pytest.mark.night
def test_every_word_comes_and_a_training_of_them_is_measured():
    given = sentences(20, 300)
    assert {word for pair in given.pairs for word in pair.src.split()} == {f"w{number}" for number in range(20)}
    tiny = Experiment().with_(task="own", d_model=8, d_ff=8, n_heads=1, tokenizer="words", steps=4, threads=1)
    found = trained(tiny, 20, 300, 2)
    assert found["seconds"] > 0 < found["admitted"]
    assert found["precision"] == "float32"
