"""What is posted to Gradio's listeners: what is no call is one refusal of the caller's, and no value makes a listener fail."""

import json
import logging
from pathlib import Path

import pytest

from playground.config import Experiment
from playground.features.shared import uploading
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.ui import listeners
from playground.words import entries

WAYS = ("run/predict", "queue/join")


class Page:
    """Gradio's own list of components and listeners, and how a browser posts to them."""

    def __init__(self, site) -> None:
        self.site, self.config = site, site.http.get("/config").json()
        self.listeners = {one["api_name"]: one for one in self.config["dependencies"]}
        self.props = {one["id"]: one["props"] for one in self.config["components"]}
        self.files = {one["id"] for one in self.config["components"] if one["type"] == "file"}

    def name(self, id: int) -> str:
        return (self.props[id].get("elem_id") or "").removeprefix("knob-")

    def call(self, name: str, **changed: object) -> dict:
        """A call with the values that the controls hold at first, but for those that are `changed`."""
        usual = Experiment().flat() | {"preset": "default", "pg-paste": "ab\tba\ncd\tdc\nef\tfe", "pg-hub": ""} | changed
        listener = self.listeners[name]
        data = [None if id in self.files else usual.get(self.name(id), {"language": "en"}) for id in listener["inputs"]]
        return {"data": data, "fn_index": listener["id"], "session_hash": "calls"}

    def post(self, way: str, body: object):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.site.http.post(f"/gradio_api/{way}", content=content, headers={"Content-Type": "application/json"})

    def queued(self, body: dict) -> dict:
        self.post("queue/join", body).raise_for_status()
        with self.site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": body["session_hash"]}) as lines:
            return json.loads(next(line for line in lines.iter_lines() if '"process_completed"' in line).removeprefix("data: "))


@pytest.fixture(scope="module")
def page(site) -> Page:
    """Opened in a browser: Gradio has made each control anew with its words."""
    page = Page(site)
    arrive = next(one for one in page.listeners.values() if any(event == "load" for _, event in one["targets"]))
    page.post("run/predict", {"data": [{"address": ""}], "fn_index": arrive["id"], "session_hash": "calls"}).raise_for_status()
    return page


def refused(answer, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"error", "detail", "key"}
    assert body["error"] == body["detail"]
    assert "\n" not in body["error"]
    assert body["key"] in entries("en")
    return body["key"]


BODIES = {
    "nothing": b"", "no JSON": b"[", "a list": b"[]", "null": b"null", "deep": b"[" * 50_000, "endless": b"9" * 5000,
    "half a character": b'{"data": ["\\ud800"]}', "no UTF-8": b'{"data": "\xff"}', "NaN": b'{"data": [NaN]}',
    "half a character, written out": b'{"data": ["\xed\xa0\x80"]}', "half a character in UTF-16": '{"data": ["\\ud800"]}'.encode("utf-16"),
    "UTF-32": '{"data": []}'.encode("utf-32"),
    "infinity": b'{"data": [1e999]}', "long number": b'{"data": [123456789012345678901234567890]}',
    "deep values": b'{"data": ' + b"[" * 60 + b"]" * 60 + b"}",
    "many values": b'{"data": [' + b"0," * 200_000 + b"0]}",
}  # fmt: skip
NO_CALLS = (
    {"fn_index": 10**6}, {"fn_index": -1}, {"fn_index": "7"}, {"fn_index": 7.0}, {"fn_index": True}, {"fn_index": None},
    {"fn_index": [7]}, {"data": None}, {"data": {}}, {"data": []}, {"data": [1]}, {"data": ["default"] * 99}, {"session_hash": ["a"]},
    {"session_hash": "a b"}, {"session_hash": "x" * 65}, {"session_hash": "../.."}, {"session_hash": 7}, {"event_id": {}},
    {"event_id": "\n"}, {"trigger_id": "a"}, {"trigger_id": 1.5}, {"batched": True}, {"simple_format": "yes"}, {"oauth_token": "x"},
)  # fmt: skip


def test_what_is_no_json_object_is_one_sentence(page):
    for way in (*WAYS, "call/translate", "call/v2/translate"):
        for name, body in BODIES.items():
            assert refused(page.post(way, body)) == "api.no_json", (way, name)


