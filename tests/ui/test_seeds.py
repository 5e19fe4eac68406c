"""Which runs differ in their seed alone, and which seeds are next."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from playground.ui import seeds


@pytest.mark.parametrize(
    ("have", "missing", "unused"), [({}, [1, 2, 3, 4, 5], 1), ({1, 2}, [3, 4, 5], 3), ({2, 5, 9}, [1, 3, 4], 1), ({1, 2, 3, 4, 5}, [], 6)]
)
def test_seeds_that_are_missing_and_the_least_unused(have, missing, unused):
    runs = dict.fromkeys(have)
    assert seeds.missing(runs) == missing
    assert seeds.unused(runs) == unused


def test_new_ones_are_among_those_that_are_shown():
    runs = {seed: f"run {seed}" for seed in range(1, 10)}
    assert seeds.shown(runs, [9]) == [f"run {seed}" for seed in (1, 2, 3, 4, 5, 9)]


def test_a_copy_is_no_other_seed(monkeypatch):
    monkeypatch.setattr(seeds, "settings", lambda run: ("the same",))
    first, other, copy = (SimpleNamespace(experiment=SimpleNamespace(training=SimpleNamespace(seed=seed))) for seed in (1, 2, 1))
    assert seeds.grouped([first, copy, other]) == [[first, other], [copy]]
