"""A text in one language is not taken for pairs of its own lines, unless somebody says that it is; nor is the one half of an archive."""

import gzip
import io
import stat
import tarfile
import zipfile

import pytest

from playground.config import Refusal
from playground.reading.uploads import Choices, Pairs, read_files
from playground.words import LANGUAGES
from tests.reading.formats.test_interleaved import CHINESE, ENGLISH, GERMAN, taking_turns

POEM = [  # Robert Frost, The Road Not Taken (1915)
    "Two roads diverged in a yellow wood,", "And sorry I could not travel both", "And be one traveler, long I stood",
    "And looked down one as far as I could", "To where it bent in the undergrowth;", "Then took the other, as just as fair,",
    "And having perhaps the better claim,", "Because it was grassy and wanted wear;",
]  # fmt: skip
GEDICHT = [  # Johann Wolfgang von Goethe, Erlkönig (1782)
    "Wer reitet so spät durch Nacht und Wind?", "Es ist der Vater mit seinem Kind;", "Er hat den Knaben wohl in dem Arm,",
    "Er faßt ihn sicher, er hält ihn warm.", "Mein Sohn, was birgst du so bang dein Gesicht?", "Siehst, Vater, du den Erlkönig nicht?",
]  # fmt: skip
SHI = ["床前明月光，", "疑是地上霜。", "举头望明月，", "低头思故乡。"]  # 李白，静夜思
QUESTIONS = ["What is the capital of %s?", "How many people live in %s?", "Where is the river of %s?", "Who was the first king of %s?"]
ANSWERS = ["I have not been to %s yet.", "My old map of %s is in the car.", "Nobody knows anything of %s.", "They said %s was far away."]
PLACES = ["France", "Spain", "Peru", "India", "Japan", "Kenya"]


def in_blocks(lines: list[str]) -> str:
    """Two and two, with a blank line between."""
    return "\n\n".join("\n".join(pair) for pair in zip(lines[::2], lines[1::2], strict=True))


