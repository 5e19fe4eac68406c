"""Pictures are drawn for the screen they are seen on, settings in words, and runs that differ in their seed alone belong together."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from playground.figures import attention, positions
from playground.ui import seeds
from playground.ui.view import Screen


def test_a_picture_is_drawn_as_wide_dark_and_in_the_language_that_is_asked_for():
    """A width or words of its own are taken as they are, and a figure that has no width is not told any."""
    screen, weights, names = Screen({"width": "900", "dark": "1", "lang": "zh"}), np.full((3, 3), 1 / 3), ["a", "b", "c"]
    drawn = screen.draw(attention.matrix, weights, names, names, kind="cross", share=2)
    assert drawn == attention.matrix(weights, names, names, width=430, labels=screen.labels, kind="cross", dark=True)
    own = {"kind": "cross", "width": 500, "labels": screen.labels | {"weight": "flow"}}
    assert screen.draw(attention.matrix, weights, names, names, **own) == attention.matrix(weights, names, names, dark=True, **own)
    plain = Screen({"width": "900"})
    assert plain.draw(positions.heatmap, np.eye(8), trained=4) == positions.heatmap(np.eye(8), trained=4, labels=plain.labels)


def test_seeds_that_are_missing_unused_shown_and_grouped(monkeypatch):
    for have, missing, unused in (
        ((), [1, 2, 3, 4, 5], 1), ((1, 2), [3, 4, 5], 3), ((2, 5, 9), [1, 3, 4], 1), ((1, 2, 3, 4, 5), [], 6),
    ):  # fmt: skip
        assert (seeds.missing(dict.fromkeys(have)), seeds.unused(dict.fromkeys(have))) == (missing, unused)
    runs = {seed: f"run {seed}" for seed in range(1, 10)}
    assert seeds.shown(runs, [9]) == [f"run {seed}" for seed in (1, 2, 3, 4, 5, 9)], "new ones are among them"
    monkeypatch.setattr(seeds, "settings", lambda run: ("the same",))
    first, other, copy = (SimpleNamespace(experiment=SimpleNamespace(training=SimpleNamespace(seed=seed))) for seed in (1, 2, 1))
    assert seeds.grouped([first, copy, other]) == [[first, other], [copy]], "a copy is no other seed"
