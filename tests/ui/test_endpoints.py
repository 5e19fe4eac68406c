"""From outside: streams, uploads and odd addresses of a program that skips the page and asks the server directly."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.hostile.people import values
from playground.config import Experiment
from playground.runs.names import owner_of
from playground.ui.panels import PANELS
from playground.ui.routes import PREFIX
from tests.ui.test_actions import MINE, THEIRS, TINY, wait


@pytest.fixture(scope="module")
def run(site):
    """It trains as long as nobody stops it."""
    run = site.runs.create(Experiment().with_(**TINY, steps=100_000), MINE)
    wait(run, "training")
    yield run
    site.runs.delete(run.id, MINE)


def strict(text: str) -> object:
    """JSON as a browser reads it: NaN is an error."""
    return json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} in an answer"))


def test_sentences_that_go_wrong_are_not_offered_of_a_model_that_changes(site, run):
    end = time.monotonic() + 60
    while "error" in (panel := site.panel("teacher_forcing", run=run.id)):  # until its first step
        assert time.monotonic() < end, panel
    offered = [{block["id"] for block in found["blocks"]} for found in (panel, site.panel("teacher_forcing", run=run.id, step=0))]
    assert "lanes" in offered[0]
    assert [bool(ids & {"wrong", "none-wrong"}) for ids in offered] == [False, True]


def ended(site, session: str, inputs: dict[int, object]) -> str:
    """How Gradio's queue ends a call of the listener that reads pairs, with these of its inputs."""
    config = site.http.get("/config").json()
    listener = next(one for one in config["dependencies"] if one["api_name"] == "read")
    body = {"data": values(config, listener, inputs), "fn_index": listener["id"], "session_hash": session}
    site.http.post("/gradio_api/queue/join", json=body).raise_for_status()
    with site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as events:
        return next(line for line in events.iter_lines() if "process_completed" in line).removeprefix("data: ")


def test_no_file_of_the_server_is_read_as_an_upload(site):
    secret = Path(site.runs.store.folder) / "pairs.tsv"
    secret.write_text("a\tb\nc\td\n")
    for path in map(str, (secret, Path(__file__).parents[2] / "README.md", "/etc/passwd", f"{site.url}gradio_api/playground/boot")):
        for file in ({"path": path, "meta": {"_type": "gradio.FileData"}}, {"path": path}, path):
            told = json.loads(ended(site, "files", {0: {}, 1: [file]}))
            assert not told["success"], file
            assert "reading" not in json.dumps(told), file
        assert site.http.get(f"/gradio_api/file={path}").status_code == 404
    told = json.loads(ended(site, "files", {0: {}, 2: "a\tb\nc\td"}))
    assert told["output"]["data"][0]["reading"]["pairs"] == 2, "the way that must be closed to files is open to pasted pairs"


@pytest.mark.parametrize("told", [{"language": "en", "own": "", "choices": ""}, "", None, 7, ["own"], {"own": ["a"], "language": {}}])
def test_pasted_pairs_are_read_whatever_the_script_says_beside_them(site, told):
    assert json.loads(ended(site, "pasted", {0: told, 2: "a\tb\nc\td"}))["output"]["data"][0]["reading"]["pairs"] == 2


def test_an_upload_has_an_end(site):
    answer = site.http.post("/gradio_api/upload", files={"files": ("big.tsv", b"a\tb\n" * 6_000_000)})
    assert answer.status_code == 413


ODD = ("%ED%A0%80", "%FF%FE", "%00", "a%0Ab", "%F0%9F%99%82", "%E2%80%AE", "&text=twice")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(PANELS)), text=st.sampled_from(ODD))
def test_odd_bytes_in_an_address_are_only_text(site, name, text):
    answer = site.http.get(f"{PREFIX}/panel/{name}?run=reverse&text={text}")
    assert answer.status_code == 200
    assert strict(answer.text)


def events_of(site, run, since: object = "0", last: object = None) -> Iterator[tuple[str, dict]]:
    """(id, update) of a stream's events. `last` is what a browser sends whose line was cut: the id of the last event that it got."""
    headers = {"Last-Event-ID": last} if last is not None else {}
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}", params={"since": since}, headers=headers) as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        known = ""
        for line in events.iter_lines():
            name, _, value = line.partition(": ")
            known = value if name == "id" else known
            if name == "data":
                yield known, strict(value)


@pytest.mark.parametrize("odd", ["", "0", "-1", "nan", "9" * 30, "x", "１２", "1, 2"])
def test_a_stream_starts_with_the_whole_run_whatever_it_is_asked(site, run, odd):
    for asked in ({"since": odd}, {"last": odd.encode()}):
        _, update = next(events_of(site, run, **asked))
        assert (update["id"], update["from"]) == (run.id, 0)
        assert {len(column) for column in update["rows"].values()} == {len(update["rows"]["step"])}


def test_a_line_that_was_cut_goes_on_where_it_was(site, run):
    """A browser asks again for the address it began with, and says which event it got last: it gets every later row, and none twice."""
    begun, _ = next(events_of(site, run))
    steps, last = [], None
    for _ in range(4):
        stream = events_of(site, run, since=begun, last=last)
        seen = [next(stream), next(stream)]
        stream.close()
        assert seen[0][1]["from"] > 0
        steps += [step for _, update in seen for step in update["rows"]["step"]]
        last = seen[-1][0]
    assert steps == list(range(steps[0], steps[-1] + 1))


def test_who_asks_sees_their_own_runs_only_and_no_key(site, run):
    def asked(path: str, token: str):
        return site.http.get(f"{PREFIX}/{path}", headers={"X-Playground-Token": token})

    assert [one["id"] for one in asked("runs", MINE).json()["mine"]] == [run.id]
    assert [asked("runs", token).json()["mine"] for token in (THEIRS, "", owner_of(MINE))] == [[], [], []]
    cards = [asked(f"run/{run.id}", token) for token in (MINE, THEIRS)]
    assert [card.json()["mine"] for card in cards] == [True, False]
    for answer in (*cards, asked("boot", MINE), asked("runs", MINE), asked("panel/runs", MINE), asked("history", MINE)):
        assert MINE not in answer.text
        assert owner_of(MINE) not in answer.text
