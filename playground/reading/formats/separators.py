"""Separators: possible signs between the sides of a pair on one line, and the one that a file uses.

Sentences may contain the same signs, so a separator must occur exactly once in nine of ten lines, with text on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.reading.formats.limits import SAMPLE

STRONG = tuple(
    re.compile(mark, re.IGNORECASE)
    for mark in (
        r"<?[-=]{1,3}>|[→⇒⟶⟹↔⇔➔➡]",
        r"<sep>|\[sep\]|<tab>|\[tab\]|\\t",
        r"#{2,3}|@{3}|\${2,3}|\*{2,3}|~{2,3}",
        r"::",
        "[\x01\x1e\x1f]",  # control characters that programs use as separators
        r"\s={1,2}\s",
    )
)
STOPS = tuple(".!?…。！？")
WEAK = tuple(re.compile(mark) for mark in (r"\s[-–—]{1,2}\s", r"\s/{1,2}\s", r"\s~\s", r"\s?:\s|：", "=", " {3,}", "；", "，"))
_INNER = WEAK[-2:]


def find_separator(lines: Sequence[str], marks: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    """Returns the first of `marks` that splits nine of ten lines (and at least two) in two, or None."""
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    return next((mark for mark in marks if _separates(mark, filled)), None)


def _separates(mark: re.Pattern[str], filled: Sequence[str]) -> bool:
    """Whether the mark separates sides: texts before it must vary (else it follows a speaker's name) and not be a running number."""
    cut = [parts for parts in (mark.split(line, 2) for line in filled) if len(parts) == 2 and all(map(str.strip, parts))]
    if len(cut) < 2 or len(cut) * 10 < len(filled) * 9:
        return False
    before, after = ([parts[side].strip() for parts in cut] for side in (0, 1))
    if mark in _INNER and 2 * sum(map(_ends_a_sentence, after)) >= len(cut) and 10 * sum(map(_ends_a_sentence, before)) < len(cut):
        return False  # a sentence was cut in the middle
    counted = any([text.rstrip(".)") for text in before] == [str(first + n) for n in range(len(cut))] for first in (0, 1))
    return len(set(before)) * 5 >= len(cut) * 4 and not counted


def _ends_a_sentence(text: str) -> bool:
    return text.endswith(STOPS)
