"""The four places that touch what Gradio doesn't document (playground/ui/GRADIO.md), each as seen from outside: red with the release that
breaks it. And that there are no others."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import gradio as gr
import httpx
from gradio.tunneling import Tunnel

import playground.ui
from playground.ui import gradio_private
from playground.ui.connections import KEEP_ALIVE_S, TimedProtocol

PRIVATE = re.compile(
    r"from gradio\.\w+ import|import gradio\.|gr\.\w+\._|demo\._|\b_queue\b|demo\.server\b|user_middleware|state_holder|\.fns\b"
)


def test_nothing_else_touches_it():
    files = sorted(Path(playground.ui.__file__).parent.rglob("*.py"))
    assert [file.name for file in files if PRIVATE.search(file.read_text(encoding="utf-8"))] == ["gradio_private.py"]
    source = Path(gradio_private.__file__).read_text(encoding="utf-8")
    assert re.findall(r"^# hook (\d)", source, re.MULTILINE) == ["1", "2", "3", "4"]


def test_gradio_starts_without_writing_stubs():
    """For which it takes its components' sources apart; a third of a server's start."""
    code = "import ast; ast.get_source_segment = None; import playground.ui.gradio_private"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_idle_queue_hardly_computes():
    """A thousand looks a second are 5 % of a core."""
    with gr.Blocks() as demo:
        pass
    gradio_private.slow_down_queue(demo)
    demo.launch(prevent_thread_lock=True, quiet=True)
    try:
        before = time.process_time()
        time.sleep(1.0)
        assert time.process_time() - before < 0.035
    finally:
        demo.close()


def test_each_new_connection_has_deadlines(site):
    config = site.app.get_blocks().server.config
    assert issubclass(config.http_protocol_class, TimedProtocol)
    answer = httpx.get(f"{site.url}health", headers={"Connection": "keep-alive"})
    assert (answer.status_code, config.timeout_keep_alive) == (200, KEEP_ALIVE_S)


def test_no_site_may_send_cookies(site):
    """Nor another port of this machine, which Gradio lets do it."""
    for host, origin in (("school.example", "https://elsewhere.example"), ("127.0.0.1", "http://127.0.0.1:9")):
        headers = httpx.get(f"{site.url}config", headers={"Host": host, "Origin": origin}).headers
        assert "Access-Control-Allow-Credentials" not in headers


def test_the_process_of_a_share_link_ends_with_ours():
    tunnel = Tunnel("127.0.0.1", 1, "127.0.0.1", 1, "token", None)
    process = tunnel.proc = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    tunnel.url = ""
    gradio_private.CURRENT_TUNNELS.append(tunnel)  # as start_tunnel does
    gradio_private.close_tunnels()
    assert process.wait(60) != 0
    gradio_private.CURRENT_TUNNELS.remove(tunnel)
