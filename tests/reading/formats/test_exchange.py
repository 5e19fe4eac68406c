"""Truths about TMX and XLIFF: every unit is read, in every language it has, and what is broken or hostile is refused with its line."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.formats import exchange, xml_events
from playground.reading.formats.exchange import read_tmx, read_xliff
from playground.reading.formats.table import Source
from playground.words import LANGUAGES
from tests.thoroughness import every_case, examples_at_night

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def read(data: str | bytes):
    data = data.encode() if isinstance(data, str) else data
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        lines = []
    source = [Source("file", data, lines)]
    return read_tmx(source) or read_xliff(source)


def rows(table) -> list:
    return [(row.line, row.cells) for row in table.rows]


def refusal(data: str | bytes) -> Refusal:
    with pytest.raises(Refusal) as refused:
        read(data)
    assert all(refused.value.say(language) for language in LANGUAGES)
    return refused.value


def unit(**variants: str) -> str:
    return (
        "<tu>" + "".join(f'<tuv xml:lang="{lang.replace("_", "-")}"><seg>{text}</seg></tuv>' for lang, text in variants.items()) + "</tu>\n"
    )


def tmx(*units: str, source: str = "en", start: str = DECLARATION) -> str:
    return f'{start}<tmx version="1.4">\n<header srclang="{source}"/>\n<body>\n{"".join(units)}</body>\n</tmx>\n'


AB, CD = unit(en="a", de="b"), unit(de="d", en="c")


# --- TMX ---


def test_two_languages_by_hand():
    table = read(tmx(AB, CD))
    assert (table.kind, table.unit, table.columns, table.pair) == ("tmx", "line", ("en", "de"), (0, 1))
    assert rows(table) == [(5, ["a", "b"]), (6, ["c", "d"])]


@pytest.mark.parametrize(
    ("source", "columns", "pair"),
    [("de", ("de", "en"), (0, 1)), ("EN", ("en", "de"), (0, 1)), ("en-GB", ("en", "de"), (0, 1)), ("*all*", ("en", "de"), None),
     ("fr", ("en", "de"), None), ("", ("en", "de"), None)],
)  # fmt: skip
def test_the_header_says_which_language_is_the_source(source, columns, pair):
    table = read(tmx(AB, source=source))
    assert (table.columns, table.pair) == (columns, pair)
    assert dict(zip(columns, table.rows[0].cells, strict=True)) == {"en": "a", "de": "b"}


def test_several_languages_are_columns_and_what_is_missing_is_empty():
    table = read(tmx(unit(en="a", de="b", fr="c"), unit(fr="d", pt_BR="e"), unit(EN="f", pt_PT="g")))
    assert (table.columns, table.pair) == (("en", "de", "fr", "pt-BR", "pt-PT"), None)
    assert rows(table) == [(5, ["a", "b", "c", "", ""]), (6, ["", "", "d", "e", ""]), (7, ["f", "", "", "", "g"])]


@pytest.mark.parametrize("source", ["en", "en-US", "EN_us"])
def test_a_language_with_and_without_its_region_is_one(source):
    table = read(tmx(AB, unit(de_DE="d", en="c"), unit(en_US="e", de_de="f"), unit(EN_us="g", de="h"), source=source))
    assert (table.columns, table.pair) == (("en", "de"), (0, 1))
    assert rows(table) == [(5, ["a", "b"]), (6, ["c", "d"]), (7, ["e", "f"]), (8, ["g", "h"])]
    turned = read(tmx(unit(de_DE="b", en_US="a"), unit(de="d", en="c"), source="de-DE"))
    assert rows(turned) == [(5, ["b", "a"]), (6, ["d", "c"])]
    several = '<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="de"><seg>b</seg></tuv><tuv xml:lang="de"><seg>c</seg></tuv></tu>\n'
    assert [row.cells for row in read(tmx(several, unit(en="d", de_AT="e"))).rows] == [["a", "b"], ["a", "c"], ["d", "e"]]


@pytest.mark.parametrize(
    ("units", "columns"),
    [
        ([unit(en="a", en_US="b"), unit(en="c", de="d")], ("en", "en-US", "de")),  # one unit has both
        ([unit(en="a", pt="b"), unit(en="c", pt_BR="d"), unit(en="e", pt_PT="f")], ("en", "pt", "pt-BR", "pt-PT")),  # which of two regions?
        ([unit(en="a", zh="b"), unit(en="c", zh_TW="d")], ("en", "zh", "zh-TW")),  # another writing
        ([unit(en="a", sr="b"), unit(en="c", sr_Latn="d")], ("en", "sr", "sr-Latn")),
    ],
)
def test_varieties_that_differ_are_languages_of_their_own(units, columns):
    assert read(tmx(*units)).columns == columns


def test_one_language_by_two_names_is_one_language():
    found = refusal(tmx(unit(en="a"), unit(en_US="b")))
    assert (found.key, found.values["only"]) == ("data.one_language", "en")


def test_several_wordings_give_several_rows():
    several = '<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="de"><seg>b</seg></tuv><tuv xml:lang="de"><seg>c</seg></tuv></tu>\n'
    both = '<tu><tuv xml:lang="en"><seg>1</seg></tuv><tuv xml:lang="en"><seg>2</seg></tuv><tuv xml:lang="de"><seg>3</seg></tuv></tu>\n'
    assert rows(read(tmx(several, both))) == [(5, ["a", "b"]), (5, ["a", "c"]), (6, ["1", "3"]), (6, ["2", "3"])]


@every_case(
    ("segment", "text"),
    [
        ('<bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept>', "bold"),
        ('a<ph x="1">{0}<sub>alt</sub></ph>b<it pos="begin">x</it><ut>y</ut>', "ab"),
        ("a <hi>b</hi> <hi><hi>c</hi></hi>", "a b c"),
        ("<hi>a<ph>x</ph></hi>b", "ab"),
        ("&lt;i&gt; &amp;amp; &#228;&#x1F600;", "<i> &amp; ä😀"),
        ("<![CDATA[<b> & ]]>x", "<b> & x"),
        ("a<!-- no -->b<?no?>c", "abc"),
        ("two\n  lines", "two\n  lines"),
        ("NA", "NA"),
        ("", ""),
    ],
)
def test_inline_tags(segment, text):
    assert rows(read(tmx(unit(en=segment, de="x")))) == [(5, [text, "x"])]


def test_tmx_1_1_names_languages_with_lang():
    units = '<tu><tuv lang="EN"><seg>a</seg></tuv><tuv lang="DE"><seg>b</seg></tuv></tu>'
    table = read(f'<tmx version="1.1"><header srclang="EN"/><body>{units}</body></tmx>')
    assert (table.columns, table.pair, rows(table)) == (("EN", "DE"), (0, 1), [(1, ["a", "b"])])


def test_units_on_one_line_are_counted_as_items():
    table = read(tmx(AB.strip(), CD.strip()))
    assert (table.unit, rows(table)) == ("item", [(1, ["a", "b"]), (2, ["c", "d"])])


def test_notes_and_properties_are_no_sentences_and_a_credit_is_kept():
    header = '<header srclang="en"><prop type="x-license">CC BY\n 4.0</prop><note>n</note></header>'
    english = '<tuv xml:lang="en"><prop type="p">r</prop><seg>a</seg></tuv>'
    noted = f'<tu><note>n</note><prop type="p">q</prop>{english}<tuv xml:lang="de"><seg>b</seg></tuv></tu>'
    table = read(f"<tmx>{header}<body>{noted}</body></tmx>")
    assert (rows(table), table.credit) == ([(2, ["a", "b"])], "CC BY 4.0")


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("iso-8859-1", "ISO-8859-1"), ("cp1252", "windows-1252"),
     ("gb18030", "GB18030"), ("shift_jis", "Shift_JIS")],
)  # fmt: skip
def test_encodings_are_as_declared(encoding, declared):
    said = "äöü" if encoding in ("iso-8859-1", "cp1252") else "日本"
    text = tmx(unit(en="a", de=said), start=f'<?xml version="1.0" encoding="{declared}"?>')
    assert rows(read(text.encode(encoding))) == [(4, ["a", said])]


@pytest.mark.parametrize("declared", ["UTF-16", "zlib_codec", "no-such", "punycode", "utf-32"])
def test_a_declaration_that_is_not_true_does_no_harm(declared):
    assert rows(read(tmx(unit(en="a", de="ä"), start=f'<?xml version="1.0" encoding="{declared}"?>'))) == [(4, ["a", "ä"])]


def test_where_the_declaration_fails_the_decoded_lines_are_read():
    data = tmx(unit(en="a", de="ä")).encode("cp1252")
    source = Source("file", data, data.decode("cp1252").split("\n"))
    assert rows(read_tmx([source])) == [(5, ["a", "ä"])]


def test_utf_16_without_a_mark():
    assert rows(read(tmx(AB, start="").encode("utf-16-le"))) == [(4, ["a", "b"])]


# --- XLIFF ---

XLIFF_12 = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="x" source-language="en" target-language="de" datatype="plaintext">
<header><note>no</note></header><body><group>
<trans-unit id="1"><source>Hi <g id="1">you</g><x id="2"/><ph id="3">{0}</ph></source><target>Hallo <g id="1">du</g></target>
<note>no</note></trans-unit><trans-unit id="2"><source>not yet</source></trans-unit>
<trans-unit id="3"><source>copied</source><target state="needs-translation">copied</target></trans-unit>
<trans-unit id="4"><source>a</source><target>b</target>
<alt-trans><source>no</source><target>no</target></alt-trans></trans-unit>
<trans-unit id="5"><source>One. Two.</source>
<seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1">Two.</mrk></seg-source>
<target><mrk mtype="seg" mid="0">Eins.</mrk> <mrk mtype="seg" mid="1"/></target></trans-unit>
</group></body></file></xliff>
"""

