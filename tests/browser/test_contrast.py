"""Every word can be read, also on a projector: contrast as WCAG's level AA wants it, in the light and in the dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.steps import drawn, link

SCRIPT = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
TABS = {
    "training": {}, "attention": {}, "course": {}, "labs": {}, "masks": {}, "teacher_forcing": {}, "interventions": {},
    "map": {"stage": "decoder.1.cross_attention.weights", "row": 1, "col": 2},
}  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(visit, theme):
    faint = {}
    page = visit(link(text="hello", __theme=theme))
    for tab, more in TABS.items():
        page.goto(link(text="hello", __theme=theme, tab=tab, **more))
        drawn(page.locator(f"#pg-panel-{tab}"))
        page.wait_for_timeout(500)  # until colours that change have changed
        faint[tab] = page.evaluate(SCRIPT)
    assert not any(faint.values()), "\n".join(f"{tab}: {one}" for tab, found in faint.items() for one in found)
