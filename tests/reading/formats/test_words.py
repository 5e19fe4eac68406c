"""Words and letters: traces of other tools, the language of a line; and sentences in canonical form."""

import random
import re
import unicodedata

from hypothesis import example, given, strategies as st

from playground.reading import text
from playground.reading.formats.languages import detect_language, detect_line_language, find_line_script
from playground.reading.text import MAX_MARKS, count_kinds as traces_in, is_symbol, normalise, undo

LEFT = [
    ("moses", "I don &apos;t &quot; know &quot; &#91; x &#93; &#124; A &amp; B &lt; C &gt;", 'I don \'t " know " [ x ] | A & B < C >'),
    ("moses", "&amp;apos; &amp;amp;", "&apos; &amp;"),  # undone once
    ("moses", "a well @-@ known and @/@ or", "a well-known and/or"), ("moses", "state ##AT##-##AT## of", "state-of"),
    ("moses", "&bar; &bra; &ket;", "| [ ]"), ("bpe", "un@@ believ@@ able , ni@@ cht wahr", "unbelievable , nicht wahr"),
    ("bpe", "cut o@@", "cut o"),  # cut off in the middle of a word
    ("bpe", "机@@ 器 翻@@ 译", "机器 翻译"), ("pieces", "▁Hello ▁wor ld .", "Hello world."), ("pieces", "▁ 我 喜欢 ▁BLE U", "我喜欢 BLEU"),
    ("html", "<b>Hallo</b><br>Welt &amp; &eacute;", "Hallo Welt & é"),
    ("cloze", "{{c1::Read}} a {{c2::book::a thing}}.", "Read a book."),
    ("furigana", "私は 食べ物[たべもの]を 買[か]う。", "私は食べ物を買う。"),
]  # fmt: skip
PROSE = {  # the beginning of the Universal Declaration of Human Rights
    "en": ["All human beings are born free and equal in dignity and rights.", "They are endowed with reason and conscience."],
    "de": ["Alle Menschen sind frei und gleich an Würde und Rechten geboren.", "Sie sind mit Vernunft und Gewissen begabt."],
    "fr": ["Tous les êtres humains naissent libres et égaux en dignité et en droits.", "Ils sont doués de raison et de conscience."],
    "es": ["Todos los seres humanos nacen libres e iguales en dignidad y derechos.", "Están dotados de razón y conciencia."],
    "ru": ["Все люди рождаются свободными и равными в своём достоинстве и правах.", "Они наделены разумом и совестью."],
    "uk": ["Всі люди народжуються вільними і рівними у своїй гідності та правах.", "Вони наділені розумом і совістю."],
    "ar": ["يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.", "لكل فرد الحق في الحياة.", "هذا هو البيت الذي كان هنا.", "ما هذا؟"],
    "fa": ["تمام افراد بشر آزاد به دنیا می‌آیند.", "هر کس حق زندگی دارد که از آن اوست.", "این کتاب را به من بده.", "او در خانه است."],
    "zh": ["人人生而自由，在尊严和权利上一律平等。", "他们赋有理性和良心。", "人人有权享有生命。"],
    "ja": ["すべての人間は、生れながらにして自由である。", "人間は理性と良心とを授けられている。", "何人も奴隷にされることはない。"],
    "ko": ["모든 인간은 태어날 때부터 자유롭다.", "인간은 이성과 양심을 부여받았다.", "아무도 노예 상태에 놓이지 않는다."],
    "el": ["Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.", "Είναι προικισμένοι με λογική.", "Κανείς δεν είναι δούλος."],
}
any_text = st.text(st.characters(codec=None), max_size=30)  # lone surrogates and control characters too
# what works on its neighbours, and neighbours of every kind
ODD = (
    *"\u200b\u200c\u200d\u00ad\u061c\u034f\ufe00\ufe0e\ufe0f\u180b\u180e\u2060\ufeff\u2066\u202e\u2028\u2029\u0085\u00a0\u202f\u2800\u3164",
    *"\u0301\u0316\u0338\u0344\u093c\u20e3\u0653\u3099\u1160\u115f\U000e0100\U000e0067\U000e007f\U0001f3fb\U0001f3f4\U0001f1e9\ud83d\ufdd0",
    *"ae1#= \t\n«ש", *"مكतिকᠠ葛か各가ᄀ", *"←☺❤👩🔬♂〈\u2329\u2adc",
)  # fmt: skip
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
odd_text = st.lists(st.sampled_from(ODD), max_size=12).map("".join)
CLEAN = [
    ("  two   words\t", "two words"), ("e\u0301", "é"), ("no\u00a0break\u3000space", "no break space"),
    ("«\u202fnon\u202f»\u2007!", "« non » !"),
    ("soft\u00adhyphen", "softhyphen"), ("non\u2011breaking", "non\u2011breaking"),  # which can be seen
    ("\ufeffzero\u200bwidth\u2060", "zerowidth"), ("bell\x07 nul\0", "bell nul"), ("half\ud83d", "half"),
    ("line\u2028separator\x0bhere\u2029and\x85there\x1cnow", "line separator here and there now"),
    ("no\ufdd0 character\uffff", "no character"), ("\u061cالعربية\u061c", "العربية"),  # the Arabic letter mark
    ("\u202eright to left\u202c \u2066isolated\u2069\u200e\u200f", "right to left isolated"),
    *((same, same) for same in (
        "می\u200cخواهم",  # Persian is spelt with joiners
        "क्\u200dष और क्\u200cष",  # Hindi: two ways to write one cluster
        "ന്\u200d", "ශ්\u200dරී", "ᠬᠠᠨ\u180b ᠠᠮᠠ\u180eᠠ",  # Malayalam, at the end of a word, Sinhala, Mongolian
        "👩\u200d🔬 👩🏽\u200d🚒 🏳\ufe0f\u200d🌈", "👨\u200d👩\u200d👧\u200d👦", "❤\ufe0f and ❤\ufe0e", "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "🇩🇪🇨🇳", SCOTLAND,
        "葛\U000e0100城 字\ufe00",  # variants of Chinese characters
        "NA null 007 <s>", "=1+1 {{x}} $$y$$",
    )),
    ("می\u200c خواهم\u200c", "می خواهم"), ("می\u200c\u200cخواهم", "میخواهم"),  # which do nothing at the end of a word
    ("hel\u200dlo wor\u200cld", "hello world"), ("a\u180eb 1\ufe0f x\ufe0f", "ab 1 x"), ("👩\u200d", "👩"),
    ("plain\U000e0068\U000e0069\U000e007f 🏴\U000e0067", "plain 🏴"),  # tags of no flag are hidden text
    *((hidden, "") for hidden in ("\u200d\u200c \ufe0f", "\u2800\u3164 \uffa0", "\u115f\u1160", "")),
]  # fmt: skip


