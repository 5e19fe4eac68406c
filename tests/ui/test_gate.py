"""The gate: what is closed, unknown or forbidden is answered alike, a mistake is one sentence, and the bodies of requests have an end."""

import asyncio
import io
import os
import re
from http.client import HTTPConnection

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request

from playground.runs.admission import Visitors
from playground.ui.assets import PREFIX, asset_version
from playground.ui.delivery import build_policy
from playground.ui.guard import MAX_AGE_S, Bodies, Guard, delete_old
from playground.ui.rights import UPLOAD, Gate, GuardedRoute, Right, Table
from playground.ui.turns import Tally, Turns
from playground.words import LANGUAGES, say
from tests.rights import TABLE
from tests.runs.tiny import limits

UNKNOWN = "/no/such/thing"
TOO_LARGE = {"/gradio_api/cancel": "page.command_too_long", UPLOAD: "data.too_large", f"{PREFIX}/open": "data.too_large"}
CHUNK = b"x" * 60_000
CLOSED = (
    "/monitoring", "/monitoring/summary", "/openapi.json", "/docs", "/redoc", "/login", "/logout", "/endpoints", "/pwa_icon",
    "/gradio_api/deep_link", "/gradio_api/proxy=http://127.0.0.1:1/", "/gradio_api/file=/etc/passwd", "/gradio_api/file=http://a.example/",
    "/gradio_api/file/x", "/gradio_api/runs", "/gradio_api/run-history/buckets", "/gradio_api/dev/reload", "/gradio_api/token",
    "/gradio_api/user", "/gradio_api/login_check", "/gradio_api/queue/status", "/gradio_api/openapi.json", "/gradio_api/theme.css",
    "/gradio_api/vibe-code", "/gradio_api/vibe-starter-queries", "/gradio_api/stream/x/y/0/playlist.m3u8", "/gradio_api/profiling/traces",
    "/gradio_api/custom_component/1/client/component/index.js", f"{PREFIX}/nothing", f"{PREFIX}/asset/1/../../server.py",
)  # fmt: skip
NO_FILES = (
    "/static/nothing", "/static/../routes.py", "/assets/..%2f..%2froutes.py", f"/assets/{'a' * 256}", f"/static/{'ä' * 200}",
    f"/static/{'a/' * 3000}",
)  # fmt: skip
NO_ASSETS = ("nothing", "../server.py", "..%2f..%2fserver.py", "server.py", "main.js/../../server.py")


def test_what_is_closed_and_what_is_not_there_are_the_same_to_the_last_byte(site):
    def answer(method, path):
        response = site.http.request(method, path)
        return response.status_code, {name: value for name, value in response.headers.items() if name != "date"}, response.content

    for path in CLOSED:
        for method in ("GET", "POST", "DELETE"):
            assert answer(method, path) == answer(method, UNKNOWN), path
    for path in (*NO_FILES, *(f"{PREFIX}/asset/{asset_version()}/{name}" for name in NO_ASSETS)):
        assert answer("GET", path) == answer("GET", UNKNOWN), path
    for language in LANGUAGES:
        reply = site.http.get(CLOSED[0], headers={"Accept-Language": language})
        sentence = say(language, "page.not_there")
        assert (reply.status_code, reply.json()) == (404, {"error": sentence, "detail": sentence, "key": "page.not_there"})


@pytest.mark.parametrize("path", ["/", "/config"])
def test_gradios_own_pages_and_states_can_not_be_asked_for(site, path):
    plain = f"{path}?run=reverse&text=%ED%A0%80"
    for query in ("page=endpoints", "page=nothing", "p%61ge=x", "page=%FF", "deep_link=../../x", "page=a&deep_link=b"):
        answer = site.http.get(f"{plain}&{query}")
        assert (answer.status_code, answer.content) == (200, site.http.get(plain).content), query


def test_only_a_proxy_that_there_is_names_the_host_and_no_cache_keeps_the_page(site, monkeypatch):
    own = site.http.get("/config").json()["root"]

    def root(host, name="X-Forwarded-Host"):
        return site.http.get("/config", headers={name: host}).json()["root"]

    assert root("a.example:81") == own
    monkeypatch.setenv("PLAYGROUND_PROXIES", "1")
    assert root("a.example:81") == "http://a.example:81"
    for host in (b"elsewhere:no-port", "ä.example".encode(), b"[", b"a b, other.example"):
        assert root(host) == own
    assert root("http://a.example", "X-Gradio-Server") == own
    for path, found in (("/tools/pg", "/tools/pg"), ("/a/", "/a"), ("//elsewhere.example", ""), ("/a?b", ""), ("", "")):
        assert root(path, "X-Forwarded-Prefix") == own + found
        assert f'<base href="{f"{found}/" if found else "./"}" />' in site.http.get("/", headers={"X-Forwarded-Prefix": path}).text
    assert site.http.get("/").headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("proxies", "scheme"), [("1", "https"), ("0", "http")])
