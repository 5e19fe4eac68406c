"""The ways past the controls, for who has no mouse: first in the HTML from the server, so that they are there before any script has run.

Each is a link to the id of what it leads to; static/keyboard.js makes them work, also those that were followed before it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from playground.words import preferred, say

LINKS = {"pg-sentence": "page.skip_sentence", "pg-view": "page.skip_picture", "pg-place-tabs": "page.skip_places"}


def skip_links(query: Mapping[str, str], accepted: str) -> str:
    """In the language of an address with this `query`, else in the first that the browser `accepted`."""
    return nav(preferred(accepted, query.get("lang", "")), urlencode(query))


def nav(language: str, query: str = "") -> str:
    """Each keeps the `query` of the address: Gradio's page has a base, to which a link of a fragment alone would lead."""
    here = escape(f"?{query}") if query else ""
    links = "".join(f'<a href="{here}#{id}">{escape(say(language, key))}</a>' for id, key in LINKS.items())
    return f'<nav id="pg-skip">{links}</nav>'
