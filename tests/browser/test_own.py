"""A teacher brings sentences of their own: as a file, as pasted text, and once the wrong file. What was typed is text, and never run."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import (  # isort: skip
    SMALL, about_the_run, address, drawn, eventually, has_address, has_status, link, new_run, point_at, source, tab, type_sentence,
    upload, words,
)  # fmt: skip

NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORTE = ("eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn")
PAIRS = [(f"{a} and {b}", f"{c} und {d}") for a, c in zip(NAMES, WORTE, strict=True) for b, d in zip(NAMES, WORTE, strict=True)]
# line 1 names the columns, line 4 is blank, line 6 has no translation
TABBED = ["\t".join(pair) for pair in PAIRS]
LINES = ["english\tgerman", *TABBED[:2], "", TABBED[2], "alone\t", *TABBED[3:]]
OWN = SMALL | {"train_size": 200, "validation_size": 10, "steps": 20}
NASTY = ["<script>", "{{x}}", "$$x$$", "<s>", "<b>B</b>", "<img/src=x/onerror=alert(1)>", "%{x}", "&lt;"]
NAME = '<img src=x onerror="alert(1)"> {{x}} $$x$$'


def clear(page: Page) -> None:
    """Takes back the file that was chosen."""
    button = page.locator("#pg-files").get_by_label("Clear")
    button.click()
    expect(button).to_have_count(0)


def paste(page: Page, text: str) -> None:
    """Pastes lines and has them read."""
    page.get_by_role("button", name=words("page.way_text"), exact=True).click()
    page.locator("#pg-paste textarea").fill(text)
    page.locator("#pg-read").click()


def train_own(page: Page) -> str:
    before = address(page)["run"]
    page.locator("#pg-train-own").click()
    run = new_run(page, before)
    has_status(page, "done")
    has_address(page, run=run, task=None)  # the controls hold the settings of the run, which the address names
    return run


def test_upload_and_train(visit):
    """The wrong file gets one plain sentence; the right one is read, shown as understood, changed, and trained on."""
    page = visit(link(OWN, task="copy"))
    data, refused, reading = tab(page, "data"), page.locator("#pg-refused"), page.locator("#pg-reading")
    before = data.inner_text()  # drawn, and nothing trains
    expect(page.locator("#pg-train-own")).to_be_disabled()
    upload(page, "photo.tsv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(200))
    expect(reading).to_have_text(re.compile(r"^.*photo\.tsv.*$"), use_inner_text=True)  # one line
    expect(data).to_have_text(before, use_inner_text=True)
    has_address(page, task="copy")
    clear(page)
    rows = [f"{n};{english};{german} für Käse" for n, (english, german) in enumerate(PAIRS[:20], 1)]
    upload(page, "three.csv", "\n".join(["no;english;german", *rows[:10], "11;alone;", *rows[10:]]).encode("cp1252"))
    expect(reading).to_have_attribute("data-pairs", "20")
    expect(refused).to_have_count(0)  # what was wrong has been put right
    expect(page.locator("#pg-encoding-0")).to_have_value("windows-1252")
    expect(reading.locator("th[data-side=source]")).to_contain_text("english")
    dropped = reading.locator(".pg-dropped", has_text=words("data.why_empty_target"))
    dropped.locator("summary").click()
    expect(dropped.locator("th, td")).to_have_text(["12", re.compile("alone")])
    page.locator("#pg-source").select_option(label="german")
    expect(reading.locator("th[data-side=source]")).to_contain_text("german")
    expect(reading.locator("th[data-side=target]")).to_contain_text("english")
    page.locator("#pg-header").select_option("no")
    expect(reading).to_have_attribute("data-pairs", "21")
    page.locator("#pg-encoding-0").select_option("utf-8")  # which can't be, and is taken back
    expect(refused).to_contain_text("three.csv")
    expect(page.locator("#pg-encoding-0")).to_have_value("windows-1252")
    with page.expect_download() as download:
        page.locator("#pg-preview").get_by_role("link", name="JSON", exact=True).click()
    assert len(json.loads(download.value.path().read_text(encoding="utf-8"))) == 21
    clear(page)
    upload(page, "numbers.tsv", "\n".join(LINES).encode())
    expect(reading).to_have_attribute("data-pairs", "100")
    expect(reading.locator("li")).to_have_text([
        "Lines read: 103; pairs kept: 100; dropped: 3.", "1 dropped because it names or describes the columns (line 1).",
        "1 dropped because there is nothing on the line (line 4).", "1 dropped because the target is empty (line 6).",
    ])  # fmt: skip
    expect(page.locator("#pg-reading tbody tr").first.locator("td")).to_have_text(["2", "one and one", "eins und eins"])
    clear(page)
    upload(page, "photo.tsv", bytes(200))
    expect(page.locator("#pg-nothing-read")).to_contain_text("numbers.tsv")  # which stay
    run = train_own(page)
    expect(page.locator("#pg-to-tab-training")).to_have_attribute("aria-selected", "true")
    tab(page, "data")
    expect(data).to_have_attribute("data-run", run)
    drawn(data)
    lines = [" ".join(line.locator(".pg-chip").all_inner_texts()) for line in data.locator(".pg-chipline").all()]
    assert len(lines) >= 5
    assert lines[0] in dict(PAIRS)
    assert all(pair in PAIRS for pair in zip(lines[1::2], lines[2::2], strict=True))
    drawn(tab(page, "map"))
    page.locator("#pg-kind").select_option("bpe")
    with page.expect_popup() as sheet:
        page.locator("#pg-paper").click()
    expect(sheet.value.locator("td").first).to_be_visible()  # its owner reads it, and another number of it
    sheet.value.locator("button").click()
    expect(sheet.value.locator("td").first).to_be_visible()
    assert words("runs.sentences_private")[:30] in page.request.get(page.locator("#pg-paper").get_attribute("href")).text()


@pytest.mark.night
def test_pasted_text_is_text_wherever_it_stands(visit):
    """Chips, figures, tables, hovers, captions, lists and the run's name show nasty words letter by letter; the way round is chosen."""
    page = visit(link(OWN))
    tab(page, "data")
    reading = page.locator("#pg-reading")
    paste(page, "only one column\nand another one")
    expect(reading).to_contain_text(words("data.one_column", name="pasted text", line=1))
    paste(page, "\n".join(f"{a} {b}\t{b} {a} {a}" for a in NASTY for b in NASTY))
    expect(reading).to_have_attribute("data-pairs", str(len(NASTY) ** 2))
    expect(reading).to_contain_text("pasted text")
    expect(reading.locator("tbody td").nth(1)).to_have_text("<script> <script>")
    page.locator("#pg-swap").click()
    expect(reading.locator("th[data-side=source]")).to_contain_text("Column 2", ignore_case=True)
    run = train_own(page)
    assert len(page.locator("#pg-sentence").input_value().split()) == 3  # what is translated is the second column
    some, rest = NASTY[:4], NASTY[4:]
    type_sentence(page, " ".join(some))
    attention = tab(page, "attention")
    ticks = page.locator("#pg-figure-attention .xtick text")
    expect(ticks).to_have_text([*some, "<eos>"])
    expect(attention.locator("[data-block='chips tokens'] .pg-tokens").nth(1).locator(".pg-chip")).to_have_text([*some, "<eos>"])
    type_sentence(page, " ".join(rest))
    expect(source(page)).to_have_text(rest)
    labels = eventually(page, ticks.all_text_contents, lambda labels: labels[:1] == rest[:1] and labels[-1] == "<eos>")
    assert all(label == word or (label.endswith("…") and word.startswith(label[:-1])) for label, word in zip(labels, rest, strict=False))
    drawn(attention)
    page.mouse.click(*point_at(page, "attention", 0, 0, "<b>B</b>"))
    expect(attention.locator(".pg-cell")).to_contain_text("“<b>B</b>” (column 1)")
    translate = tab(page, "translate")
    type_sentence(page, "<script>alert(1)</script> <s>")
    expect(source(page)).to_have_text(["<script>alert(1)</script>", "<s>"])
    expect(translate.locator("[data-block='text unknown']")).to_contain_text("read as <unk>: <script>alert(1)</script>")
    about_the_run(page)
    page.locator("#pg-rename").click()
    page.locator("#pg-label").fill(NAME)
    page.locator("#pg-rename-yes").click()
    option = page.locator(f"#pg-run option[value='{run}']")
    expect(option).to_contain_text(NAME)
    about_the_run(page)
    page.locator("#pg-delete").click()
    expect(page.locator("#pg-dialog")).to_contain_text(NAME)
    assert page.locator("img[src=x]").count() == 0
    page.locator("#pg-delete-yes").click()
    new_run(page, run)
    expect(option).to_have_count(0)