def test_what_is_no_call_is_one_sentence(page):
    fits = {"event_id": None, "trigger_id": 3, "oauth_token": None, "simple_format": False, "batched": False, "session_hash": "x" * 64}
    assert page.post("run/predict", page.call("take_preset") | fits).status_code == 200
    for way in WAYS:
        for changed in NO_CALLS:
            assert refused(page.post(way, page.call("take_preset") | changed)) == "page.not_a_command", (way, changed)
    for name in ("%0A%0D", "take%7Ftask", "%00"):
        assert refused(page.post(f"run/{name}", page.call("reset"))) == "page.not_a_command", name
    named = {name: value for name, value in page.call("take_preset").items() if name != "fn_index"}
    assert refused(page.post("run/no_such_listener", named)) == "page.not_a_command"


def test_a_value_of_another_kind_is_one_sentence_to_the_caller_and_one_line_in_the_log(page, caplog, capfd):
    for number in range(1, len(page.listeners["read"]["inputs"])):
        call = page.call("read") | {"session_hash": "queued"}
        call["data"][number] = 7 if number < 4 else {}
        with caplog.at_level(logging.INFO, "playground.ui.calls"):
            if number == 1:  # files
                assert refused(page.post("queue/join", call)) == "page.not_a_command"
            else:
                answer = page.queued(call)["output"]["data"][0]
                assert answer.get("key", "page.not_a_command") == "page.not_a_command", "a refusal, or a knob's usual value"
    assert "Traceback" not in capfd.readouterr().err
    assert any("read" in record.getMessage() for record in caplog.records)


def test_no_file_of_the_server_is_read_as_an_upload(page, site):
    secret = Path(site.runs.store.folder) / "pairs.tsv"
    secret.write_text("a\tb\nc\td\n")
    for path in map(str, (secret, Path(__file__).parents[2] / "README.md", "/etc/passwd", f"{site.url}gradio_api/playground/boot")):
        for file in ({"path": path, "meta": {"_type": "gradio.FileData"}}, {"path": path}, path):
            call = page.call("read", **{"pg-paste": ""}) | {"session_hash": "files"}
            call["data"][1] = [file]
            assert refused(page.post("queue/join", call)) == "page.not_a_command", file
        assert site.http.get(f"/gradio_api/file={path}").status_code == 404
    for beside in ({}, None, {"own": ["a"], "language": {}}):  # the way that is closed to files is open to pasted pairs
        call = page.call("read") | {"session_hash": "pasted"}
        call["data"][0] = beside
        assert page.queued(call)["output"]["data"][0]["reading"]["pairs"] == 2  # the first line is a header


def test_a_mistake_in_a_listener_is_the_servers_and_says_nothing_of_it(page, monkeypatch, capfd):
    def broken(*values):
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr(listeners, "default", broken)
    answer = page.post("run/predict", page.call("reset"))
    assert refused(answer, 500) == "page.went_wrong"
    assert "secret" not in answer.text
    assert "a secret of the server" in capfd.readouterr().err, "the log has it"


def test_a_time_suits_own_pairs_that_are_seen_so_often(page, site):
    pairs = Pairs(tuple(Pair(f"word{n} of{n}", f"wort{n} von{n}", n + 1) for n in range(300)), {}, 300, "tsv", ("own.tsv",))
    own = uploading.store_upload(pairs, uploading.ticket_of("a key"))
    asked = {"language": "en", "own": own, "ticket": uploading.ticket_of("a key")}
    call = page.call("take_minutes", minutes=5.0, task="own")
    call["data"] = [asked if value == {"language": "en"} else value for value in call["data"]]
    given = dict(zip(map(page.name, page.listeners["take_minutes"]["inputs"]), call["data"], strict=True))
    told = [None if isinstance(value, dict) else value for value in page.post("run/predict", call).json()["data"]]
    suits = uploading.timed_values(pairs, own, given, told[0])
    assert suits
    assert dict(zip(uploading.TIMED[1:], told[1:], strict=True)) == {name: suits.get(name) for name in uploading.TIMED[1:]}
