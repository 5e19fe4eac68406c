"""Keyed texts: each behind a key that says which belong together: a program's texts in two files, fairseq's lines in one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.columns import is_language
from playground.reading.formats.items import make_row
from playground.reading.formats.limits import LINE_LIMIT, SAMPLE
from playground.reading.formats.names import columns_of, direction_of
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
    """Two files with the same keys, or one that says words with their translation, the latter in quotes.

    One file in which identifiers stand before the texts holds one language, and is refused.
    """
    named = [source.name.casefold().endswith(_NAMED) for source in sources]
    if len(sources) == 2:
        return _two(*sources) if all(named) else None
    filled = [line for line in sources[0].lines[:SAMPLE] if line.strip() and not _REMARK.match(line)]
    if len(filled) > 2 and all(map(_DOTTED.match, filled)):
        raise Refusal("data.one_side", name=sources[0].name)
    closed = sum(line.rstrip(";,\t ").endswith(('"', "'")) for line in filled)
    entries = _entries(sources[0]) if named[0] or 10 * closed >= 9 * len(filled) else []
    if not entries or not (named[0] or 10 * sum(entry.quoted for entry in entries) >= 9 * len(entries)):
        return None
    if 2 * sum(_IDENTIFIER.fullmatch(entry.key[:100]) is not None for entry in entries) > len(entries):
        raise Refusal("data.one_side", name=sources[0].name)
    known = {entry.line: entry for entry in entries}
    return Table("keyed", [_row(number, line, known.get(number)) for number, line in enumerate(sources[0].lines, 1)])


def _row(number: int, line: str, entry: _Entry | None) -> Row:
    return make_row(number, [entry.key, entry.text]) if entry else comment_row(number, line)


def _two(one: Source, two: Source) -> Table:
    """The texts of two files by their keys. Raises Refusal where a file is of another form, or the keys are others."""
    found = [{entry.key: entry.text for entry in _entries(source)} for source in (one, two)]
    if not all(found):
        raise Refusal("data.not_understood", name=f"{one.name} + {two.name}")
    return by_keys("keyed", one, two, *map(_under_language, found))


def by_keys(kind: str, one: Source, two: Source, first: dict[str, str], second: dict[str, str]) -> Table:
    """The texts of two files that have the same key. Raises Refusal where few have."""
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)):
        raise Refusal("data.no_common_keys", one=one.name, two=two.name, count=common)
    rows = [make_row(number, [first.get(key, ""), second.get(key, "")]) for number, key in enumerate({**first, **second}, 1)]
    names = columns_of(one.name, two.name)
    return Table(kind, rows, names if names[0] != names[1] else (), "item", direction_of(one.name, two.name))


def _under_language(texts: dict[str, str]) -> dict[str, str]:
    """Texts without the language that all their keys begin with, as YAML has it: "de.menu.open"."""
    tops = {key.partition(".")[0] for key in texts}
    return {key.partition(".")[2]: text for key, text in texts.items()} if len(tops) == 1 and is_language(*tops) else texts


def _entries(source: Source) -> list[_Entry]:
    """Every line as a key and its text, keys within keys with a dot between; [] if a line is neither this nor a remark."""
    found, above, carried = [], [], ""
    remarked = source.name.casefold().endswith((".yaml", ".yml"))  # elsewhere a # in a text is text
    for number, line in enumerate(source.lines, 1):
        line = carried + line.lstrip() if carried else line
        carried = line[:-1] if line.endswith("\\") and not line.endswith("\\\\") else ""
        if carried or not line.strip() or _REMARK.match(line):
            if len(carried) > LINE_LIMIT:
                return []
            continue
        match = _ENTRY.fullmatch(line)
        said = match[5].strip() if match else "|"
        if said.startswith(("|", ">")):  # a text over several lines, or none
            return []
        above = [(depth, key) for depth, key in above if depth < len(match[1])]
        key = unescaped(match[2] or match[3] or match[4]).strip()
        if not said:
            above.append((len(match[1]), key))
            continue
        quoted = unquoted(said)
        text = quoted if quoted is not None else unescaped(said.partition(" #")[0].rstrip() if remarked else said)
        found.append(_Entry(number, ".".join([*(key for _, key in above), key]), text, quoted is not None))
    return found if 20 * len({entry.key for entry in found}) >= 19 * len(found) else []


def unquoted(text: str) -> str | None:
    """What stands in the quotation marks that go around all of a text; None where none do."""
    found = _QUOTED.fullmatch(text)
    if not found:
        return None
    return unescaped(found[1] if found[2] is None else found[2].replace("''", "'"))


def unescaped(text: str) -> str:
    """A text without the backslashes that programs need: \\u00e4 is ä, \\n ends a line."""
    return _ESCAPE.sub(lambda match: chr(int(match[1][1:], 16)) if len(match[1]) > 1 else _ENDS.get(match[1], match[1]), text)


_ENDS = {"n": "\n", "t": "\t", "r": "\n"}


# --- fairseq ---


def read_fairseq(sources: Sequence[Source]) -> Table | None:
    """What fairseq-generate writes: `S-7` a source, `T-7` its target; where there are no targets, what was found (`D-7`, `H-7`)."""
    if len(sources) != 1:
        return None
    filled = [line for line in sources[0].lines[:SAMPLE] if line.strip()]
    if 2 * sum(_FAIRSEQ.match(line) is not None for line in filled) <= len(filled):
        return None
    rows = list(_sentences(sources[0].lines))
    return Table("fairseq", rows, ("S", "T"), pair=(0, 1))


def _sentences(lines: Sequence[str]) -> Iterator[Row]:
    """A row for each number, and one for each other line, which tells of the run."""
    said: dict[str, dict[str, str]] = {}
    begun: dict[str, int] = {}
    others = []
    for number, line in enumerate(lines, 1):
        if found := _FAIRSEQ.match(line):
            begun.setdefault(found[2], number)
            said.setdefault(found[2], {})[found[1]] = found[3] if found[1] in "ST" else found[3].partition("\t")[2]
        else:
            others.append(comment_row(number, line))
    kind = next((kind for kind in "TDH" if any(kind in texts for texts in said.values())), "T")
    rows = [make_row(begun[number], [texts.get("S", ""), texts.get(kind, "")]) for number, texts in said.items()]
    yield from sorted([*rows, *others], key=lambda row: row.line)
