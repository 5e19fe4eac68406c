"""The shipped runs over an empty store, and who reads them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from playground.queries.reader import Reader
from playground.runs.registry import Runs


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    runs = Runs(tmp_path_factory.mktemp("runs"))
    reader = Reader(runs)
    yield SimpleNamespace(runs=runs, reader=reader)
    reader.close()
    runs.close()