def test_links_begin_with_the_scheme_that_a_declared_proxy_names(proxies, scheme, monkeypatch):
    async def link(scope, receive, send):
        assert str(Request(scope).base_url) == f"{scheme}://a.example/"

    monkeypatch.setenv("PLAYGROUND_PROXIES", proxies)
    assert not through(link, **{"Host": "a.example", "X-Forwarded-Proto": "https"})  # an answer would be that of a mistake


def test_a_stream_counts_also_at_the_path_that_a_proxy_keeps():
    streams, counts = Tally(), []

    async def app(scope, receive, send):
        counts.append(streams.count("address"))

    table = Table([GuardedRoute(f"{PREFIX}/live/{{run}}", app, Right.LINK, stream="visitor")])
    guard = Guard(app, table, limits(), Visitors(), lifted=bool, turns=Turns(streams, 9), streams=streams)
    scope = {"type": "http", "method": "GET", "path": f"/tools/pg{PREFIX}/live/reverse", "root_path": "/tools/pg", "headers": []}
    asyncio.run(guard({**scope, "query_string": b"", "client": ("192.0.2.1", 5), "server": ("here", 80), "scheme": "http"}, None, None))
    assert counts == [1]


def through(app, **headers: str) -> list[dict]:
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "scheme": "http", "query_string": b"lang=zh"}
    asyncio.run(Gate(app, Table())({**scope, "headers": Headers(headers).raw}, None, send))
    return sent


@pytest.mark.parametrize("begun", [False, True])
def test_a_mistake_of_the_server_is_a_sentence_to_the_caller_and_a_traceback_in_the_log(caplog, begun):
    async def wrong(scope, receive, send):
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError("a secret of the server")

    start, body = through(wrong)
    assert start["status"] == (200 if begun else 500)
    assert (body["body"] == b"") if begun else (say("zh", "page.went_wrong").encode() in body["body"])
    assert b"secret" not in body["body"]
    assert "ZeroDivisionError" in caplog.text
    assert "a secret of the server" in caplog.text


def test_every_answer_says_what_it_may_load_and_who_may_frame_it_or_ask_from_elsewhere(site, monkeypatch):
    for path in ("/", f"{PREFIX}/runs", f"{PREFIX}/live/nobody", "/config", UNKNOWN):
        headers = site.http.get(path).headers
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "same-origin"), path
        rules = dict(rule.strip().split(" ", 1) for rule in headers["Content-Security-Policy"].split(";"))
        assert (rules["default-src"], rules["object-src"]) == ("'self'", "'none'"), path
        assert set(rules["frame-ancestors"].split()) == {"'self'", "https://huggingface.co", "https://*.hf.space"}, path
        assert "http:" not in headers["Content-Security-Policy"], path
    assert "Content-Security-Policy" not in site.http.get("/theme.css").headers, "what is no document is not made longer"
    assert site.get("qr", text="x").headers["Content-Security-Policy"] == "default-src 'none'", "a picture keeps its stricter rule"
    monkeypatch.setenv("PLAYGROUND_FRAMES", "https://moodle.example.org https://bad.example;script-src")
    assert build_policy().endswith(" https://*.hf.space https://moodle.example.org")
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for host, origin, allowed in (
        ("127.0.0.1", "http://localhost:9", None), ("localhost:7860", "http://127.0.0.1:1", None), ("127.0.0.1", "https://a.example", None),
        ("school.example", "https://a.example", "*"),
    ):  # fmt: skip
        headers = {"Host": host, "Origin": origin}
        answers = [site.http.get(f"{PREFIX}/boot", headers=headers), site.http.options(f"{PREFIX}/command", headers=headers | asking)]
        for answer in answers:
            assert answer.headers.get("Access-Control-Allow-Origin") == allowed, (host, origin)
            assert "Access-Control-Allow-Credentials" not in answer.headers
        assert [answer.status_code for answer in answers] == [200, 200 if allowed else 405]


def test_no_route_takes_more_than_it_says(site):
    """A length that is said is refused at once, one that isn't as soon as it is too long. Where there is nothing, nothing is read."""
    taken, line = {}, HTTPConnection(site.http.base_url.host, site.http.base_url.port, timeout=60)
    routes = {route.path for route in site.app.routes if hasattr(route, "path")} | {rule.path for rule in TABLE.rules}  # Gradio's too
    for path in sorted(re.sub(r"\{[^}]*\}", "x", path) for path in routes):
        for method in ("GET", "POST", "PUT", "DELETE"):
            line.request(method, path, headers={"Content-Length": str(TABLE.rule_of({"method": method, "path": path}).max_bytes + 1)})
            taken[method, path] = line.getresponse().status
            line.close()
    refused = {place for place, status in taken.items() if status == 413}
    assert {status for place, status in taken.items() if place not in refused} <= {403, 404, 405}, taken
    assert {path for method, path in refused if method == "POST"} >= {"/gradio_api/cancel", UPLOAD, "/gradio_api/queue/join"}


