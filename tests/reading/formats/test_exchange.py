"""TMX, XLIFF and JSON: every unit is read, and what is broken, hostile or too much is refused with its line."""

import json

import pytest
from hypothesis import given, strategies as st

from playground.reading.formats import Source, exchange, items, xml_events
from playground.reading.formats.json_lists import read_json
from tests.reading.outcomes import named, outcome, read, read_or_refused, refused

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
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
TWO_FILES = "".join(
    f'<file source-language="en" target-language="{lang}"><trans-unit><source>a</source><target>{lang}</target></trans-unit></file>\n'
    for lang in ("de", "fr")
)
names = st.sampled_from(["en", "de", "src", "tgt", "data", "x"]) | st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


def unit(**variants: str) -> str:
    """A unit of the memory; `_` in a language stands for `-`, and what follows `__` is left out, so that a language may come twice."""
    wordings = [f'<tuv xml:lang="{lang.split("__")[0].replace("_", "-")}"><seg>{text}</seg></tuv>' for lang, text in variants.items()]
    return f"<tu>{''.join(wordings)}</tu>\n"


def tmx(*units: str, source: str = "en", start: str = DECLARATION) -> str:
    return f'{start}<tmx version="1.4">\n<header srclang="{source}"/>\n<body>\n{"".join(units)}</body>\n</tmx>\n'


AB, CD = unit(en="a", de="b"), unit(de="d", en="c")
REGIONS = (AB, unit(de_DE="d", en="c"), unit(en_US="e", de_de="f"), unit(EN_us="g", de="h"))


