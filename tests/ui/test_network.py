"""Where the server listens, at which address a class finds it, from where it is asked, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest
from gradio.queueing import Queue
from gradio.tunneling import Tunnel
from starlette.requests import Request

import playground.ui
from playground import cli
from playground.features.shared.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui import gradio_private, network, server
from playground.ui.assets import PREFIX
from playground.ui.network import KEEP_ALIVE_S, TimedProtocol, _warn_of_proxy, address_of
from playground.ui.server import start
from tests.runs.tiny import refused

NUMBERS = [getattr(signal, name) for name in server.SIGNALS if hasattr(signal, name)]
PRIVATE = re.compile(r"(from|import) gradio\.|gr\.\w+\._|demo\._|\b_queue\b|demo\.server\b|user_middleware|state_holder|\.fns\b")


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("PLAYGROUND_PROXIES", "SPACE_ID", "GRADIO_SHARE", "GRADIO_SERVER_NAME", "PORT", "GRADIO_SERVER_PORT", "PLAYGROUND_CALLS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("host", "forwarded", "count", "address"), [
    ("192.0.2.7", [], "", "192.0.2.7"), ("192.0.2.7", ["198.51.100.1"], "", "192.0.2.7"),  # anybody can say so
    ("10.0.0.1", ["6.6.6.6, 198.51.100.1"], "1", "198.51.100.1"),  # what our proxy added last
    ("10.0.0.1", ["6.6.6.6", "198.51.100.1"], "space", "198.51.100.1"),
    ("10.0.0.1", ["6.6.6.6, 198.51.100.1, 10.0.0.9"], "2", "198.51.100.1"),
    ("10.0.0.1", ["198.51.100.1"], "3", "198.51.100.1"), ("10.0.0.1", [], "1", "10.0.0.1"),  # too few; past the proxy
    ("192.0.2.7", ["198.51.100.1"], "-1", "192.0.2.7"), ("2001:db8::ffff:0:0:1", [], "", "2001:db8::/64"),
    ("127.0.0.1", ["6.6.6.6, 198.51.100.1"], "share", "198.51.100.1"), ("192.0.2.7", ["198.51.100.1"], "share", "192.0.2.7"),
    ("::ffff:192.0.2.7", [], "", "192.0.2.7"), ("x" * 100, [], "", "x" * 64),
])  # fmt: skip
def test_only_proxies_of_our_own_are_believed_and_one_undeclared_is_logged(monkeypatch, caplog, host, forwarded, count, address):
    settings = {"space": ("SPACE_ID", "ada/playground"), "share": ("GRADIO_SHARE", "true")}
    monkeypatch.setenv(*settings.get(count, ("PLAYGROUND_PROXIES", count)))
    _warn_of_proxy.cache_clear()
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    for _ in range(2):
        assert address_of(Request({"type": "http", "headers": headers, "client": (host, 5)})) == address
    warnings = [record.event for record in caplog.records]
    assert warnings == ["proxy_undeclared"] * (bool(forwarded) and address == host and count != "1")


@pytest.mark.parametrize(("way", "named", "address"), [
    ("192.168.1.7", ["127.0.1.1"], "192.168.1.7"), (None, ["127.0.1.1", "10.0.0.4"], "10.0.0.4"),  # the second without a way out
    ("127.0.0.1", ["127.0.1.1"], ""), (None, None, ""),  # the system refuses to say
])  # fmt: skip
def test_a_server_that_listens_to_others_has_the_address_that_leads_out(monkeypatch, tmp_path, way, named, address):
    def connect(way_out, to) -> None:
        if way is None:
            raise OSError("Network is unreachable")

    def by_name(name: str) -> tuple:
        if named is None:
            raise socket.gaierror("Name or service not known")
        return name, [], named

    way_out = type("WayOut", (socket.socket,), {"connect": connect, "getsockname": lambda way_out: (way, 5)})
    monkeypatch.setattr(network.socket, "socket", way_out)
    monkeypatch.setattr(network.socket, "gethostbyname_ex", by_name)
    monkeypatch.setattr(network, "CONTAINER", tmp_path / "none")
    for name in ("0.0.0.0", "::", "teacher.local"):
        assert network.describe_lan(name) == {"listens": True, "address": address}
    for name in ("127.4.5.6", "localhost", "[::1]"):
        assert network.describe_lan(name) == {"listens": False, "address": ""}
    monkeypatch.setattr(network, "CONTAINER", tmp_path)
    assert network.describe_lan("0.0.0.0")["address"] == "", "a container's is none that a class could open"


def test_the_server_listens_where_it_is_told_to_with_deadlines_and_tells_its_address_at_the_machine_alone(monkeypatch, site):
    assert network.server_name() == "127.0.0.1"
    assert not site.get("boot").json()["lan"]["listens"]
    there = site.http.get(f"{PREFIX}/boot", headers={"Host": "playground.example.org"}).json()["lan"]
    assert there == {"listens": True, "address": ""}
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    assert (network.server_name(), network.server_name("::1")) == ("0.0.0.0", "::1")
    config = site.app.get_blocks().server.config
    assert (issubclass(config.http_protocol_class, TimedProtocol), config.timeout_keep_alive) == (True, KEEP_ALIVE_S)


def test_a_port_that_is_named_must_be_free_and_without_one_the_next_free_is_taken(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        monkeypatch.setattr(network, "PORT", taken)
        assert taken < network.choose_port("127.0.0.1") < taken + network.PORT_ATTEMPTS
        for name, value, key in (("GRADIO_SERVER_PORT", taken, "port_taken"), ("PORT", taken, "port_taken"), ("PORT", "7e3", "bad_port")):
            monkeypatch.setenv(name, str(value))
            with refused(f"page.{key}") as refusal:
                network.choose_port("127.0.0.1")
            assert {name, str(value)} <= set(refusal.value.values.values()), "it says which, and where it was named"
    monkeypatch.setenv("PORT", str(taken))
    assert network.choose_port("127.0.0.1") == taken


@pytest.mark.parametrize("path", ["/tools/pg", pytest.param("/tools/pg/", marks=pytest.mark.night)])
def test_the_page_is_whole_at_the_path_that_the_server_was_told(monkeypatch, tmp_path, path):
    """With a proxy that keeps the path and one that takes it off, and for visitors who type no slash at its end."""
    monkeypatch.setenv("GRADIO_ROOT_PATH", path)
    with closing(Runs(tmp_path)) as runs, closing(Reader(runs)) as reader:
        demo, _, url = start(runs, reader)
        with closing(demo), httpx.Client(base_url=url, follow_redirects=True) as http:
            for asked in ("", "/", "/tools/pg", "/tools/pg/"):
                assert '<base href="/tools/pg/" />' in http.get(asked).text, asked
        assert {"first_screens", "uploads", "drawings", *reader.caches} <= runs.memory.by_share().keys(), "all that is kept counts"


@pytest.mark.fault("a terminal is closed under a server that nohup started", "it goes on")
def test_what_the_process_was_started_deaf_to_it_stays_deaf_to():
    before = [signal.signal(number, signal.SIG_DFL) for number in NUMBERS]
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        noted = server.Shutdown()
        os.kill(os.getpid(), signal.SIGHUP)
        assert not noted.requested
        for number in (number for number in NUMBERS if number != signal.SIGHUP):
            noted = server.Shutdown()
            assert not noted.requested
            for _ in range(2):
                os.kill(os.getpid(), number)
                noted.wait()
            assert noted.requested
    finally:
        for number, handler in zip(NUMBERS, before, strict=True):
            signal.signal(number, handler)


def test_the_end_takes_no_more_requests_and_saves_before_it_leaves(monkeypatch):
    order, demo = [], SimpleNamespace(server=SimpleNamespace(should_exit=False))
    runs = SimpleNamespace(close=lambda: order.append(("saved", demo.server.should_exit)))
    monkeypatch.setattr(gradio_private, "CURRENT_TUNNELS", [SimpleNamespace(kill=lambda: order.append("tunnel"))])
    monkeypatch.setattr(server.logging, "shutdown", lambda: None)
    monkeypatch.setattr(server.os, "_exit", lambda code: order.append(("left", code)))
    server.shut_down(demo, runs)
    assert order == [("saved", True), "tunnel", ("left", 0)]
    monkeypatch.setenv("GRADIO_WATCH_DIRS", "/app")
    monkeypatch.setattr(cli.signal, "raise_signal", lambda number: server.shut_down(demo, runs))
    monkeypatch.setattr(server.os, "execv", lambda *command: order.append(command))
    monkeypatch.setattr(server, "serve", lambda: order.append("served"))
    cli.start_page()
    cli.start_page()  # once more when the files are watched
    monkeypatch.setitem(sys.modules, server.__name__, SimpleNamespace(serve=None))  # a file has changed
    with pytest.raises(SystemExit):
        cli.start_page()
    assert order[3:] == ["served", ("saved", True), "tunnel", (sys.executable, sys.orig_argv), ("left", 0)]


def test_nothing_else_touches_it_and_the_process_of_a_share_link_ends_with_ours():
    files = sorted(Path(playground.ui.__file__).parent.rglob("*.py"))
    (file,) = (file for file in files if PRIVATE.search(file.read_text(encoding="utf-8")))
    assert file == Path(gradio_private.__file__)
    assert re.findall(r"^# hook (\d)", file.read_text(encoding="utf-8"), re.MULTILINE) == ["1", "2", "3", "4"]
    tunnel = Tunnel("127.0.0.1", 1, "127.0.0.1", 1, "token", None)
    process = tunnel.proc = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    gradio_private.CURRENT_TUNNELS.append(tunnel)  # as start_tunnel does
    gradio_private.close_tunnels()
    assert process.wait(60) != 0
    gradio_private.CURRENT_TUNNELS.remove(tunnel)


@pytest.mark.night
def test_gradio_starts_without_writing_stubs():
    """For which it takes its components' sources apart; a third of a server's start."""
    code = "import ast; ast.get_source_segment = None; import playground.ui.gradio_private"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_idle_queue_looks_for_work_fifty_times_a_second(monkeypatch):
    with gr.Blocks() as demo:
        looks = []
    gradio_private.slow_down_queue(demo)
    demo.launch(prevent_thread_lock=True, quiet=True)
    monkeypatch.setattr(Queue, "__len__", lambda queue: looks.append(queue) or 0)
    time.sleep(1.0)
    monkeypatch.undo()
    demo.close()
    assert 0 < sum(queue is demo._queue for queue in looks) <= 1.1 / gradio_private.QUEUE_POLL_S
