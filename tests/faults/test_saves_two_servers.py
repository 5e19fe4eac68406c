"""Two servers on one folder: the second says so and ends; whoever only reads may read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground.cli import main
from playground.runs.disk.store import Store
from playground.ui import server

ROOT = Path(__file__).parents[2]


@pytest.fixture
def taken(tmp_path, monkeypatch):
    """A folder on which a server is at work."""
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    store = Store(tmp_path)
    yield tmp_path
    store.close()


@pytest.mark.fault("two servers on one folder", "the second ends with one sentence and code 2")
def test_the_second_server_ends_with_one_sentence(taken, capsys):
    with pytest.raises(SystemExit) as end:
        server.serve()
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(taken) in line
    assert "PLAYGROUND_DATA" in line
    assert "Stop" in line


@pytest.mark.night
@pytest.mark.parametrize("command", [["app.py"], ["-m", "playground", "serve"]])
def test_so_does_the_whole_program(taken, command):
    found = subprocess.run([sys.executable, *command], cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"Another server is using {taken}.")
    assert found.stderr.count("\n") == 1


def test_what_is_kept_may_be_read_meanwhile(taken, capsys):
    assert main(["runs"]) == 0
    assert "german_english" in capsys.readouterr().out
