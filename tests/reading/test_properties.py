"""All bytes are read or refused, what was written reads back, and no pattern of reading/ is worse than linear, however attacked."""

import ast
import gzip
import io
import re
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

try:
    from re import _compiler as compiler, _constants as kinds, _parser as parser
except ImportError:  # before Python 3.11
    import sre_compile as compiler
    import sre_constants as kinds
    import sre_parse as parser

from playground import reading
from playground.reading.column_mapping import Choices
from playground.reading.encodings import ENCODINGS
from playground.reading.pairs import Pairs
from playground.reading.text import ESCAPE_KINDS, count_kinds as traces_in, normalise, strip_markup, undo
from tests.reading.cases import CASES
from tests.reading.formats.test_exchange import AB, CD, XLIFF_12, XLIFF_20, tmx
from tests.reading.formats.test_sheets import parquet, workbook
from tests.reading.outcomes import named, read_or_refused
from tests.reading.test_unpacking import ods, tarred, zipped

TSV = b"hello\thallo\nhow are you?\twie geht's?\n\nNA\tnull\n"
column = st.none() | st.integers(-1, 5) | st.sampled_from(["source", "tgt", "en", ""])
encodings = st.sampled_from(["", "", "gbk", "utf-16", "utf-8,latin-1"])
some_choices = st.builds(Choices, column, column, st.none() | st.booleans(), encodings, st.none() | st.booleans(), st.booleans())
PIECES = [*'",;:\t\n\r\0<>&{}[]\\#~|/-9x', "\u2028", "\x85", "٣", "msgid ", "msgstr ", '"x"', "<mrk>", "</mrk>", "<source>", "</source>"]
pieces = st.binary(max_size=3) | st.sampled_from([piece.encode() for piece in PIECES])
NOISE = ['ab é,;"\t\n\r\u200b\u2028', 'ab".:=\\;,# \n|{}-', "ab:QA\n\n 你好[]<>", "ab\n<>seg id=1/doc", 'ab",;|=-:\n\t \\']
HOSTILE = [  # each of which took very long once, or could: a test that hangs has found an error
    '"open,x\n' + "a,b\n" * 100_000, '"' * 99_999 + "\n" + "a,b\n" * 9, 'a,"b\n' * 50_000, ('"' + "x\n" * 99) * 2000,
    "-" * 99_999 + "\n" + "=" * 99_999 + "\n", ("| " * 40_000 + "\n") * 9, ("- " * 40_000 + "\n") * 9, '""\t""\n' * 30_000 + "a\tb",
    "\t" * 99_999 + "\n" + "a\t\tb\n" * 50_000, "<seg id=" * 12_000 + "\n" + "<seg id=1>x", '<seg id="1">' + "\n<doc " * 50_000,
    "IN:" * 30_000 + "\nIN: a OUT: b", "Q: " * 30_000 + "\n" + "A: " * 30_000, "[a" * 50_000, "你\nx\n" * 20_000, "a b c\nd e f\n" * 20_000,
    "\n" * 100_000 + "a", *("\n".join([line] * 3) for line in (
        "a: " + " " * 90_000 + "b", "a" + " " * 90_000, '"' + "\\" * 90_000, "a: '" + "'" * 90_001, "_" * 90_000 + " :b",
        'a: "x"' + " " * 90_000 + "y")), "a=b\\\n" * 100_000, '\\",' * 30_000,
]  # fmt: skip
UNITS = [
    "<", "<a ", "<!--", "<script>", "<rt><", "[sound:", "&#1", "&lt", "<br", "</", "a='>", "&", "&am", "@@", "@@ ", "▁", " @-@", "&quot;",
    "\u0301\u0316", "\u0344", "क्\u200d", "👩\u200d", "\u200c", "a\u200d", "\U0001f3f4\U000e0067", "1\ufe0f", " \u2028", "ᠠ\u180b",
]  # fmt: skip
FOLDER = Path(reading.__file__).parent
WAYS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
LETTERS = " \tab1\n\"'<>[](){}#:;,.-_=/\\|*~@％ａ"
SIZES = (5, 20, 2_000, 8_000)  # 20 are enough for an exponential one
ENDS = ("", "\0", " x", "\n", '"')
FLOOR_S = 0.004
GROWTH = 3.0  # times that of the text; a quadratic one has four times that from the third size to the last
REPEATS = {getattr(kinds, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(kinds, name)}


def restored(packed: bytes) -> bytes:
    """The archive without compression, so that damage reaches its contents."""
    with zipfile.ZipFile(io.BytesIO(packed)) as file:
        return zipped(*[(name, file.read(name)) for name in file.namelist()], how=zipfile.ZIP_STORED)


OTHERS = {
    "utf16.txt": TSV.decode().encode("utf-16"), "gbk.txt": "嗨。\tHi.\n你好。\tHello.\n".encode("gbk"),
    "a.tmx": tmx(AB, CD), "a.xlf": XLIFF_12, "b.xlf": XLIFF_20, "a.gz": gzip.compress(TSV, 0), "a.ods": restored(ods(1, 1)),
    "a.xlsx": restored(workbook(["source", "target"], ["Hi.", "Hallo."], [7, 1.5], [None, "x"])),
    "a.zip": zipped(("deu.txt", TSV), ("_about.txt", b"CC-BY 2.0"), ("__MACOSX/._deu.txt", b"\0"), how=zipfile.ZIP_STORED),
    "opus.zip": zipped(("X.de-en.de", b"a\nb\n"), ("X.de-en.en", b"c\nd\n"), ("README", b"x"), how=zipfile.ZIP_STORED),
    "a.tar": tarred(("x.en", b"a\nb\n"), ("x.de", b"c\nd\n")), "a.tar.gz": gzip.compress(tarred(("a.tsv", TSV)), 0),
    **({"a.parquet": parquet(source=["a", "c"], target=["b", "d"])} if find_spec("pyarrow") else {}),
}  # fmt: skip
GOOD = [named({name: content}) for name, content in OTHERS.items()]
GOOD += [named(*(case[0] if isinstance(case[0], tuple) else (case[0],))) for cases in CASES.values() for case in cases if case[1][0] != "!"]
PIECES += ["<seg>", "</seg>", "<ph>", "</ph>", "<tu>", "</tu>", "<row>", "</c>", 't="s"', 't="d"', 't="b"', "<v>x</v>", ""]
@given(st.lists(st.tuples(st.text(max_size=8), st.binary(max_size=200)), max_size=3), st.sampled_from(["", *ENCODINGS]))
def test_random_bytes_are_read_or_refused(files, encoding):
    read_or_refused(files, Choices(encoding=encoding))


@settings(max_examples=6 * settings.default.max_examples)
@given(st.sampled_from(GOOD), st.data())
def test_a_good_file_is_read_and_a_damaged_one_read_or_refused(files, data):
    assert isinstance(read_or_refused(files), Pairs)
    (name, content), *more = files
    damaged = bytearray(content * data.draw(st.sampled_from([1, 1, 1, 3])))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        damaged[place : place + data.draw(st.integers(0, 9))] = data.draw(pieces)
    cut = data.draw(st.sampled_from([len(damaged), len(damaged), len(damaged) // 2]))
    files, choices = [(name, bytes(damaged[:cut]) + data.draw(st.binary(max_size=9))), *more], data.draw(some_choices)
    read_or_refused(files, choices)
    read_or_refused([files[0], data.draw(st.sampled_from(GOOD))[0]], choices)


@given(
    st.sampled_from(NOISE).flatmap(lambda signs: st.text(st.sampled_from(signs), max_size=80)),
    st.sampled_from(["txt", "yml", "properties"]),
)
def test_readable_noise_is_read_or_refused(content, ending):
    pairs = read_or_refused([(f"noise.{ending}", content.encode())])
    read_or_refused([("one.en", content.encode()), ("other.de", content[::-1].encode())])
    if isinstance(pairs, Pairs) and pairs.kind == "tsv" and '"' not in content and "\t\t" not in content:
        lines = [line.split("\t") for line in content.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        # pairs stand where they are said to
        assert all([src, tgt] == [normalise(lines[line - 1][place]) for place in pairs.chosen] for src, tgt, line in pairs.pairs)


@pytest.mark.night
@pytest.mark.parametrize(("content", "ending"), product(HOSTILE, ["txt", "yml", "properties"]), ids=range(3 * len(HOSTILE)))
def test_hostile_text_takes_time_by_its_length(content, ending):
    read_or_refused([(f"a.{ending}", content.encode())])


@pytest.mark.night
@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length(unit):
    text = "a" + unit * (100_000 // len(unit))
    assert normalise(normalise(text)) == normalise(text)
    traces_in([strip_markup(text), undo(text, ESCAPE_KINDS)])


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


@pytest.mark.night
@pytest.mark.parametrize(("pattern", "ways"), [pytest.param(pattern, ways, id=name) for name, pattern, ways in patterns()])
def test_no_pattern_is_worse_than_linear(pattern, ways):
    assert list(worst(pattern, ways)) == []


@pytest.mark.night
@pytest.mark.parametrize("bad", [r"\s+#.*", r"(a+)+b", r"<seg\s[^>]*id"])
def test_one_that_is_worse_is_noticed(bad):
    assert next(worst(re.compile(bad), {"search"}), None)
