"""Annotated text, a row for each sentence: test sets of shared tasks (WMT, IWSLT), treebanks (CoNLL-U), interlinear glosses (Toolbox,
FLEx), the prompts of Duolingo's STAPLE, and the output of fairseq-generate."""

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, MAX_LINES, SAMPLE, Confidence, Row, Source, Table, comment_row, find_fault, reads
from playground.reading.formats.column_names import name_columns
from playground.reading.formats.items import make_row, make_table
from playground.reading.formats.languages import is_language

_SEGMENT = re.compile(r"<seg\s[^<>]*\bid\s*=", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|src|ref|hyp|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w:])([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SOURCES, _SIDES = ("srcset", "src"), ("srcset", "refset", "tstset", "src", "ref", "hyp")
_MAX_ATTRIBUTE_CHARACTERS = 1000  # a tag's attributes are not longer
_WORD = re.compile(r"\d{1,5}(?:[-.]\d{1,5})?\t[^\t]+\t[^\t]+\t[^\ta-z]{1,8}\t[^\t]+\t[^\t]+\t(?:\d{1,5}|_)(?:\t[^\t]+){3}")  # with its head
_OF_WORDS = ("form", "lemma", "upos", "xpos", "feats")  # the columns after the word number
_REMARK = re.compile(r"#\s*(text(?:_(\w{1,20}))?)\s*=(.*)")
_FIELD = re.compile(r"\\(\w{1,8})(?:\s(.*))?")
_BEGIN = ("ref", "lx")  # fields that begin a record; without them its text field does
_TEXTS, _TRANSLATIONS = ("tx", "t", "txt", "lx"), ("ft", "fe", "f", "ge", "g", "de")
_FAIRSEQ = re.compile(r"([STHDP])-(\d{1,9})\t(.*)", re.DOTALL)
_PROMPT = re.compile(r"(?=\w*\d)\w{1,80}\|([^|]+)")
_ANSWER = re.compile(r"([^|]+)\|(\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?)")


# --- test sets ---


class _Side(NamedTuple):
    file: int
    tag: str = ""
    language: str = ""
    author: str = ""


class _Segment(NamedTuple):
    side: _Side
    doc: str
    place: int  # number of the doc in its side
    id: str
    text: str


@reads(Confidence.SIGNATURE, files=(1, 2), is_whole=True)
def read_segments(*sources: Source) -> Table | None:
    """Reads segments from one file or a file per language, aligned by <seg id> within <doc>. An id missing on a side leaves an empty cell.

    Many such files are not well-formed XML, so only these tags are parsed, and only character references (&amp;) are resolved.
    """
    # a whole XML file has no lines, and is in UTF-8
    texts = ["\n".join(source.lines) or source.data.decode("utf-8", "replace") for source in sources]
    if not all(map(_SEGMENT.search, texts)):
        return None
    segments: list[_Segment] = []
    for file, (source, text) in enumerate(zip(sources, texts, strict=True)):
        file_segments = list(islice(_iterate_segments(file, text), MAX_LINES + 1))
        if len(file_segments) > MAX_LINES:
            raise Refusal("data.too_many_lines", name=source.name, limit=MAX_LINES)
        segments += file_segments
    sides = list(dict.fromkeys(segment.side for segment in segments))[: COLUMN_LIMIT + 1]
    name = " + ".join(source.name for source in sources)
    if len(sides) < 2:
        raise Refusal("data.one_side", name=name)
    joined = _join_segments(segments, sides, by_name=True) or _join_segments(segments, sides, by_name=False)
    if not joined:
        raise Refusal("data.no_common_segments", name=name)
    rows = [Row(item, cells, find_fault(*cells)) for item, cells in enumerate(joined, 1)]
    source = next((place for place, side in enumerate(sides) if side.tag in _SOURCES), None)
    target = next((place for place, side in enumerate(sides) if side.tag and side.tag not in _SOURCES), None)
    return Table("segments", rows, _name_columns(sides, sources), "item", None if None in (source, target) else (source, target))


def _iterate_segments(file: int, text: str) -> Iterator[_Segment]:
    """Yields the segments of a file in order, with their side (set, language) and document."""
    side, doc, place, id, start = _Side(file), "", Counter(), None, 0
    for tag in _TAG.finditer(text):
        name, closing = tag[2].casefold(), bool(tag[1])
        if id is not None:
            yield _Segment(side, doc, place[side], id, html.unescape(text[start : tag.start()]))
            id = None
        written = _ATTRIBUTE.findall("" if closing else tag[3][:_MAX_ATTRIBUTE_CHARACTERS])
        attributes = {name.casefold(): html.unescape(a or b or c) for name, a, b, c in written}
        if name == "seg" and not closing:
            id, start = attributes.get("id", ""), tag.end()
        elif name == "doc" and not closing:
            doc = attributes.get("docid", attributes.get("id", ""))
            place[side] += 1
        elif name in _SIDES:
            before, side = side, _Side(file)
            if not closing:
                language = attributes.get("trglang" if name in ("refset", "tstset") else "srclang", "") or attributes.get("lang", "")
                side = _Side(file, name, language, attributes.get("translator", attributes.get("sysid", "")))
            place[side] = place[side] if name.endswith("set") else place[before]
    if id is not None:  # the file was truncated
        yield _Segment(side, doc, place[side], id, html.unescape(text[start:]))


def _join_segments(segments: Sequence[_Segment], sides: Sequence[_Side], by_name: bool) -> list[list[str]]:
    """Joins segments into rows by document (its name, or its number) and id; [] if no row has two sides."""
    columns, counts, rows = {side: place for place, side in enumerate(sides)}, Counter(), {}
    for segment in segments:
        if segment.side in columns:
            key = (segment.doc if by_name else segment.place, segment.id)
            counts[segment.side, key] += 1  # a repeated id is another segment
            row = rows.setdefault((key, counts[segment.side, key]), [""] * len(sides))
            row[columns[segment.side]] = segment.text
    return list(rows.values()) if any(sum(map(bool, row)) > 1 for row in rows.values()) else []


def _name_columns(sides: Sequence[_Side], sources: Sequence[Source]) -> tuple[str, ...]:
    """Returns distinct declared languages, else the distinguishing parts of the files' names, else the tags."""
    languages = tuple(side.language for side in sides)
    if all(languages) and len(set(languages)) == len(sides):
        return languages
    if len(sides) == len(sources) == 2:
        return name_columns(sources[0].name, sources[1].name)
    return tuple(" ".join(filter(None, (side.tag.removesuffix("set"), side.language, side.author))) for side in sides)


# --- treebanks and glosses ---


@reads(Confidence.SIGNATURE)
def read_treebank(source: Source) -> Table | None:
    """Reads sentences and translations where most have one (`# text_en`), else words and their lemmas or parts of speech."""
    lines = source.lines
    words = [line for line in lines[:SAMPLE] if line.strip() and not line.startswith("#")]
    if not words or 10 * sum(_WORD.fullmatch(line) is not None for line in words) < 9 * len(words):
        return None
    sentences = [_parse_sentence(group) for is_filled, group in groupby(lines, key=lambda line: bool(line.strip())) if is_filled]
    counts = Counter(name for sentence in sentences for name in sentence)
    translations = [name for name in counts if name.startswith("text_") and 2 * counts[name] >= len(sentences)]
    return _build_table("conllu", source.name, sentences, ["text"] if translations else ["form"], translations or _OF_WORDS[1:])


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


@reads(Confidence.SIGNATURE)
def read_glossed(source: Source) -> Table | None:
    r"""Reads sentences with their free translations or glosses by markers: \tx, \ft, \ge; or a lexicon: \lx, \ge."""
    lines = source.lines
    counts = Counter(field[1] for field in map(_FIELD.fullmatch, lines[:SAMPLE]) if field)
    text, translation = (next((name for name in names if counts[name] > 1), "") for names in (_TEXTS, _TRANSLATIONS))
    if not text or not translation or 2 * counts.total() < sum(bool(line.strip()) for line in lines[:SAMPLE]):
        return None
    begin = next((name for name in _BEGIN if counts[name] > 1), text)
    return _build_table("toolbox", source.name, _iterate_records(lines, begin), _TEXTS, _TRANSLATIONS)


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


# --- prompts ---


@reads(Confidence.SIGNATURE)
def read_prompts(source: Source) -> Table | None:
    """Reads blocks: `prompt_7|the dog sleeps`, then lines like `der Hund schläft|0.6`, a translation and its weight."""
    lines = source.lines
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


# --- fairseq ---


@reads(Confidence.SIGNATURE)
def read_fairseq(source: Source) -> Table | None:
    """Reads `S-7` as a source, `T-7` as its target; without targets, the hypotheses (`D-7`, `H-7`). Other lines are log messages."""
    filled = [line for line in source.lines[:SAMPLE] if line.strip()]
    if 2 * sum(_FAIRSEQ.match(line) is not None for line in filled) <= len(filled):
        return None
    texts_by_number: dict[str, dict[str, str]] = {}
    lines: dict[str, int] = {}  # the first of each number
    rows = []
    for number, line in enumerate(source.lines, 1):
        if match := _FAIRSEQ.match(line):
            lines.setdefault(match[2], number)
            texts_by_number.setdefault(match[2], {})[match[1]] = match[3] if match[1] in "ST" else match[3].partition("\t")[2]
        else:
            rows.append(comment_row(number, line))
    kind = next((kind for kind in "TDH" if any(kind in texts for texts in texts_by_number.values())), "T")
    rows += [make_row(lines[number], [texts.get("S", ""), texts.get(kind, "")]) for number, texts in texts_by_number.items()]
    return Table("fairseq", sorted(rows, key=lambda row: row.line), ("S", "T"), pair=(0, 1))
