"""The first screen, made on the server: the panel's own numbers and words, in both languages, for first visitors and for nobody else."""

from __future__ import annotations

import re
from html import unescape

import pytest

from playground.figures import theme
from playground.words import LANGUAGES, say
from tests.ui.test_routes import blocks_of

TAGS = {"en": "en-GB,en;q=0.9", "zh": "zh-CN,zh;q=0.9,en;q=0.8"}


def page(site, query: str = "", accepted: str = TAGS["en"], **headers: str) -> str:
    answer = site.http.get(f"/{query}", headers={"Accept-Language": accepted, **headers})
    assert answer.status_code == 200
    return answer.text


def first(html: str) -> str:
    """What of the page is the first screen; "" where there is none."""
    found = re.search(r'<div id="pg-first".*?(?=<script>)', html, re.DOTALL)
    return found[0] if found else ""


def drawn(site, language: str, dark: str, width: int) -> dict:
    """The block of the picture as the page's script gets it."""
    panel = site.panel("training", run=site.runs.shipped()[0].id, lang=language, dark=dark, width=width)
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == "learn-cross")


def names(screen: str, kind: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf'<span class="{kind}" style="--at:\d+">(.*?)</span>', screen)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_the_panel_s_own_picture(site, language):
    screen = first(page(site, accepted=TAGS[language]))
    block = drawn(site, language, "", 1040)
    light, dark = (figure["data"][0]["z"] for figure in (block["figure"], drawn(site, language, "1", 1040)["figure"]))
    cells = re.findall(r'<rect x="(\d+)" y="(\d+)" width="1" height="1" fill="(#\w+)" style="--dark:(#\w+)"/>', screen)
    wide = cells[: len(light) * len(light[0])]
    expected = [
        (str(column), str(row), theme.shades(light[row][column])[0], theme.shades(dark[row][column], dark=True)[0])
        for row in range(len(light))
        for column in range(len(light[0]))
    ]
    assert wide == expected
    assert len(cells) == 3 * len(wide)  # with the labels of three widths
    axes = block["figure"]["layout"]
    assert names(screen, "row")[: len(light)] == [unescape(text) for text in axes["yaxis"]["ticktext"]]
    assert names(screen, "column")[: len(light[0])] == [unescape(text) for text in axes["xaxis"]["ticktext"]]
    text = unescape(screen)
    for said in (block["caption"], block["title"], axes["xaxis"]["title"]["text"], axes["yaxis"]["title"]["text"]):
        assert said in text
    assert f'lang="{say(language, "language.html")}"' in screen
    assert say(language, "page.place_train") in screen


def test_a_ring_is_where_the_alignment_points(site):
    rings = drawn(site, "en", "", 1040)["figure"]["data"][3]
    path = re.search(r'class="ring" d="(.*?)"', first(page(site)))[1]
    corners = [float(number) for number in re.findall(r"[\d.]+", path)]
    assert corners == pytest.approx([at + 0.5 for pair in zip(rings["x"], rings["y"], strict=True) for at in pair if at is not None])
    assert path.count("M") == rings["x"].count(None)


def test_the_sentence_and_what_becomes_of_it(site):
    said = site.panel("sentence", run=site.runs.shipped()[0].id)
    chips = re.findall(r'<span class="chip( right| wrong)?">(.*?)</span>', first(page(site)))
    assert [unescape(text) for _, text in chips] == [token["text"] for token in [*said["source"], *said["output"]]]
    assert [mark.strip() == "right" for mark, _ in chips[len(said["source"]) :]] == [token["right"] for token in said["output"]]


def test_nothing_in_it_can_be_pressed(site):
    assert not re.search(r"<(button|input|select|a|summary)\b|tabindex|onclick| id=\"(?!pg-first)", first(page(site)))


def test_who_gets_it(site):
    """Who comes without a link, or with one to the same view; the language of a link comes before the browser's."""
    shipped = site.runs.shipped()
    assert "训练新模型" in first(page(site, "?lang=zh"))
    assert first(page(site, f"?run={shipped[0].id}")) == first(page(site)) == first(page(site, "?__theme=dark"))
    for link in (f"?run={shipped[1].id}", "?tab=attention", "?text=wir", "?d_model=32", f"?run={shipped[0].id}&step=100", "?run=nobody"):
        assert not first(page(site, link)), link


def test_a_page_without_it_is_gradio_s_own(site):
    html = page(site, "?tab=map")
    assert 'id="pg-first"' not in html
    assert "<gradio-app" in html
    assert "</html>" in html[-20:]


def test_the_screens_are_kept(site, monkeypatch):
    """Made once: the second visitor's page costs no look at the model."""
    kept = first(page(site))
    monkeypatch.setattr("playground.ui.first_screen.still", lambda *_: pytest.fail("it was made again"))
    assert first(page(site)) == kept
