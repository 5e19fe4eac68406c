"""Keyed texts, matched by keys: a program's texts in two files, fairseq's lines in one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.columns import is_language
from playground.reading.formats.items import make_row
from playground.reading.formats.limits import LINE_LIMIT, SAMPLE
from playground.reading.formats.names import compare_directions, name_columns
from playground.reading.formats.table import Row, Source, Table, comment_row

_NAMED = (".properties", ".strings", ".yaml", ".yml")
_REMARK = re.compile(r"\s*(#|//|/\*|\*|!|---\s*$|%YAML)")
_KEY = r"""(?:"((?:[^"\\]|\\.)+)"\s*|'([^']+)'\s*|([^\s"'#=:{}\[\],][^"'=:{}\[\],]*))"""
_ENTRY = re.compile(rf"(\s*){_KEY}[=:](.*)")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:[;,]\s*)?(?:#.*|//.*)?""")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*([.-]\w+)+|[A-Za-z][^\W_]*_\w+|[a-z]+[A-Z]\w*")
_DOTTED = re.compile(r"\s*[A-Za-z_]\w*(\.\w+)+\s*[=:]\s*\S")
_FAIRSEQ = re.compile(r"([STHDP])-(\d{1,9})\t(.*)", re.DOTALL)


# --- texts of a program ---


class _Entry(NamedTuple):
    line: int
    key: str
    text: str
    quoted: bool


def read_texts(sources: Sequence[Source]) -> Table | None:
    """Reads two files with the same keys, or one of words and quoted translations.

    A single file with identifiers before its texts holds one language, and is refused.
    """
    named = [source.name.casefold().endswith(_NAMED) for source in sources]
    if len(sources) == 2:
        return _read_two(*sources) if all(named) else None
    filled = [line for line in sources[0].lines[:SAMPLE] if line.strip() and not _REMARK.match(line)]
    if len(filled) > 2 and all(map(_DOTTED.match, filled)):
        raise Refusal("data.one_side", name=sources[0].name)
    closed = sum(line.rstrip(";,\t ").endswith(('"', "'")) for line in filled)
    entries = _parse_entries(sources[0]) if named[0] or 10 * closed >= 9 * len(filled) else []
    if not entries or not (named[0] or 10 * sum(entry.quoted for entry in entries) >= 9 * len(entries)):
        return None
    if 2 * sum(_IDENTIFIER.fullmatch(entry.key[:100]) is not None for entry in entries) > len(entries):
        raise Refusal("data.one_side", name=sources[0].name)
    known = {entry.line: entry for entry in entries}
    return Table("keyed", [_make_row(number, line, known.get(number)) for number, line in enumerate(sources[0].lines, 1)])


def _make_row(number: int, line: str, entry: _Entry | None) -> Row:
    return make_row(number, [entry.key, entry.text]) if entry else comment_row(number, line)


def _read_two(left: Source, right: Source) -> Table:
    """Joins two files by their keys. Raises Refusal where a file has another form, or the keys differ."""
    texts = [{entry.key: entry.text for entry in _parse_entries(source)} for source in (left, right)]
    if not all(texts):
        raise Refusal("data.not_understood", name=f"{left.name} + {right.name}")
    return join_keys("keyed", left, right, *map(_strip_language, texts))


def join_keys(kind: str, left: Source, right: Source, first: dict[str, str], second: dict[str, str]) -> Table:
    """Joins the texts with equal keys. Raises Refusal where few are equal."""
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)):
        raise Refusal("data.no_common_keys", one=left.name, two=right.name, count=common)
    rows = [make_row(number, [first.get(key, ""), second.get(key, "")]) for number, key in enumerate({**first, **second}, 1)]
    names = name_columns(left.name, right.name)
    return Table(kind, rows, names if names[0] != names[1] else (), "item", compare_directions(left.name, right.name))


def _strip_language(texts: dict[str, str]) -> dict[str, str]:
    """Strips a language that all keys begin with, as in YAML: "de.menu.open"."""
    tops = {key.partition(".")[0] for key in texts}
    return {key.partition(".")[2]: text for key, text in texts.items()} if len(tops) == 1 and is_language(*tops) else texts


def _parse_entries(source: Source) -> list[_Entry]:
    """Parses lines into keys and texts, nested keys joined by dots; [] if any line is neither an entry nor a comment."""
    entries, parents, continued = [], [], ""
    has_comments = source.name.casefold().endswith((".yaml", ".yml"))  # elsewhere a # in a text is text
    for number, line in enumerate(source.lines, 1):
        line = continued + line.lstrip() if continued else line
        continued = line[:-1] if line.endswith("\\") and not line.endswith("\\\\") else ""
        if continued or not line.strip() or _REMARK.match(line):
            if len(continued) > LINE_LIMIT:
                return []
            continue
        match = _ENTRY.fullmatch(line)
        text_part = match[5].strip() if match else "|"
        if text_part.startswith(("|", ">")):  # a block over several lines, or none
            return []
        parents = [(depth, key) for depth, key in parents if depth < len(match[1])]
        key = unescape(match[2] or match[3] or match[4]).strip()
        if not text_part:
            parents.append((len(match[1]), key))
            continue
        quoted = unquote(text_part)
        text = quoted if quoted is not None else unescape(text_part.partition(" #")[0].rstrip() if has_comments else text_part)
        entries.append(_Entry(number, ".".join([*(key for _, key in parents), key]), text, quoted is not None))
    return entries if 20 * len({entry.key for entry in entries}) >= 19 * len(entries) else []


def unquote(text: str) -> str | None:
    """Returns the text inside quotation marks that enclose all of `text`; None without them."""
    match = _QUOTED.fullmatch(text)
    if not match:
        return None
    return unescape(match[1] if match[2] is None else match[2].replace("''", "'"))


def unescape(text: str) -> str:
    r"""Resolves backslash escapes: \u00e4 is ä, \n ends a line."""
    return _ESCAPE.sub(lambda match: chr(int(match[1][1:], 16)) if len(match[1]) > 1 else _ENDS.get(match[1], match[1]), text)


_ENDS = {"n": "\n", "t": "\t", "r": "\n"}


# --- fairseq ---


def read_fairseq(sources: Sequence[Source]) -> Table | None:
    """Reads output of fairseq-generate: `S-7` a source, `T-7` its target; without targets, the hypotheses (`D-7`, `H-7`)."""
    if len(sources) != 1:
        return None
    filled = [line for line in sources[0].lines[:SAMPLE] if line.strip()]
    if 2 * sum(_FAIRSEQ.match(line) is not None for line in filled) <= len(filled):
        return None
    rows = list(_iterate_sentences(sources[0].lines))
    return Table("fairseq", rows, ("S", "T"), pair=(0, 1))


def _iterate_sentences(lines: Sequence[str]) -> Iterator[Row]:
    """Yields a row per sentence number, and one per other line, which is a log message."""
    texts_by_number: dict[str, dict[str, str]] = {}
    first_lines: dict[str, int] = {}
    comments = []
    for number, line in enumerate(lines, 1):
        if match := _FAIRSEQ.match(line):
            first_lines.setdefault(match[2], number)
            texts_by_number.setdefault(match[2], {})[match[1]] = match[3] if match[1] in "ST" else match[3].partition("\t")[2]
        else:
            comments.append(comment_row(number, line))
    kind = next((kind for kind in "TDH" if any(kind in texts for texts in texts_by_number.values())), "T")
    rows = [make_row(first_lines[number], [texts.get("S", ""), texts.get(kind, "")]) for number, texts in texts_by_number.items()]
    yield from sorted([*rows, *comments], key=lambda row: row.line)
