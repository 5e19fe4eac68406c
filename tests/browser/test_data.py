"""A teacher brings sentences of their own: as a file, as pasted text, and once the wrong file."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from playground.words import say
from tests.browser import axe
from tests.browser.steps import SMALL, address, drawn, eventually, has_address, has_status, link, new_run, tab, words

NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORTE = ("eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn")
PAIRS = [(f"{a} and {b}", f"{c} und {d}") for a, c in zip(NAMES, WORTE, strict=True) for b, d in zip(NAMES, WORTE, strict=True)]
# line 1 names the columns, line 4 is blank, line 6 has no translation
LINES = [
    "english\tgerman",
    *("\t".join(pair) for pair in PAIRS[:2]),
    "",
    "\t".join(PAIRS[2]),
    "alone\t",
    *("\t".join(p) for p in PAIRS[3:]),
]
OWN = SMALL | {"train_size": 200, "validation_size": 10}


def upload(page: Page, name: str, content: bytes) -> None:
    page.locator("#pg-files input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


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


def first_row(page: Page) -> Locator:
    return page.locator("#pg-reading tbody tr").first.locator("td")


def with_numbers(visit) -> tuple[Page, Locator]:
    """The page with LINES uploaded, and what it understood."""
    page = visit(link(OWN))
    tab(page, "data")
    upload(page, "numbers.tsv", "\n".join(LINES).encode())
    reading = page.locator("#pg-reading")
    expect(reading).to_have_attribute("data-pairs", "100")
    return page, reading


@pytest.mark.night
def test_upload_and_train(visit):
    """A file is read, shown as understood and trained on."""
    page, reading = with_numbers(visit)
    expect(reading).to_contain_text("numbers.tsv")
    expect(reading.locator("li")).to_have_text(
        [
            "Lines read: 103; pairs kept: 100; dropped: 3.",
            "1 dropped because it names or describes the columns (line 1).",
            "1 dropped because there is nothing on the line (line 4).",
            "1 dropped because the target is empty (line 6).",
        ]
    )
    expect(first_row(page)).to_have_text(["2", "one and one", "eins und eins"])
    before = address(page)["run"]
    page.locator("#pg-train-own").click()
    first = new_run(page, before)
    has_status(page, "done")
    expect(page.locator("#pg-tab-training-button")).to_have_attribute("aria-selected", "true")
    data = tab(page, "data")
    expect(data).to_have_attribute("data-run", first)
    drawn(data)
    lines = [" ".join(line.locator(".pg-chip").all_inner_texts()) for line in data.locator(".pg-chipline").all()]
    assert len(lines) >= 5
    assert lines[0] in dict(PAIRS)
    assert all(pair in PAIRS for pair in zip(lines[1::2], lines[2::2], strict=True))


@pytest.mark.night
def test_paste_and_train_the_other_way_round(visit):
    """Pasted lines take the place of a file that was chosen before."""
    page, reading = with_numbers(visit)
    paste(page, "\n".join("\t".join(pair) for pair in PAIRS[:50]))
    expect(reading).to_have_attribute("data-pairs", "50")
    expect(reading).to_contain_text("pasted text")
    expect(reading.locator("th[data-side=source]")).to_contain_text("Column 1", ignore_case=True)
    page.locator("#pg-swap").click()
    expect(reading.locator("th[data-side=source]")).to_contain_text("Column 2", ignore_case=True)
    before = address(page)["run"]
    page.locator("#pg-train-own").click()
    new_run(page, before)
    has_status(page, "done")
    has_address(page, task="own")
    expect(page.locator("#pg-sentence")).to_have_value(re.compile(rf"^({'|'.join(WORTE)}) "))


@pytest.mark.night
def test_bad_upload(visit):
    """The wrong file gets one plain sentence; what was there before stays, and everything goes on working."""
    page = visit(link(OWN, task="copy"))
    data, notices = tab(page, "data"), page.locator(".pg-notice")
    shown = data.inner_text()  # drawn, and nothing trains

    expect(page.locator("#pg-train-own")).to_be_disabled()
    expect(page.locator("#pg-nothing-read")).to_have_text(words("page.nothing_read_yet"))
    expect(page.locator("#pg-paste")).to_be_hidden()

    upload(page, "photo.tsv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(200))
    expect(notices).to_have_count(1)
    expect(notices).to_contain_text("photo.tsv")
    expect(notices.locator("span")).to_have_text(re.compile(r"^[^\n]+$"), use_inner_text=True)
    expect(page.locator("#pg-reading")).to_be_empty()
    expect(data).to_have_text(shown, use_inner_text=True)
    has_address(page, task="copy")

    clear(page)
    upload(page, "latin.csv", "Bär,bear\nKäse,cheese\n".encode("latin-1"))
    expect(page.locator("#pg-reading")).to_have_attribute("data-pairs", "2")
    expect(notices).to_have_count(0)  # what was wrong has been put right
    expect(page.locator("#pg-reading")).to_contain_text("windows-1252")
    expect(first_row(page)).to_have_text(["1", "Bär", "bear"])

    clear(page)
    upload(page, "good.csv", "\n".join(",".join(pair) for pair in PAIRS[:30]).encode())
    expect(page.locator("#pg-reading")).to_have_attribute("data-pairs", "30")
    expect(notices).to_have_count(0)
    has_address(page, task="own")

    clear(page)
    upload(page, "poem.txt", b"\n\n".join([b"I have been to the woods\nAnd there was no one but me"] * 6))
    question = page.locator("#pg-question")
    expect(question).to_contain_text("poem.txt")
    expect(page.locator("#pg-reading")).to_have_attribute("data-pairs", "30")
    page.locator("#pg-same-language").click()
    expect(page.locator("#pg-reading")).to_have_attribute("data-pairs", "6")
    expect(question).to_have_count(0)
    expect(notices).to_have_count(0)

    clear(page)
    upload(page, "good.csv", "\n".join(",".join(pair) for pair in PAIRS[:30]).encode())
    expect(page.locator("#pg-reading")).to_have_attribute("data-pairs", "30")

    paste(page, "only one column\nand another one")
    expect(notices).to_contain_text(words("data.one_column", name="pasted text", line=1))
    expect(page.locator("#pg-reading")).to_have_attribute("data-pairs", "30")
    has_address(page, task="own")
    before = address(page)["run"]
    page.locator("#pg-train-own").click()
    new_run(page, before)
    has_status(page, "done")
    expect(page.locator("#pg-sentence")).to_have_value(re.compile("^(" + "|".join(dict(PAIRS[:30])) + ")$"))


@pytest.mark.night
def test_what_was_understood_can_be_changed(visit):
    """Columns, header and encoding are chosen, lines that were dropped are looked at, and each choice shows at once what it does."""
    page = visit(link(OWN, steps=90))
    tab(page, "data")
    rows = [f"{n};{english};{german} für Käse" for n, (english, german) in enumerate(PAIRS[:20], 1)]
    upload(page, "three.csv", "\n".join(["no;english;german", *rows[:10], "11;alone;", *rows[10:]]).encode("cp1252"))
    reading, preview = page.locator("#pg-reading"), page.locator("#pg-preview")
    expect(reading).to_have_attribute("data-pairs", "20")
    expect(page.locator("#knob-steps input")).to_have_value("100")  # as many as so few sentences need
    expect(reading.locator("th[data-side=source]")).to_contain_text("english")
    expect(page.locator("#pg-encoding-0")).to_have_value("windows-1252")
    expect(preview.locator(".pg-chipline").first).to_contain_text("and")
    dropped = reading.locator(".pg-dropped", has_text=words("data.why_empty_target"))
    dropped.locator("summary").click()
    expect(dropped.locator("th, td")).to_have_text(["12", re.compile("alone")])

    page.locator("#pg-source").select_option(label="german")
    expect(reading.locator("th[data-side=source]")).to_contain_text("german")
    expect(reading.locator("th[data-side=target]")).to_contain_text("english")
    expect(preview.locator(".pg-chipline").first).to_contain_text("und")
    page.locator("#pg-header").select_option("no")
    expect(reading).to_have_attribute("data-pairs", "21")
    page.locator("#pg-encoding-0").select_option("cp437")
    expect(first_row(page).nth(3)).to_contain_text("german")
    expect(reading.locator("tbody tr").nth(1)).not_to_contain_text("für")

    with page.expect_download() as got:
        preview.get_by_role("link", name="JSON", exact=True).click()
    assert len(json.loads(got.value.path().read_text(encoding="utf-8"))) == 21


@pytest.mark.night
def test_what_was_read_survives_a_refusal_a_reload_and_another_language(visit):
    """A choice that can't be is taken back, and nobody has to upload again because of a reload or a click on 中文."""
    page = visit(link(OWN))
    tab(page, "data")
    rows = ["english,german", *(",".join(pair) for pair in PAIRS[:12]), "alone,"]
    upload(page, "few.csv", "\n".join(rows).encode("cp1252"))
    reading = page.locator("#pg-reading")
    expect(reading).to_have_attribute("data-pairs", "12")
    page.locator("#pg-encoding-0").select_option("utf-8")
    expect(page.locator(".pg-notice")).to_contain_text("few.csv")
    expect(page.locator("#pg-encoding-0")).to_have_value("windows-1252")
    expect(reading).to_have_attribute("data-pairs", "12")

    held: list[Route] = []
    page.route("**/boot?*", lambda route: held.append(route), times=1)
    page.reload()
    expect(reading).to_be_attached()
    eventually(page, lambda: len(held), bool)
    page.wait_for_timeout(500)  # in which what was read would be drawn without a word
    held[0].continue_()
    expect(reading).to_contain_text("few.csv")
    expect(reading).to_have_attribute("data-pairs", "12")
    expect(page.locator("#pg-source")).to_have_count(0)  # the file itself is no longer in the page
    page.locator("#pg-language").click()
    expect(reading.locator("li").first).to_have_text(say("zh", "data.report_line", lines=14, kept=12, dropped=2))
    before = address(page)["run"]
    page.locator("#pg-train-own").click()
    new_run(page, before)
    has_status(page, "done")
    has_address(page, task="own")


BEYOND = """card => [...card.querySelectorAll(".pg-choices *")]
  .filter((one) => one.getBoundingClientRect().right > card.getBoundingClientRect().right).map((one) => one.id || one.tagName)"""


@pytest.mark.night
def test_a_table_of_inflections_on_a_telephone_in_chinese(visit):
    """What is ticked can be seen to be ticked, no control stands beyond the card, and nothing breaks a rule."""
    page = visit(link(OWN, tab="data", lang="zh"), viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    drawn(page.locator("#pg-panel-data"))
    verbs = ("walk", "talk", "jump", "call", "play", "open", "work", "look", "cook", "push", "pull", "wash", "kick", "pick", "mark", "turn")
    ends = (("ed", "V;PST"), ("s", "V;3;SG;PRS"), ("ing", "V;PTCP;PRS"))
    upload(page, "forms.tsv", "\n".join(f"{verb}\t{verb}{end}\t{form}" for verb in verbs for end, form in ends).encode())
    box, card = page.locator("#pg-join-2"), page.locator("#pg-reading")
    expect(box).to_be_checked()
    expect(box).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    assert card.evaluate(BEYOND) == []
    assert not axe.faults(page)
