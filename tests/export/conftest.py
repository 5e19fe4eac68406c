"""A reader of runs that nobody serves."""

from tests.runs.conftest import reader

__all__ = ["reader"]
