"""What is posted to Gradio's listeners: a call that is none is one sentence with a key and a status of the caller's, never the server's."""

from __future__ import annotations

import json
import logging

import pytest

from playground.ui import calls
from playground.words import LANGUAGES, entries, say
from tests.thoroughness import every_case


@pytest.fixture(scope="module")
def page(site):
    return site.http.get("/config").json()


def number(page, name: str) -> int:
    return next(one["id"] for one in page["dependencies"] if one["api_name"] == name)


def values(page, name: str, **others) -> list:
    """What the page would send for a listener, with some values changed by the names of their controls."""
    kinds = {one["id"]: one for one in page["components"]}
    found = []
    for id in next(one["inputs"] for one in page["dependencies"] if one["api_name"] == name):
        props = kinds[id]["props"]
        found.append(others.get((props.get("elem_id") or "").removeprefix("knob-"), props.get("value")))
    return found


def post(site, way: str, body, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return site.http.post(f"/gradio_api/{way}", content=content, headers={"Content-Type": "application/json", **headers})


def refused(answer, status: int = 400) -> str:
    """The key of a refusal, which is one sentence."""
    assert answer.status_code == status, answer.text
    said = answer.json()
    assert said.keys() == {"error", "detail", "key"}
    assert said["error"] == said["detail"]
    assert "\n" not in said["error"]
    assert said["key"] in entries("en")
    return said["key"]


BODIES = {
    "nothing": b"", "no JSON": b"[", "a list": b"[]", "a text": b'"text"', "null": b"null", "deep": b"[" * 50_000, "endless": b"9" * 5000,
    "half a character": b'{"data": ["\\ud800"]}', "no UTF-8": b'{"data": "\xff"}', "NaN": b'{"data": [NaN]}',
    "half a character, written out": b'{"data": ["\xed\xa0\x80"]}', "half a character in UTF-16": '{"data": ["\\ud800"]}'.encode("utf-16"),
    "UTF-32": '{"data": []}'.encode("utf-32"),
    "infinity": b'{"data": [1e999]}', "long number": b'{"data": [123456789012345678901234567890]}',
    "deep values": b'{"data": ' + b"[" * 60 + b"]" * 60 + b"}",
    "many values": b'{"data": [' + b"0," * 200_000 + b"0]}",
}  # fmt: skip


@every_case("way", ["run/predict", "queue/join", "call/translate", "call/v2/translate"])
@every_case("body", BODIES.values())
def test_what_is_no_json_object_is_one_sentence(site, way, body):
    assert refused(post(site, way, body)) == "api.no_json"


@every_case("way", ["run/predict", "queue/join"])
@every_case(
    "changed",
    [
        {"fn_index": 10**6}, {"fn_index": -1}, {"fn_index": "7"}, {"fn_index": 7.0}, {"fn_index": True}, {"fn_index": None},
        {"fn_index": [7]}, {"data": None}, {"data": {}}, {"data": []}, {"data": [1]}, {"data": ["default"] * 99}, {"session_hash": ["a"]},
        {"session_hash": "a b"}, {"session_hash": "x" * 65}, {"session_hash": "../.."}, {"session_hash": 7}, {"event_id": {}},
        {"event_id": "\n"}, {"trigger_id": "a"}, {"trigger_id": 1.5}, {"batched": True}, {"simple_format": "yes"}, {"oauth_token": "x"},
    ],
)  # fmt: skip
def test_what_is_no_call_is_one_sentence(site, page, way, changed):
    call = {"data": values(page, "take_preset"), "fn_index": number(page, "take_preset"), "session_hash": "calls"}
    assert refused(post(site, way, call | changed)) == "page.not_a_command"


@pytest.mark.parametrize("name", ["%0A%0D", "take%7Ftask", "%00"])
def test_a_name_that_no_address_can_hold_is_one_sentence(site, page, name):
    call = {"data": [], "fn_index": number(page, "reset"), "session_hash": "calls"}
    assert refused(post(site, f"run/{name}", call)) == "page.not_a_command"


def test_what_runs_in_the_page_alone_can_not_be_called(site, page):
    for one in page["dependencies"]:
        if not one["backend_fn"]:
            call = {"data": values(page, one["api_name"]), "fn_index": one["id"], "session_hash": "calls"}
            for way in ("run/predict", "queue/join", f"run/{one['api_name']}"):
                assert refused(post(site, way, call)) == "page.not_a_command"
            assert refused(post(site, f"call/{one['api_name']}", call), 404) == "api.no_endpoint"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_value_of_another_kind_is_one_sentence_to_the_caller_and_one_line_in_the_log(site, page, language, caplog, capfd):
    call = {"data": values(page, "read"), "fn_index": number(page, "read"), "session_hash": "queued"}
    call["data"][0], call["data"][1] = {"language": language}, 7
    with caplog.at_level(logging.INFO, "playground.ui.calls"):
        assert post(site, "queue/join", call).status_code == 200
        with site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": "queued"}) as events:
            ended = json.loads(next(line for line in events.iter_lines() if "process_completed" in line).removeprefix("data: "))
    assert (ended["success"], ended["output"]["title"]) == (False, "page.not_a_command")
    assert ended["output"]["error"] == say(language, "page.not_a_command")
    assert "Traceback" not in capfd.readouterr().err
    assert [record.getMessage()[:30] for record in caplog.records if "read" in record.getMessage()]


def test_a_call_has_an_end(site, monkeypatch):
    monkeypatch.setattr(calls, "MAX_BYTES", 10_000)

    def endless():
        for _ in range(100):
            yield b" " * 1000

    assert refused(post(site, "run/predict", b" " * 10_001), 413) == "page.command_too_long"
    answer = site.http.post("/gradio_api/run/predict", content=endless(), headers={"Content-Type": "application/json"})
    assert refused(answer, 413) == "page.command_too_long"


def test_a_mistake_in_a_listener_is_the_servers_and_says_nothing_of_it(site, page, monkeypatch, capfd):
    def broken(*values):
        raise ZeroDivisionError("a secret of the server")

    id = number(page, "reset")
    monkeypatch.setattr(site.app.get_blocks().fns[id], "fn", broken)
    answer = post(site, "run/predict", {"data": [], "fn_index": id, "session_hash": "calls"})
    assert refused(answer, 500) == "page.went_wrong"
    assert "secret" not in answer.text
    assert "a secret of the server" in capfd.readouterr().err, "the log has it"


@pytest.mark.parametrize(
    ("name", "body", "status", "key"),
    [
        ("translate", {"run": "reverse"}, 400, "api.not_its_arguments"),
        ("translate", {"run": "reverse", "text": "a", "oauth_token": "x"}, 400, "api.not_its_arguments"),
        ("js_fn", {}, 404, "api.no_endpoint"),
        ("look_ahead", {}, 404, "api.no_endpoint"),
    ],
)
def test_an_endpoint_says_what_it_needs(site, name, body, status, key):
    assert refused(post(site, f"call/v2/{name}", body), status) == key
