"""Tables in lines, and lines that belong together: in two files, in turn, under one number; small ones stand in tests/reading/cases.py."""

import csv
import io
import json
import random
from itertools import product

from hypothesis import example, given, strategies as st

from playground.reading.formats import COLUMN_LIMIT, Source, annotated, delimited, marked
from playground.reading.formats.records import csv_rows
from playground.reading.text import strip_markup
from tests.reading.outcomes import outcome, read, refused, two

IN_ORDER = (delimited.read_tsv, marked.read_marked, delimited.read_csv, marked.read_loose)
PAIRS = [("Hello, world!", "Hallo, Welt!"), ("It's me.", "Ich bin's."), ('"Yes" or no?', "Ja oder nein?")]
cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0") | st.sampled_from('",;\\ '), max_size=12)
tables = st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))
WRITERS = {"json": lambda src, tgt: json.dumps({"en": src, "de": tgt}), "python": lambda src, tgt: str({"en": src, "de": tgt})}
ENGLISH = [
    "I have a new house.", "Where is the station?", "She reads a book every evening.", "We want to eat something.",
    "The weather is nice today.", "They do not know the way.", "My brother works in the city.", "Can you help me?", "It was a long day.",
    "The children are playing in the garden.", "He has never been there.", "What time is it now?", "You should go to bed.",
    "This is the best of all.", "I will write to you soon.",
]  # fmt: skip
GERMAN = [
    "Ich habe ein neues Haus.", "Wo ist der Bahnhof?", "Sie liest jeden Abend ein Buch.", "Wir wollen etwas essen.",
    "Das Wetter ist heute schön.", "Sie kennen den Weg nicht.", "Mein Bruder arbeitet in der Stadt.", "Können Sie mir helfen?",
    "Es war ein langer Tag.", "Die Kinder spielen im Garten.", "Er ist noch nie dort gewesen.", "Wie spät ist es jetzt?",
    "Du solltest ins Bett gehen.", "Das ist das Beste von allem.", "Ich werde dir bald schreiben.",
]  # fmt: skip
CHINESE = ["我有新房子。", "车站在哪里？", "她每晚看书。", "我们想吃东西。", "今天天气很好。"]
POEM = [  # Robert Frost, The Road Not Taken (1915)
    "Two roads diverged in a yellow wood,", "And sorry I could not travel both", "And be one traveler, long I stood",
    "And looked down one as far as I could", "To where it bent in the undergrowth;", "Then took the other, as just as fair,",
    "And having perhaps the better claim,", "Because it was grassy and wanted wear;",
]  # fmt: skip
SHI = ["床前明月光，", "疑是地上霜。", "举头望明月，", "低头思故乡。"]  # 李白，静夜思
VERSES = list(zip(POEM[::2], POEM[1::2], strict=True))
TALK_DE = """<url>http://www.ted.com/talks/1</url>
<title>Die Krise</title>
Vielen Dank.
Wirklich <em>sehr</em>.

<reviewer href="http://x">Jemand</reviewer>
<url>http://www.ted.com/talks/2</url>
Noch etwas.
"""
TALK_EN = "<url>1</url>\n<title>x</title>\nThank you.\nReally, <em>so</em> much.\n\n<url>2</url>\nOne more thing.\n"


def rows_of(content: str) -> list:
    lines = content.split("\n")
    source = Source("file.txt", content.encode("utf-8", "replace"), lines if lines[-1] else lines[:-1])
    result = next((table for table in (reader(source) for reader in IN_ORDER) if table), None)
    return list(result.rows) if result else []


def table(rows: list, delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)
    return file.getvalue()


@given(tables, st.sampled_from(",;|\t"), st.booleans())
@example([["", 'a, "b"']], ",", False)
def test_well_formed_csv_reads_as_python_reads_it(rows, delimiter, quote_all):
    rows = [[cell.replace(" ", "\n", 1) for cell in row] for row in rows]
    lines = table(rows, delimiter, csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).split("\n")[:-1]
    trusted, line = csv.reader([line + "\n" for line in lines], delimiter=delimiter), 1
    for row, expected in zip(csv_rows(lines, delimiter), trusted, strict=True):
        assert (row.line, row.cells) == (line, expected)
        line = trusted.line_num + 1


@given(st.text(st.sampled_from('ab",;|=-:\n\t \\'), max_size=60))
def test_rows_cover_every_line_once_and_in_order(content):
    rows = rows_of(content)
    assert [row.line for row in rows] == [1 + sum(row.height for row in rows[:n]) for n in range(len(rows))]
    assert not rows or sum(row.height for row in rows) == len(content.removesuffix("\n").split("\n"))