def test_each_trace_is_found_and_undone():
    for kind, left, clean in LEFT:
        assert (traces_in([left])[kind], undo(left, [kind])) == (1, clean)
    assert undo("▁don &apos; t ▁&lt; x", ["moses", "pieces"]) == "don't <x"
    assert (undo("do@@ n &apos;t", {"bpe", "moses"}), undo("as it is &amp;", [])) == ("don 't", "as it is &amp;")
    for sentences, traces in (
        (["▁don &apos; t ▁&lt; x"], {"pieces": 1, "moses": 1}), (["a &quot; b &quot;", "c", "d &apos; e"], {"moses": 2}),
        (["▁a", "▁b", "c"], {"pieces": 2}), (["a &#124; b &#91; c &#93;"], {"moses": 1}),
        (["&#228; &#x41;", "&#1240;", "&#124; <b>x</b>"], {"moses": 1, "html": 3}),
        *((ordinary, {}) for ordinary in (
            [], ["", " "], ["AT&T", "a & b", "R&D; and more"], ["me@example.org", "@@ alone", "wait @@"], ["你好", "привет", "سلام"],
            ["1 < 2 > 0", "<s> </s>", "<unk>", "{{x}} <url>", "a[ん] 漢[b]"], ["▁ is a sign", "one", "two", "three"],
        )),
    ):  # fmt: skip
        assert traces_in(sentences) == traces  # counted by sentence


