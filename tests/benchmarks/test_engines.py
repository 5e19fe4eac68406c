"""The benchmark of the engines trains on all that are installed."""

import json
from importlib.util import find_spec

import pytest

from benchmarks import suite


@pytest.mark.night
def test_all_engines_are_counted(capsys):
    assert suite.main(["engines", "--smoke", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["engine"] for row in found["rows"]] == ["here", "processes", *(["ray"] if find_spec("ray") else [])]
    assert all(row[name]["median"] > 0 for row in found["rows"] for name in ("rate", "ratio", "page"))
