"""Cards and entries: Quizlet sets with a separator between cards, `hello<tab>hallo;bye<tab>tschüss`; dictionaries like CEDICT; the prompts
of Duolingo's STAPLE, each above its translations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from playground.reading.formats.items import make_row
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.table import Row, Source, Table

_MIN_CARDS = 3  # cards on a line
_ENTRY = re.compile(r"(\S+) (?:(\S+) )?\[([^\[\]]*)\] /(.+)/\s*", re.DOTALL)
_COLUMNS = ("simplified", "meaning", "traditional", "pinyin")
_PROMPT = re.compile(r"(?=\w*\d)\w{1,80}\|([^|]+)")
_ANSWER = re.compile(r"([^|]+)\|(\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?)")


def read_cards(sources: Sequence[Source]) -> Table | None:
    """Reads one file of cards ended by semicolons, each with one tab; on a single line it may be a comma."""
    if len(sources) != 1:
        return None
    lines = [line.strip(" ") for line in sources[0].lines if line.strip()]
    sample = [piece for line in lines[:SAMPLE] for piece in _split_cards(line)]
    between = "\t" if _are_cut(sample, "\t") else "," if len(lines) == 1 and _are_cut(sample, ",") else ""
    ended = len(lines) > 1 and all(line.endswith(";") for line in lines[:SAMPLE])
    if not between or not (ended or len(sample) >= _MIN_CARDS * len(lines[:SAMPLE])):
        return None
    pieces = (piece for line in lines for piece in _split_cards(line))
    return Table("cards", [make_row(number, piece.split(between, COLUMN_LIMIT)) for number, piece in enumerate(pieces, 1)], unit="item")


def _are_cut(pieces: Sequence[str], sign: str) -> bool:
    """Whether the sign occurs once in each piece, and not before a space, as a sentence's comma does."""
    return bool(pieces) and all(piece.count(sign) == 1 and sign + " " not in piece for piece in pieces)


def _split_cards(line: str) -> list[str]:
    return [piece for piece in line.split(";") if piece.strip()]


def read_entries(sources: Sequence[Source]) -> Table | None:
    """Reads one dictionary like CEDICT, `漢語 汉语 [Han4 yu3] /Chinese/Chinese language/`, or EDICT, with one form of the word."""
    if len(sources) != 1:
        return None
    filled = [line for line in sources[0].lines[:SAMPLE] if line.strip()]
    if 10 * sum(_ENTRY.fullmatch(line) is not None for line in filled) < 9 * max(1, len(filled)):
        return None
    return Table("entries", [_parse_entry(number, line) for number, line in enumerate(sources[0].lines, 1)], _COLUMNS, pair=(0, 1))


def _parse_entry(number: int, line: str) -> Row:
    match = _ENTRY.fullmatch(line)
    if not match:
        return Row(number, [], "broken") if line.strip() else Row(number, [""])
    return make_row(number, [match[2] or match[1], match[4].replace("/", "; "), match[1], match[3]])


def read_prompts(sources: Sequence[Source]) -> Table | None:
    """Reads one file of blocks: `prompt_7|the dog sleeps`, then lines like `der Hund schläft|0.6`, a translation and its weight."""
    lines = sources[0].lines if len(sources) == 1 else []
    heads = [line for above, line in pairwise(["", *lines[:SAMPLE]]) if line.strip() and not above.strip()]
    answers = [line for above, line in pairwise(lines[:SAMPLE]) if line.strip() and above.strip()]
    known = sum(map(bool, map(_PROMPT.fullmatch, heads))), sum(map(bool, map(_ANSWER.fullmatch, answers)))
    if not all(known) or 20 * sum(known) < 19 * (len(heads) + len(answers)):
        return None
    rows, prompt = [], ""
    for above, line in pairwise(["", *lines]):
        match = (_ANSWER if above.strip() else _PROMPT).fullmatch(line)
        if match and not above.strip():
            prompt = match[1]
        elif line.strip():
            rows.append(make_row(len(rows) + 1, [prompt, *match.groups()] if match else [], "" if match else "broken"))
    return Table("prompts", rows, ("prompt", "translation", "weight"), "item", (0, 1))
