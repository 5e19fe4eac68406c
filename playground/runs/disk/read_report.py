"""The report of how an upload was read (dropped lines and reasons, columns, encodings) as JSON, validated when read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.reading.column_mapping import Column
from playground.reading.encodings import Encoding
from playground.reading.filtering import Pair, PreviewRow
from playground.reading.pairs import Pairs, to_json
from playground.reading.uploads import report
from playground.words import LANGUAGES

__all__ = ["from_json", "to_json"]


def from_json(said: Mapping[str, Any], pairs: Sequence[Sequence]) -> Pairs:
    """Restores pairs and report. Raises LookupError, TypeError, ValueError or AttributeError for anything but `to_json` output."""
    source, target = said.get("chosen", (0, 1))
    validation, test = map(int, said.get("given", (0, 0)))
    if min(validation, test) < 0 or validation + test >= max(len(pairs), 1):
        raise ValueError("more pairs are given away than there are")
    found = Pairs(
        tuple(Pair(_text(src), _text(tgt), int(line)) for src, tgt, line in pairs),
        {_text(reason): tuple(map(int, lines)) for reason, lines in said.get("dropped", {}).items()},
        int(said["lines"]),
        _text(said["kind"]),
        _texts(said["names"]),
        credit=_text(said["credit"]),
        notes=tuple((_text(key), {name: _plain(value) for name, value in values.items()}) for key, values in said.get("notes", ())),
        unit=_text(said.get("unit", "line")),
        columns=tuple(Column(_text(name), int(filled), _texts(samples)) for name, filled, samples in said.get("columns", ())),
        chosen=(int(source), int(target)),
        header=bool(said.get("header")),
        named=bool(said.get("named")),
        encodings=tuple(map(_encoding, said.get("encodings", ()))),
        preview=_seen(said.get("preview", ())),
        dropped_rows={_text(reason): _seen(rows) for reason, rows in said.get("dropped_rows", {}).items()},
        traces=_texts(said.get("traces", ())),
        undone=bool(said.get("undone")),
        given=(validation, test),
        joined=tuple(map(int, said.get("joined", ()))),
        group=None if said.get("group") is None else int(said["group"]),
        groups=_texts(said.get("groups", ())),
    )
    if found.groups and len(found.groups) != len(found.pairs):
        raise ValueError(len(found.groups))
    for language in LANGUAGES:
        report(found, language)  # raises for unknown reasons, notes and units
    return found


def _encoding(said: Mapping[str, Any]) -> Encoding:
    samples, others = _texts(said["samples"]), _texts(said["alternatives"])
    return Encoding(_text(said["file"]), _text(said["name"]), bool(said["guessed"]), others, samples)


def _seen(rows: Sequence[Sequence]) -> tuple[PreviewRow, ...]:
    return tuple(PreviewRow(int(line), _texts(cells), _text(reason)) for line, cells, reason in rows)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(_text, values))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _plain(value: Any) -> str | int | float:
    if not isinstance(value, str | int | float):
        raise TypeError(value)
    return value
