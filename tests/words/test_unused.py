"""Every sentence in words/ is said somewhere: its key, or its name within the area, stands in the code, whole or put together."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.words import ENGLISH, entries

ROOT = Path(__file__).parents[2] / "playground"
HOLE = "\0"  # where a value goes
AREAS = {key.partition(".")[0] for key in entries(ENGLISH)}
LEAST = 3  # letters that a name put together has of its own: fewer would fit any key


def in_python(source: str) -> Iterator[str]:
    """Every string of a file, a HOLE for each value in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)


def in_script(source: str) -> Iterator[str]:
    """The same of a script, as far as a key may stand in it."""
    yield from re.findall(r'"([\w.]+)"', source)
    yield from (re.sub(r"\$\{[^}]*\}", HOLE, text) for text in re.findall(r"`((?:[\w.]|\$\{[^}]*\})+)`", source))


def said() -> set[str]:
    return {text for file in ROOT.rglob("*.py") for text in in_python(file.read_text(encoding="utf-8"))} | {
        text for file in (ROOT / "ui" / "static").glob("*.js") for text in in_script(file.read_text(encoding="utf-8"))
    }


def unused(keys: list[str], texts: set[str]) -> list[str]:
    """The keys that none of these texts is, or can become. One that is an area and a HOLE says nothing: its name is sought alone."""
    alone = {f"{area}.{HOLE}" for area in AREAS}
    patterns = [text for text in texts - alone if HOLE in text and len(re.sub(r"[^a-z_]", "", text)) >= LEAST]
    fits = re.compile("|".join(re.escape(text).replace(re.escape(HOLE), ".+") for text in patterns))
    names = {key: key.partition(".")[2] for key in keys}
    return [key for key, name in names.items() if not ({key, name} & texts or fits.fullmatch(key) or fits.fullmatch(name))]


def test_no_sentence_is_left_that_nobody_says():
    assert unused(list(entries(ENGLISH)), said()) == []


@pytest.mark.parametrize("texts", [{"page.gone"}, {"gone"}, {"page.go\0e"}, {"\0one"}])
def test_what_is_said_whole_or_put_together_is_used(texts):
    assert unused(["page.gone"], texts) == []


@pytest.mark.parametrize("texts", [set(), {"runs.gone"}, {"page.\0"}, {"\0e"}, {"a sentence about what is gone"}])
def test_what_is_not_said_is_found(texts):
    assert unused(["page.gone"], texts) == ["page.gone"]
