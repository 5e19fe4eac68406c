import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import TrainingConfig, limits
from playground.training.schedule import learning_rate, rewarmed


def rates(**knobs) -> list[float]:
    config = TrainingConfig(**{"learning_rate": 2.0, "steps": 8, "warmup": 4, **knobs})
    return [learning_rate(config, 64, step) for step in range(1, config.steps + 1)]


def test_paper_is_equation_3_and_peaks_at_the_end_of_warmup():
    config = TrainingConfig(schedule="paper", learning_rate=1.0, warmup=4000)
    assert learning_rate(config, 512, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert learning_rate(config, 512, 1000) == pytest.approx(512**-0.5 * 1000 * 4000**-1.5)
    assert learning_rate(config, 512, 16_000) == pytest.approx(learning_rate(config, 512, 4000) / 2)
    assert max(rates(schedule="paper")) == rates(schedule="paper")[3]


def test_one_cycle_goes_up_and_down_in_straight_lines_and_constant_stays_up():
    assert rates(schedule="linear") == pytest.approx([0.5, 1.0, 1.5, 2.0, 1.6, 1.2, 0.8, 0.4])
    assert rates(schedule="constant") == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0, 2.0])


@given(st.sampled_from(limits("schedule").choices), st.sampled_from([0, 1, 8, 9, 500]), st.sampled_from([1, 8]))
def test_any_warmup_gives_positive_rates_no_larger_than_asked(schedule, warmup, steps):
    for rate in rates(schedule=schedule, warmup=warmup, steps=steps):
        assert 0 < rate <= 2.0
    assert rates(schedule=schedule, learning_rate=0.5) == pytest.approx([rate / 4 for rate in rates(schedule=schedule)])


def test_with_a_fresh_optimiser_the_rate_rises_again():
    assert [rewarmed(step, 30) for step in range(31, 38)] == [0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0]
    assert [rewarmed(step, 0) for step in (1, 2, 100)] == [1.0] * 3
