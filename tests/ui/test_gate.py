"""Every request is looked up in one table before anything is done for it; what is closed, unknown or forbidden is answered alike."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.requests import Request

from playground.config import Refusal
from playground.ui import gate
from playground.ui.actions import ACTIONS
from playground.ui.assets import PREFIX
from playground.ui.gate import Gate
from playground.ui.operator.routes import absent
from playground.ui.rights import COMMANDS, LISTENERS, ROOM, ROUTES, Right, right_of, right_to
from playground.ui.rooms import _actions
from playground.words import LANGUAGES, say

DECLARE = (
    "{what} has no row in playground/ui/rights.py, so nobody can reach it. Add one to {table} there, with the right that a person needs"
    " (see Right); who hasn't got it must be told what is told of something that there is not (see gate.not_there)."
)


def routes_of(app) -> Iterator[tuple[str, str]]:
    """(method, path) of every route, those of included routers too."""
    for route in app.routes:
        for one in route.effective_route_contexts() if hasattr(route, "effective_route_contexts") else [route]:
            for method in getattr(one, "methods", None) or ():
                yield method, one.path


def test_every_route_of_ours_has_a_right(site):
    for method, path in routes_of(site.app):
        if path.startswith(PREFIX) and method != "HEAD":
            assert path in ROUTES[method], DECLARE.format(what=f"{method} {path}", table=f"ROUTES[{method!r}]")


def test_every_row_is_a_route(site):
    there = set(routes_of(site.app))
    rows = {(method, path) for method, paths in ROUTES.items() for path in paths if "/mcp/" not in path and path not in absent([])}
    assert rows <= there, "rows for routes that there are not"


def test_every_listener_and_endpoint_has_a_right(site):
    names = {re.sub(r"_\d+$", "", listener.api_name) for listener in site.app.get_blocks().fns.values()}
    for name in names:
        assert name in LISTENERS, DECLARE.format(what=f"the listener {name}", table="LISTENERS")
    assert names == set(LISTENERS)


def test_every_action_has_a_right():
    for table, actions in (("COMMANDS", ACTIONS), ("ROOM", _actions(None, None, None))):
        rights = {"COMMANDS": COMMANDS, "ROOM": ROOM}[table]
        for name in actions:
            assert name in rights, DECLARE.format(what=f"the action {name}", table=table)
        assert set(rights) == set(actions)


def test_what_has_no_right_is_nobodys():
    assert right_to("GET", "/monitoring") == (Right.OFF, ())
    assert right_to("GET", f"{PREFIX}/something/new") == (Right.OFF, ())
    assert right_to("PUT", f"{PREFIX}/command") == (Right.OFF, ("POST",))
    assert right_of("something_new") is Right.OFF
    assert right_of("look_ahead_12") is right_of("look_ahead") is Right.PUBLIC


def alike(answer) -> tuple:
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status_code, headers, answer.content


CLOSED = (
    "/monitoring", "/monitoring/summary", "/openapi.json", "/docs", "/redoc", "/login", "/logout", "/endpoints", "/pwa_icon",
    "/gradio_api/deep_link", "/gradio_api/proxy=http://127.0.0.1:1/", "/gradio_api/file=/etc/passwd", "/gradio_api/file=http://a.example/",
    "/gradio_api/file/x", "/gradio_api/runs", "/gradio_api/run-history/buckets", "/gradio_api/dev/reload", "/gradio_api/token",
    "/gradio_api/user", "/gradio_api/login_check", "/gradio_api/queue/status", "/gradio_api/openapi.json", "/gradio_api/theme.css",
    "/gradio_api/vibe-code", "/gradio_api/vibe-starter-queries", "/gradio_api/stream/x/y/0/playlist.m3u8", "/gradio_api/profiling/traces",
    "/gradio_api/custom_component/1/client/component/index.js", f"{PREFIX}/nothing", f"{PREFIX}/asset/1/../../server.py",
)  # fmt: skip


@pytest.mark.parametrize("path", CLOSED)
def test_what_is_closed_is_as_if_it_were_not_there(site, path):
    for method in ("GET", "POST", "DELETE"):
        assert alike(site.http.request(method, path)) == alike(site.http.request(method, "/no/such/thing"))


@pytest.mark.parametrize(
    "path",
    ["/static/nothing", "/static/../routes.py", "/assets/..%2f..%2froutes.py", f"{PREFIX}/asset/1/nothing", f"/assets/{'a' * 256}",
     f"/static/{'ä' * 200}", f"/static/{'a/' * 3000}"],
)  # fmt: skip
def test_what_is_not_there_is_said_by_everybody_in_the_same_words(site, path):
    assert alike(site.http.get(path)) == alike(site.http.get("/no/such/thing"))


@pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "PROPFIND", "X"])
def test_another_method_is_refused_with_those_that_there_are(site, method):
    answer = site.http.request(method, f"{PREFIX}/boot")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.json()["key"] == "page.not_there"


@pytest.mark.parametrize("path", ["/", "/config"])
@pytest.mark.parametrize("query", ["page=endpoints", "page=nothing", "p%61ge=x", "page=%FF", "deep_link=../../x", "page=a&deep_link=b"])
def test_gradios_own_pages_and_states_can_not_be_asked_for(site, path, query):
    answer = site.http.get(f"{path}?run=reverse&text=%ED%A0%80&{query}")
    assert answer.status_code == 200
    assert answer.content == site.http.get(f"{path}?run=reverse&text=%ED%A0%80").content


def test_a_stream_of_nobody_ends_whole_and_without_a_traceback(site, caplog):
    """Gradio raises after it has begun to answer."""
    for path in ("queue/data?session_hash=nobody", f"call/translate/{'0' * 32}", f"call/v2/translate/{'0' * 32}"):
        assert site.http.get(f"/gradio_api/{path}").status_code == 200
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_a_sentence_in_the_language_of_the_browser(site, language):
    answer = site.http.get("/monitoring", headers={"Accept-Language": language})
    assert answer.json() == dict.fromkeys(("error", "detail"), say(language, "page.not_there")) | {"key": "page.not_there"}


async def through(app, right: Right | None = None, checks=None, monkeypatch=None) -> list[dict]:
    """What comes back through a gate."""
    if right:
        monkeypatch.setattr(gate, "right_to", lambda method, path: (right, ("GET",)))
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
    await Gate(app, checks)(scope, None, send)
    return sent


async def fine(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def wrong(scope, receive, send):
    raise ZeroDivisionError("a secret of the server")


@pytest.mark.anyio
@pytest.mark.parametrize(("check", "status"), [(None, 404), (lambda request: False, 404), (lambda request: True, 200)])
async def test_the_operators_routes_are_nobodys_without_a_check(monkeypatch, check, status):
    sent = await through(fine, Right.OPERATOR, {Right.OPERATOR: check} if check else {}, monkeypatch)
    assert sent[0]["status"] == status


@pytest.mark.anyio
async def test_a_mistake_of_the_server_is_a_sentence_to_the_caller_and_a_traceback_in_the_log(caplog):
    sent = await through(wrong)
    assert sent[0]["status"] == 500
    assert say("en", "page.went_wrong").encode() in sent[1]["body"]
    assert b"secret" not in sent[1]["body"]
    assert "ZeroDivisionError" in caplog.text
    assert "a secret of the server" in caplog.text


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_a_refusal_is_told_with_what_gradio_shows():
    request = Request({"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b"lang=zh"})
    answer = gate.told(Refusal("page.not_there"), 404, request)
    assert say("zh", "page.not_there") in answer.body.decode()


@pytest.mark.parametrize("host", [b"elsewhere:no-port", "ä.example".encode(), b"[", b"a b, other.example"])
def test_a_proxy_that_names_no_host_is_not_believed(site, host):
    """The page is as it is without that proxy's word; the name of a host is taken."""
    assert site.http.get("/config", headers={"X-Forwarded-Host": host}).json()["root"] == site.http.get("/config").json()["root"]
    assert site.http.get("/config", headers={"X-Forwarded-Host": "a.example:81"}).json()["root"] == "http://a.example:81"
