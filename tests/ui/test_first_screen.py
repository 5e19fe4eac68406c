"""The page's HTML from the server: a link's preview, the ways past the controls, and the first screen, which is the panel's own picture."""

from __future__ import annotations

import re
import struct
from html import unescape

import pytest

from playground.figures import theme
from playground.words import say
from tests.ui.panels.looking import all_blocks

TAGS = {"en": "en-GB,en;q=0.9", "zh": "zh-CN,zh;q=0.9,en;q=0.8"}


def page(site, query: str = "", accepted: str = TAGS["en"], **headers: str) -> str:
    answer = site.http.get(f"/{query}", headers={"Accept-Language": accepted, **headers})
    assert answer.status_code == 200
    return answer.text


def first(html: str) -> str:
    """What of the page is the first screen; "" where there is none."""
    match = re.search(r'<div id="pg-first".*?(?=<script>)', html, re.DOTALL)
    return match[0] if match else ""


def drawn(site, language: str, dark: str) -> dict:
    """The block of the picture as the page's script gets it."""
    panel = site.panel("training", run=site.runs.shipped()[0].id, lang=language, dark=dark, width=1040)
    return next(block for block in all_blocks(panel["blocks"]) if block["id"] == "learn-cross")


def names(screen: str, kind: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf'<span class="{kind}" style="--at:\d+">(.*?)</span>', screen)]


def test_it_is_the_panel_s_own_picture(site):
    language = "zh"
    screen = first(page(site, accepted=TAGS[language]))
    block = drawn(site, language, "")
    light, dark = (figure["data"][0]["z"] for figure in (block["figure"], drawn(site, language, "1")["figure"]))
    cells = re.findall(r'<rect x="(\d+)" y="(\d+)" width="1" height="1" fill="(#\w+)" style="--dark:(#\w+)"/>', screen)
    expected = [
        (str(column), str(row), theme.shades(light[row][column])[0], theme.shades(dark[row][column], dark=True)[0])
        for row in range(len(light))
        for column in range(len(light[0]))
    ]
    assert cells == 3 * expected  # with the labels of three widths
    axes = block["figure"]["layout"]
    assert names(screen, "row")[: len(light)] == [unescape(text) for text in axes["yaxis"]["ticktext"]]
    assert names(screen, "column")[: len(light[0])] == [unescape(text) for text in axes["xaxis"]["ticktext"]]
    for text in (block["caption"], block["title"], axes["xaxis"]["title"]["text"], axes["yaxis"]["title"]["text"]):
        assert text in unescape(screen)
    assert f'lang="{say(language, "language.html")}"' in screen
    assert say(language, "page.place_train") in screen


def test_who_gets_it(site, monkeypatch):
    """Who comes without a link, or with one to the same view; the language of a link comes before the browser's. It is made once."""
    shipped, before = site.runs.shipped(), first(page(site))
    assert "训练新模型" in first(page(site, "?lang=zh"))
    monkeypatch.setattr("playground.ui.first_screen.still", lambda *_: pytest.fail("it was made again"))
    assert first(page(site, f"?run={shipped[0].id}")) == first(page(site)) == first(page(site, "?__theme=dark")) == before
    for link in (f"?run={shipped[1].id}", "?tab=map", "?text=wir", "?d_model=32", f"?run={shipped[0].id}&step=100", "?run=nobody"):
        html = page(site, link)
        assert 'id="pg-first"' not in html, link
        assert "<gradio-app" in html
        assert "</html>" in html[-20:]


def tags(html: str) -> dict[str, str]:
    pairs = re.findall(r'<meta\s+(?:property|name)="((?:og|twitter):[\w:]+|description)"\s+content="([^"]*)"', html)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def test_a_links_preview_is_in_its_language_and_its_picture_small_and_under_the_address_that_visitors_see(site, monkeypatch):
    for query, language in (("?run=reverse", "en"), ("?lang=zh&run=reverse", "zh"), ("?lang=tlh", "en"), ('?lang="><script>', "en")):
        html = page(site, query)
        preview = tags(html)
        assert preview["og:title"] == say(language, "page.title")
        assert preview["og:description"] == preview["description"] == say(language, "page.preview_about")
        assert "Gradio" not in " ".join(preview.values())
    assert preview["og:image"].startswith(site.url)
    answer = site.http.get(preview["og:image"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    size = tuple(int(preview[f"og:image:{side}"]) for side in ("width", "height"))
    assert (struct.unpack(">II", answer.content[16:24]), len(answer.content) < 300_000) == (size, True)
    monkeypatch.setenv("PLAYGROUND_PROXIES", "1")
    forwarded = tags(page(site, **{"X-Forwarded-Host": "ada-playground.hf.space", "X-Forwarded-Proto": "https"}))
    assert forwarded["og:image"].startswith("https://ada-playground.hf.space/gradio_api/playground/")
    assert forwarded["og:url"] == "https://ada-playground.hf.space/"
