"""The servers and readers of the tests of runs."""

from tests.runs.conftest import reader, runs, serve  # noqa: F401
