"""A visitor looks into a model: who looks at whom, where a number comes from, and what becomes of the output when a part is taken away."""

import csv
import io
import re
import struct
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.steps import (  # isort: skip
    PHONE, about_the_run, address, decoder_rows, drawn, drawn_from, eventually, figure, has_address, link, place_of, point_at, tab,
    words,
)  # fmt: skip

HELLO, OLLEH = [*"hello", "<eos>"], decoder_rows("olleh")
WEIGHTS = "decoder.1.cross_attention.weights"


def lit(page: Page, how: str) -> Locator:
    """The tokens that are lit up below the large picture."""
    return page.locator(f"#pg-panel-attention [data-block='chips tokens'] .pg-chip.{how}")


def test_point_click_and_choose_a_head(visit):
    """A hover names the pair and its weight, a click pins the cell, thumbnails choose heads, masked cells are hatched, products add up."""
    page = visit(link(text="hello", tab="attention"))
    panel = page.locator("#pg-panel-attention")
    expect(panel.locator("#pg-figure-attention .xtick text")).to_have_text(HELLO)
    table = drawn_from(page, "attention")["z"]
    q, k = max(((q, k) for q in range(5) for k in range(5)), key=lambda at: table[at[0]][at[1]])
    names = re.compile(rf"query {OLLEH[q]}, key {HELLO[k]}.*weight {table[q][k]:.3f}")
    at = point_at(page, "attention", k, q, names)
    expect(lit(page, "query")).to_have_text([OLLEH[q]])
    expect(lit(page, "key")).to_have_text([HELLO[k]])
    page.mouse.click(*at)
    has_address(page, q=str(q), k=str(k))
    pinned = words("page.cell", query_token=OLLEH[q], row=q + 1, key_token=HELLO[k], column=k + 1, value="|").partition("|")[0]
    expect(panel.locator(".pg-cell")).to_contain_text(pinned)
    page.mouse.move(5, 5)
    expect(lit(page, "query")).to_have_text([OLLEH[q]])  # the pinned token is lit when the pointer has gone
    drawn(panel)
    expect(panel.locator(".pg-thumb")).to_have_count(2 * 4)
    title = panel.locator("[data-block='figure attention'] h3")
    other = panel.locator(".pg-thumb[aria-pressed=false]").first
    layer, head = (int(other.get_attribute(f"data-{name}")) + 1 for name in ("layer", "head"))
    heading, was = words("page.head_title", part=words("page.part_cross"), layer=layer, head=head), title.inner_text()
    other.hover()
    expect(title).to_have_text(heading)
    page.mouse.move(5, 5)
    expect(title).to_have_text(was)
    other.click()
    has_address(page, layer=str(layer), head=str(head), q=str(q), k=str(k))
    expect(title).to_have_text(heading)
    expect(panel.locator(".pg-thumb[aria-pressed=true]")).to_have_attribute("aria-label", re.compile(f"layer {layer}, head {head}$"))
    expect(panel.locator(".pg-cell")).to_contain_text(pinned)
    # the score of the pinned cell, product by product
    drawn(panel)
    weight = panel.locator(".pg-cell").inner_text().rstrip(".").split()[-1]
    view = panel.locator("[data-block='choice view']")
    view.locator("[data-value=product]").click()
    has_address(page, view="product", q=str(q), k=str(k))
    sum_of_it = panel.locator("[data-block='text product-sum']")
    expect(sum_of_it).to_contain_text(f"Softmax: {weight}.")
    drawn(panel)
    total = float(re.search(r"product (−?[\d.]+),", sum_of_it.inner_text())[1].replace("−", "-"))
    assert sum(figure(page, "product").evaluate("plot => plot.data[2].y")) == pytest.approx(total, abs=1e-3)
    # in the decoder the future is hatched, says so, and has no number; the pinned token is the same in every tab
    view.locator("[data-value]").first.click()
    page.locator("#pg-figure [data-part='decoder.self_attention']").click()
    has_address(page, part="decoder", view=None)
    expect(panel.locator("#pg-figure-attention .xtick text").first).to_have_text("<bos>")
    drawn(panel)
    table = drawn_from(page, "attention")["z"]
    assert all((table[q][k] is None) == (k > q) for q in range(6) for k in range(6))
    bars = panel.locator("#pg-figure-attention .barlayer .bar path, #pg-figure-attention .barlayer .point path")
    expect(bars).to_have_count(5)  # one stretch a row, but the last
    for bar in range(5):
        expect(bars.nth(bar)).to_have_attribute("style", re.compile(r"url\("))  # masked cells are drawn with a pattern
    page.mouse.click(*point_at(page, "attention", 4, 1, "masked"))
    has_address(page, q="1", k="4")
    expect(panel.locator(".pg-cell")).to_contain_text(words("page.cell_masked"))
    drawn(panel)
    picture = panel.locator("[data-block='figure attention']")
    picture.get_by_text("table", exact=True).click()
    expect(picture.locator("details table tr").nth(1).locator("td")).to_have_text([re.compile(r"^\d\.\d{3}$"), *["masked"] * 5])
    expect(tab(page, "translate").locator("[data-block='figure likely'] h3")).to_contain_text("Step 2")


