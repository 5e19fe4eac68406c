"""Whether the page gets a public address is Gradio's to say: by GRADIO_SHARE, and in Colab by itself."""

from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
import pytest

from playground.runs.limits import Limits
from playground.runs.visitors import Visitors
from playground.ui import server


@pytest.mark.parametrize(("public", "url"), [(None, "http://127.0.0.1:7860/"), ("https://x.gradio.live", "https://x.gradio.live")])
def test_gradio_decides_and_its_address_is_the_one_that_is_said(monkeypatch, tmp_path, public, url):
    asked = {}

    def launch(demo: gr.Blocks, **options: object) -> tuple:
        asked.update(options)
        return None, "http://127.0.0.1:7860/", public

    monkeypatch.setattr(gr.Blocks, "launch", launch)
    monkeypatch.setattr(server, "build", lambda runs: gr.Blocks())
    monkeypatch.setattr(gr.Blocks, "server", None, raising=False)
    monkeypatch.setattr(server.connections, "watch", lambda *what: None)
    monkeypatch.setattr(server, "routes", lambda *what: [])
    held = {"store": SimpleNamespace(folder=tmp_path), "limits": Limits(), "visitors": Visitors()}
    runs = SimpleNamespace(**held, every_round=lambda duty: None, find=lambda run: None)
    assert server.start(runs, None)[2] == url
    assert asked["share"] is None