def test_memories_and_files_of_translators():
    for content, expected in (
        (tmx(AB, CD), "tmx en→de: @5 a→b · c→d"),
        *[(tmx(AB, source=source), "tmx en→de: @5 a→b") for source in ("EN", "en-GB", "*all*", "fr", "")],
        (tmx(AB, source="de"), "tmx de→en: @5 b→a"),
        (tmx(unit(en="a", de="b", fr="c"), unit(fr="d", pt_BR="e"), unit(EN="f", pt_PT="g")),
         "tmx en→de: @5 a→b · (empty_source) · (empty_target) +regions +languages"),
        *[(tmx(*REGIONS, source=source), "tmx en→de: @5 a→b · c→d · e→f · g→h") for source in ("en", "en-US", "EN_us")],
        (tmx(unit(de_DE="b", en_US="a"), unit(de="d", en="c"), source="de-DE"), "tmx de→en: @5 b→a · d→c"),
        (tmx(unit(en="a", de="b", de__2="c"), unit(en="d", de_AT="e")), "tmx en→de: @5 a→b · @5 a→c · d→e"),
        (tmx(unit(de="a", en_US="b"), unit(de="c", en_GB="d"), source="de"), "tmx de→en: @5 a→b · c→d +regions"),
        # varieties that differ: one unit has both, or it is another writing
        (tmx(unit(en="a", en_US="b"), unit(en="c", de="d")), "tmx en→en-US: @5 a→b · (empty_target) +languages"),
        (tmx(unit(en="a", zh="b"), unit(en="c", zh_TW="d")), "tmx en→zh: @5 a→b · (empty_target) +languages"),
        (tmx(unit(en="a", sr="b"), unit(en="c", sr_Latn="d")), "tmx en→sr: @5 a→b · (empty_target) +languages"),
        (tmx(unit(en="a", de="b", de__2="c"), unit(en="1", en__2="2", de="3")), "tmx en→de: @5 a→b · @5 a→c · 1→3 · @6 2→3"),
        ('<tmx version="1.1"><header srclang="EN"/><body><tu><tuv lang="EN"><seg>a</seg></tuv><tuv lang="DE"><seg>b</seg></tuv></tu>'
         "</body></tmx>", "tmx EN→DE: a→b"),
        (tmx(AB.strip(), CD.strip()), "tmx/item en→de: a→b · c→d"),  # on one line
        ('<tmx><header srclang="en"><prop type="x-license">CC BY\n 4.0</prop><note>n</note></header><body><tu><note>n</note><prop type="p">'
         'q</prop><tuv xml:lang="en"><prop type="p">r</prop><seg>a</seg></tuv><tuv xml:lang="de"><seg>b</seg></tuv></tu></body></tmx>',
         "tmx en→de: @2 a→b ©CC BY 4.0"),
        # what stands within a sentence
        (tmx(unit(en='<bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept>', de="x")), "tmx en→de: @5 bold→x"),
        (tmx(unit(en='a<ph x="1">{0}<sub>alt</sub></ph>b<it pos="begin">x</it><ut>y</ut>', de="x")), "tmx en→de: @5 ab→x"),
        (tmx(unit(en="a <hi>b</hi> <hi><hi>c</hi></hi>", de="<hi>a<ph>x</ph></hi>b")), "tmx en→de: @5 a b c→ab"),
        (tmx(unit(en="&lt;i&gt; &amp;amp; &#228;&#x1F600;", de="x")), "tmx en→de: @5 <i> &amp; ä😀→x +moses +html"),
        (tmx(unit(en="<![CDATA[<b> & ]]>x", de="a<!-- no -->b<?no?>c")), "tmx en→de: @5 <b> & x→abc +html"),
        # encodings
        *[(tmx(unit(en="a", de=text), start=f'<?xml version="1.0" encoding="{declared}"?>').encode(codec), f"tmx en→de: @4 a→{text}")
          for codec, declared, text in (
              ("utf-16", "UTF-16", "日本"), ("cp1252", "windows-1252", "äöü"), ("shift_jis", "Shift_JIS", "日本"),
              *(("utf-8", untrue, "ä") for untrue in ("UTF-16", "zlib_codec", "no-such", "punycode", "utf-32")))],
        (tmx(unit(en="a", de="ä")).encode("cp1252"), "tmx en→de: @5 a→ä +encoding"),
        (tmx(AB, start="").encode("utf-16-le"), "tmx en→de: @4 a→b +encoding"),
        # broken
        (tmx(AB, "<tu><tuv></tu>\n", CD), "!xml_broken line=6"),
        *[(tmx(AB, unit(en=f"a{sign}b", de="c")), "!xml_broken line=6") for sign in (" & ", "&nbsp;")],
        (tmx(AB).replace('"en"', "en"), "!xml_broken line=3"), (tmx(AB) + "more", "!xml_broken line=8"),
        (tmx(AB, CD)[:-30], "!xml_cut line=6"), (tmx(AB, CD)[:150], "!xml_cut line=5"),
        (tmx(), "!no_units"), ("<xliff/>", "!no_units"), (tmx(unit(**{f"x{n}": "a" for n in range(65)})), "!too_many_columns"),
        *[(tmx(unit(en="a"), *more), "!one_language only=en") for more in ([], [unit(en_US="b")])],
        (tmx(*["<x>\n"] * 201), "!xml_tags line=203 deep=200"),
        (tmx(AB, unit(en="x" * 100_001)), "!xml_endless line=6"),
        (f'<tmx><tu {"a" * 100_001}="b">', "!xml_endless line=1"),
        ("<tmx>\n" + "x" * 3_000_000, "!xml_endless line=1"),
        (tmx(unit(en="x" * 9000, **{f"de__{n}": "y" for n in range(6000)})), "!unpacked_too_large"),
        (tmx(unit(en="x" * 20_000, de="y"), AB), "tmx en→de: @5 (long) · a→b"),
        # another file
        (("<tmx><body/></tmx>", "x"), "!not_understood"), ("<html><body/></html>", "!web_page"), ("<b>x</b>\ty", "tsv: <b>x</b>→y +html"),
        (b"\0\1<tmx>", "!binary line=1"), ("<tmx2/>", "!one_column line=1"), (b"\xff\xfe", "!nothing_inside"),
    ):  # fmt: skip
        assert outcome(*(content if isinstance(content, tuple) else (content,))) == expected
    cases = [
        (XLIFF_12, "xliff/item en→de: Hi you→Hallo du · (untranslated) · (untranslated) · a→b · One.→Eins. · (untranslated)"),
        (XLIFF_20, "xliff en→de: @3 Hi you and me→Hallo! · @5 (untranslated)"), (XLIFF_12[:-100], "!xml_cut line=12"),
        (f"<xliff>{TWO_FILES}</xliff>", "xliff en→de: a→de · (empty_target) +columns"),
    ]  # fmt: skip
    for state, target, translated in (  # a copy of the source is no translation before its state says so
        ("new", "a", False), ("initial", " a ", False), ("new", "b", True), ("translated", "a", True), ("", "a", True),
        ("needs-translation", "b", False),
    ):  # fmt: skip
        attribute = f' state="{state}"' if state else ""
        old = f'<file source-language="en"><trans-unit><source>a</source><target{attribute}>{target}</target></trans-unit></file>'
        new = f"<file><unit><segment{attribute}><source>a</source><target>{target}</target></segment></unit></file>"
        for content, names in ((old, "en→target"), (new, "source→target")):
            expected = f"xliff {names}: a→{target}{' +same' * (target == 'a')}" if translated else "!none_kept_untranslated count=1"
            cases.append((f"<xliff>{content}</xliff>", expected))
    for content, expected in cases:
        assert outcome(content) == expected