@given(st.text(st.sampled_from('ab,"\n'), max_size=40))
def test_a_broken_quote_never_eats_the_rows_below(content):
    good = "\n".join(f"s{n},t{n}" for n in range(200))
    assert [row.cells for row in rows_of(f"{good}\n{content}\n{good}")[-99:]] == [[f"s{n}", f"t{n}"] for n in range(101, 200)]


def test_a_quote_over_long_stretches_long_lines_and_ten_thousand_columns():
    pairs = read('a,b\n"open,x\n' + "hello,hallo\n" * 40_000)
    assert (pairs.dropped, len(pairs.pairs), pairs.pairs[0]) == ({"quote": (2,)}, 40_001, ("a", "b", 1))
    pairs = read("".join(f'{n}\t"a\nb\nc\nd"\n' for n in range(9)))
    assert (pairs.kind, pairs.pairs) == ("csv", tuple((str(n), "a b c d", 1 + 4 * n) for n in range(9)))
    for separator in "\t,;|":
        content = f"x{separator}y\n{'x' * 10_001}{separator}y\nc{separator}d"
        assert outcome(content) == f"{'tsv' if separator == chr(9) else 'csv'}: x→y · (long) · c→d"
        for cell in ("x", '"x"'):
            assert [len(row.cells) for row in rows_of(separator.join([cell] * 10_000))] == [COLUMN_LIMIT + 1]


def test_a_sign_separates_in_nine_of_ten_lines_and_nothing_within_a_cell_of_a_table():
    heads = (["question", "answer"], "{} + 4 = ?"), (["rule", "result"], "A{} -> B"), ([], "{} + 4 = ?"), (["en", "de"], "**x{}** => y")
    for delimiter, (head, cell) in product(",;", heads):
        rows = [(cell.format(n), str(n + 4)) for n in range(30)]
        pairs = read("\n".join(map(delimiter.join, [*filter(None, [head]), *rows])))
        assert (pairs.kind, pairs.header, two(pairs)) == ("csv", bool(head), rows)
    rules = ["id,rule,result", *(f"{n},A{n} -> B,C{n}" for n in range(30))]  # names tell it
    assert two(read("\n".join(rules))) == [(f"A{n} -> B", f"C{n}") for n in range(30)]
    good = [f"word {n} - Wort {n}" for n in range(18)]
    pairs = read("\n".join([*good, "a - b - c", "nothing"]))
    assert (two(pairs), pairs.dropped) == ([tuple(line.split(" - ")) for line in good], {"extra_columns": (19,), "one_column": (20,)})
    assert refused("\n".join([*good, "a - b - c", "nothing", "nothing again"])).key == "data.one_column"
    pairs = read("\n".join([*(f"wort слово{n}" for n in range(30)), "слово wort"]))  # the scripts the other way round
    assert (two(pairs), pairs.dropped) == ([("wort", f"слово{n}") for n in range(30)], {"one_column": (31,)})


def test_dictionaries_on_lines_and_in_a_column_and_what_is_none_costs_its_row_or_the_column():
    for write, delimiter in product(WRITERS.values(), ",;\t"):
        for head, quoting in product(["", "translation\n", '"translation"\n'], [csv.QUOTE_ALL, csv.QUOTE_MINIMAL]):
            pairs = read(head + table([[write(*pair)] for pair in PAIRS], delimiter, quoting))
            assert (two(pairs), pairs.dropped) == (PAIRS, {"header": (1,)} if head else {})
        for head in ([], ["", "translation"], ["id", "translation"]):
            rows = [[str(n), write(*pair)] for n, pair in enumerate(PAIRS)]
            pairs = read(table([head] * bool(head) + rows, delimiter))
            assert (two(pairs), pairs.dropped) == (PAIRS, {"header": (1,)} if head else {})
            assert [column.name for column in pairs.columns] == ["en", "de", (head or [""])[0] or "1"]
    good = [[str(n), WRITERS["python"](f"a{n}", f"b{n}")] for n in range(30)]
    pairs = read(table([["id", "translation"], *good, ["x", "{'en': open('x')}"], [""], ["y", ""]]))
    assert two(pairs) == [(f"a{n}", f"b{n}") for n in range(30)]
    assert pairs.dropped == {"header": (1,), "broken": (32,), "blank": (33,), "empty_source": (34,)}
    for cell in ('"{' + "'a': {" * 3000 + '"', '"{' + "'a': 9" * 4000 + '"', "\"{'a': " + "9" * 9000 + '}"'):
        assert refused("\n".join([cell] * 3)).key == "data.one_column"


