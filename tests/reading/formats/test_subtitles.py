"""Truths about subtitles: what is shown at the same time belongs together, and numbers and times are no sentences."""

import pytest

from playground.config import Refusal
from playground.reading.formats.subtitles import read_subtitles
from playground.words import LANGUAGES
from tests.reading.formats.aligned import source

ENGLISH = [(1, "Hello."), (3, "I am\nhere."), (6, "2024"), (9, "Bye.")]
GERMAN = [(1, "Hallo."), (3, "Ich bin hier."), (6, "2024"), (9, "Ade.")]
PAIRS = [["Hello.", "Hallo."], ["I am here.", "Ich bin hier."], ["2024", "2024"], ["Bye.", "Ade."]]


def srt(cues, late: int = 0) -> str:
    return "".join(
        f"{number}\n00:00:{begin + late:02},000 --> 00:00:{begin + late + 1:02},900\n{text}\n\n"
        for number, (begin, text) in enumerate(cues, 1)
    )


def vtt(cues) -> str:
    return "WEBVTT\n\n" + "".join(f"00:{begin:02}.000 --> 00:{begin + 1:02}.900 align:start\n{text}\n\n" for begin, text in cues)


def read(*contents: str, named=("a.en.srt", "a.de.srt")):
    return read_subtitles([source(content, name) for content, name in zip(contents, named, strict=False)])


def rows(table) -> list:
    return [(row.line, row.fault or row.cells) for row in table.rows]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (srt(ENGLISH), srt(GERMAN)), (srt(ENGLISH), vtt(GERMAN)), (srt(ENGLISH).replace("\n\n", "\n"), srt(GERMAN)),
        (srt(ENGLISH), srt(GERMAN, late=30)),  # as many, though at other times
    ],
)  # fmt: skip
def test_two_files(one, two):
    table = read(one, two)
    assert (table.kind, table.columns, table.unit) == ("subtitles", ("en", "de"), "item")
    assert rows(table) == list(enumerate(PAIRS, 1))


def test_a_cue_that_one_file_lacks_shifts_nothing():
    table = read(srt(ENGLISH), srt([*GERMAN[:1], *GERMAN[2:], (12, "Ende.")]))
    assert rows(table) == [(1, PAIRS[0]), (2, "unpaired"), (3, PAIRS[2]), (4, PAIRS[3]), (5, "unpaired")]


def test_two_languages_in_one_file():
    both = [(begin, f"{one}\n{two}") for (begin, one), (_, two) in zip(ENGLISH[:1] + ENGLISH[2:], GERMAN[:1] + GERMAN[2:], strict=True)]
    assert rows(read(srt(both))) == [(2, PAIRS[0]), (7, PAIRS[2]), (12, PAIRS[3])]
    assert rows(read(vtt(both)))[0] == (3, PAIRS[0])


@pytest.mark.parametrize(
    ("contents", "key"), [([srt(ENGLISH)], "data.one_side"), ([srt(ENGLISH), srt(GERMAN[:3], late=30)], "data.cues_apart")]
)
def test_refusals(contents, key):
    with pytest.raises(Refusal) as refused:
        read(*contents)
    assert refused.value.key == key
    assert all(refused.value.say(language) for language in LANGUAGES)


def test_other_files_are_left_to_others():
    assert read("1\nHello\n") is None
    assert read(srt(ENGLISH), "Hallo\n") is None
    assert read() is None