def test_entities_are_refused_a_dtd_is_not_fetched_and_documents_may_be_too_much(monkeypatch):
    for subset in (
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY c SYSTEM "file:///etc/passwd">', '<!ENTITY % p SYSTEM "http://127.0.0.1:1/x.dtd"> %p; <!ENTITY c "x">',
        '<!NOTATION n SYSTEM "n"><!ENTITY c SYSTEM "x" NDATA n>',
    ):  # fmt: skip
        refusal = refused(tmx(unit(en="&c;", de="x"), start=f"{DECLARATION}<!DOCTYPE tmx [{subset}]>\n"))
        assert (refusal.key, refusal.values["line"]) == ("data.xml_entities", 2)
    for opener in ("urllib.request.urlopen", "socket.create_connection", "xml.sax.saxutils.prepare_input_source"):
        monkeypatch.setattr(opener, lambda *_, **__: pytest.fail("nothing may be opened"))
    for reference in ('SYSTEM "tmx14.dtd"', 'SYSTEM "http://127.0.0.1:1/x.dtd"', 'PUBLIC "-//LISA" "file:///etc/passwd"'):
        content = tmx(unit(en="a&nbsp;b&unheard;c", de="d"), start=f"{DECLARATION}<!DOCTYPE tmx {reference}>\n")
        assert outcome(content) == "tmx en→de: @6 a bc→d"
    for content, key in (
        ("[" * 100_000, "data.json_deep"), ('{"a":' * 5000, "data.json_deep"), ("[" + "1," * 2_100_000 + "1]", "data.too_many_values"),
        (json.dumps([{f"k{n}": "x" for n in range(65)}]), "data.too_many_columns"),
        (json.dumps([{"src": "a" * 9000, "tgt": ["b"] * 6000}]), "data.unpacked_too_large"),
    ):  # fmt: skip
        assert refused({"a.json": content}).key == key
    # what is too long or too deep in itself costs itself
    assert outcome(json.dumps([["a" * 10_000_000, "b"], ["c", "d"]])) == "json/item: (long) · c→d"
    assert outcome(f'["a", "b"]\n{"[" * 100_000}\n["c", "d"]') == "json_lines: a→b · (broken) · c→d"
    assert outcome(json.dumps([{"src": "a", "tgt": "b", "context": "x" * 20_000}])) == "json/item src→tgt: a→b +columns"
    assert len(read(json.dumps([["[,{" * 40, '\\",' * 40]] * 3)).pairs) == 3  # signs in strings are no values
    monkeypatch.setattr(items, "MAX_LINES", 3)
    pair = '["a", "b"]'
    assert outcome(f"[{pair}, {pair}, {pair}]") == "json/item: a→b · a→b · a→b"
    for content in (f"[{', '.join([pair] * 4)}]", '[["a", ["b", "b", "b", "b"]]]', "\n".join([pair] * 4)):
        assert refused(content).key == "data.too_many_items"
    monkeypatch.setattr(exchange, "MAX_LINES", 2)
    assert (len(read(tmx(AB, CD)).pairs), refused(tmx(AB, CD, AB)).key) == (2, "data.too_many_items")
    monkeypatch.setattr(xml_events, "_MAX_ELEMENTS", 10)
    assert refused(tmx(AB, CD)).key == "data.xml_tags"
    for limit, is_read in ((6, True), (5, False)):  # six characters in all
        monkeypatch.setattr(items, "UNPACKED_LIMIT", limit)
        assert (outcome("\n".join([pair] * 3)) == "json_lines: a→b · a→b · a→b") == is_read


def test_values_as_a_person_sees_them_and_broken_documents_by_line_and_column():
    for value, text in (
        *((same, same) for same in ("7", "1.50", "-0.0", "1E400", "9" * 5000, "true", "false", "Infinity")), ("null", ""), ("[]", ""),
        ("{}", ""), ("NaN", ""), ('"null"', "null"), ('"\\u00e9\\n"', "é\n"), ('"\\ud800x"', "\ud800x"), ('"raw\ttab"', "raw\ttab"),
        ('"\\ud83d\\ude00"', "😀"), ('"NA"', "NA"),
    ):  # fmt: skip
        document = f'[{{"src": "a", "tgt": {value}}}, {{"src": "c", "tgt": "d"}}]'
        assert [row.cells for row in read_json(Source("a.json", document.encode(), [document])).rows] == [["a", text], ["c", "d"]]
    for content, line, column in (
        ('[\n  ["a", "b"],\n  ["c", "d"],\n]', 4, 1), ('[["a", "b"]] // pairs\n', 1, 14), ('// pairs\n[["a", "b"]]', 1, 1),
        ("[['a', 'b']]", 1, 3), ('[\n["a", "b"]\n"c"\n]', 3, 1), ('[{"en": "a", "de": "b"},\n {"en": "c", "de": "d"},\n {"en": "tr', 3, 9),
        ('{"en": "a"', 1, 11), ('[["a", "b"], ["c", "d"', 1, 23),
    ):  # fmt: skip
        refusal = refused({"pairs.json": content})
        assert (refusal.key, refusal.values["line"]) == ("data.json_broken", line)
        assert abs(refusal.values["column"] - column) <= 2  # versions of Python differ in where they see a trailing comma


@given(values)
def test_any_document_is_read_or_refused(value):
    read_or_refused(named({"a.json": json.dumps(value)}))
