"""Growth is measured, and its exponents are those of the costs."""

import pytest

from benchmarks.growth import memory, steps
from benchmarks.growth.exponent import exponent, slopes
from playground.config import SPECIAL_TOKENS, Experiment
from playground.data.corpus import build_corpus
from tests.benchmarks.test_benchmarks import SUMMARY, result_of

MORE = 90_000_000  # three more took 29 MB


@pytest.mark.parametrize("power", [0, 1, 2, 0.5])
def test_the_exponent_of_a_power_is_the_power(power):
    assert exponent([1, 3, 10, 50], [7 * size**power for size in (1, 3, 10, 50)]) == pytest.approx(power)


def test_a_constant_share_flattens_the_slope_least_at_the_end():
    sizes = [1, 10, 100, 1000]
    found = slopes(sizes, [50 + size for size in sizes])
    assert 0 < found["all"] < found["end"] < 1


def test_no_exponent_of_one_size_or_of_nothing():
    assert exponent([4, 4], [1.0, 2.0]) is None
    assert exponent([4, 8], [0.0, 2.0]) is None


@pytest.mark.parametrize("length", [4, 60])
def test_every_sentence_has_the_length_that_is_asked_for(length):
    knobs, own = steps.AXES["length"].make(length)
    corpus = build_corpus(Experiment().with_(**knobs).data, own)
    assert {len(ids) for item in corpus.train for ids in (item.src_ids, item.tgt_ids)} == {length}
    assert len(corpus.train) > 1000
    assert not corpus.left_out


@pytest.mark.parametrize("size", [30, 8000])
def test_the_vocabulary_has_the_size_that_is_asked_for(size):
    knobs, own = steps.AXES["vocabulary"].make(size)
    corpus = build_corpus(Experiment().with_(**knobs).data, own)
    sizes = corpus.src_tokenizer.size, corpus.tgt_tokenizer.size
    assert all(0.9 * size < found <= size for found in sizes)  # some words are only among those held out
    assert {len(item.src_ids) for item in corpus.train} == {steps.WORDS}
    assert size > len(SPECIAL_TOKENS)


def test_every_width_can_be_trained():
    for width in steps.AXES["width"].values:
        model = Experiment().with_(**steps.AXES["width"].make(width)[0]).model
        assert (model.d_model, model.d_ff) == (width, 4 * width)
        assert model.d_model % model.n_heads == 0


@pytest.mark.night
def test_growth_of_a_step(capsys):
    found = {one["axis"]: one for one in result_of(capsys, "growth", "--parts", "steps")["steps"]}
    assert found.keys() == {"length", "vocabulary", "pairs", "own_pairs"}
    for one in found.values():
        assert len(one["values"]) == len(one["step"]) == len(one["first"]) == 2
        for summaries in (one["step"], one["first"]):
            assert all(summary.keys() == SUMMARY and summary["median"] > 0 for summary in summaries)
        medians = [summary["median"] for summary in one["step"]]
        assert one["slopes"]["step"]["all"] == pytest.approx(exponent(one["values"], medians))


@pytest.mark.night
def test_memory_of_runs_and_visitors(capsys):
    result = result_of(capsys, "growth", "--parts", "memory")["memory"]
    assert result.keys() == memory.ROWS.keys()
    for found in result.values():
        assert found["counts"] == [1, 2]
        assert len(found["bytes"]) == 2
        assert found["each"] == found["bytes"][-1] / 2


@pytest.mark.night
def test_a_visitor_is_counted_and_the_server_stays_as_large_as_it_is(capsys):
    """Caches fill with the first runs; as many more, all looked at, none deleted, may take no more than MORE bytes."""
    hour = ("--parts", "hour", "--hour", "6", "--every", "3", "--short", "10", "--set", "validation_size=100")
    rows = result_of(capsys, "growth", *hour)["hour"]["rows"]
    assert [row["runs"] for row in rows] == [0, 3, 6]
    assert all(0 < row["used"] < row["resident"] <= row["peak"] for row in rows)
    assert rows[-1]["answers"] > 0
    assert rows[-1]["resident"] < rows[1]["resident"] + MORE
