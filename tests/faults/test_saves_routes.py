"""Every route that reads a damaged run answers: with the save before where there is one, else with a sentence; no stream breaks. And a
folder serves one server."""

import json
import logging

import pytest

import tests.ui.conftest as ui
from playground.cli import main
from playground.features.registry import PANELS
from playground.runs.disk import files
from playground.runs.disk.store import Store
from playground.ui import server
from playground.ui.assets import PREFIX
from tests.runs.tiny import TINY, at_step, done, wait

site = ui.site
TOKEN = "t" * 32


def first_event(site, run):
    """The first event of the run's stream."""
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}") as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        return json.loads(next(line for line in lines if line.startswith("data: ")).removeprefix("data: "))


def damage(path):
    for name in ("weights.safetensors", "history.json", "replay.safetensors", "state.safetensors"):
        if (path / name).exists():
            (path / name).write_bytes((path / name).read_bytes()[:-9])


@pytest.fixture
def finished(site):
    run = done(site.train(TOKEN, {**TINY, "steps": 5}))
    yield run
    site.act(TOKEN, "delete", run.id)


@pytest.fixture
def paused(site):
    """Saved twice while it trained."""
    run = at_step(site.train(TOKEN, {**TINY, "steps": 1000}), 3)
    site.runs._workers.save(run)
    at_step(run, run.checkpoint_step + 1)
    site.act(TOKEN, "pause", run.id)
    wait(lambda: run.status == "paused")
    yield run
    site.act(TOKEN, "delete", run.id)


READ = [
    "boot", "runs", "run/{run}", "history?run={run}", "history?run={run}&table=validations", "table?run={run}", "board?run={run}",
    "attention?run={run}", "takeaway/{run}?kind=zip", "code?run={run}", "preview?run={run}",
]  # fmt: skip


def read_everything(site, run, headers):
    paths = [*READ, *(f"panel/{name}?run={{run}}&text=hello" for name in PANELS)]
    for path in paths:
        answer = site.http.get(f"{PREFIX}/{path.format(run=run.id)}", headers=headers)
        assert answer.status_code == 200, (path, answer.text)
        yield path, answer


@pytest.mark.fault("the only save of a run damaged", "a sentence on every route; no stream breaks, no traceback")
def test_a_run_whose_only_save_is_damaged_says_so_on_every_route(site, finished, caplog):
    finished.release()
    damage(site.runs.store.path(finished))
    headers = {"X-Playground-Token": TOKEN}
    with caplog.at_level(logging.WARNING):
        event = first_event(site, finished)
        assert "missing, damaged" in event["message"]["en"]
        assert (event["status"], event["from"], event["rows"]["step"]) == ("done", 0, [])
        refused = [path for path, answer in read_everything(site, finished, headers) if b'"error"' in answer.content[:9]]
    assert len(refused) > 5
    assert not {"boot", "runs"} & {*refused}, "one run that can't be read hides no other"
    assert sum(record.name.startswith("playground") for record in caplog.records) == 1
    assert not any(record.exc_info for record in caplog.records)
    assert site.runs.store.path(finished).is_dir()


@pytest.mark.fault("the newest save of a run damaged", "the one before is used, and the page says so")
def test_a_run_with_a_save_before_is_shown_as_it_was_then(site, paused, caplog):
    newest = paused.step
    paused.release()
    damage(site.runs.store.path(paused))
    with caplog.at_level(logging.WARNING):
        first_event(site, paused)  # which finds out
        event = first_event(site, paused)
        assert event["step"] == event["rows"]["step"][-1] < newest
        assert "set aside" in event["message"]["en"]
        assert "保存" in event["message"]["zh"]
        for path, answer in read_everything(site, paused, {"X-Playground-Token": TOKEN}):
            assert b"damaged" not in answer.content[:200], path
    assert not any(record.exc_info for record in caplog.records)
    assert files.sibling_paths(site.runs.store.path(paused)).damaged.is_dir()


@pytest.mark.fault("two servers on one folder", "the second ends with one sentence and code 2")
def test_the_second_server_ends_with_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    first = Store(tmp_path)
    with pytest.raises(SystemExit) as end:
        server.serve()
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(part in line for part in (str(tmp_path), "PLAYGROUND_DATA", "Stop"))
    assert main(["runs"]) == 0, "what is kept may be read meanwhile"
    assert "german_english" in capsys.readouterr().out
    first.close()
