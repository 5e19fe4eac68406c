"""One visitor against all others: what each such attack takes of the server's memory and disk, and what a visitor elsewhere waits."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

from benchmarks.hostile.people import PAGE, PATIENCE, TINY, values
from benchmarks.server import Server
from benchmarks.tables import markdown
from playground.runs.disk.files import tree_size

ATTACKER, VISITOR = "192.0.2.1", "198.51.100.1"  # addresses, as the proxy before the server says them
PROXY = {"PLAYGROUND_PROXIES": "1"}
MEGABYTE = 2**20
GAP = 0.2  # seconds between two looks of the visitor, and between two at the server's memory
SILENCE = 25.0  # seconds: more than a request may be silent
HEAD = "Host: here\r\nX-Forwarded-For: {}\r\n"
FILE = b'--e\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
FIELD = b'--e\r\nContent-Disposition: form-data; name="f"\r\n\r\n'
COSTLY = f"<seg id{' ' * 9000}x\n" * 200


@dataclass
class Seen:
    """From outside, while an attack goes on: bytes of the page's process, seconds that the visitor waited, and how often in vain."""

    bytes: list[int] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refused: int = 0


def ask(port: int, method: str, path: str, address: str, body: Any = None, token: str = "") -> tuple[int, bytes]:
    """(status, answer); status 0 where there is none."""
    headers = {"X-Forwarded-For": address, "Content-Type": "application/json"} | ({"X-Playground-Token": token} if token else {})
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        try:
            connection.request(method, path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError as error:
            return 0, repr(error).encode()


@contextmanager
def looked_at(server: Server) -> Iterator[Seen]:
    """A visitor of another address opens a page and a panel, again and again."""
    seen, over = Seen(), threading.Event()

    def look() -> None:
        while not over.wait(GAP):
            started = time.perf_counter()
            answers = [ask(server.port, "GET", path, VISITOR)[0] for path in ("/", f"{PAGE}/panel/attention?run=reverse&text=hello")]
            seen.waits.append(time.perf_counter() - started)
            seen.refused += answers != [200, 200]

    def measure() -> None:
        while not over.wait(GAP):
            seen.bytes.append(server.held()["bytes"] or 0)

    threads = [threading.Thread(target=work, daemon=True) for work in (look, measure)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        time.sleep(2 * GAP)
        over.set()
        for thread in threads:
            thread.join(PATIENCE)


def begin(server: Server, path: str, kind: str, length: str = "Transfer-Encoding: chunked") -> socket.socket:
    """A connection of the attacker's, with the head of a POST sent."""
    line = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    line.sendall(f"POST {path} HTTP/1.1\r\n{HEAD.format(ATTACKER)}Content-Type: {kind}\r\n{length}\r\n\r\n".encode())
    return line


def send(line: socket.socket, *pieces: bytes) -> str:
    """Pieces of a body, whole, and how the answer begins."""
    with closing(line):
        with suppress(OSError):
            for piece in pieces:
                line.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            line.sendall(b"0\r\n\r\n")
        with suppress(OSError):
            return line.recv(12).decode()[-3:]
    return "cut"


def long_body(server: Server, megabytes: int) -> str:
    return send(begin(server, "/gradio_api/cancel", "application/json"), *[b"x" * MEGABYTE] * megabytes)


def long_field(server: Server, megabytes: int) -> str:
    line = begin(server, "/gradio_api/upload", "multipart/form-data; boundary=e")
    return send(line, FIELD, *[b"x" * MEGABYTE] * megabytes, b"\r\n--e--\r\n")


def many_files(server: Server, megabytes: int) -> str:
    line = begin(server, "/gradio_api/upload", "multipart/form-data; boundary=e")
    files = [FILE, *[b"x" * MEGABYTE] * 19, b"\r\n"] * (megabytes // 19)
    return send(line, *files)


def silent_bodies(server: Server, megabytes: int) -> str:
    with ExitStack() as lines:
        for _ in range(megabytes // 19):
            with suppress(OSError):
                line = begin(server, "/gradio_api/queue/join", "application/json", "Content-Length: 20000000")
                lines.callback(line.close)
                line.sendall(b" " * 18 * MEGABYTE)
        time.sleep(SILENCE)
    return "silent"


def half_open(server: Server, megabytes: int) -> str:
    """From another address, and without a proxy, which would wait for whole heads itself."""
    with ExitStack() as lines:
        for _ in range(2 * megabytes):
            with suppress(OSError):
                line = socket.create_connection(("127.0.0.1", server.port), 5, source_address=("127.0.0.9", 0))
                lines.callback(line.close)
                line.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(SILENCE / 3)
    return "half"


def upload(server: Server, text: str, address: str, tab: str) -> tuple[float, bool]:
    """(seconds until it was read or refused, whether it was read), of a text that is pasted."""
    config = json.loads(ask(server.port, "GET", "/config", address)[1])
    listener = next(one for one in config["dependencies"] if one["api_name"] == "read")
    call = {"data": values(config, listener, {0: {"ticket": tab}, 2: text}), "fn_index": listener["id"], "session_hash": tab}
    started = time.perf_counter()
    ask(server.port, "POST", "/gradio_api/queue/join", address, call)
    told = ask(server.port, "GET", f"/gradio_api/queue/data?session_hash={tab}", address)[1]
    return time.perf_counter() - started, b'"own"' in told


def costly_files(server: Server, megabytes: int) -> str:
    """Six tabs of one address read them; an honest visitor's two lines are read meanwhile."""
    tabs = [threading.Thread(target=upload, args=(server, COSTLY[: 2000 * megabytes], ATTACKER, f"tab{n}"), daemon=True) for n in range(6)]
    for tab in tabs:
        tab.start()
    time.sleep(GAP)
    waited, is_read = upload(server, "a\tb\nc\td", VISITOR, "honest")
    for tab in tabs:
        tab.join(PATIENCE)
    return f"{'read' if is_read else 'refused'} after {waited:.1f} s"


def all_places(server: Server, megabytes: int) -> str:
    """One address opens a room, and as many of its own keys join and train."""
    keys = [f"{n:032d}" for n in range(max(4, megabytes // 32))]
    opened = {"language": "en", "ends": time.time() + 3600}
    code = json.loads(ask(server.port, "POST", f"{PAGE}/room/open", ATTACKER, opened, keys[0])[1])["room"]["code"]
    train = {"action": "train", "run": "", "knobs": TINY | {"steps": 100_000}}
    for key in keys:
        ask(server.port, "POST", f"{PAGE}/room/join", ATTACKER, {"code": code, "nickname": ""}, key)
        for _ in range(5):
            ask(server.port, "POST", f"{PAGE}/command", ATTACKER, train, key)
    told = json.loads(ask(server.port, "POST", f"{PAGE}/command", VISITOR, train, "v" * 32)[1])
    return f"others: {told.get('key', 'a place')}"


def many_zips(server: Server, megabytes: int) -> str:
    """A class takes its run home at the same moment."""
    answers: list[int] = []
    paths = [f"{PAGE}/takeaway/reverse"] * max(4, 60 * megabytes // 1024)
    take = lambda path: answers.append(ask(server.port, "GET", path, ATTACKER)[0])  # noqa: E731
    threads = [threading.Thread(target=take, args=(path,), daemon=True) for path in paths]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return f"{answers.count(200)} of {len(threads)} after {time.perf_counter() - started:.0f} s"


ATTACKS: dict[str, Callable[[Server, int], str]] = {
    "a long body to /cancel": long_body, "a long field of an upload": long_field, "many files in one upload": many_files,
    "bodies that fall silent": silent_bodies, "half-open connections": half_open, "costly files of one address": costly_files,
    "all places by a room of one's own": all_places, "the zips of sixty": many_zips,
}  # fmt: skip


def run(megabytes: int) -> list[list[str]]:
    """A row for each attack: what was answered, and, in MB and ms, the page's memory before and at most, what stays on the disk, what the
    visitor waited at most, and how often in vain."""
    rows = []
    for name, attack in ATTACKS.items():
        with Server({} if attack is half_open else PROXY) as server:
            upload(server, "a\tb\nc\td", VISITOR, "first")  # what is loaded once
            before, disk = server.held()["bytes"] or 0, tree_size(server.folder)
            with looked_at(server) as seen:
                answered = attack(server, megabytes)
            numbers = [before, max(seen.bytes, default=0), tree_size(server.folder) - disk]
            longest, vain = f"{1000 * max(seen.waits, default=0.0):,.0f}", f"{seen.refused}/{len(seen.waits)}"
            rows.append([name, answered, *(f"{number / 1e6:,.0f}" for number in numbers), longest, vain])
    return rows


def table(rows: list[list[str]]) -> str:
    return markdown(["attack", "answer", "MB before", "MB at most", "MB left on the disk", "longest wait, ms", "in vain"], rows)
