"""Whether the page gets a public address is Gradio's to say: by GRADIO_SHARE, and in Colab by itself."""

from __future__ import annotations

import gradio as gr
import pytest


@pytest.mark.parametrize(("public", "url"), [(None, "http://127.0.0.1:7860/"), ("https://x.gradio.live", "https://x.gradio.live")])
def test_gradio_decides_and_its_address_is_the_one_that_is_said(launched, public, url):
    asked = {}

    def launch(demo: gr.Blocks, **options: object) -> tuple:
        asked.update(options)
        return None, "http://127.0.0.1:7860/", public

    assert launched(launch)[2] == url
    assert asked["share"] is None
