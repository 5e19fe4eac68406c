"""Markup: the text that a person sees of a cell written in HTML.

Cells are not pages: they are many, short, and seldom whole. Patterns look at each character once; html.parser stumbles over `<![`, and
takes time by the square of the length over tags that are never closed.
"""

from __future__ import annotations

import html
import re

_SOUND = re.compile(r"\[sound:[^\[\]]*\]")
_UNSEEN = re.compile(r"<(script|style|rt|rp)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)  # rt, rp: how a character is read, above it
_BREAK = re.compile(r"</?(?:br|div|p|li|ul|ol|tr|td|th|table|hr|h[1-6]|blockquote|pre|dl|dt|dd)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<![^<>]*>", re.IGNORECASE)


def plain(text: str) -> str:
    """`text` without tags, sounds and remarks, characters for their names, a space where a line or a block ends."""
    if "[" in text:
        text = _SOUND.sub(" ", text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub(" ", _UNSEEN.sub("", text)))
    return html.unescape(text) if "&" in text else text
