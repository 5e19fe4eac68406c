"""How the tests of panels look for a block and wait for the end of what comes in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.ui.assets import PREFIX
from tests.ui.blocks.conforming import faults

TINY = {
    "train_size": 100, "validation_size": 20, "d_model": 8, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 8,
    "batch_size": 8, "steps": 4, "eval_every": 2, "threads": 1,
}  # fmt: skip


def all_blocks(blocks: list[dict]) -> Iterator[dict]:
    for block in blocks:
        yield block
        yield from all_blocks(block.get("blocks", []))


def find(panel: dict, id: str) -> dict | None:
    """The block of that name; a row only where nothing in it has the same."""
    named = [block for block in all_blocks(panel["blocks"]) if block["id"] == id]
    return min(named, key=lambda block: block["kind"] == "row", default=None)


def block(panel: dict, id: str) -> dict:
    found = find(panel, id)
    assert found, f"there is no {id} in {sorted(ids(panel))}"
    return found


def ids(panel: dict) -> set[str]:
    return {block["id"] for block in all_blocks(panel["blocks"])}


def figures(panel: dict) -> list[dict]:
    return [block for block in all_blocks(panel["blocks"]) if block["kind"] == "figure"]


def complete(site: Any, name: str, **asked: Any) -> dict:
    """What the page shows in the end."""
    while (panel := site.panel(name, **asked)).get("more"):
        assert "error" not in panel, panel
    return panel


def panel_of(site: Any, token: str, name: str = "runs", **asked: str) -> dict:
    """What this visitor gets."""
    answer = site.http.get(f"{PREFIX}/panel/{name}", params={"run": "reverse"} | asked, headers={"X-Playground-Token": token}).json()
    assert "error" not in answer, answer
    assert not [fault for one in answer["blocks"] for fault in faults(one)]
    return answer
