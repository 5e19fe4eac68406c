"""Skip links past the controls, for visitors without a mouse: first in the server's HTML, to be there before any script has run.

Each links to the id of its target; static/keyboard.js makes them work, also those followed before it loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from playground.words import preferred, say

LINKS = {"pg-sentence": "page.skip_sentence", "pg-view": "page.skip_picture", "pg-place-tabs": "page.skip_places"}


def skip_links(query: Mapping[str, str], accepted: str) -> str:
    """Returns the links in the language of an address's `query`, else in the first that the browser `accepted`."""
    return nav(preferred(accepted, query.get("lang", "")), urlencode(query))


def nav(language: str, query: str = "") -> str:
    """Returns the links. Each keeps the address's `query`: the page has a base, so that a bare fragment would lead elsewhere."""
    here = escape(f"?{query}") if query else ""
    links = "".join(f'<a href="{here}#{id}">{escape(say(language, key))}</a>' for id, key in LINKS.items())
    return f'<nav id="pg-skip">{links}</nav>'
