"""Saving what is shown: pictures that can stand alone, the numbers behind them, and all weights for numpy."""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from playground.decoding import greedy, trace
from playground.queries.reader import Reader, most_written
from playground.runs.corpora import Corpora
from playground.runs.disk.folder import Folder
from playground.words import say
from tests.browser.server import ROOT
from tests.browser.steps import decoder_rows, drawn, figure, link

ABOUT = 5  # records before the table: run, step, sentence, figure, caption
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def save(page: Page, block: str, kind: str, by_finger: bool = False) -> tuple[str, bytes]:
    """Presses a button of a figure. Returns the file's name and what is in it."""
    element = page.locator(f'.pg-panel [data-block="{block}"]')
    group = element.locator("> .pg-save")
    if by_finger:
        group.locator(".pg-save-open").tap()
    else:
        element.hover()
    with page.expect_download() as told:
        group.locator(f'[data-save="{kind}"]').click()
    return told.value.suggested_filename, Path(told.value.path()).read_bytes()


def table(content: bytes) -> tuple[list[list[str]], list[str], list[list[str]]]:
    """What a saved table is about, its head and its rows."""
    assert content.startswith(b"\xef\xbb\xbf")
    records = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert not records[ABOUT]
    head, *rows = records[ABOUT + 1 :]
    return records[:ABOUT], head, rows


def shown(page: Page, name: str) -> list[dict]:
    """The traces of a figure as the server sent them."""
    return page.locator(f'[data-block="figure {name}"]').evaluate("block => block.pgFigure.data")


def size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


def cross_attention(name: str, text: str) -> np.ndarray:
    """All weights (L, H, Q, K), by the model itself, which is fed what it writes."""
    run = Folder(ROOT / "checkpoints" / name).run
    reader = Reader(SimpleNamespace(corpora=Corpora()), threads=1)
    model, _ = reader.model_at(run, None)
    reader.close()
    _, ids = reader.read(run, text)
    return trace(model, ids, greedy(model, [ids], most_written(run.longest_target, len(ids)))[0].ids).cross


def cells(values: Sequence[float | None], hidden: str = "masked") -> list[str | float]:
    return [hidden if value is None else value for value in values]


def numbers(row: Sequence[str]) -> list[str | float]:
    return [cell if cell == "masked" else float(cell) for cell in row]


@pytest.mark.night
def test_all_heads_at_once_as_picture_drawing_and_table(visit):
    page = visit(link(run="german_english", tab="attention", view="all", __theme="dark"))
    drawn(page.locator("#pg-panel-attention"))
    name, png = save(page, "modelview model-view", "png")
    assert name.endswith("attention-all-heads.png")
    assert min(size(png)) > 300
    drawing = save(page, "modelview model-view", "svg")[1].decode()
    assert drawing.count("<image") == 12
    assert "#ffffff" in drawing  # on a white slide
    _, head, rows = table(save(page, "modelview model-view", "csv")[1])
    assert head == [say("en", key) for key in ("page.part", "heads.model_layer", "heads.model_across", "heads.table_name")]
    kinds = [say("en", f"page.part_{kind}") for kind in ("encoder", "decoder", "cross")]
    assert [row[:3] for row in rows] == [[kind, "1", str(head)] for kind in kinds for head in (1, 2, 3, 4)]
    assert len({row[3] for row in rows}) == len(rows) == 12


@pytest.mark.night
def test_attention_as_picture_drawing_table_and_arrays(visit):
    page = visit(link(tab="attention", text="playground", part="cross", layer=2, head=1))
    plot = figure(page, "attention").bounding_box()
    panel, block = page.locator("#pg-panel-attention"), page.locator('[data-block="figure attention"]')
    drawn(panel)
    step, stem = panel.get_attribute("data-step"), f"reverse-step{panel.get_attribute('data-step')}-attention-cross"
    caption, title = block.locator(".pg-caption").text_content(), block.locator("h3").text_content()

    name, png = save(page, "figure attention", "png")
    assert name == f"{stem}-L2H1.png"
    assert size(png)[0] >= 2 * plot["width"]
    assert size(png)[1] > 2 * plot["height"]  # title and caption have their room

    name, drawing = save(page, "figure attention", "svg")
    assert name == f"{stem}-L2H1.svg"
    assert f">{title}</title>" in drawing.decode()
    assert f"{caption} Run reverse, step {step}, sentence: playground" in drawing.decode()

    name, content = save(page, "figure attention", "csv")
    assert name == f"{stem}-L2H1.csv"
    about, head, rows = table(content)
    assert about == [
        ["run", "reverse"],
        ["step", step],
        ["sentence", "playground"],
        ["figure", title],
        ["caption", " ".join(caption.split())],
    ]
    assert head == ["", *"playground", "<eos>"]
    assert [first for first, *_ in rows] == decoder_rows("dnuorgyalp")
    drawn_weights = shown(page, "attention")[0]["z"]
    assert [numbers(row[1:]) for row in rows] == list(map(cells, drawn_weights))

    name, content = save(page, "figure attention", "npz")
    assert name == f"{stem}.npz"
    with np.load(io.BytesIO(content)) as arrays:
        assert arrays["keys"].tolist() == [*"playground", "<eos>"]
        assert arrays["weights"].dtype == np.float32
        np.testing.assert_allclose(arrays["weights"], cross_attention("reverse", "playground"), atol=1e-6)
        np.testing.assert_allclose(np.array(drawn_weights), arrays["weights"][1, 0], atol=5.1e-5)  # which was rounded to four digits


