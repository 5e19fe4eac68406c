"""The one route by which a page changes runs: it takes messages of this server's own pages alone, and only so long ones."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref

import pytest

from playground.config import Refusal
from playground.runs.registry import Runs
from playground.ui import command
from playground.ui.assets import PREFIX
from playground.words import LANGUAGES, say
from tests.ui.test_actions import MINE, TINY, wait


@pytest.fixture(scope="module")
def run(site):
    run = site.train(MINE, TINY | {"steps": 100_000})
    wait(run, "training")
    yield run
    site.runs.delete(run.id, MINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_a_page_of_this_server_is_heard_though_another_knows_the_token(site, run, language):
    """Same-site is another port or name, none is typed into the address bar; a request without both headers is no browser's."""
    host = site.url.split("//")[1].rstrip("/")
    elsewhere = [{"Sec-Fetch-Site": kind} for kind in ("cross-site", "same-site", "none")]
    elsewhere += [{"Sec-Fetch-Site": "cross-site", "Origin": f"http://{host}"}]
    elsewhere += [{"Origin": "https://elsewhere.example", "X-Forwarded-Host": "elsewhere.example"}]
    others = ("https://elsewhere.example", "http://127.0.0.1:1", f"http://{host}.a.example", "null", "", "http://[")
    elsewhere += [{"Origin": origin} for origin in others]
    here = [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}, {"Origin": f"https://{host}"}]
    for headers in elsewhere:
        answer = site.command({"action": "rename", "run": run.id, "label": "taken"}, MINE, language, **headers)
        refused = {"error": say(language, "page.not_from_here"), "key": "page.not_from_here"}
        assert (answer.status_code, answer.json(), run.label) == (403, refused, ""), headers
        room = site.http.post(f"{PREFIX}/room/forget", params={"lang": language}, json={}, headers={"X-Playground-Token": MINE} | headers)
        assert (room.status_code, room.json()) == (403, refused), headers
    for number, headers in enumerate(here):
        asked = {"action": "rename", "run": run.id, "label": f"label {number}"}
        assert site.command(asked, MINE, language, **headers).json() == {"again": True}
        assert run.label == f"label {number}"
    site.runs.rename(run.id, MINE, "")


def test_a_space_may_have_another_name_inside(site, run, monkeypatch):
    asked = {"action": "rename", "run": run.id, "label": ""}
    assert site.command(asked, MINE, Origin="https://me-app.hf.space").status_code == 403
    monkeypatch.setenv("SPACE_HOST", "me-app.hf.space")
    assert site.command(asked, MINE, Origin="https://me-app.hf.space").json() == {"again": True}


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
def test_a_form_can_send_no_token(site, run, kind):
    body = json.dumps({"action": "stop", "run": run.id})
    answer = site.http.post(f"{PREFIX}/command", content=body, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["key"], run.status) == (403, "runs.no_token", "training")


BODIES = (
    b"[" * 30_000, b"{" * 30_000, b'"', b"\x00", b"12", b'{"action": "stop"}', b"[]", b"null", b"", b"9" * 5000, b"\xff\xfe", b'"\\ud800"',
    b'{"action": "rename", "run": "reverse", "label": "\xed\xa0\x80"}', b"action=stop&run=reverse",
    b'{"action": "experiment", "run": "", "lab": "\\ud800", "seed": 1}',
)  # fmt: skip


def test_odd_messages_are_refused_in_a_language_there_is(site):
    for body in BODIES:
        for answer in (site.command(body, MINE), site.http.post(f"{PREFIX}/room/join", content=body, headers={"X-Playground-Token": MINE})):
            assert (answer.status_code, answer.json()["key"]) == (400, "page.not_a_command"), body[:40]
    for language in ("en", "zh", "", "../../etc", "xx", "7", '["en"]', "\x00"):
        known = language if language in LANGUAGES else "en"
        assert site.command({}, MINE, language).json()["error"] == say(known, "page.not_a_command"), language


@pytest.mark.parametrize("path", ["command", "room/join"])
def test_a_message_has_an_end(site, path):
    def endless():
        for _ in range(1000):
            yield b" " * 10_000

    for content in (b"x" * (command.MAX_BYTES + 1), endless()):
        answer = site.http.post(f"{PREFIX}/{path}", params={"lang": "zh"}, content=content, headers={"X-Playground-Token": MINE})
        assert (answer.status_code, answer.json()["error"]) == (413, say("zh", "page.command_too_long"))
    longest = site.command(b'{"action": "x", "run": "reverse"}'.ljust(command.MAX_BYTES), MINE)
    assert longest.json()["key"] == "page.not_a_command"
    assert longest.status_code == 400


def test_a_refusal_is_an_answer_like_another(site):
    answer = site.command({"action": "stop", "run": "reverse"}, MINE, "zh")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.json() == {"error": say("zh", "runs.not_yours"), "key": "runs.not_yours", "knob": None}


def test_others_are_answered_while_a_long_action_goes_on(site, monkeypatch):
    begun, go = threading.Event(), threading.Event()

    def copy(*_: object) -> None:
        begun.set()
        go.wait(60)
        raise Refusal("runs.unknown")

    monkeypatch.setattr(Runs, "copy", copy)
    waiting = threading.Thread(target=lambda: site.command({"action": "copy", "run": "reverse"}, MINE))
    waiting.start()
    try:
        assert begun.wait(60)
        assert site.get("runs").json()["shipped"]
        assert waiting.is_alive()
    finally:
        go.set()
        waiting.join()


def test_a_refusal_holds_nothing_of_what_was_looked_at():
    """Also before Python's collector comes, which is once a minute."""
    looked = []

    def work() -> None:
        def look():
            """It stands for a picture of 20 MB."""

        looked.append(weakref.ref(look))
        raise Refusal("page.not_ready")

    gc.disable()
    try:
        refusal = asyncio.run(command.in_thread(work))
        assert (type(refusal), refusal.key, looked[0]()) == (Refusal, "page.not_ready", None)
    finally:
        gc.enable()
