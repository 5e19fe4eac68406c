"""The one door by which something is changed opens to pages of this server alone, and only so far."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
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


def host(site) -> str:
    return site.url.split("//")[1].rstrip("/")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # another port or name of the same site is another page
        {"Sec-Fetch-Site": "none"},  # typed into the address bar
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://HOST"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://HOST.elsewhere.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://["},
        {"Origin": "https://elsewhere.example", "X-Forwarded-Host": "elsewhere.example"},
    ],
    ids=str,
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_another_page_sends_is_refused_though_it_knows_the_token(site, run, headers, language):
    headers = {name: value.replace("HOST", host(site)) for name, value in headers.items()}
    answer = site.command({"action": "stop", "run": run.id}, MINE, language, **headers)
    assert answer.status_code == 403
    assert answer.json() == {"error": say(language, "page.not_from_here"), "key": "page.not_from_here"}
    time.sleep(0.05)
    assert run.status == "training"


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://HOST"}, {"Origin": "https://HOST"}], ids=str)
def test_what_the_page_sends_is_done(site, run, headers):
    headers = {name: value.replace("HOST", host(site)) for name, value in headers.items()}
    assert site.command({"action": "rename", "run": run.id, "label": str(headers)}, MINE, **headers).json() == {"again": True}
    assert run.label.startswith("{")
    assert run.label == str(headers)[: len(run.label)]


def test_a_space_may_have_another_name_inside(site, run, monkeypatch):
    asked = {"action": "rename", "run": run.id, "label": "mine"}
    assert site.command(asked, MINE, Origin="https://me-app.hf.space").status_code == 403
    monkeypatch.setenv("SPACE_HOST", "me-app.hf.space")
    assert site.command(asked, MINE, Origin="https://me-app.hf.space").json() == {"again": True}


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
def test_a_form_changes_nothing(site, run, kind):
    """It can't send a header of ours, and a browser asks nobody whether it may be sent."""
    body = json.dumps({"action": "stop", "run": run.id})
    answer = site.http.post(f"{PREFIX}/command", content=body, headers={"Content-Type": kind})
    assert answer.status_code == 403
    assert answer.json()["error"] == say("en", "runs.no_token")
    assert run.status == "training"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
def test_it_is_only_posted_to(site, method):
    assert site.http.request(method, f"{PREFIX}/command", headers={"X-Playground-Token": MINE}).status_code == 405


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_has_an_end(site, run, language):
    message = {"action": "rename", "run": run.id, "label": "kept"}
    site.command(message, MINE)
    answer = site.command(message | {"label": "x" * command.MAX_BYTES}, MINE, language)
    assert answer.status_code == 413
    assert answer.json()["error"] == say(language, "page.command_too_long")
    assert run.label == "kept"

    def endless():
        for _ in range(1000):
            yield b" " * 10_000

    answer = site.http.post(f"{PREFIX}/command", content=endless(), headers={"X-Playground-Token": MINE})
    assert answer.status_code == 413


def test_a_long_action_holds_nobody_up(site, monkeypatch):
    """While one waits, others are answered."""
    begun, go = threading.Event(), threading.Event()

    def copy(*_: object) -> None:
        begun.set()
        go.wait(30)
        raise Refusal("runs.unknown")

    monkeypatch.setattr(Runs, "copy", copy)
    waiting = threading.Thread(target=lambda: site.command({"action": "copy", "run": "reverse"}, MINE))
    waiting.start()
    try:
        assert begun.wait(30)
        for _ in range(3):
            assert site.get("runs").json()["shipped"]
    finally:
        go.set()
        waiting.join()


def test_refusals_are_answers_like_others(site):
    answer = site.command({"action": "stop", "run": "reverse"}, MINE, "zh")
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"error": say("zh", "runs.not_yours"), "key": "runs.not_yours", "knob": None}
    assert answer.headers["cache-control"] == "no-store"


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
        found = asyncio.run(command.in_thread(work))
        assert isinstance(found, Refusal)
        assert found.key == "page.not_ready"
        assert looked[0]() is None
    finally:
        gc.enable()
