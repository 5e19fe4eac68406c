"""Text is text: what a person types or uploads is shown as it is, everywhere, and never run."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import (
    SMALL,
    about_the_run,
    address,
    drawn,
    eventually,
    has_status,
    link,
    new_run,
    point_at,
    source,
    tab,
    type_sentence,
)

NASTY = ["<script>", "{{x}}", "$$x$$", "<s>", "<b>B</b>", "<img/src=x/onerror=alert(1)>", "%{x}", "&lt;"]
NAME = '<img src=x onerror="alert(1)"> {{x}} $$x$$'


def tick_labels(page: Page, figure: str) -> list[str]:
    """Labels as a person sees them: SVG text, whatever stands in the figure's own markup."""
    return page.locator(f"#pg-figure-{figure} .xtick text").all_text_contents()


@pytest.mark.night
def test_nasty_sentences(visit):
    """A model is trained on such words; chips, figures, tables, hovers, captions, lists and the run's name show them letter by letter."""
    page = visit(link(SMALL | {"validation_size": 10, "steps": 20}))
    tab(page, "data")
    lines = [f"{a} {b}\t{b} {a}" for a in NASTY for b in NASTY]
    page.locator("#pg-files input[type=file]").set_input_files(
        {"name": "nasty.tsv", "mimeType": "text/plain", "buffer": "\n".join(lines).encode()}
    )
    reading = page.locator("#pg-reading")
    expect(reading).to_have_attribute("data-pairs", str(len(lines)))
    expect(reading.locator("tbody td").nth(1)).to_have_text("<script> <script>")
    before = address(page)["run"]
    page.locator("#pg-train-own").click()
    run = new_run(page, before)
    has_status(page, "done")

    some, others = NASTY[:4], NASTY[4:]
    type_sentence(page, " ".join(some))
    expect(source(page)).to_have_text(some)
    attention = tab(page, "attention")
    expect(attention.locator("#pg-figure-attention .xtick text")).to_have_text([*some, "<eos>"])
    expect(attention.locator("[data-block='chips tokens'] .pg-tokens").nth(1).locator(".pg-chip")).to_have_text([*some, "<eos>"])
    type_sentence(page, " ".join(others))
    expect(source(page)).to_have_text(others)
    shown = eventually(page, lambda: tick_labels(page, "attention"), lambda labels: labels[:1] == others[:1] and labels[-1] == "<eos>")
    assert all(label == word or (label.endswith("…") and word.startswith(label[:-1])) for label, word in zip(shown, others, strict=False))
    page.keyboard.press("Escape")
    picture = attention.locator("[data-block='figure attention']")
    picture.get_by_text("as a table").click()
    head = picture.locator("details th[scope=col]")
    expect(head).to_have_text([*others, "<eos>"])
    drawn(attention)
    page.mouse.click(*point_at(page, "attention", 0, 0, "<b>B</b>"))
    expect(attention.locator(".pg-cell")).to_contain_text("“<b>B</b>” (column 1)")

    translate = tab(page, "translate")
    type_sentence(page, "<script>alert(1)</script> <s>")
    expect(source(page)).to_have_text(["<script>alert(1)</script>", "<s>"])
    expect(translate.locator("[data-block='text unknown']")).to_contain_text("read as <unk>: <script>alert(1)</script>")

    data = tab(page, "data")
    lines = data.locator(".pg-chipline").all()
    assert len(lines) >= 5
    assert all(set(line.locator(".pg-chip").all_inner_texts()) <= set(NASTY) for line in lines[1:])

    about_the_run(page)
    page.locator("#pg-rename").click()
    page.locator("#pg-label").fill(NAME)
    page.locator("#pg-rename-yes").click()
    mine = page.locator(f"#pg-run option[value='{run}']")
    expect(mine).to_contain_text(NAME)
    assert page.locator("img[src=x]").count() == 0
    about_the_run(page)
    page.locator("#pg-delete").click()
    expect(page.locator("#pg-dialog")).to_contain_text(NAME)
    page.locator("#pg-delete-yes").click()
    new_run(page, run)
    expect(page.locator(f"#pg-run option[value='{run}']")).to_have_count(0)