def test_html_as_it_is_seen():
    for html, text in (
        ("a < b > c", "a < b > c"), ("a&nbsp;b &lt;i&gt; &auml; &#39; &#x4e2d;", "a\u00a0b <i> ä ' 中"), ("<b>Hal</b>lo", "Hallo"),
        ("one<br>two<br/>three<BR />", "one two three "), ("<div>one</div><div>two</div>", " one  two "),
        ('<span style="color: red">red</span>', "red"), ('<img src="x.jpg">cat[sound:x.mp3]', "cat "),
        ("<ruby>漢字<rt>かんじ</rt></ruby>", "漢字"), ("<style>.card { color: red }</style>text", "text"),
        ("<!-- remark -->text", "text"), ("{{c1::word}} [not a sound]", "{{c1::word}} [not a sound]"),
        ("<3 and <![ and <", "<3 and <![ and <"), ("<a href=unclosed", "<a href=unclosed"),
    ):  # fmt: skip
        assert strip_markup(html) == text


def in_turn(left, right) -> list[str]:
    return [line for pair in zip(left, right, strict=True) for line in pair]


def in_blocks(lines: list[str]) -> str:
    return "\n\n".join("\n".join(pair) for pair in zip(lines[::2], lines[1::2], strict=True))


def test_lines_in_turn_are_pairs_where_they_are_two_languages_and_not_without_evidence():
    for left, right, between in (
        (ENGLISH[:5], CHINESE, "\n"), (CHINESE, ENGLISH[:5], "\n"), (ENGLISH[:5], CHINESE, "\n\n"), (ENGLISH[:4], GERMAN[:4], "\n"),
        ([*ENGLISH, "OK."], [*CHINESE * 3, "OK."], "\n"), (ENGLISH * 3, GERMAN * 3, "\n"),
        (ENGLISH * 40, GERMAN * 40, "\n"),  # more than are looked at first
    ):  # fmt: skip
        pairs = read(between.join(in_turn(left, right)))
        assert (pairs.kind, pairs.dropped) == ("interleaved", {})
        assert pairs.pairs == tuple((*pair, 1 + n * 2 * len(between)) for n, pair in enumerate(zip(left, right, strict=True)))
    for lines in (
        ENGLISH * 4, random.Random(0).sample(ENGLISH + GERMAN, 30), ENGLISH + GERMAN, ENGLISH[:4] + GERMAN[:4],
        ["2024", *in_turn(ENGLISH[:5], CHINESE)],  # which begins?
    ):  # fmt: skip
        assert refused("\n".join(lines)).key == "data.one_column"