def tile(panel: Locator, address: str) -> Locator:
    return panel.locator(f".pg-tile[data-address='{address}']")


def is_open(page: Page, panel: Locator, address: str) -> None:
    """Asserts that only this stage is open and has the focus."""
    has_address(page, stage=address)
    expect(panel.locator(".pg-tile[aria-expanded=true]")).to_have_count(1)
    expect(tile(panel, address)).to_have_attribute("aria-expanded", "true")
    expect(panel.locator(".pg-open")).to_have_count(1)
    expect(tile(panel, address)).to_be_focused()
    drawn(panel)


def test_where_a_number_comes_from(visit):
    """By the paper's figure into the map, through its stages by keys, down to one weight, which is worked out by hand."""
    page = visit(link(text="hello", tab="attention"))
    part = page.locator("#pg-figure .part[aria-current=true]")
    expect(part).to_have_attribute("data-part", "decoder.cross_attention")
    page.locator("#pg-figure .part[data-part=probabilities]").click()
    has_address(page, tab="map", stage="probabilities")
    expect(part).to_have_attribute("data-part", "probabilities")
    panel = page.locator("#pg-panel-map")
    drawn(panel)
    tile(panel, "src.embedding").click()
    is_open(page, panel, "src.embedding")
    expect(panel.locator(".pg-here .pg-path")).to_contain_text("Encoder › input › embedding")
    expect(panel.locator("[data-block='text shape']")).to_contain_text("(S, D) = (6, 64)")
    expect(panel.locator(".pg-code mark")).to_have_text(re.compile(r"^\s+x = embedding\(tokens\)[^\n]*$"))
    page.keyboard.press("ArrowRight")  # from an open stage: to the next that is computed
    is_open(page, panel, "src.scaled")
    page.keyboard.press("Escape")
    has_address(page, stage=None)
    expect(tile(panel, "src.scaled")).to_be_focused()
    for key in ("ArrowLeft", "ArrowDown"):  # while none is open: only the eye moves
        page.keyboard.press(key)
    expect(tile(panel, "encoder.0.self_attention.k")).to_be_focused()
    page.keyboard.press("Enter")
    is_open(page, panel, "encoder.0.self_attention.k")
    tile(panel, WEIGHTS).click()
    is_open(page, panel, WEIGHTS)
    page.mouse.click(*place_of(page, "stage", 3, 1))
    has_address(page, row="1", col="3")
    sheet = panel.locator(".pg-sheet")
    expect(sheet.locator("h3")).to_have_text(words("map.sheet_title", cell=words("map.cell", row="o→l", column="l")))
    expect(sheet.locator(".pg-terms tbody tr")).to_have_count(6)
    weight = eventually(page, lambda: drawn_from(page, "stage"), lambda trace: len(trace["z"]) == 6)["z"][1][3]
    answer = sheet.locator(".pg-answer")
    expect(answer).to_have_text(re.compile(r"0\.\d+"))
    right = answer.inner_text()
    assert abs(float(right) - weight) < 1e-4
    sheet.get_by_role("button", name=words("map.sheet_hide")).click()
    has_address(page, hide="on")
    expect(answer).to_have_text("?")
    guess = sheet.locator(".pg-guess")
    expect(guess).to_be_focused()
    eventually(page, lambda: drawn_from(page, "stage")["z"][1][3], lambda value: value is None)
    expect(panel.locator(".pg-open")).not_to_contain_text(right)
    for verdict, typed in (("higher", f"{weight - 0.1}"), ("lower", f"{weight + 0.1}"), ("no_number", "much"), ("right", f"{weight:.3f}")):
        guess.fill(typed)
        guess.press("Enter")
        expect(sheet.locator(".pg-said")).to_have_text(words(f"map.sheet_{verdict}"))
    sheet.get_by_role("button", name=words("map.sheet_show")).click()
    expect(answer).to_have_text(right)
    score = sheet.locator(".pg-terms tbody tr").nth(3).locator(".pg-walk")
    expect(score).to_have_text("s[3, 2, 4]")
    score.click()  # the way back through the model
    has_address(page, stage="decoder.1.cross_attention.masked", row="1", col="3", head="3")
    expect(sheet.locator(".pg-sums .last")).to_contain_text(words("map.why_open"))