class Peer:
    """A client at the other end of Bodies, and an app behind it that reads all it is given."""

    def __init__(self, **values: object) -> None:
        self.most, self.read = 0, 0
        self.bodies = Bodies(self.app, TABLE, limits(**values))

    async def app(self, scope, receive, send) -> None:
        while (message := await receive()).get("more_body"):
            self.read += len(message["body"])
        await send({"type": "http.response.start", "status": 200 if message["type"] == "http.request" else 400, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def post(self, path: str, chunks, address: str = "192.0.2.1", **headers: str) -> tuple[int, bytes]:
        status, body, chunks = 0, b"", iter(chunks)

        async def receive():
            chunk = next(chunks, None)
            if isinstance(chunk, asyncio.Event):
                await chunk.wait()
                chunk = next(chunks, None)
            return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

        async def send(message) -> None:
            nonlocal status, body
            status, body = message.get("status", status), body + message.get("body", b"")

        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "client": (address, 1)}
        await self.bodies({**scope, "headers": Headers(headers).raw}, receive, send)
        return status, body


@pytest.mark.parametrize(("path", "key"), TOO_LARGE.items())
def test_a_body_without_a_length_is_cut_where_it_is_too_long(path, key):
    peer, most = Peer(), TABLE.rule_of({"method": "POST", "path": path}).max_bytes
    status, body = asyncio.run(peer.post(path, (CHUNK for _ in range(most // len(CHUNK) + 2))))
    assert (status, key.encode() in body) == (413, True)
    assert peer.read <= most
    assert asyncio.run(peer.post(path, [b"x" * most])) == (200, b"")


def test_what_is_on_its_way_is_bounded_for_an_address_and_for_all():
    peer = Peer(body_bytes_address=100_000, body_bytes=150_000)

    async def told(*others: str) -> list[int]:
        go = asyncio.Event()
        waiting = [asyncio.create_task(peer.post("/gradio_api/queue/join", [CHUNK, go], address)) for address in ("192.0.2.1", *others)]
        await asyncio.sleep(0)
        answers = [await peer.post("/gradio_api/queue/join", [CHUNK], address) for address in ("192.0.2.1", "192.0.2.9")]
        go.set()
        assert {(await task)[0] for task in waiting} == {200}
        assert all(b"page.too_many_bytes" in body for status, body in answers if status != 200)
        return [status for status, _ in answers]

    for _ in range(3):
        assert (asyncio.run(told()), asyncio.run(told("192.0.2.2"))) == ([429, 200], [429, 429])


def form(files: int, size: int = 10) -> tuple[bytes, str]:
    parts = [b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"x" * size + b"\r\n" for _ in range(files)]
    return b"".join(parts) + b"--edge--\r\n", "multipart/form-data; boundary=edge"


@pytest.mark.fault("an address that uploads without end", "is told how long to wait")
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_address_uploads_so_many_files_and_bytes_an_hour(size):
    def upload(peer: Peer, files: int, address: str = "192.0.2.1") -> int:
        body, kind = form(files)
        chunks = [body[at : at + size] for at in range(0, len(body), size)]
        return asyncio.run(peer.post(UPLOAD, chunks, address, **{"Content-Type": kind}))[0]

    peer = Peer(uploads_address=10)
    assert [upload(peer, 4), upload(peer, 4), upload(peer, 3), upload(peer, 1, "192.0.2.2")] == [200, 200, 429, 200]
    peer = Peer(upload_bytes_address=3 * len(form(1)[0]))
    assert [upload(peer, 1) for _ in range(4)] == [200, 200, 200, 429]


def test_an_upload_that_goes_too_far_leaves_nothing_and_a_file_lies_an_hour_or_until_newer_ones_take_its_room(site, tmp_path, monkeypatch):
    monkeypatch.setattr(site.app, "uploaded_file_dir", str(tmp_path))
    body, kind = form(3, 8 * 1024**2)
    pieces = (body[at : at + 1_000_000] for at in range(0, len(body), 1_000_000))
    answer = site.http.post(UPLOAD, content=pieces, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["key"], list(tmp_path.iterdir())) == (413, "data.too_large", [])
    (path,) = site.http.post(UPLOAD, files={"files": ("a.txt", io.BytesIO(b"a\tb\n"))}).json()
    assert path.startswith(str(tmp_path))
    old = os.stat(path).st_mtime + MAX_AGE_S
    delete_old(tmp_path, 1000, clock=lambda: old - 60)
    assert os.path.exists(path)
    delete_old(tmp_path, 1000, clock=lambda: old + 60)
    assert list(tmp_path.iterdir()) == []
    for age in range(4):
        (tmp_path / str(age)).write_bytes(bytes(1000))
        os.utime(tmp_path / str(age), (1000 - age, 1000 - age))
    delete_old(tmp_path, 2500, clock=lambda: 1000.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
