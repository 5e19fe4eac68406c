"""From outside: what another page or a program sends to the route that changes runs, to streams and to uploads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hostile.people import values
from playground.runs.names import owner_of
from playground.ui.assets import PREFIX
from playground.words import LANGUAGES, say
from tests.runs.tiny import at_step
from tests.ui.panels.looking import TINY
from tests.ui.test_actions import MINE, THEIRS


@pytest.fixture(scope="module")
def run(site):
    run = at_step(site.train(MINE, TINY | {"steps": 100_000}), 1)
    yield run
    site.runs.delete(run.id, MINE)


def test_only_a_page_of_this_server_is_heard_though_another_knows_the_token(site, run, monkeypatch):
    """Same-site is another port or name, none is typed into the address bar; a request without both headers is no browser's."""
    host = site.url.split("//")[1].rstrip("/")
    elsewhere = [{"Sec-Fetch-Site": kind} for kind in ("cross-site", "same-site", "none")]
    elsewhere += [{"Sec-Fetch-Site": "cross-site", "Origin": f"http://{host}"}]
    elsewhere += [{"Origin": "https://elsewhere.example", "X-Forwarded-Host": "elsewhere.example"}]
    others = ("https://elsewhere.example", "http://127.0.0.1:1", f"http://{host}.a.example", "null", "", "http://[")
    elsewhere += [{"Origin": origin} for origin in (*others, "https://me-app.hf.space")]
    here = [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}, {"Origin": f"https://{host}"}]
    for number, headers in enumerate(elsewhere):
        language = LANGUAGES[number % len(LANGUAGES)]
        answer = site.command({"action": "rename", "run": run.id, "label": "taken"}, MINE, language, **headers)
        refused = {"error": say(language, "page.not_from_here"), "key": "page.not_from_here"}
        assert (answer.status_code, answer.json(), run.label) == (403, refused, ""), headers
        room = site.http.post(f"{PREFIX}/room/forget", params={"lang": language}, json={}, headers={"X-Playground-Token": MINE} | headers)
        assert (room.status_code, room.json()) == (403, refused), headers
    form = site.command({"action": "stop", "run": run.id}, None, **{"Content-Type": "text/plain"})  # which can send no token
    assert (form.status_code, form.json()["key"], run.status) == (403, "runs.no_token", "training")
    monkeypatch.setenv("SPACE_HOST", "me-app.hf.space")  # a Space has another name inside
    for number, headers in enumerate([*here, {"Origin": "https://me-app.hf.space"}]):
        message = {"action": "rename", "run": run.id, "label": f"label {number}"}
        assert site.command(message, MINE, **headers).json() == {"again": True}
        assert run.label == f"label {number}"
    site.runs.rename(run.id, MINE, "")


BODIES = (
    b"[" * 30_000, b"{" * 30_000, b'"', b"\x00", b"12", b'{"action": "stop"}', b"[]", b"null", b"", b"9" * 5000, b"\xff\xfe", b'"\\ud800"',
    b'{"action": "rename", "run": "reverse", "label": "\xed\xa0\x80"}', b"action=stop&run=reverse",
    b'{"action": "experiment", "run": "", "lab": "\\ud800", "seed": 1}',
)  # fmt: skip

ODD = ("%ED%A0%80", "%FF%FE", "%00", "a%0Ab", "%F0%9F%99%82", "%E2%80%AE", "&text=twice")


def test_odd_messages_are_refused_in_a_language_there_is_and_have_an_end(site):
    for body in BODIES:
        for answer in (site.command(body, MINE), site.http.post(f"{PREFIX}/room/join", content=body, headers={"X-Playground-Token": MINE})):
            assert (answer.status_code, answer.json()["key"]) == (400, "page.not_a_command"), body[:40]
    for language in ("en", "zh", "", "../../etc", "xx", "7", '["en"]', "\x00"):
        known = language if language in LANGUAGES else "en"
        assert site.command({}, MINE, language).json()["error"] == say(known, "page.not_a_command"), language
    for text in ODD:
        for name in ("sentence", "translate", "training"):
            answer = site.http.get(f"{PREFIX}/panel/{name}?run=reverse&text={text}")
            assert answer.status_code == 200
            assert strict(answer.text)


def strict(text: str) -> object:
    """JSON as a browser reads it: NaN is an error."""
    return json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} in an answer"))


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
            reply = json.loads(ended(site, "files", {0: {}, 1: [file]}))
            assert not reply["success"], file
            assert "reading" not in json.dumps(reply), file
        assert site.http.get(f"/gradio_api/file={path}").status_code == 404
    for beside in ({}, None, {"own": ["a"], "language": {}}):
        reply = json.loads(ended(site, "pasted", {0: beside, 2: "a\tb\nc\td"}))  # the way that is closed to files is open to pasted pairs
        assert reply["output"]["data"][0]["reading"]["pairs"] == 2
    assert site.http.post("/gradio_api/upload", files={"files": ("big.tsv", b"a\tb\n" * 6_000_000)}).status_code == 413


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


def test_a_stream_starts_with_the_whole_run_whatever_it_is_asked(site, run):
    for odd in ("", "0", "-1", "nan", "9" * 30, "x", "１２", "1, 2"):
        for query in ({"since": odd}, {"last": odd.encode()}):
            _, update = next(events_of(site, run, **query))
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
    def read(path: str, token: str):
        return site.http.get(f"{PREFIX}/{path}", headers={"X-Playground-Token": token})

    assert [one["id"] for one in read("runs", MINE).json()["mine"]] == [run.id]
    assert [read("runs", token).json()["mine"] for token in (THEIRS, "", owner_of(MINE))] == [[], [], []]
    cards = [read(f"run/{run.id}", token) for token in (MINE, THEIRS)]
    assert [card.json()["mine"] for card in cards] == [True, False]
    for answer in (*cards, *(read(path, MINE) for path in ("boot", "runs", "panel/runs", "history"))):
        assert not [key for key in (MINE, owner_of(MINE)) if key in answer.text]


def test_sentences_that_go_wrong_are_not_offered_of_a_model_that_changes(site, run):
    changing, step = ({block["id"] for block in site.panel("teacher_forcing", run=run.id, **at)["blocks"]} for at in ({}, {"step": 0}))
    assert "lanes" in changing
    assert (bool(changing & {"wrong", "none-wrong"}), bool(step & {"wrong", "none-wrong"})) == (False, True)
