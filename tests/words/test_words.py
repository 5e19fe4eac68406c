"""Every sentence exists in every language, with the same placeholders; all that the code asks for exist, and no others."""

import ast
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from playground import words
from playground.cli import main
from playground.config import KNOBS, PRESETS, Refusal, limits
from playground.words import ENGLISH, LANGUAGES, OFFERED, entries, glossary, known, list_terms, named, own_entries, preferred, printed, say

ROOT = Path(__file__).parents[2] / "playground"
HOLE = "\0"  # where a value goes
PRINTED = {
    "-0.35": "−0.35", "-1,024": "−1,024", "-5 %": "−5 %", "-1e30": "−1e30", "-1e-9": "−1e−9",
    "2.8e-17": "2.8\u00a0×\u00a010⁻¹⁷", "1e-100": "1\u00a0×\u00a010⁻¹⁰⁰", "-1e-07": "−1\u00a0×\u00a010⁻⁷", "4.5e+06": "4.5\u00a0×\u00a010⁶",
}  # fmt: skip
COUNTED = {
    "evaluation.unfinished": ({}, "count", "1 output was stopped", "2 outputs were stopped"),
    "page.verdict_wrong": ({"tokens": 5, "reference": "a"}, "wrong", "1 of 5 tokens differs from", "2 of 5 tokens differ from"),
    "compare.repeated": ({"seeds": "2"}, "count", "1 new run, seed 2", "2 new runs, seeds 2"),
}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_holds_the_same_keys_with_the_same_placeholders(language):
    english, own = ({key: placeholders(text) for key, text in own_entries(name).items()} for name in (ENGLISH, language))
    assert own == english
    for file in words.files(language):  # JSON keeps the last of two sentences under one key
        json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=unique)
    assert sum(len(texts) for file in words.files(language) for texts in words.areas(file).values()) == len(own)  # and so would two files


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def test_a_language_may_have_some_sentences_and_the_rest_is_english(monkeypatch, tmp_path, capsys):
    """A sentence with other placeholders, or of no key, is not shown, and each of them is listed, as is one whose English has changed."""
    (tmp_path / "xx").mkdir()
    own = {"train": "Nirt", "step": "Pets {", "stop": "{who}", "gone": "Eno", "noted": "{note}: {value}"}
    (tmp_path / "xx" / "page.json").write_text(json.dumps(own))
    monkeypatch.setattr(words, "_FOLDERS", [*words._FOLDERS, tmp_path])
    monkeypatch.setattr(words, "OFFERED", (*OFFERED, "xx"))
    monkeypatch.setitem(words._FOLDER_OF, "xx", tmp_path / "xx")
    assert [say("xx", f"page.{name}") for name in ("train", "step", "stop", "reset")] == ["Nirt", "One step", "Stop", "Reset"]
    assert not known("xx", "page.gone")
    findings = [finding for finding in words.review("xx") if finding[0] != "missing"]
    assert findings == [("wrong", "page.step"), ("wrong", "page.stop"), ("unknown", "page.gone")]
    assert len(words.review("xx")) == len(entries(ENGLISH)) - 4 + 3
    words.accept("xx")
    checked = tmp_path / "xx" / "english.txt"
    checked.write_text(checked.read_text().replace(f"page.train {words._digest('Train')}", "page.train 00000000"))
    assert ("stale", "page.train") in words.review("xx")
    assert main(["words", "es"]) == 0
    assert re.fullmatch(r"missing  \w+\..+\n(.*\n)+Español: 1\d % translated\n", capsys.readouterr().out)
    assert not [finding for finding in words.review("es") if finding[0] in ("wrong", "unknown")]
    assert [preferred("es", ""), preferred("en", "es")] == ["en", "es"], "only on request"


def test_chinese_is_chinese_and_every_knob_has_its_words():
    """Sentences of some length hold Chinese characters: nothing was left in English, but mathematics."""
    chinese_or_a_name = re.compile(r"[\u4e00-\u9fff]|^[\W\d_a-zA-Zαβ₁₂√×÷ᵀ]{0,40}$")
    unlike = [key for key, text in entries("zh").items() if not chinese_or_a_name.search(text)]
    assert not [key for key in unlike if not re.match(r"(map|tour)\.formula_", key) and not key.endswith(".shape")]
    choices = ("tokenizer", "positions", "norm", "activation", "share_embeddings", "batch_unit", "optimiser", "schedule")
    keys = {f"knobs.{name}.{part}" for name in KNOBS for part in ("label", "help")} | {f"knobs.preset.{name}" for name in PRESETS}
    keys |= {f"knobs.{name}.{choice}" for name in choices for choice in limits(name).choices}
    assert keys | {f"tasks.{task}.label" for task in limits("task").choices} <= entries(ENGLISH).keys()


