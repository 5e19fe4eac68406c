"""Teacher forcing and free running part after the first mistake, never before: on models that learnt something and not all."""

from __future__ import annotations

import numpy as np
import pytest

from playground.lessons.controlled import Result
from playground.lessons.exposure_bias import AROUND, WAYS, Decoded, by_distance, compared, cost, decode, first_mistake
from playground.tasks.toy_tasks import TASKS
from tests.training.corpora import taught

ONE_ANSWER = [name for name in TASKS if name != "one_to_many"]  # tests/tasks/test_toy_tasks.py holds that the others have one


@pytest.mark.parametrize(
    ("task", "steps"), [("reverse", 15), *(pytest.param(task, 80, marks=pytest.mark.night) for task in ONE_ANSWER)]
)
def test_both_exact_matches_agree_to_the_sentence_and_part_only_after_the_first_mistake(task, steps):
    training = taught(task, steps)
    corpus = training.corpus
    decoded = decode(training.model.eval(), corpus, corpus.heldout)
    assert len(decoded) == len(corpus.heldout)
    for one in decoded:
        assert one.forced.all() == one.written
        first = first_mistake(one)
        assert (first is None) == one.written
        assert first is None or int(np.flatnonzero(~one.free)[0]) == first
    measured = compared(training.model, corpus)
    assert measured["written"] == training.validate().exact_match
    for way in WAYS:
        before = np.array(measured[way][:AROUND])
        assert (before[~np.isnan(before)] == 1).all()
        assert np.isnan(measured[way][AROUND]) or measured[way][AROUND] == 0


def flags(*right: int) -> np.ndarray:
    return np.array(right, dtype=bool)


def test_distances_by_hand():
    decoded = [
        Decoded(flags(1, 1, 0, 1, 1), flags(1, 1, 0, 0, 0), False),
        Decoded(flags(0, 1, 0), flags(0, 1, 0), False),
        Decoded(flags(1, 1, 1), flags(1, 1, 1), True),
    ]
    assert [first_mistake(one) for one in decoded] == [2, 0, None]
    assert by_distance(decoded, "forced", (-2, -1, 0, 1, 2)) == [1, 1, 0, 1, 0.5]
    assert by_distance(decoded, "free", (-2, -1, 0, 1, 2)) == [1, 1, 0, 0.5, 0]
    assert np.isnan(by_distance(decoded, "free", (3,))[0])


@pytest.mark.parametrize(("arms", "answer"), [
    ({"reverse": [{"free_after": 0.2}]}, "tokens"),
    ({"reverse": [{"free_after": 0.78}]}, "nothing"),
    ({"reverse": [{"free_after": 0.8}], "sort": [{"free_after": 0.2}]}, "tokens"),
    ({"reverse": [{"free_after": 0.2, "written": 0.49}]}, "sentences"),
    ({"reverse": [{"free_after": free} for free in (0.8, 0.1, 0.6)]}, "nothing"),  # 0.3 on average, standard deviation 0.36
])  # fmt: skip
def test_the_verdict_by_hand(arms, answer):
    alike = {"exact": 0.5, "written": 0.5, "forced_after": 0.8}
    assert cost({arm: [Result(arm, 1, None, {}, alike | numbers) for numbers in of_arm] for arm, of_arm in arms.items()}) == answer
