"""What the people in these stories do again and again, and where they look."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

from playground.words import say

# A model that trains in a moment: what it learns matters only where a story says so.
SMALL = {
    "pairs": 500, "heldout": 50, "d_model": 16, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 16, "steps": 60,
    "threads": 1,
}  # fmt: skip
# One sentence, learnt by heart in a few steps.
ONE_SENTENCE = SMALL | {"task": "beer", "d_model": 32, "d_ff": 32, "steps": 60, "batch_size": 1, "validate_every": 10}


def words(key: str, **values: object) -> str:
    """A sentence of the page in English."""
    return say("en", key, **values)


def link(knobs: dict[str, object] | None = None, **cursor: object) -> str:
    """The path of a page with these settings at the left, looking where `cursor` says."""
    return "?" + urlencode({**(knobs or {}), **cursor})


def train(page: Page) -> str:
    """Presses Train. Returns the new run's id, once the page shows it."""
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    before = address(page).get("run")
    page.locator("#pg-train").click()
    return new_run(page, before)


def new_run(page: Page, before: str | None) -> str:
    """Waits until the page looks at another run than `before`."""
    page.wait_for_function(
        "before => { const run = new URLSearchParams(location.search).get('run'); return run && run !== before }", arg=before
    )
    run = address(page)["run"]
    expect(page.locator("#pg-status")).to_have_attribute("data-run", run)
    return run


def has_status(page: Page, *statuses: str) -> None:
    """Waits until the run on the page is in one of these states."""
    expect(page.locator("#pg-status")).to_have_attribute("data-status", re.compile("|".join(f"^{status}$" for status in statuses)))


def address(page: Page) -> dict[str, str]:
    """What stands in the address bar."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query, keep_blank_values=True).items()}


def has_address(page: Page, **wanted: str | None) -> None:
    """Waits until the address says so; None is for what must not stand there."""
    page.wait_for_function(
        "wanted => { const q = new URLSearchParams(location.search); return Object.entries(wanted).every(([n, v]) => q.get(n) === v) }",
        arg=wanted,
    )


def tab(page: Page, name: str) -> Locator:
    """Opens a tab. Returns its panel, drawn."""
    page.locator("#pg-tabs").get_by_role("tab", name=name).click()
    panel = page.locator(f"#pg-panel-{name.lower()}")
    expect(panel).to_have_attribute("data-drawn", re.compile("."))
    return panel


def type_sentence(page: Page, sentence: str) -> None:
    """Types a sentence, and waits until the page has taken it."""
    page.locator("#pg-sentence").fill(sentence)
    has_address(page, text=sentence)


def source(page: Page) -> str:
    """The sentence as the page shows it in pieces."""
    return "".join(page.locator("#pg-result .pg-tokens").first.locator(".pg-chip").all_inner_texts())


def points(page: Page, figure: str) -> int:
    """How many points a figure has drawn."""
    return int(page.locator(f"#pg-figure-{figure}").get_attribute("data-points") or 0)
