"""The bodies of requests: every route has an end, whoever wrote it; and an address can't fill the memory or the disk."""

import asyncio
import io
import os
import re
from http.client import HTTPConnection

import pytest
from starlette.datastructures import Headers

from playground.ui.guard import MAX_AGE_S, Bodies, delete_old
from playground.ui.rights import UPLOAD
from tests.rights import TABLE
from tests.runs.tiny import limits

CHUNK = b"x" * 60_000
METHODS = ("GET", "POST", "PUT", "DELETE")


def paths(app) -> list[str]:
    """Every path that a route of the app has, Gradio's own included, with something in the place of its parameters."""
    found = {route.path for route in app.routes if hasattr(route, "path")} | {rule.path for rule in TABLE.rules}
    return sorted(re.sub(r"\{[^}]*\}", "x", path) for path in found)


def test_no_route_takes_more_than_it_says(site):
    """A length that is said is refused at once, one that isn't as soon as it is too long. Where there is nothing, nothing is read."""
    taken, line = {}, HTTPConnection(site.http.base_url.host, site.http.base_url.port, timeout=60)
    for path in paths(site.app):
        for method in METHODS:
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


@pytest.mark.parametrize(("path", "key"), [("/gradio_api/cancel", "page.command_too_long"), (UPLOAD, "data.too_large")])
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
        assert asyncio.run(told()) == [429, 200]
        assert asyncio.run(told("192.0.2.2")) == [429, 429]


def form(files: int, size: int = 10) -> tuple[bytes, str]:
    parts = [b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"x" * size + b"\r\n" for _ in range(files)]
    return b"".join(parts) + b"--edge--\r\n", "multipart/form-data; boundary=edge"


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


def test_what_is_uploaded_lies_in_the_servers_folder_until_it_is_an_hour_old(site, tmp_path, monkeypatch):
    monkeypatch.setattr(site.app, "uploaded_file_dir", str(tmp_path))
    (path,) = site.http.post(UPLOAD, files={"files": ("a.txt", io.BytesIO(b"a\tb\n"))}).json()
    assert path.startswith(str(tmp_path))
    old = os.stat(path).st_mtime + MAX_AGE_S
    delete_old(tmp_path, 1000, clock=lambda: old - 60)
    assert os.path.exists(path)
    delete_old(tmp_path, 1000, clock=lambda: old + 60)
    assert list(tmp_path.iterdir()) == []


def test_beyond_so_many_bytes_the_oldest_go_first(tmp_path):
    for age in range(4):
        (tmp_path / str(age)).write_bytes(bytes(1000))
        os.utime(tmp_path / str(age), (1000 - age, 1000 - age))
    delete_old(tmp_path, 2500, clock=lambda: 1000.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_an_upload_that_goes_too_far_leaves_nothing(site, tmp_path, monkeypatch):
    monkeypatch.setattr(site.app, "uploaded_file_dir", str(tmp_path))
    body, kind = form(3, 8 * 1024**2)
    pieces = (body[at : at + 1_000_000] for at in range(0, len(body), 1_000_000))
    answer = site.http.post(UPLOAD, content=pieces, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["key"]) == (413, "data.too_large")
    assert list(tmp_path.iterdir()) == []
