"""The report of how an upload was read (dropped lines and reasons, columns, encodings) as JSON, validated when read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.reading.column_mapping import Column
from playground.reading.encodings import Encoding
from playground.reading.filtering import Pair, PreviewRow
from playground.reading.pairs import Pairs, report, to_json
from playground.words import LANGUAGES

__all__ = ["from_json", "to_json"]


def from_json(fields: Mapping[str, Any], pairs: Sequence[Sequence]) -> Pairs:
    """Restores pairs and report. Raises LookupError, TypeError, ValueError or AttributeError for anything but `to_json` output."""
    source, target = fields.get("chosen", (0, 1))
    validation, test = map(int, fields.get("given", (0, 0)))
    if min(validation, test) < 0 or validation + test >= max(len(pairs), 1):
        raise ValueError("more pairs are given away than there are")
    restored = Pairs(
        tuple(Pair(_text(src), _text(tgt), int(line)) for src, tgt, line in pairs),
        {_text(reason): tuple(map(int, lines)) for reason, lines in fields.get("dropped", {}).items()},
        int(fields["lines"]),
        _text(fields["kind"]),
        _texts(fields["names"]),
        credit=_text(fields["credit"]),
        notes=tuple((_text(key), {name: _plain(value) for name, value in values.items()}) for key, values in fields.get("notes", ())),
        unit=_text(fields.get("unit", "line")),
        columns=tuple(Column(_text(name), int(filled), _texts(samples)) for name, filled, samples in fields.get("columns", ())),
        chosen=(int(source), int(target)),
        header=bool(fields.get("header")),
        named=bool(fields.get("named")),
        encodings=tuple(map(_encoding, fields.get("encodings", ()))),
        preview=_seen(fields.get("preview", ())),
        dropped_rows={_text(reason): _seen(rows) for reason, rows in fields.get("dropped_rows", {}).items()},
        traces=_texts(fields.get("traces", ())),
        undone=bool(fields.get("undone")),
        given=(validation, test),
        joined=tuple(map(int, fields.get("joined", ()))),
        group=None if fields.get("group") is None else int(fields["group"]),
        groups=_texts(fields.get("groups", ())),
    )
    if restored.groups and len(restored.groups) != len(restored.pairs):
        raise ValueError(len(restored.groups))
    for language in LANGUAGES:
        report(restored, language)  # raises for unknown reasons, notes and units
    return restored


def _encoding(fields: Mapping[str, Any]) -> Encoding:
    samples, alternatives = _texts(fields["samples"]), _texts(fields["alternatives"])
    return Encoding(_text(fields["file"]), _text(fields["name"]), bool(fields["guessed"]), alternatives, samples)


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
