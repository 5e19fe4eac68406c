"""A link's preview is the app's: its title, its sentence and its picture, and nothing of Gradio's."""

import re
import struct

import httpx
import pytest

from playground.ui import link_preview
from playground.words import LANGUAGES, say


def tags(page: httpx.Response) -> list[tuple[str, str]]:
    """(name, content) of every tag that previews are made of, in the page's order."""
    return re.findall(r'<meta\s+(?:property|name)="((?:og|twitter):[\w:]+|description)"\s+content="([^"]*)"', page.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_tag_stands_there_once_and_is_ours(site, language):
    page = site.http.get("/", params={"lang": language, "run": "reverse"})
    found = tags(page)
    names = [name for name, _ in found]
    assert sorted(names) == sorted(set(names))
    said = dict(found)
    assert said["og:title"] == say(language, "page.title")
    assert said["og:description"] == said["description"] == say(language, "page.preview_about")
    assert said["twitter:card"] == "summary_large_image"
    assert "Gradio" not in " ".join(said.values())
    assert page.text.index("og:title") < page.text.index("<script")


def test_a_link_in_no_language_of_ours_is_previewed_in_english(site):
    for query in ({}, {"lang": "tlh"}, {"lang": '"><script>'}):
        assert dict(tags(site.http.get("/", params=query)))["og:description"] == say("en", "page.preview_about")


def test_the_picture_is_there_under_its_whole_address(site):
    said = dict(tags(site.http.get("/")))
    assert said["og:image"].startswith(site.url)
    answer = site.http.get(said["og:image"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert len(answer.content) < 300_000
    assert struct.unpack(">II", answer.content[16:24]) == link_preview.SIZE == (int(said["og:image:width"]), int(said["og:image:height"]))
    assert site.http.head(said["og:image"]).status_code == 200


def test_behind_a_proxy_the_address_is_the_visitors(site):
    forwarded = {"X-Forwarded-Host": "ada-playground.hf.space", "X-Forwarded-Proto": "https"}
    said = dict(tags(site.http.get("/", headers=forwarded)))
    assert said["og:image"].startswith("https://ada-playground.hf.space/gradio_api/playground/")
    assert said["og:url"] == "https://ada-playground.hf.space/"


def test_the_pages_own_picture_in_the_readme_is_small_too():
    assert (link_preview.STATIC / "screenshot.png").stat().st_size < 300_000
