"""No pattern of reading/ takes longer than its text is long: each is attacked at every repetition in it."""

import ast
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest

try:
    from re import _compiler as compiler, _constants as kinds, _parser as parser
except ImportError:  # before Python 3.11
    import sre_compile as compiler
    import sre_constants as kinds
    import sre_parse as parser

from playground import reading

pytestmark = pytest.mark.night

FOLDER = Path(reading.__file__).parent
WAYS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
LETTERS = " \tab1\n\"'<>[](){}#:;,.-_=/\\|*~@％ａ"
SIZES = (5, 20, 2_000, 8_000)  # 20 are enough for an exponential one
ENDS = ("", "\0", " x", "\n", '"')
FLOOR_S = 0.004
GROWTH = 3.0  # times that of the text; a quadratic one has four times that from the third size to the last


def patterns() -> Iterator[tuple[str, re.Pattern, set[str]]]:
    """(where it stands, pattern, how it is used) of every pattern that a module of reading/ holds."""
    files = sorted(FOLDER.rglob("*.py"))
    ways = {file: uses(file) for file in files}
    for file in files:
        module = import_module(".".join(file.relative_to(FOLDER.parents[1]).with_suffix("").parts).removesuffix(".__init__"))
        for name, value in vars(module).items():
            values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            used = ways[file][name] if name.startswith("_") else set().union(*(uses[name] for uses in ways.values()))
            for at, entry in enumerate(values):
                if isinstance(entry, re.Pattern):
                    yield f"{file.stem}.{name}[{at}]", entry, used or {"search"}


def uses(file: Path) -> defaultdict[str, set[str]]:
    """Name -> the methods of patterns that are called on it in a file."""
    names = defaultdict(set)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in WAYS:
            owner = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            names[getattr(owner, "id", None) or getattr(owner, "attr", "")].add(node.attr)
    return names


def example(items: parser.SubPattern) -> str:
    return "".join(_example(parser.SubPattern(items.state, [item])) for item in items)


def _example(part: parser.SubPattern) -> str:
    ((kind, value),) = part
    if kind is kinds.SUBPATTERN:
        return example(value[-1])
    if kind is kinds.BRANCH:
        return example(value[1][0])
    if kind in REPEATS:
        return example(value[2]) * value[0]
    if kind in (kinds.LITERAL, kinds.IN, kinds.NOT_LITERAL, kinds.ANY):
        return next(filter(compiler.compile(part).fullmatch, chain(LETTERS, map(chr, range(0x110000)))))
    return ""


REPEATS = {getattr(kinds, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(kinds, name)}


def attacks(items: parser.SubPattern, before: str = "") -> Iterator[tuple[str, str]]:
    """(what leads to a repetition without end, what it repeats), for each of a pattern."""
    for kind, value in items:
        if kind in REPEATS:
            if value[1] > 1_000:
                yield from ((before, letter) for letter in filter(compiler.compile(value[2]).fullmatch, LETTERS))
                yield before, example(value[2]) or "a"
            yield from attacks(value[2], before)
        elif kind is kinds.SUBPATTERN:
            yield from attacks(value[-1], before)
        elif kind is kinds.BRANCH:
            for branch in value[1]:
                yield from attacks(branch, before)
        before += _example(parser.SubPattern(items.state, [(kind, value)]))


def run(pattern: re.Pattern, way: str) -> Callable[[str | bytes], object]:
    if way in ("sub", "subn"):
        return lambda text: pattern.sub(b"" if isinstance(text, bytes) else "", text)
    if way == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return getattr(pattern, way)


def seconds(act: Callable[[str | bytes], object], text: str | bytes) -> float:
    """Of processor time, the least of three tries."""
    times = []
    for _ in range(3):
        began = time.thread_time()
        act(text)
        times.append(time.thread_time() - began)
        if times[-1] < FLOOR_S:
            break
    return min(times)


def worst(pattern: re.Pattern, ways: set[str]) -> Iterator[tuple[str, str, str, float]]:
    """(way, what leads to it, what is repeated, growth) of every attack that grows faster than its text."""
    is_bytes = isinstance(pattern.pattern, bytes)
    tried = set(attacks(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE if is_bytes else pattern.flags)))
    tried |= {("", pump) for _, pump in tried} | {("", before + pump) for before, pump in tried}
    for before, pump in sorted(tried):
        for end in ENDS:
            texts = [before + pump * size + end for size in SIZES]
            for way in sorted(ways & {"match", "fullmatch"} | ({"finditer"} if ways - {"match", "fullmatch"} else set())):
                act, rate = run(pattern, way), 0.0
                for text in texts:
                    duration = seconds(act, text.encode() if is_bytes else text)
                    if duration >= FLOOR_S and duration / len(text) > GROWTH * rate > 0:
                        yield way, before, pump, duration / len(text) / rate
                        break
                    rate = max(duration, 1e-6) / len(text)


@pytest.mark.parametrize(("pattern", "ways"), [pytest.param(pattern, ways, id=name) for name, pattern, ways in patterns()])
def test_no_pattern_is_worse_than_linear(pattern, ways):
    assert list(worst(pattern, ways)) == []


@pytest.mark.parametrize("bad", [r"\s+#.*", r"(a+)+b", r"<seg\s[^>]*id"])
def test_one_that_is_worse_is_noticed(bad):
    assert next(worst(re.compile(bad), {"search"}), None)
