"""Truths about the names of columns: what one word or several say, in many languages."""


from playground.reading.formats.column_names import SIDES, common, meaning, plain
from playground.reading.formats.column_words import ASIDE, BESIDE, VAGUE
from playground.reading.formats.languages import coded, is_language, named
from tests.thoroughness import every_case


@every_case(
    ("name", "kind", "what"),
    [
        ("English", "language", "en"), ("ENGLISCH", "language", "en"), ("inglés", "language", "en"), ("ingles", "language", "en"),
        ("英语", "language", "en"), ("İngilizce", "language", "en"), ("हिन्दी", "language", "hi"), ("en", "language", "en"),
        ("pt-BR", "language", "pt-br"), ("English sentence", "language", "en"), ("text_de", "language", "de"), ("deText", "language", "de"),
        ("Deutscher Satz", "language", "de"), ("English (US)", "language", "en us"), ("Simplified Chinese", "language", "zh simplified"),
        ("英文翻译", "language", "en"), ("Mot en français", "language", "fr"), ("Word (English)", "language", "en"),
        ("translation.de", "language", "de"), ("text_id", "language", "id"), ("no", "language", "no"),
        ("source", "source", ""), ("sourceText", "source", ""), ("Source language", "source", ""), ("Question?", "source", ""),
        ("target_de", "target", ""), ("Translation (German)", "target", "german"),
        ("Übersetzung", "target", ""), ("ubersetzung", "target", ""),
       
        ("translation", "target", ""),
        ("text", "unit", ""), ("the word", "unit", ""), ("Sentence A", "unit", "a"), ("text_2", "unit", "2"),
        ("Language 1", "unit", "1"), ("doc_id", "aside", ""), ("No.", "aside", ""), ("Nr.", "aside", ""), ("Lfd. Nr.", "aside", ""),
        ("is_correct", "aside", ""), ("Audio file", "aside", ""), ("Pinyin", "beside", ""), ("Part of speech", "beside", ""),
        ("formal", "vague", "formal"), ("x", "vague", "x"),
    ],
)  # fmt: skip
def test_what_a_name_means(name, kind, what):
    assert meaning(name)[:2] == (kind, what)


@every_case(
    "name",
    ["", "?", "Hello", "ein Wort", "English and more", "- English", "• text", "Mai", "May", "English / German", "to be", "a" * 41, "東京"],
)
def test_what_means_nothing(name):
    assert meaning(name) is None


def test_every_language_has_one_name_at_least_and_every_word_one_place():
    assert named("Deutsch") == named("německy") == named("allemande") == "de"
    assert (coded("zh_Hans_CN"), coded("xx"), coded("English")) == ("zh", "", "")
    assert is_language("Klingon")
    assert not SIDES & ASIDE
    assert not SIDES & BESIDE
    assert not ASIDE & BESIDE
    assert all(plain(word) == word for word in SIDES | ASIDE | BESIDE | VAGUE if word not in ("s/n",))


def test_names_that_are_common():
    assert common(["en", "de", "foo"]) == common(["src", "tgt"]) == common(["text", "de"]) == 2
    assert common(["word", "sentence"]) == common(["a"]) == 0  # a list of words, and no columns
