"""Annotated text: treebanks (CoNLL-U) and interlinear glosses (Toolbox, FLEx). A row is a sentence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from playground.reading.formats.columns import is_language
from playground.reading.formats.items import make_table
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.table import Source, Table

_WORD = re.compile(r"\d{1,5}(?:[-.]\d{1,5})?\t[^\t]+\t[^\t]+\t[^\ta-z]{1,8}\t[^\t]+\t[^\t]+\t(?:\d{1,5}|_)(?:\t[^\t]+){3}")  # with its head
_OF_WORDS = ("form", "lemma", "upos", "xpos", "feats")  # the columns after the word number
_REMARK = re.compile(r"#\s*(text(?:_(\w{1,20}))?)\s*=(.*)")
_FIELD = re.compile(r"\\(\w{1,8})(?:\s(.*))?")
_BEGIN = ("ref", "lx")  # fields that begin a record; without them its text field does
_TEXTS, _TRANSLATIONS = ("tx", "t", "txt", "lx"), ("ft", "fe", "f", "ge", "g", "de")


def read_treebank(sources: Sequence[Source]) -> Table | None:
    """Reads sentences and translations where most have one (`# text_en`), else words and their lemmas or parts of speech."""
    lines = sources[0].lines if len(sources) == 1 else []
    words = [line for line in lines[:SAMPLE] if line.strip() and not line.startswith("#")]
    if not words or 10 * sum(_WORD.fullmatch(line) is not None for line in words) < 9 * len(words):
        return None
    sentences = [_parse_sentence(group) for is_filled, group in groupby(lines, key=lambda line: bool(line.strip())) if is_filled]
    counts = Counter(name for sentence in sentences for name in sentence)
    translations = [name for name in counts if name.startswith("text_") and 2 * counts[name] >= len(sentences)]
    return _build_table("conllu", sources[0].name, sentences, ["text"] if translations else ["form"], translations or _OF_WORDS[1:])


def _parse_sentence(lines: Iterable[str]) -> dict[str, str]:
    """Parses a sentence's comments and its words' columns. A multiword token ("1-2", French "du") is replaced by its parts."""
    parts, words = {}, []
    for line in lines:
        if (remark := _REMARK.match(line)) and (not remark[2] or is_language(remark[2])):
            parts[remark[1]] = remark[3]
        number, *cells = line.split("\t")
        if number.isdigit():
            words.append(cells[: len(_OF_WORDS)])
    of_words = zip(_OF_WORDS, zip(*words, strict=False), strict=False)
    return parts | {name: " ".join(cells) for name, cells in of_words if set(cells) != {"_"}}


def read_glossed(sources: Sequence[Source]) -> Table | None:
    r"""Reads sentences with their free translations or glosses by markers: \tx, \ft, \ge; or a lexicon: \lx, \ge."""
    lines = sources[0].lines if len(sources) == 1 else []
    counts = Counter(field[1] for field in map(_FIELD.fullmatch, lines[:SAMPLE]) if field)
    text, translation = (next((name for name in names if counts[name] > 1), "") for names in (_TEXTS, _TRANSLATIONS))
    if not text or not translation or 2 * counts.total() < sum(bool(line.strip()) for line in lines[:SAMPLE]):
        return None
    begin = next((name for name in _BEGIN if counts[name] > 1), text)
    return _build_table("toolbox", sources[0].name, _iterate_records(lines, begin), _TEXTS, _TRANSLATIONS)


def _iterate_records(lines: Iterable[str], begin: str) -> Iterator[dict[str, str]]:
    """Yields records (field -> text). A wrapped or repeated field is continued."""
    record, name = defaultdict(list), ""
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field and field[1] == begin and record:
            yield {name: " ".join(texts) for name, texts in record.items()}
            record.clear()
        name, text = (field[1], field[2] or "") if field else (name, line)
        if text.strip() and (record or name == begin):
            record[name].append(text)
    yield {name: " ".join(texts) for name, texts in record.items()}


def _build_table(kind: str, name: str, records: Iterable[dict[str, str]], sources: Sequence[str], targets: Sequence[str]) -> Table:
    """Builds the table; source and target are the first of these names that are columns."""
    table = make_table(kind, name, enumerate(records, 1))
    pair = [next((table.columns.index(column) for column in names if column in table.columns), None) for names in (sources, targets)]
    return table if None in pair else replace(table, pair=tuple(pair))
