"""Fixtures of the features' tests: the running app, readers of runs, and an unserved trained run for each file, that of its KNOBS."""

# ruff: noqa: F811

from copy import copy

import pytest

from playground.runs.history import History
from tests.runs.conftest import reader, world  # noqa: F401
from tests.runs.tiny import alone, tiny
from tests.ui.conftest import _at_rest, _read_here, site  # noqa: F401


@pytest.fixture(scope="module")
def run(request):
    return alone(tiny(**request.module.KNOBS))[0]


@pytest.fixture
def unmeasured(run):
    """The same run as if nothing had been measured of it."""
    result = copy(run)
    result.parts = run.parts | {"history": History()}
    return result


@pytest.fixture
def text(reader, run):
    """The first of its held-out sentences."""
    return reader.examples(run)[0][0]


@pytest.fixture
def model(reader, run):
    """With its newest parameters."""
    return reader.model_at(run, None)[0]


def complete(ask):
    """What is known in the end, asked again and again."""
    while (result := ask()).sentences < result.total:
        pass
    return result
