"""The five places that touch what Gradio doesn't document, see playground/ui/GRADIO.md: red with the release that breaks one."""

import re
import subprocess
import sys
import time
from pathlib import Path

import gradio as gr
import pytest
from gradio.queueing import Queue
from gradio.tunneling import Tunnel

import playground.ui
from playground.ui import gradio_private
from playground.ui.network import KEEP_ALIVE_S, TimedProtocol

PRIVATE = re.compile(r"(from|import) gradio\.|gr\.\w+\._|demo\._|\b_queue\b|demo\.server\b|user_middleware|state_holder|\.fns\b")


def test_nothing_else_touches_it():
    files = sorted(Path(playground.ui.__file__).parent.rglob("*.py"))
    (file,) = (file for file in files if PRIVATE.search(file.read_text(encoding="utf-8")))
    assert file == Path(gradio_private.__file__)
    assert re.findall(r"^# hook (\d)", file.read_text(encoding="utf-8"), re.MULTILINE) == ["1", "2", "3", "4", "5"]


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


def test_each_connection_has_deadlines(site):
    """And no site may send cookies, which test_gate.py asks from outside."""
    config = site.app.get_blocks().server.config
    assert (issubclass(config.http_protocol_class, TimedProtocol), config.timeout_keep_alive) == (True, KEEP_ALIVE_S)


def test_the_process_of_a_share_link_ends_with_ours():
    tunnel = Tunnel("127.0.0.1", 1, "127.0.0.1", 1, "token", None)
    process = tunnel.proc = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    gradio_private.CURRENT_TUNNELS.append(tunnel)  # as start_tunnel does
    gradio_private.close_tunnels()
    assert process.wait(60) != 0
    gradio_private.CURRENT_TUNNELS.remove(tunnel)