@given(st.integers(1, 28), st.sampled_from([CHINESE * 3, GERMAN]))
def test_a_line_that_is_missing_shifts_nothing(lost, targets):
    lines = in_turn(ENGLISH, targets)
    del lines[lost]
    pairs = read("\n".join(lines))
    assert two(pairs) == [pair for n, pair in enumerate(zip(ENGLISH, targets, strict=True)) if n != lost // 2]
    assert pairs.dropped == {"unpaired": (lost // 2 * 2 + 1,)}


def test_lines_of_one_language_are_pairs_only_by_choice_which_changes_nothing_elsewhere():
    long = in_blocks([f"This is the line of the poem that is {'very ' * 40}long."] * 8)
    for content in (in_blocks(POEM), in_blocks(SHI), in_blocks(ENGLISH[:14]), long):
        refusal = refused(content)
        assert refusal.key == "data.same_language"
        pairs = read(content, same_language=True)
        assert pairs.kind == "interleaved"
        sides = refusal.values["one"], refusal.values["two"]
        assert tuple(side[:60] for side in pairs.pairs[0][:2]) == sides, "long lines are quoted by their beginning"
        assert read(content, same_language=True, swap=True).pairs[0][:2] == pairs.pairs[0][1::-1]
    for content in (
        in_blocks(in_turn(ENGLISH, GERMAN)), in_blocks(in_turn(ENGLISH[:5], CHINESE)),
        "\n".join(in_turn(ENGLISH * 3, GERMAN * 3)), in_blocks(["cat", "Katze", "dog", "Hund", "house", "Haus"]),
        in_blocks(["3 1 2", "1 2 3", "2 1", "1 2"]), in_blocks(["walk twice", "WALK WALK", "jump", "JUMP"] * 5),
        "\n".join(f"Q: {left}\nA: {right}" for left, right in VERSES), "\n".join(map("\t".join, VERSES)),
    ):  # fmt: skip
        pairs = read(content)
        assert not pairs.dropped
        assert read(content, same_language=True) == pairs


def test_where_lines_begin_to_drift_and_that_ten_are_too_few_and_lengths_that_say_nothing_drift_nowhere():
    for lost, side in product((0, 13, 60, 119), (0, 1)):
        numbers = random.Random(lost).choices(range(1, 40), k=120)
        files = [["word " * number for number in numbers], ["Wörter " * number for number in numbers]]
        del files[side][lost]
        refusal = refused(*map("\n".join, files))
        assert refusal.key == ("data.unequal" if lost == 119 else "data.unequal_from"), (lost, side)  # after the last one nothing drifts
        if lost < 119:
            assert 0 <= lost + 1 - refusal.values["line"] <= 1
            assert refusal.values["lines_one"] - refusal.values["lines_two"] == (-1 if side == 0 else 1)
    lengths = [1, 39, 2, 35, 3, 30, 1, 38, 2, 36, 4]
    for count, key in ((11, "data.unequal_from"), (10, "data.unequal")):
        left, right = (["word " * length for length in lengths[:count]] for _ in range(2))
        del right[3]
        assert refused("\n".join(left), "\n".join(right)).key == key
    for alike in (("same\n" * 50, "gleich\n" * 49), ("a\n" * 50, "b\n" * 10)):
        assert refused(*alike).key == "data.unequal"


def test_talks_and_segments(monkeypatch):
    spoken = "Vielen Dank.→Thank you. · Wirklich <em>sehr</em>.→Really, <em>so</em> much. · (blank) · (header) · (header)"
    talks = f"(header) · (header) · {spoken} · Noch etwas.→One more thing."
    assert outcome({"train.tags.de-en.de": TALK_DE, "train.tags.de-en.en": TALK_EN}) == f"tagged de→en: {talks} +html"
    assert outcome(TALK_DE, TALK_EN + "\n") == f"tagged: {talks} · (blank) +html"
    assert outcome(TALK_DE, TALK_EN + "Zu viel.\n") == "!unequal_tagged one=a.txt lines_one=4 two=b.txt lines_two=5"
    for contents, expected in (
        ((ONE, OTHER), "segments/item de→en: Vielen Dank.→Thanks. · A & B→A & B · (empty_target) +same"),
        ((OTHER, ONE), "segments/item de→en 1→0: Vielen Dank.→Thanks. · A & B→A & B · (empty_target) +same"),
        # documents of other names are joined by their order
        ((campaign("doc_", "", "a", "b"), campaign("doc_", "", "c", "d", doc="other")), "segments/item: a→c · b→d"),
        ((ONE_FILE,), "segments/item en→de: Hello.→Hallo. · Bye.→Tschüss. · Yes→Ja"),
        (({"x.de.sgm": '<doc docid="a"><seg id="1">a1</seg><seg id="2">a2</seg></doc><doc docid="b"><seg id="1">b1\nb1</seg></doc>',
           "x.en.sgm": '<DOC docid="b"><SEG id="1">B1</SEG></DOC>\n<DOC docid="a"><hl><seg id="2">A2</seg></hl><seg id=1>A1</DOC>'},),
         "segments/item de→en: a1→A1 · a2→A2 · b1 b1→B1"),
        ((campaign("srcset", "de", "a"),), "!one_side"), (("<tmx><tu><tuv><seg>a</seg></tuv></tu></tmx>",), "!one_language only="),
        ((campaign("srcset", "de", "a"), campaign("refset", "en", "b").replace('seg id="1"', 'seg id="9"')), "!no_common_segments"),
    ):  # fmt: skip
        assert outcome(*contents) == expected
    monkeypatch.setattr(annotated, "MAX_LINES", 3)
    assert refused("<seg id=1>\n" * 4).key == "data.too_many_lines"


def campaign(kind: str, language: str, *texts: str, doc: str = "7") -> str:
    body = "".join(f'<seg id="{number}"> {text} </seg>\n' for number, text in enumerate(texts, 1))
    attribute = {"srcset": "srclang", "refset": "trglang"}.get(kind, "lang")
    body = f'<doc docid="{doc}">\n<url>u</url>\n{body}</doc>'
    return f'<?xml version="1.0"?>\n<mteval>\n<{kind} setid="x" {attribute}="{language}">\n{body}\n</{kind}>\n</mteval>\n'


ONE, OTHER = campaign("srcset", "de", "Vielen Dank.", "A &amp; B", "nur hier"), campaign("refset", "en", "Thanks.", "A & B")
ONE_FILE = """<?xml version='1.0' encoding='utf-8'?><dataset id="newstest"><doc id="d1" origlang="en">
<src lang="en"><p><seg id="1">Hello.</seg><seg id="2">Bye.</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">Hallo.</seg><seg id="2">Tschüss.</seg></p></ref></doc>
<doc id="d2"><src lang="en"><seg id="1">Yes</seg></src><ref lang="de" translator="A"><seg id="1">Ja</seg></ref></doc></dataset>"""
