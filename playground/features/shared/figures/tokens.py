"""Tokens as labels: made visible, escaped and truncated.

Plotly reads its text as HTML ("<s>" strikes through) and, where MathJax is loaded, as TeX ("$x$"). A token is always shown literally.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

SPACE, EMPTY, BREAK, TAB, UNSEEN = "␣", "∅", "↵", "⇥", "\N{REPLACEMENT CHARACTER}"
MAX_LABEL_CHARACTERS = 14  # characters of a token under a tick; the whole token stays in the figure's meta
MAX_STEP_CHARACTERS = 8  # of each token of a decoder step
NARROWEST = 6  # characters under a tick of a narrow page
SPECIAL = 5  # characters of <bos>, <eos>, <pad>, <unk>
NARROW, WIDE = 7.3, 12.5  # px, of a Latin and of a Chinese character in the 12 px monospaced face
_SYMBOLS = {" ": SPACE, "\u00a0": SPACE, "\u3000": SPACE, "\n": BREAK, "\r": BREAK, "\t": TAB}
# Invisible characters of sentences (see reading/text.py), by Unicode's own abbreviations.
_NAMES = {"\u200c": "ZWNJ", "\u200d": "ZWJ", "\u180b": "FVS1", "\u180c": "FVS2", "\u180d": "FVS3", "\u180e": "MVS", "\u180f": "FVS4"}
_NAMES |= {chr(0xFE00 + at): f"VS{at + 1}" for at in range(16)} | {chr(0xE0100 + at): f"VS{at + 17}" for at in range(240)}
_NAMES |= {chr(0xE0000 + at): f"TAG {chr(at)}" for at in range(0x21, 0x7F)} | {"\U000e007f": "END"}
_JOINERS = "\u200c\u200d"
_STEPS = (1, 2, 4, 5, 10, 20, 25, 50, 100)
# "$" as an entity prevents TeX: Plotly looks for dollars before it decodes entities. The others are its HTML.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})


class Name(str):
    """A label of words, not a token: its spaces stay spaces, and it may be longer."""

    __slots__ = ()


class StepName(str):
    """A decoder step's label: the token it reads, from which its query is made, and the next one. "<bos>→o"."""

    __slots__ = ("following", "read")

    def __new__(cls, read: str, following: str) -> StepName:
        step = super().__new__(cls, f"{visible(read)}→{visible(following)}")
        step.read, step.following = read, following
        return step

    def __getnewargs__(self) -> tuple[str, str]:
        return self.read, self.following


def steps(fed: Sequence[str], following: Sequence[str]) -> list[StepName]:
    """Names the decoder's rows, alike in all figures, by the fed token and the following one. Raises ValueError unless both are equally
    many."""
    return [StepName(read, after) for read, after in zip(fed, following, strict=True)]


def visible(token: str) -> str:
    """Makes spaces, line breaks, control and invisible characters and an empty token visible."""
    return token if isinstance(token, Name | StepName) else _visible(token)


@lru_cache(4096)
def _visible(token: str) -> str:
    if len(token) == 1:  # inside a word (Persian, emoji) joiners belong to it, and marks combine with a letter
        return _SYMBOLS.get(token) or _NAMES.get(token) or _visible_character(token)
    return "".join(_SYMBOLS.get(c) or (UNSEEN if _is_invisible(c) and c not in _JOINERS else c) for c in token) or EMPTY


def _visible_character(character: str) -> str:
    if unicodedata.category(character).startswith("M"):
        return f"\N{DOTTED CIRCLE}{character}"
    return f"U+{ord(character):04X}" if _is_invisible(character) else character


def escape(text: str) -> str:
    """Escapes a text for Plotly to show it literally."""
    return text.translate(_ENTITIES)


def label(token: str, longest: int = MAX_LABEL_CHARACTERS) -> str:
    """Returns a token's label under a tick, in a legend or in a hover box."""
    return escape(_truncate(visible(token), longest))


def extent(token: str, longest: int = MAX_LABEL_CHARACTERS) -> float:
    """Estimates the width of `label(token)` in pixels."""
    return sum(WIDE if unicodedata.east_asian_width(c) in "WF" else NARROW for c in _truncate(visible(token), longest))


def ticks(tokens: Sequence[str], every: int, longest: int = MAX_LABEL_CHARACTERS, first: int = 0) -> dict:
    """Lays out ticks for tokens at 0, 1, 2, …: every `every`-th from `first` on is labelled; hover boxes have all (by aliases of their
    numbers)."""
    labels = [label(token, longest) for token in tokens]
    labelled = list(range(first, len(tokens), every))
    hidden = {str(i): text for i, text in enumerate(labels) if i % every != first}
    return {"tickmode": "array", "tickvals": labelled, "ticktext": [labels[i] for i in labelled], "labelalias": hidden}


def longest(width: int) -> int:
    """Returns the most characters of a token's label on a page of `width` pixels."""
    return NARROWEST if width < 340 else 8 if width < 480 else MAX_LABEL_CHARACTERS


def thinning(room: float, needed: float) -> int:
    """Returns the distance in steps of labels of `needed` pixels when a step has `room` pixels."""
    return next((step for step in _STEPS if step * room >= needed), _STEPS[-1])


def fit_side_by_side(extents: Sequence[float], step: float) -> bool:
    """Tests whether labels of these widths, `step` pixels apart, don't touch."""
    return all((a + b) / 2 + 5 <= step for a, b in pairwise([*extents, min(extents, default=0)]))


def shortened(token: str, longest: int = MAX_LABEL_CHARACTERS) -> str:
    """Truncates a visible token, unescaped, for other uses than Plotly."""
    return _truncate(visible(token), longest)


def _truncate(text: str, longest: int) -> str:
    if isinstance(text, StepName):  # both tokens are cut alike, but never shorter than <bos>
        each = max(min(longest - 1, MAX_STEP_CHARACTERS), SPECIAL)
        return "→".join(_truncate(visible(token), each) for token in (text.read, text.following))
    longest = 2 * longest if isinstance(text, Name) else longest
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _is_invisible(character: str) -> bool:
    # Cc control, Cf format (zero width, direction marks), Cs lone surrogates, Zl and Zp line and paragraph separators, Zs other spaces
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