@given(st.lists(st.text(st.sampled_from("abcé中"), min_size=1, max_size=6), min_size=1, max_size=6), st.randoms())
def test_what_a_tool_cuts_is_put_together_again(words, random):
    joints, pieces = [], []
    for whole in words:
        place = random.randint(1, len(whole))
        parts = [part for part in (whole[:place], whole[place:]) if part]
        joints.append("@@ ".join(parts))
        pieces.append("▁" + " ".join(parts))
    assert undo(" ".join(joints), ["bpe"]) == undo(" ".join(pieces), ["pieces"]) == " ".join(words)


def test_prose_is_in_its_language_and_what_is_not_clear_in_none():
    assert {language: detect_language(lines) for language, lines in PROSE.items()} == {language: language for language in PROSE}
    for lines in (
        [], [""], ["", "  "], ["1 2 3", "4 5 6"], ["cat", "dog", "house"], ["x y z"] * 10, ["walk ( agent = Emma )"] * 3,
        [*PROSE["en"], *PROSE["ru"]], [*PROSE["en"][:3], *PROSE["zh"]], ["नमस्ते दुनिया", "यह एक किताब है"],
        ["Kiboko yuko mtoni.", "Habari gani?"],
    ):  # fmt: skip
        assert detect_language(lines) == "", lines
    assert [detect_line_language(line) for line in ("Where is the dog?", "Wo ist der Hund?", "xyz", "")] == ["en", "de", "", ""]
    lines = ("abc", "абв a", "汉字 a", "漢字かな", "3 + 4", "")
    assert [find_line_script(line)[0] for line in lines] == ["LATIN", "CYRILLIC", "CJK", "JAPANESE", "", ""]


def test_normalise_by_hand():
    for raw, clean in CLEAN:
        assert normalise(raw) == clean, ascii(raw)
    assert normalise("a" + "\u0316" * 99 + "b") == "a" + "\u0316" * MAX_MARKS + "b", "no more than a character can carry"
    assert not any(map(is_symbol, ("", "two words", " a", "\0", "\ud800", "\u200b", None, 3, ["a"])))


@given(any_text | odd_text)
@example("e\u200d\u0301")
@example("क\u200d\u200dक")
@example("a" + "\u0344" * 40)
@example("ṩ" + "\u0301" * 30)
@example("=\u200d\u0338\ufe00")
@example("👩\ufe0f\ufe0f\u200d\u200c👩")
def test_normalised_text_is_clean_and_stays_as_it_is(raw):
    text = normalise(raw)
    assert normalise(text) == text
    assert unicodedata.is_normalized("NFC", text)
    assert text == " ".join(text.split())
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
    text.encode("utf-8")
    assert all(map(is_symbol, text))
    assert all(map(is_symbol, text.split()))
    letters = "".join(character for character in raw if character.isalnum() and character not in "\u115f\u1160\u3164\uffa0")
    assert normalise(letters) == unicodedata.normalize("NFC", letters)


@given(odd_text, odd_text)
def test_what_is_hidden_makes_no_difference(left, right):
    for hidden in "\u200b\u00ad\u202e\u2060\ufeff\x07":
        assert normalise(f"{left}{hidden}{right}") == normalise(left + right)


def test_the_quick_way_changes_nothing(monkeypatch):
    settled = [character for character in map(chr, range(0x110000)) if text._STABLE.fullmatch(character)]
    assert len(settled) > 30_000
    lines = ["".join(random.Random(seed).choices(settled, k=50)) for seed in range(2000)]
    quick = [normalise(line) for line in (*settled, *lines)]
    monkeypatch.setattr(text, "_STABLE", re.compile("(?!)"))  # matches nothing: all go the long way
    assert [normalise(line) for line in (*settled, *lines)] == quick
