"""The ways past the controls stand in the HTML from the server, before anything else that Tab stops at, in the visitor's language."""

from __future__ import annotations

import re

from playground.ui.shell import page as frozen_page
from playground.words import LANGUAGES, say
from tests.thoroughness import every_case

FIRST = re.compile(r"<body[^>]*>\s*<nav id=\"pg-skip\">(.*?)</nav>", re.DOTALL)


@every_case("language", LANGUAGES)
@every_case("query", ["", "?tab=attention"])
def test_they_come_first(site, language, query):
    said = site.http.get(f"/{query}", headers={"Accept-Language": language}).text
    links = FIRST.search(said)
    assert links, "the page's body does not begin with them"
    assert re.findall(r'<a href="#([\w-]+)">(.*?)</a>', links[1]) == [
        ("pg-sentence", say(language, "page.skip_sentence")),
        ("pg-view", say(language, "page.skip_picture")),
        ("pg-place-tabs", say(language, "page.skip_places")),
    ]


def test_the_address_says_the_language(site):
    said = site.http.get("/?lang=zh", headers={"Accept-Language": "en"}).text
    assert say("zh", "page.skip_sentence") in FIRST.search(said)[1]


def test_a_frozen_page_has_them_too():
    assert FIRST.search(frozen_page("assets"))
