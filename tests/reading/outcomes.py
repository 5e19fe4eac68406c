"""The outcome of an upload as one line that can be compared: how it was read, row by row, or the refusal."""

import json
import random
import unicodedata
from collections.abc import Callable

import pytest

from playground.config import Refusal
from playground.reading.column_mapping import Choices
from playground.reading.filtering import REASONS
from playground.reading.formats import LINE_LIMIT
from playground.reading.pairs import Pairs, as_json, report
from playground.reading.text import normalise
from playground.reading.uploads import read_files
from playground.words import LANGUAGES

SEVERAL_ROWS = ("po", "json_lines", "json", "tmx", "xliff")  # kinds of which an item may be several rows
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
SAID = ("line", "one", "two", "lines_one", "lines_two")  # values of a refusal that its sentence must hold


def word(dice: random.Random, most: int = 4) -> str:
    return "".join(dice.choices(SYLLABLES, k=dice.randint(2, most)))


def named(*contents: str | bytes | dict) -> list[tuple[str, bytes]]:
    """Files with their names: those of a dictionary, else a.txt and b.txt."""
    files = contents[0].items() if contents and isinstance(contents[0], dict) else zip(("a.txt", "b.txt", "c.txt"), contents, strict=False)
    return [(name, content if isinstance(content, bytes) else content.encode()) for name, content in files]


def read(*contents: str | bytes | dict, max_characters: int = LINE_LIMIT, **choices) -> Pairs:
    pairs = read_files(named(*contents), Choices(**choices), max_characters)
    check(pairs)
    return pairs


def two(pairs: Pairs) -> list[tuple[str, str]]:
    return [pair[:2] for pair in pairs.pairs]


def clean(pairs) -> list[tuple[str, str]]:
    """Returns the pairs that reading keeps of these texts."""
    return [(src, tgt) for src, tgt in ((normalise(src), normalise(tgt)) for src, tgt in pairs) if src and tgt]


def check(pairs: Pairs) -> None:
    """Checks what holds for every upload: each row is kept or dropped, once, and can be reported."""
    lines = [pair.line for pair in pairs.pairs[: len(pairs.pairs) - sum(pairs.given)]] + [
        line for lines in pairs.dropped.values() for line in lines
    ]
    assert len(lines) == pairs.lines
    assert len(set(lines)) == len(lines) or pairs.kind in SEVERAL_ROWS
    assert pairs.pairs
    assert set(pairs.dropped) <= set(REASONS)
    for src, tgt, _ in pairs.pairs:
        assert src
        assert tgt
        assert (normalise(src), normalise(tgt)) == (src, tgt)
        assert not {"Cc", "Cs"} & set(map(unicodedata.category, src + tgt))
    source, target = pairs.chosen
    assert source != target
    assert 0 <= min(source, target) <= max(source, target) < len(pairs.columns)
    expected = {reason: min(50, len(lines)) for reason, lines in pairs.dropped.items()}
    assert ({reason: len(rows) for reason, rows in pairs.dropped_rows.items()}, len(pairs.preview)) == (expected, min(8, pairs.lines))
    json.dumps(as_json(pairs), ensure_ascii=False).encode()
    for language in LANGUAGES:
        assert len(report(pairs, language)) == 1 + len(pairs.dropped) + len(pairs.notes)


def check_refusal(refusal: Refusal) -> None:
    """A refusal can be said in every language, with what it names, and can travel."""
    json.dumps({"key": refusal.key, "values": refusal.values})
    for language in LANGUAGES:
        sentence = refusal.say(language)
        assert sentence.strip()
        assert all(str(refusal.values[name]) in sentence for name in SAID if name in refusal.values)


def refusal_of(act: Callable[..., object], *arguments: object) -> Refusal:
    with pytest.raises(Refusal) as refused:
        act(*arguments)
    check_refusal(refused.value)
    return refused.value


def read_or_refused(files: list[tuple[str, bytes]], choices: Choices | None = None) -> Pairs | Refusal:
    """The pairs, or the refusal: any other error fails the test."""
    try:
        pairs = read_files(files, choices or Choices())
    except Refusal as refusal:
        check_refusal(refusal)
        return refusal
    check(pairs)
    return pairs


def refused(*contents: str | bytes | dict, **choices) -> Refusal:
    refusal = read_or_refused(named(*contents), Choices(**choices))
    assert isinstance(refusal, Refusal)
    return refusal


def outcome(*contents: str | bytes | dict, **choices) -> str:
    """`kind/unit names places: row · (reason why a row was dropped) · @line row +note ©credit`, or `!key of the refusal and its values`.

    The unit is left out for lines, the names where there are none but those of the files, the places of the columns for the first two,
    and the line of a row that follows the one before.
    """
    files = named(*contents)
    pairs = read_or_refused(files, Choices(**choices))
    if isinstance(pairs, Refusal):
        values = [f"{name}={value}" for name, value in pairs.values.items() if name not in ("name", "limit", "known")]
        return " ".join(["!" + pairs.key.removeprefix("data."), *values])
    names = [pairs.columns[place].name for place in pairs.chosen]
    head = [pairs.kind + (f"/{pairs.unit}" if pairs.unit != "line" else "")]
    if any(names) and set(names) != {name for name, _ in files}:
        head.append("→".join(names))
    if pairs.chosen != (0, 1):
        head.append("→".join(map(str, pairs.chosen)))
    rows = [(pair.line, f"{pair.src}→{pair.tgt}") for pair in pairs.pairs]
    rows += [(line, f"({reason})") for reason, lines in pairs.dropped.items() for line in lines]
    rows.sort(key=lambda row: row[0])
    before = [0, *(line for line, _ in rows)]
    written = [text if line == last + 1 else f"@{line} {text}" for (line, text), last in zip(rows, before, strict=False)]
    notes = [f" +{key.removeprefix('data.note_')}" for key, _ in pairs.notes]
    return f"{' '.join(head)}: {' · '.join(written)}{''.join(notes)}{f' ©{pairs.credit}' if pairs.credit else ''}"
