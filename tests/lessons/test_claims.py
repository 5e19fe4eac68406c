"""What the course and the glossary say of the default run and of the runs that ship with the app, checked on them."""

from __future__ import annotations

import numpy as np
import pytest

from playground.runs.registry import Runs

LEARNT = 0.9  # exact match


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    runs = Runs(tmp_path_factory.mktemp("runs"))
    yield runs.shipped()
    runs.close()


def test_the_loss_falls_smoothly_while_exact_match_jumps(shipped):
    """Lesson "training": until a run has learnt its task, every validation loss is below the one before; exact match stays near 0 until
    most tokens are right. Token accuracy is never below it."""
    for run in shipped:
        rows = run.history.validations.rows()
        loss, exact, tokens = (np.array(rows[name]) for name in ("loss", "exact_match", "token_accuracy"))
        learnt = int(np.argmax(exact >= LEARNT))
        assert exact[learnt] >= LEARNT, run.id
        assert (np.diff(loss[: learnt + 1]) < 0).all(), run.id
        assert exact[tokens < 0.6].max() < 0.1, run.id
        assert (tokens >= exact).all(), run.id