XLIFF_20 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de"><file id="f"><unit id="1">
<notes><note>no</note></notes><originalData><data id="d">no</data></originalData>
<segment><source>Hi <pc id="1">you</pc><ph id="2" dataRef="d"/> <mrk id="m">and</mrk> <sc id="3"/>me<ec startRef="3"/></source>
<target>Hallo<cp hex="0021"/></target></segment><ignorable><source> </source></ignorable>
<segment><source>b</source></segment></unit></file></xliff>
"""


def test_xliff_1_2_by_hand():
    table = read(XLIFF_12)
    assert (table.kind, table.unit, table.columns, table.pair) == ("xliff", "item", ("en", "de"), (0, 1))
    assert [(row.line, row.cells, row.fault) for row in table.rows] == [
        (1, ["Hi you", "Hallo du"], ""),
        (2, ["not yet", ""], "untranslated"),
        (3, ["copied", "copied"], "untranslated"),
        (4, ["a", "b"], ""),
        (5, ["One.", "Eins."], ""),
        (6, ["Two.", ""], "untranslated"),
    ]


def test_xliff_2_0_by_hand():
    table = read(XLIFF_20)
    assert (table.kind, table.unit, table.columns, table.pair) == ("xliff", "line", ("en", "de"), (0, 1))
    assert [(row.line, row.cells, row.fault) for row in table.rows] == [
        (3, ["Hi you and me", "Hallo!"], ""),
        (5, ["b", ""], "untranslated"),
    ]


@pytest.mark.parametrize(
    ("state", "target", "fault"),
    [
        ("new", "a", "untranslated"), ("initial", " a ", "untranslated"), ("new", "b", ""), ("translated", "a", ""), ("", "a", ""),
        ("needs-translation", "b", "untranslated"),
    ],
)  # fmt: skip
def test_a_copy_of_the_source_is_no_translation_before_someone_says_so(state, target, fault):
    said = f' state="{state}"' if state else ""
    one = f'<file source-language="en"><trans-unit><source>a</source><target{said}>{target}</target></trans-unit></file>'
    two = f"<file><unit><segment{said}><source>a</source><target>{target}</target></segment></unit></file>"
    for content in (one, two):
        assert [row.fault for row in read(f"<xliff>{content}</xliff>").rows] == [fault]


def test_files_in_different_languages_are_different_columns():
    one, two = (
        f'<file source-language="en" target-language="{language}">'
        f"<trans-unit><source>a</source><target>{language}</target></trans-unit></file>\n"
        for language in ("de", "fr")
    )
    table = read(f"<xliff>{one}{two}</xliff>")
    assert (table.columns, table.pair, rows(table)) == (("en", "de", "fr"), None, [(1, ["a", "de", ""]), (2, ["a", "", "fr"])])


# --- not ours, broken, hostile ---


@every_case(
    "data", ["", "<html><body/></html>", "a\tb", "<b>x</b>\ty", "tmx", b"\0\1<tmx>", "<tmx2/>", b"\xff\xfe", "<", "<!-- <tmx> -->"]
)
def test_other_files_are_left_to_others(data):
    assert read(data) is None
    assert read_tmx([Source("a", tmx(AB).encode(), []), Source("b", b"x", ["x"])]) is None


@every_case(
    ("data", "key", "line"),
    [
        (tmx(AB, "<tu><tuv></tu>\n", CD), "data.xml_broken", 6),
        (tmx(AB, unit(en="a & b", de="c")), "data.xml_broken", 6),
        (tmx(AB, unit(en="a&nbsp;b", de="c")), "data.xml_broken", 6),
        (tmx(AB).replace('"en"', "en"), "data.xml_broken", 3),
        (tmx(AB) + "more", "data.xml_broken", 8),
        (tmx(AB, CD)[:-30], "data.xml_cut", 6),
        (tmx(AB, CD)[:150], "data.xml_cut", 5),
        (tmx(), "data.no_units", None),
        (tmx(unit(en="a")), "data.one_language", None),
        (XLIFF_12[:-100], "data.xml_cut", 12),
        ("<xliff/>", "data.no_units", None),
        (tmx(unit(**{f"x{n}": "a" for n in range(65)})), "data.too_many_columns", None),
        (tmx(*["<x>\n"] * 201), "data.xml_tags", 203),
        (tmx(AB, unit(en="x" * 100_001)), "data.xml_endless", 6),
        (f'<tmx><tu {"a" * 100_001}="b">', "data.xml_endless", 1),
        ("<tmx>\n" + "x" * 3_000_000, "data.xml_endless", 1),
    ],
)  # fmt: skip
def test_refusals(data, key, line):
    refused = refusal(data)
    assert (refused.key, refused.values.get("line")) == (key, line)
    assert line is None or str(line) in str(refused)


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY c SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:1/x.dtd"> %p; <!ENTITY c "x">',
        '<!NOTATION n SYSTEM "n"><!ENTITY c SYSTEM "x" NDATA n>',
    ],
)
def test_entities_are_refused(subset):
    refused = refusal(tmx(unit(en="&c;", de="x"), start=f"{DECLARATION}<!DOCTYPE tmx [{subset}]>\n"))
    assert (refused.key, refused.values["line"]) == ("data.xml_entities", 2)


@pytest.mark.parametrize("reference", ['SYSTEM "tmx14.dtd"', 'SYSTEM "http://127.0.0.1:1/x.dtd"', 'PUBLIC "-//LISA" "file:///etc/passwd"'])
def test_a_dtd_may_be_named_and_is_not_fetched(reference, monkeypatch):
    def forbidden(*arguments, **options):
        raise AssertionError("nothing may be opened")

    monkeypatch.setattr("urllib.request.urlopen", forbidden)
    monkeypatch.setattr("socket.create_connection", forbidden)
    monkeypatch.setattr("xml.sax.saxutils.prepare_input_source", forbidden)
    table = read(tmx(unit(en="a&nbsp;b&unheard;c", de="d"), start=f"{DECLARATION}<!DOCTYPE tmx {reference}>\n"))
    assert rows(table) == [(6, ["a\xa0bc", "d"])]


def test_limits(monkeypatch):
    monkeypatch.setattr(exchange, "MAX_LINES", 2)
    assert len(read(tmx(AB, CD)).rows) == 2
    assert refusal(tmx(AB, CD, AB)).key == "data.too_many_items"
    monkeypatch.setattr(xml_events, "_MAX_ELEMENTS", 10)
    assert refusal(tmx(AB, CD)).key == "data.xml_tags"


def test_a_long_wording_beside_many_does_not_fill_the_memory():
    many = f'<tu><tuv xml:lang="en"><seg>{"x" * 9000}</seg></tuv>' + '<tuv xml:lang="de"><seg>y</seg></tuv>' * 6000 + "</tu>"
    assert refusal(tmx(many)).key == "data.unpacked_too_large"


def test_a_segment_that_is_too_long_costs_itself():
    table = read(tmx(unit(en="x" * 20_000, de="y"), AB))
    assert [(row.line, row.fault) for row in table.rows] == [(5, "long"), (6, "")]


# --- properties ---

GOOD = (tmx(AB, CD, unit(en="<hi>a</hi><ph>x</ph>", de="b", fr="c")), XLIFF_12, XLIFF_20)
PIECES = [
    "<",
    ">",
    "/",
    "&",
    '"',
    "<mrk>",
    "</mrk>",
    "<source>",
    "</source>",
    "<seg>",
    "</seg>",
    "<ph>",
    "</ph>",
    "<tu>",
    "</tu>",
    "\n",
    "x",
    "",
]


@given(st.sampled_from(GOOD), st.data())
@examples_at_night(400)
def test_damaged_files_are_read_or_refused(text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(st.sampled_from(PIECES)) + text[place + data.draw(st.integers(0, 8)) :]
    encoded = data.draw(st.sampled_from([b"", codecs.BOM_UTF8])) + text.encode()
    try:
        table = read(encoded[: data.draw(st.integers(0, len(encoded)))] if data.draw(st.booleans()) else encoded)
    except Refusal as refused:
        assert all(refused.say(language) for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
        return
    for row in table.rows if table else ():
        assert row.line >= 1
        assert len(row.cells) == len(table.columns)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff"))


@given(st.lists(st.tuples(texts, st.text(st.sampled_from("<&>\"' ä"))), min_size=1, max_size=5))
def test_text_comes_back_as_it_was(pairs):
    from xml.sax.saxutils import escape

    table = read(tmx(*[unit(en=escape(src), de=escape(tgt)) for src, tgt in pairs]))
    assert [row.cells for row in table.rows] == [list(pair) for pair in pairs]