def test_forced_free_and_one_correction(visit):
    """Why a model that is nearly always right writes nonsense: one of its tokens is corrected, and a link keeps the correction."""
    long = "abcdefghijklmnopqrst"  # longer than any word in training
    page = visit(link(text=long, tab="teacher_forcing"))
    panel = page.locator("#pg-panel-teacher_forcing")
    drawn(panel)
    lanes = panel.locator(".pg-lane")
    expect(lanes).to_have_count(2)
    expect(panel.locator("[data-block='text caption']")).to_contain_text("First difference at step 1")
    expect(panel.locator(".pg-parts td.parted")).to_have_text(words("teacher_forcing.parts_here"))
    wrote = panel.locator("tbody").nth(1).locator("tr.says .pg-chip")
    expect(wrote.first).to_have_class("pg-chip wrong")
    before = wrote.all_inner_texts()
    panel.locator("[data-block='choice fix'] button", has_text=long[-1]).last.click()
    expect(lanes).to_have_count(3)
    expect(panel.locator("tbody").nth(2).locator("tr.says .pg-chip.fixed")).to_have_text(long[-1])
    expect(wrote).to_have_text(before)  # what it wrote by itself stays as it was
    panel.locator("thead button").nth(3).click()
    has_address(page, q="3")
    assert address(page)["fix"].startswith("0:")
    expect(panel.locator("[data-block='figure likely-free'] h3")).to_contain_text("step 4")
    expect(figure(page, "lens").locator(".annotation-text").first).to_be_visible()


def sentence(panel: Locator, name: str) -> Locator:
    """The tokens of one line: "before", "after" or "reference"."""
    return panel.locator(f".pg-compare-line.{name} .pg-chip")


