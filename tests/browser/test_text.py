"""Text is text: what a person types or uploads is shown as it is, everywhere, and never run."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL, address, has_status, link, new_run, tab, type_sentence

NASTY = ["<script>", "{{x}}", "$$x$$", "<s>", "<b>B</b>", "<img/src=x/onerror=alert(1)>", "%{x}", "&lt;"]
NAME = '<img src=x onerror="alert(1)"> {{x}} $$x$$'


def tick_labels(page: Page, figure: str) -> list[str]:
    """Labels as a person sees them: SVG text, whatever stands in the figure's own markup."""
    return page.locator(f"#pg-figure-{figure} .xtick text").all_text_contents()


def ready_for(page: Page, words: list[str]) -> None:
    expect(page.locator("#pg-result .pg-tokens").first.locator(".pg-chip")).to_have_text(words)


def test_nasty_sentences(visit):
    """A model is trained on such words; chips, figures, tables, hovers, captions, lists and the run's name show them letter by letter."""
    page = visit(link(SMALL | {"heldout": 10, "steps": 20}))
    tab(page, "Data")
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
    ready_for(page, some)
    attention = tab(page, "Attention")
    expect(attention.locator("#pg-figure-attention .xtick text")).to_have_text([*some, "<eos>"])
    expect(attention.locator("[data-block='chips tokens'] .pg-tokens").nth(1).locator(".pg-chip")).to_have_text([*some, "<eos>"])
    type_sentence(page, " ".join(others))
    ready_for(page, others)
    expect(attention.locator("#pg-figure-attention .xtick text").last).to_have_text("<eos>")
    shown = tick_labels(page, "attention")
    assert all(label == word or (label.endswith("…") and word.startswith(label[:-1])) for label, word in zip(shown, others, strict=False))
    page.keyboard.press("Escape")
    attention.get_by_text("as a table").click()
    head = attention.locator("[data-block='figure attention'] details th[scope=col]")
    expect(head).to_have_text([*others, "<eos>"])
    box = attention.locator("#pg-figure-attention .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    expect(attention.locator(".hoverlayer .hovertext")).to_contain_text("<b>B</b>")
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    expect(attention.locator(".pg-cell")).to_contain_text("“<b>B</b>” (column 1)")

    translate = tab(page, "Translate")
    type_sentence(page, "<script>alert(1)</script> <s>")
    ready_for(page, ["<script>alert(1)</script>", "<s>"])
    expect(translate.locator("[data-block='text unknown']")).to_contain_text("read as <unk>: <script>alert(1)</script>")

    data = tab(page, "Data")
    lines = data.locator(".pg-chipline").all()
    assert len(lines) >= 5
    assert all(set(line.locator(".pg-chip").all_inner_texts()) <= set(NASTY) for line in lines[1:])

    page.locator("#pg-rename").click()
    page.locator("#pg-label").fill(NAME)
    page.locator("#pg-rename-yes").click()
    mine = page.locator(f"#pg-run option[value='{run}']")
    expect(mine).to_contain_text(NAME)
    assert page.locator("img[src=x]").count() == 0
    page.locator("#pg-delete").click()
    expect(page.locator("#pg-dialog")).to_contain_text(NAME)
    page.locator("#pg-delete-yes").click()
    new_run(page, run)
    expect(page.locator(f"#pg-run option[value='{run}']")).to_have_count(0)