def cues(lines: list[str]) -> str:
    """A film of which every subtitle has two lines."""
    shown = zip(lines[::2], lines[1::2], strict=True)
    return "\n".join(f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{one}\n{two}\n" for n, (one, two) in enumerate(shown, 1))


def dialogue() -> str:
    """Questions and answers in turn, so unlike each other that they could be two languages."""
    questions, answers = ([line % place for line in lines for place in PLACES] for lines in (QUESTIONS, ANSWERS))
    return "\n".join(taking_turns(questions, answers))


def read(content: str, **choices) -> Pairs:
    return read_files([("text.txt", content.encode())], Choices(**choices))


def refused(files: list[tuple[str, bytes]], **choices) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        read_files(files, Choices(**choices))
    assert all(refusal.value.say(language) for language in LANGUAGES)
    return refusal.value


@pytest.mark.parametrize(
    "content",
    [in_blocks(POEM), in_blocks(GEDICHT), in_blocks(SHI), cues(POEM), dialogue(), in_blocks(ENGLISH[:14])],
    ids=["English", "German", "Chinese", "subtitles", "dialogue", "sentences"],
)
def test_lines_of_one_language_are_pairs_only_when_somebody_says_so(content):
    found = refused([("text.txt", content.encode())])
    assert found.key == "data.same_language"
    pairs = read(content, same_language=True)
    assert pairs.kind in ("interleaved", "subtitles")
    assert pairs.pairs[0][:2] == (found.values["one"], found.values["two"])
    assert read(content, same_language=True, swap=True).pairs[0][:2] == (found.values["two"], found.values["one"])


def test_long_lines_are_quoted_by_their_beginning():
    found = refused([("text.txt", in_blocks([f"This is the line of the poem that is {'very ' * 40}long."] * 8).encode())])
    assert max(map(len, found.values.values())) == 60


@pytest.mark.parametrize(
    "content",
    [
        in_blocks(taking_turns(ENGLISH, GERMAN)), in_blocks(taking_turns(ENGLISH[:5], CHINESE)), cues(taking_turns(ENGLISH, GERMAN)),
        "\n".join(taking_turns(ENGLISH * 3, GERMAN * 3)), in_blocks(["cat", "Katze", "dog", "Hund", "house", "Haus"]),
        in_blocks(["3 1 2", "1 2 3", "2 1", "1 2"]), in_blocks(["walk twice", "WALK WALK", "jump", "JUMP"] * 5),
        "\n".join(f"{side}: {line}" for pair in zip(POEM[::2], POEM[1::2], strict=True) for side, line in zip("QA", pair, strict=True)),
        "\n".join("\t".join(pair) for pair in zip(POEM[::2], POEM[1::2], strict=True)),
    ],
    ids=["blocks", "scripts", "subtitles", "turns", "words", "numbers", "commands", "labels", "tabs"],
)  # fmt: skip
def test_nobody_is_asked_where_languages_differ_or_the_file_says_what_are_pairs(content):
    pairs = read(content)
    assert not pairs.dropped
    assert read(content, same_language=True) == pairs


# --- archives of which one half can't be read ---


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def damaged(name: str) -> bytes:
    """An archive in which this member's bytes are not what they were."""
    data = b"the words of the other side\n" * 3
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.en", TURNS)
        archive.writestr(name, data)
    return file.getvalue().replace(data, data.upper())


TURNS = in_blocks(POEM).encode()  # which could be read against itself
LANGUAGES_IN_TURN = in_blocks(taking_turns(ENGLISH, GERMAN)).encode()
UNUSABLE = {
    "empty": (zipped(("x.en", TURNS), ("x.de", b"")), "x.de"),
    "blank": (zipped(("x.en", TURNS), ("x.de", b"\n \n\n")), "x.de"),
    "binary": (zipped(("x.en", TURNS), ("x.de", b"\0\1\2\3" * 99)), "x.de"),
    "picture": (zipped(("x.de", b"\x89PNG\r\n\x1a\n" + bytes(99)), ("x.en", TURNS)), "x.de"),
    "packed": (zipped(("x.en", TURNS), ("x.de.gz", gzip.compress(b"eins"))), "x.de.gz"),
    "link": (zipped(("x.en", TURNS), (link("x.de"), b"/etc/passwd")), "x.de"),
    "pdf": (zipped(("x.en", TURNS), ("x.pdf", b"%PDF-1.7")), "x.pdf"),
    "page": (zipped(("x.en", TURNS), ("x.de.html", b"<html>")), "x.de.html"),
    "damaged": (damaged("x.de"), "x.de"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_the_file_that_cannot_be_used_is_named_and_the_other_not_read_against_itself(name):
    data, unusable = UNUSABLE[name]
    for choices in ({}, {"same_language": True}):
        found = refused([("both.zip", data)], **choices)
        assert found.key != "data.same_language"
        assert all(unusable in found.say(language) for language in LANGUAGES)


def test_a_link_in_a_tar_is_no_file_either():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("x.en")
        info.size = len(TURNS)
        archive.addfile(info, io.BytesIO(TURNS))
        other = tarfile.TarInfo("x.de")
        other.type, other.linkname = tarfile.LNKTYPE, "x.en"
        archive.addfile(other)
    found = refused([("both.tar", file.getvalue())])
    assert (found.key, found.values["members"]) == ("data.lost_side", "x.de")


def test_one_file_that_has_lost_the_other_is_said_to_lack_it_not_columns():
    found = refused([("both.zip", zipped(("x.en", "\n".join(ENGLISH).encode()), ("x.pdf", b"%PDF-1.7")))])
    assert (found.key, found.values) == ("data.lost_side", {"name": "both.zip", "taken": "x.en", "members": "x.pdf"})


@pytest.mark.parametrize("paper", ["README.md", "x_readme.html", "LICENSE.pdf", "x.ids", "about.htm", "__MACOSX/._x.pdf"])
def test_papers_and_litter_are_no_lost_side(paper):
    assert len(read_files([("a.zip", zipped(("x.txt", LANGUAGES_IN_TURN), (paper, b"%PDF-1.7")))]).pairs) == 15
    assert refused([("a.zip", zipped(("x.txt", TURNS), (paper, b"%PDF-1.7")))]).key == "data.same_language"


def test_a_file_that_says_what_its_pairs_are_needs_no_other_and_what_was_left_aside_is_said():
    pairs = read_files([("a.zip", zipped(("x.tsv", b"a\tb\nc\td\n"), ("x.pdf", b"%PDF-1.7")))])
    assert [pair[:2] for pair in pairs.pairs] == [("a", "b"), ("c", "d")]
    assert ("data.note_left_out", {"name": "a.zip", "members": "x.pdf"}) in pairs.notes
