"""Two servers on one folder: the second says so and ends; whoever only reads may read."""

import pytest

from playground.cli import main
from playground.runs.disk.store import Store
from playground.ui import server


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


def test_what_is_kept_may_be_read_meanwhile(taken, capsys):
    assert main(["runs"]) == 0
    assert "german_english" in capsys.readouterr().out
