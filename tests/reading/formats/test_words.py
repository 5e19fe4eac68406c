"""What words and letters tell: pronunciations, the traces that other tools leave, and the language of a line."""

import random

from hypothesis import given
from hypothesis import strategies as st

from playground.reading.formats.escapes import found as traces_in
from playground.reading.formats.escapes import undo
from playground.reading.formats.language_id import line_language, line_script, main_language
from tests.reading.formats.made_words import word
from tests.reading.outcomes import read, refused, two


def entries(blanks: str) -> list[str]:
    dice = random.Random(1)
    words = sorted({word(dice).upper() for _ in range(60)})
    return [f"{one}{blanks}{' '.join(f'{letter}0' for letter in one)}" for one in words]


def test_a_word_and_its_sounds_are_a_pair():
    for blanks in (" ", "  "):
        lines = entries(blanks)
        first, rest = lines[0].split(None, 1)
        pairs = read("\n".join([";;; # a remark", *lines, f"{first}(2){blanks}{rest} B0 # place, irish"]))
        assert two(pairs)[:-1] == [tuple(line.split(None, 1)) for line in lines]
        assert pairs.dropped == {"header": (1,)}
        assert pairs.references[first] == (rest, f"{rest} B0")  # another pronunciation is another target of the same word
    dice = random.Random(1)
    prose = [" ".join(["The", *(word(dice) for _ in range(5))]) for _ in range(40)]  # its first words come again
    others = [" ".join(word(dice) for _ in range(6)) for _ in range(40)]  # and its words are no small set of symbols
    assert [refused("\n".join(lines)).key for lines in (prose, others)] == ["data.one_column"] * 2


LEFT = [
    ("moses", "I don &apos;t &quot; know &quot; &#91; x &#93; &#124; A &amp; B &lt; C &gt;", 'I don \'t " know " [ x ] | A & B < C >'),
    ("moses", "&amp;apos; &amp;amp;", "&apos; &amp;"),  # undone once
    ("moses", "a well @-@ known and @/@ or", "a well-known and/or"), ("moses", "state ##AT##-##AT## of", "state-of"),
    ("moses", "&bar; &bra; &ket;", "| [ ]"), ("bpe", "un@@ believ@@ able , ni@@ cht wahr", "unbelievable , nicht wahr"),
    ("bpe", "cut o@@", "cut o"),  # cut off in the middle of a word
    ("bpe", "机@@ 器 翻@@ 译", "机器 翻译"), ("pieces", "▁Hello ▁wor ld .", "Hello world."), ("pieces", "▁ 我 喜欢 ▁BLE U", "我喜欢 BLEU"),
    ("html", "<b>Hallo</b><br>Welt &amp; &eacute;", "Hallo Welt & é"),
]  # fmt: skip


def test_each_trace_is_found_and_undone():
    for kind, left, clean in LEFT:
        assert (traces_in([left])[kind], undo(left, [kind])) == (1, clean)
    assert undo("▁don &apos; t ▁&lt; x", ["moses", "pieces"]) == "don't <x"
    assert undo("do@@ n &apos;t", {"bpe", "moses"}) == "don 't"
    assert undo("as it is &amp;", []) == "as it is &amp;"
    for sentences, traces in (
        (["▁don &apos; t ▁&lt; x"], {"pieces": 1, "moses": 1}), (["a &quot; b &quot;", "c", "d &apos; e"], {"moses": 2}),
        (["▁a", "▁b", "c"], {"pieces": 2}), (["a &#124; b &#91; c &#93;"], {"moses": 1}),
        (["&#228; &#x41;", "&#1240;", "&#124; <b>x</b>"], {"moses": 1, "html": 3}),
        *((ordinary, {}) for ordinary in (
            [], ["", " "], ["AT&T", "a & b", "R&D; and more"], ["me@example.org", "@@ alone", "wait @@"], ["你好", "привет", "سلام"],
            ["1 < 2 > 0", "<s> </s>", "<unk>", "{{x}} <url>"], ["▁ is a sign", "one", "two", "three"],
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


def test_prose_is_in_its_language_and_what_is_not_clear_in_none():
    assert {language: main_language(lines) for language, lines in PROSE.items()} == {language: language for language in PROSE}
    for lines in (
        [], [""], ["", "  "], ["1 2 3", "4 5 6"], ["cat", "dog", "house"], ["x y z"] * 10, ["walk ( agent = Emma )"] * 3,
        [*PROSE["en"], *PROSE["ru"]], [*PROSE["en"][:3], *PROSE["zh"]], ["नमस्ते दुनिया", "यह एक किताब है"],
        ["Kiboko yuko mtoni.", "Habari gani?"],
    ):  # fmt: skip
        assert main_language(lines) == "", lines
    assert [line_language(line) for line in ("Where is the dog?", "Wo ist der Hund?", "xyz", "")] == ["en", "de", "", ""]
    lines = ("abc", "абв a", "汉字 a", "漢字かな", "3 + 4", "")
    assert [line_script(line)[0] for line in lines] == ["LATIN", "CYRILLIC", "CJK", "JAPANESE", "", ""]