@pytest.mark.night
def test_heads_are_switched_off_and_one_step_looks_elsewhere(visit):
    """The output without a head stands beside the output with it; a link takes the change to a friend with a telephone."""
    page = visit(link(text="attention", tab="interventions"))
    right = [*"noitnetta", "<eos>"]
    panel = page.locator("#pg-panel-interventions")
    drawn(panel)
    off = panel.locator(".pg-switch[aria-pressed=true]")
    expect(panel.locator(".pg-switch")).to_have_count(24)
    expect(off).to_have_count(0)
    for name in ("before", "after"):
        expect(sentence(panel, name)).to_have_text(right)
    expect(figure(page, "importance-cross").locator(".bars .point")).to_have_count(8)
    switch = panel.locator("[data-ids='c1.3']")
    switch.press("Enter")  # by keyboard
    has_address(page, off="c1.3")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(switch).to_be_focused()
    expect(panel.locator("[data-block='text in-force']")).to_have_text("Changed: off: cross-attention 1.3.")
    layer = panel.locator(".pg-switch-part.hue-cross .pg-switch-layer .pg-switch-all").first
    expect(layer).to_have_attribute("aria-pressed", "mixed")
    layer.click()
    has_address(page, off="c1.1_c1.2_c1.3_c1.4")
    expect(sentence(panel, "before")).to_have_text(right)  # never overwritten
    expect(sentence(panel, "after")).not_to_have_text(right)
    expect(panel.locator(".pg-compare-line.after .pg-verdict")).to_have_text(words("interventions.wrong"))
    expect(page.locator("#pg-result .out .pg-chip")).to_have_text(right[:-1])  # the model itself is as it was
    panel.locator(".pg-switch-none").click()
    has_address(page, off=None)
    expect(off).to_have_count(0)
    panel.locator("[data-block='choice memory'] [data-value=cut]").click()
    has_address(page, squeeze="cut")
    panel.get_by_role("button", name=words("interventions.undo")).click()
    has_address(page, squeeze=None)
    expect(sentence(panel, "after")).to_have_text(right)
    page.goto(link(text="attention", tab="interventions", change="row", layer=2, head=3, q=1))
    drawn(panel)
    bars, acts = panel.locator(".pg-cell-bar"), panel.locator(".pg-cell-acts")
    expect(bars).to_have_count(10)
    bars.first.click()
    has_address(page, k="0", q="1", layer="2", head="3")
    only = acts.get_by_role("button", name=words("interventions.row_only"))
    only.press("Enter")
    has_address(page, cells="c2.3_q1_k0-1")
    expect(bars.first).to_have_attribute("data-weight", "1.0000")
    expect(sentence(panel, "before")).to_have_text(right)
    expect(sentence(panel, "after").nth(1)).not_to_have_text("o")
    expect(sentence(panel, "after").nth(1)).to_have_class(re.compile(r"\bnew\b"))
    drawn(panel)
    friend = visit(page.evaluate("location.search"), **PHONE)
    theirs = friend.locator("#pg-panel-interventions")
    drawn(theirs)
    expect(sentence(theirs, "after")).to_have_text(sentence(panel, "after").all_inner_texts())
    theirs.locator(".pg-cell-bar").nth(3).tap()
    theirs.get_by_role("button", name=words("interventions.row_mask")).tap()
    has_address(friend, cells="c2.3_q1_k0-1_x3")
    expect(theirs.locator(".pg-cell-bar").nth(3)).to_have_attribute("data-weight", "0.0000")
    acts.locator("input[type=range]").fill("0.4")
    has_address(page, cells="c2.3_q1_k0-0.4")
    expect(bars.first).to_have_attribute("data-weight", "0.4000")
    expect(panel.locator(".pg-cells-legend")).to_contain_text(words("interventions.row_sum", sum="1.00"))
    page.locator("#pg-sentence").fill("world")  # another sentence has other cells
    has_address(page, text="world", cells=None, q=None)


def save(page: Page, kind: str) -> tuple[str, bytes]:
    """Presses a button of the attention's picture. Returns the file's name and what is in it."""
    picture = page.locator('.pg-panel [data-block="figure attention"]')
    picture.hover()
    with page.expect_download() as download:
        picture.locator(f'> .pg-save [data-save="{kind}"]').click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@pytest.mark.night
def test_what_is_seen_is_saved_as_picture_table_and_arrays(visit):
    """The files have the numbers that are drawn, and say of what; a run is taken home as a zip."""
    page = visit(link(tab="attention", text="playground", part="cross", layer=2, head=1))
    plot, panel = figure(page, "attention").bounding_box(), page.locator("#pg-panel-attention")
    drawn(panel)
    block, step = page.locator('[data-block="figure attention"]'), panel.get_attribute("data-step")
    stem, title = f"reverse-step{step}-attention-cross", block.locator("h3").text_content()
    weights = block.evaluate("block => block.pgFigure.data")[0]["z"]
    name, png = save(page, "png")
    assert (name, png[:8]) == (f"{stem}-L2H1.png", b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24])[0] >= 2 * plot["width"]
    name, drawing = save(page, "svg")
    assert name == f"{stem}-L2H1.svg"
    assert f">{title}</title>" in drawing.decode()
    assert f"Run reverse, step {step}: playground" in drawing.decode()
    name, content = save(page, "csv")
    assert name == f"{stem}-L2H1.csv"
    records = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert records[:4] == [["run", "reverse"], ["step", step], ["sentence", "playground"], ["figure", title]]
    assert records[6] == ["", *"playground", "<eos>"]
    assert [row[0] for row in records[7:]] == decoder_rows("dnuorgyalp")
    assert [list(map(float, row[1:])) for row in records[7:]] == weights
    assert save(page, "npz")[0] == f"{stem}.npz"  # what is in it: tests/ui/test_downloads.py
    about_the_run(page)
    with page.expect_download() as download:
        page.locator("#pg-take-home").click()
    assert zipfile.is_zipfile(download.value.path())
