"""Markup: the visible text of a cell in HTML.

Cells are many, short, and seldom well formed. The patterns take linear time; html.parser fails on `<![`, and takes quadratic time for
unclosed tags.
"""

from __future__ import annotations

import html
import re

_SOUND = re.compile(r"\[sound:[^\[\]]*\]")
_UNSEEN = re.compile(r"<(script|style|rt|rp)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)  # rt, rp: ruby readings above characters
_BREAK = re.compile(r"</?(?:br|div|p|li|ul|ol|tr|td|th|table|hr|h[1-6]|blockquote|pre|dl|dt|dd)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<![^<>]*>", re.IGNORECASE)


def strip_markup(text: str) -> str:
    """Strips tags, sounds and comments, resolves character references, and puts a space where a line or a block ends."""
    if "[" in text:
        text = _SOUND.sub(" ", text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub(" ", _UNSEEN.sub("", text)))
    return html.unescape(text) if "&" in text else text