@cache
def strings() -> tuple[set[str], set[str]]:
    """(keys that stand whole in a call of say or Refusal, every string), of Python and of the page's scripts, a HOLE for each value."""
    keys, texts = set(), set()
    for file in {*ROOT.rglob("*.py")} - {*ROOT.rglob("test_*.py")}:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            if name == "offer":  # a choice, whose options have words of their own
                texts |= {f"{each.value}_{HOLE}" for each in node.args if isinstance(each, ast.Constant)}
            elif name in ("say", "Refusal"):
                values = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                keys |= {value for value in values if re.fullmatch(r"[a-z]+\.[\w.]+", value)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                texts.add("".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values))
    for file in ROOT.rglob("*.js"):
        source = file.read_text(encoding="utf-8")
        keys |= {f"page.{key}" for key in re.findall(r"\bsay\(\"(\w+)\"", source)}
        texts |= {*re.findall(r'"([\w.]+)"', source)}
        texts |= {re.sub(r"\$\{[^}]*\}", HOLE, text) for text in re.findall(r"`((?:[\w.]|\$\{[^}]*\})+)`", source)}
    return keys, texts


def test_every_sentence_the_code_asks_for_exists_and_none_is_left_that_it_does_not_ask_for():
    keys, texts = strings()
    assert len(keys) > 100
    assert not [key for key in keys if not all(known(language, key) for language in LANGUAGES)]
    assert unused(entries(ENGLISH), texts) == []
    for texts, used in ((["page.gone", "gone", "page.go\0e", "\0one"], True), (["runs.gone", "page.\0", "\0e", "what is gone"], False)):
        assert all((unused(["page.gone"], {text}) == []) == used for text in texts)


def unused(keys: Iterable[str], texts: set[str]) -> list[str]:
    """The keys that none of these texts is, or can become. A name put together has three letters of its own, or it would fit any key."""
    alone = {f"{key.partition('.')[0]}.{HOLE}" for key in entries(ENGLISH)}
    patterns = [text for text in texts - alone if HOLE in text and len(re.sub(r"[^a-z_]", "", text)) >= 3]
    fits = re.compile("|".join(re.escape(text).replace(re.escape(HOLE), ".+") for text in patterns))
    names = {key: key.partition(".")[2] for key in keys}
    return [key for key, name in names.items() if not ({key, name} & texts or fits.fullmatch(key) or fits.fullmatch(name))]


def test_numbers_are_printed_as_in_books_and_quotations_stay_as_they_are():
    for number, written in PRINTED.items():
        assert printed(number) == written
    assert printed("0.0e+00") == "0"  # and no power of ten
    for text in ("brisk-otter", "-", "a-1", "1-2", "--5"):
        assert printed(text) == text
    text = say(ENGLISH, "figures.unclear_but", layer=1, head="-0.5", query_token="-5", key_token="-1", percent=-3, effective=2, tokens=3)
    assert all(part in text for part in ("“-5”", "“-1”", "−3", "−0.5"))
    assert say(ENGLISH, "lab_softmax.caption_jacobian", largest=-0.25, difference=2.8e-17).count("2.8\u00a0×\u00a010⁻¹⁷") == 1


def test_a_word_has_the_form_of_its_number_a_list_the_signs_of_its_language_and_a_browser_the_first_that_is_here():
    for key, (more, name, single, several) in COUNTED.items():
        for number, text in ((1, single), ("1", single), (2, several), ("1,002", several.replace("2", "1,002", 1))):
            assert text in say(ENGLISH, key, **more, **{name: number})
    assert [words.listed(language, ["a", "b", 3]) for language in ("en", "zh")] == ["a, b, 3", "a、b、3"]
    assert [named(language, "a", "b") for language in ("en", "zh")] == ["a: b", "a：b"]
    assert [words.paragraph(["a.", "", "b。", "c"])] == ["a. b。c"]
    refusal = Refusal("runs.not_live", name="d_model", names=("dropout", "clip"))
    assert "dropout, clip" in str(refusal)
    assert "dropout、clip" in refusal.say("zh")
    accepted = {
        "zh-CN,zh;q=0.9,en;q=0.8": "zh", "ZH-Hant-TW": "zh", "en-GB": "en", "": "en", "fr-CH, fr;q=0.9": "en",
        "fr-CH, zh;q=0.8, en;q=0.7": "zh", "fr, en, zh": "en", "zhx": "en", ";;,,*": "en",
    }  # fmt: skip
    assert ({header: preferred(header) for header in accepted}, preferred("en", "zh"), preferred("zh", "no")) == (accepted, "zh", "zh")


def test_the_glossary_has_all_its_words_one_term_for_each_form_and_the_same_mathematics_in_both_languages():
    wanted = {f"glossary.{name}.{part}" for name in list_terms() for part in ("name", "forms", "text")} | {"glossary.not"}
    for language in LANGUAGES:
        assert wanted == {key for key in entries(language) if key.startswith("glossary.") and not key.endswith(".shape")}
        forms = [form.lower() for term in glossary(language)["terms"] for form in term["forms"]]
        forms += [phrase.lower() for phrase in glossary(language)["not"]]
        assert all(form == form.strip() and form for form in forms)
        assert len(forms) == len(set(forms)), {form for form in forms if forms.count(form) > 1}
    english, chinese = ({term["id"]: term["shape"] for term in glossary(language)["terms"]} for language in LANGUAGES)
    assert english == chinese
    forms, also = ({term["id"]: term[part] for term in glossary(language)["terms"]} for part, language in (("forms", "zh"), ("also", "en")))
    assert forms == also, "a term is found by its forms in the other language"
