"""The page's first script, which explains why nothing is drawn and what to do. It needs no other file, and runs in browsers too old for the
rest."""

from __future__ import annotations

from functools import cache

import orjson

from playground.ui.assets import STATIC
from playground.words import LANGUAGES, say

REASONS = ("old", "file", "frame", "missing", "controls", "slow")


@cache
def start_watch() -> str:
    """Returns the first tags of a page, with their sentences in every language."""
    words = {language: {reason: say(language, f"page.start_{reason}") for reason in REASONS} for language in LANGUAGES}
    sentences_json = orjson.dumps(words).decode().replace("<", r"\u003c")
    script = (STATIC / "first_watch.js").read_text(encoding="utf-8")
    return f'<script type="application/json" id="pg-start">{sentences_json}</script><script>{script}</script>'