@pytest.mark.night
def test_masks_positions_and_curves_as_tables(visit):
    page = visit(link(tab="masks", text="playground", mask="causal"))
    figure(page, "mask-own")
    name, content = save(page, "figure mask-own", "csv")
    assert name == "reverse-mask-own.csv"
    _, head, rows = table(content)
    assert head == ["", "<bos>", *"dnuorgyalp"]
    z = next(trace["z"] for trace in shown(page, "mask-own") if trace["type"] == "heatmap")
    assert [numbers(row[1:]) for row in rows] == list(map(cells, z))
    legends = page.locator("#pg-panel-masks .pg-plot .legend")
    grids = page.locator("#pg-panel-masks .pg-figure").all()
    assert len(grids) > 1
    expect(legends).to_have_count(1)  # the same for all, so one says it; but every file has its own
    beside = save(page, grids[1].get_attribute("data-block"), "svg")[1].decode()
    assert f">{say('en', 'figures.allowed')}<" in beside

    page = visit(link(tab="embeddings", text="playground"))
    figure(page, "plane")
    hint = say("en", "embeddings.hint")
    expect(page.locator('[data-block="figure plane"] > .pg-caption')).to_contain_text(hint)
    assert hint not in save(page, "figure plane", "svg")[1].decode()  # nobody can press a token there

    page = visit(link(tab="positions"))
    heat = page.locator(".pg-panel .pg-figure").first
    expect(heat.locator(".pg-plot")).to_have_attribute("data-points", "64")
    block = heat.get_attribute("data-block")
    _, _, rows = table(save(page, block, "csv")[1])
    assert [numbers(row[1:]) for row in rows] == heat.evaluate("block => block.pgFigure.data[0].z")

    page = visit(link())
    figure(page, "accuracy")
    name, content = save(page, "figure accuracy", "csv")
    assert name.startswith("reverse-step")
    assert name.endswith("-accuracy.csv")
    _, head, rows = table(content)
    assert head == ["series", "training step", "y"]
    traces = shown(page, "accuracy")
    points = [[trace["name"], x, y] for trace in traces for x, y in zip(trace["x"], trace["y"], strict=True)]
    assert [[series, float(x), float(y)] for series, x, y in rows] == points


@pytest.mark.night
def test_by_keyboard_one_stop_and_arrows(visit):
    page = visit(link(tab="attention", text="playground"))
    figure(page, "attention")
    table_of_it = page.locator('[data-block="figure attention"] > .pg-table summary')
    table_of_it.focus()
    group = page.locator('[data-block="figure attention"] > .pg-save')
    page.keyboard.press("Shift+Tab")
    expect(group.locator('[data-save="png"]')).to_be_focused()
    expect(group).to_have_css("opacity", "1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(group.locator('[data-save="csv"]')).to_be_focused()
    with page.expect_download() as told:
        page.keyboard.press("Enter")
    assert told.value.suggested_filename.endswith(".csv")
    page.keyboard.press("Tab")
    expect(table_of_it).to_be_focused()


@pytest.mark.night
def test_in_chinese_with_a_finger_and_on_a_dark_page(visit):
    """One button opens the choice; the files speak the page's language and are light, whatever the page is."""
    page = visit(link(tab="attention", text="playground", lang="zh", __theme="dark"), **PHONE)
    figure(page, "attention")
    group = page.locator('[data-block="figure attention"] > .pg-save')
    expect(group.locator(".pg-save-open")).to_be_visible()
    expect(group.locator('[data-save="csv"]')).to_be_hidden()
    about, _, _ = table(save(page, "figure attention", "csv", by_finger=True)[1])
    assert [name for name, _ in about] == [say("zh", f"page.csv_{name}") for name in ("run", "step", "sentence", "figure", "caption")]
    drawing = save(page, "figure attention", "svg", by_finger=True)[1].decode()
    assert "playground" in drawing
    assert "#e6e9ee" not in drawing.lower()  # the dark page's text
    assert "rgb(230, 233, 238)" not in drawing
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
