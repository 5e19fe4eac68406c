"""Tokens as labels: made visible, made safe, made to fit.

Plotly reads its text as HTML ("<s>" strikes through) and, where MathJax is loaded, as TeX ("$x$"). A token is always shown literally.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

SPACE, EMPTY, BREAK, TAB, UNSEEN = "␣", "∅", "↵", "⇥", "\N{REPLACEMENT CHARACTER}"
MAX_LABEL_CHARACTERS = 14  # characters of a token under a tick; the whole token stays in the figure's meta
NARROWEST = 6  # characters under a tick of a narrow page
SPECIAL = 5  # characters of <bos>, <eos>, <pad>, <unk>
NARROW, WIDE = 7.3, 12.5  # px, of a Latin and of a Chinese character in the 12 px monospaced face
_SHOWN = {" ": SPACE, "\u00a0": SPACE, "\u3000": SPACE, "\n": BREAK, "\r": BREAK, "\t": TAB}
# Characters of sentences (see reading/text.py) that can't be seen, by the names that Unicode's own tables have for them.
_NAMES = {"\u200c": "ZWNJ", "\u200d": "ZWJ", "\u180b": "FVS1", "\u180c": "FVS2", "\u180d": "FVS3", "\u180e": "MVS", "\u180f": "FVS4"}
_NAMES |= {chr(0xFE00 + at): f"VS{at + 1}" for at in range(16)} | {chr(0xE0100 + at): f"VS{at + 17}" for at in range(240)}
_NAMES |= {chr(0xE0000 + at): f"TAG {chr(at)}" for at in range(0x21, 0x7F)} | {"\U000e007f": "END"}
_JOINERS = "\u200c\u200d"
_STEPS = (1, 2, 4, 5, 10, 20, 25, 50, 100)
# "$" as an entity keeps TeX out: Plotly looks for dollars before it decodes entities. The others are its HTML.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})


class Name(str):
    """A label that is words and no token: its spaces are spaces, and it may be longer."""

    __slots__ = ()


class StepName(str):
    """One step of the decoder: the token it reads, from which its query is made, and the one that comes next. "<bos> → o"."""

    __slots__ = ("following", "read")

    def __new__(cls, read: str, following: str) -> StepName:
        step = super().__new__(cls, f"{visible(read)} → {visible(following)}")
        step.read, step.following = read, following
        return step

    def __getnewargs__(self) -> tuple[str, str]:
        return self.read, self.following


def steps(fed: Sequence[str], following: Sequence[str]) -> list[StepName]:
    """What every row of a decoder is called, wherever one stands: the tokens that are fed, and after each of them the next one. Raises
    ValueError unless there are as many."""
    return [StepName(read, after) for read, after in zip(fed, following, strict=True)]


def visible(token: str) -> str:
    """The token with everything shown that would not be seen: spaces, line breaks, control and invisible characters, nothing at all."""
    return token if isinstance(token, Name | StepName) else _visible(token)


@lru_cache(4096)
def _visible(token: str) -> str:
    if len(token) == 1:  # inside a word (Persian, emoji) joiners belong to it, and marks stand on a letter
        return _SHOWN.get(token) or _NAMES.get(token) or _alone(token)
    return "".join(_SHOWN.get(c) or (UNSEEN if _unseen(c) and c not in _JOINERS else c) for c in token) or EMPTY


def _alone(character: str) -> str:
    if unicodedata.category(character).startswith("M"):
        return f"\N{DOTTED CIRCLE}{character}"
    return f"U+{ord(character):04X}" if _unseen(character) else character


def escape(text: str) -> str:
    """Any text so that Plotly shows it literally."""
    return text.translate(_ENTITIES)


def label(token: str, longest: int = MAX_LABEL_CHARACTERS) -> str:
    """A token as it stands under a tick, in a legend or in a hover box."""
    return escape(_shortened(visible(token), longest))


def extent(token: str, longest: int = MAX_LABEL_CHARACTERS) -> float:
    """Roughly how many pixels `label(token)` takes."""
    return sum(NARROW if _narrow(c) else WIDE for c in _shortened(visible(token), longest))


def ticks(tokens: Sequence[str], every: int, longest: int = MAX_LABEL_CHARACTERS, first: int = 0) -> dict:
    """Ticks for tokens at 0, 1, 2, …: every `every`-th from the `first` on is written; the hover box knows the others too (as aliases of
    their numbers)."""
    labels = [label(token, longest) for token in tokens]
    shown = list(range(first, len(tokens), every))
    hidden = {str(i): text for i, text in enumerate(labels) if i % every != first}
    return {"tickmode": "array", "tickvals": shown, "ticktext": [labels[i] for i in shown], "labelalias": hidden}


def longest(width: int) -> int:
    """How many characters of a token are written when the page is `width` pixels wide."""
    return NARROWEST if width < 340 else 8 if width < 480 else MAX_LABEL_CHARACTERS


def thinning(room: float, needed: float) -> int:
    """How many steps apart labels of `needed` pixels stand when each step has `room` pixels."""
    return next((step for step in _STEPS if step * room >= needed), _STEPS[-1])


def beside(extents: Sequence[float], step: float) -> bool:
    """Whether labels of these widths, `step` pixels apart, stand side by side without touching."""
    return all((a + b) / 2 + 5 <= step for a, b in pairwise([*extents, min(extents, default=0)]))


def shortened(token: str, longest: int = MAX_LABEL_CHARACTERS) -> str:
    """A token as it stands where there is little room, for others than Plotly: nothing in it is escaped."""
    return _shortened(visible(token), longest)


def _shortened(text: str, longest: int) -> str:
    if isinstance(text, StepName):  # both tokens are cut alike, never so short that <bos> would be no word any more
        each, arrow = max(longest // 2 + 1, SPECIAL), " → " if longest > NARROWEST else "→"
        return arrow.join(_shortened(visible(token), each) for token in (text.read, text.following))
    longest = 2 * longest if isinstance(text, Name) else longest
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _narrow(character: str) -> bool:
    return unicodedata.east_asian_width(character) not in "WF"


def _unseen(character: str) -> bool:
    # Cc control, Cf format (zero width, direction marks), Cs lone surrogates, Zl and Zp line and paragraph separators, Zs other spaces
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
