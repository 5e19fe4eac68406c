"""Every sentence exists in every language, with the same placeholders, and every sentence the code asks for exists."""

import ast
import json
import re
from pathlib import Path
from string import Formatter

import pytest

from playground.config import KNOBS, PRESETS, Refusal, limits
from playground.words import ENGLISH, LANGUAGES, entries, known, listed, named, printed, say

ROOT = Path(__file__).parents[2] / "playground"


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def differences(language: str) -> list[str]:
    """In what the sentences of a language are others than the English ones: keys that are missing or too many, and placeholders."""
    english, said = entries(ENGLISH), entries(language)
    found = [f"{key} is missing" for key in english if key not in said] + [f"{key} is not in English" for key in said if key not in english]
    for key in english.keys() & said.keys():
        ours, theirs = (", ".join(sorted(placeholders(text))) for text in (said[key], english[key]))
        found += [f"{key} fills in {ours or 'nothing'}, not {theirs or 'nothing'}"] if ours != theirs else []
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_holds_the_same_keys_with_the_same_placeholders(language):
    assert differences(language) == []


@pytest.mark.parametrize("file", sorted((ROOT / "words").glob("*/*.json")), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_no_sentence_takes_the_place_of_another(file):
    """JSON keeps the last of two sentences under one key, and says nothing."""
    names = [name for name, _ in json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=list)]
    assert sorted(names) == sorted(set(names))


def test_chinese_is_chinese():
    """Sentences of some length hold Chinese characters: nothing was left in English."""
    chinese_or_a_name = re.compile(r"[\u4e00-\u9fff]|^[\W\d_a-zA-Zαβ₁₂√×÷ᵀ]{0,40}$")
    others = {key: text for key, text in entries("zh").items() if not chinese_or_a_name.search(text)}
    assert not [key for key in others if not re.match(r"(map|tour)\.formula_", key) and not key.endswith(".shape")]  # that is mathematics


def test_every_knob_has_its_words():
    for name in KNOBS:
        assert known(ENGLISH, f"knobs.{name}.label"), name
        assert known(ENGLISH, f"knobs.{name}.help"), name
    for name in ("tokenizer", "positions", "norm", "activation", "share_embeddings", "batch_unit", "optimiser", "schedule"):
        for choice in limits(name).choices:
            assert known(ENGLISH, f"knobs.{name}.{choice}"), choice
    for task in limits("task").choices:
        assert known(ENGLISH, f"tasks.{task}.label"), task
    for name in PRESETS:
        assert known(ENGLISH, f"knobs.preset.{name}"), name


def asked_keys():
    """Keys that stand whole in the code: say("page.x"), Refusal("runs.y"), and say("x") in the page's script."""
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("say", "Refusal"):
                for argument in node.args:
                    if (
                        isinstance(argument, ast.Constant)
                        and isinstance(argument.value, str)
                        and re.fullmatch(r"[a-z]+\.[\w.]+", argument.value)
                    ):
                        yield argument.value, file.name
    for file in (ROOT / "ui" / "static").glob("*.js"):
        for key in re.findall(r"\bsay\(\"(\w+)\"", file.read_text(encoding="utf-8")):
            yield f"page.{key}", file.name


def test_every_sentence_the_code_asks_for_exists():
    asked = list(asked_keys())
    assert len(asked) > 100
    assert not [f"{key} in {file}" for key, file in asked if not all(known(language, key) for language in LANGUAGES)]


PRINTED = {
    "-0.35": "−0.35", "-1,024": "−1,024", "-5 %": "−5 %", "-1e30": "−1e30", "-1e-9": "−1e−9",
    "2.8e-17": "2.8\u00a0×\u00a010⁻¹⁷", "1e-100": "1\u00a0×\u00a010⁻¹⁰⁰", "-1e-07": "−1\u00a0×\u00a010⁻⁷", "4.5e+06": "4.5\u00a0×\u00a010⁶",
}  # fmt: skip


def test_numbers_are_printed_as_in_books_and_quotations_stay_as_they_are():
    """What Python writes has an exponent of two digits; what somebody typed into a program, such as -1e-9, stays as it is."""
    for number, written in PRINTED.items():
        assert printed(number) == written
    assert printed("0.0e+00") == "0"  # and no power of ten
    for text in ("brisk-otter", "-", "a-1", "1-2", "--5"):
        assert printed(text) == text
    said = say(ENGLISH, "figures.sure", token="-5", second="-1", percent=-3, other="-0.5")
    assert "“-5”" in said
    assert "−3" in said
    assert "“-1”" in said
    assert "−0.5" in said
    assert say(ENGLISH, "lab_softmax.caption_jacobian", largest=-0.25, difference=2.8e-17).count("2.8\u00a0×\u00a010⁻¹⁷") == 1


COUNTED = {
    "page.outlook": ({"time": "3 s"}, "steps", "Next run: about 3 s for 1 step", "Next run: about 3 s for 2 steps"),
    "outcome.unmeasured": ({"time": "3 s"}, "step", "Ended after 1 step (3 s)", "Ended after 2 steps (3 s)"),
    "evaluation.unfinished": ({}, "count", "1 output was stopped", "2 outputs were stopped"),
    "page.verdict_wrong": ({"tokens": 5, "reference": "a"}, "wrong", "1 of 5 tokens differs from", "2 of 5 tokens differ from"),
    "compare.repeated": ({"seeds": "2"}, "count", "1 new run, seed 2", "2 new runs, seeds 2"),
}


@pytest.mark.parametrize("key", COUNTED)
def test_a_word_has_the_form_that_its_number_asks_for(key):
    others, name, one, two = COUNTED[key]
    for number, said in ((1, one), ("1", one), (2, two), ("1,002", two.replace("2", "1,002", 1))):
        assert said in say(ENGLISH, key, **others, **{name: number})


def test_a_counted_word_stands_with_its_number():
    """Two forms, and the sentence says the number that decides between them."""
    for language in LANGUAGES:
        for key, text in entries(language).items():
            pieces = [(name, spec) for _, name, spec, _ in Formatter().parse(text) if name]
            for name, spec in pieces:
                assert "|" not in spec or (spec.count("|") == 1 and (name, "") in pieces), (language, key)


def test_no_hyphen_stands_for_a_minus():
    for language in LANGUAGES:
        for key, text in entries(language).items():
            formula = key.endswith(".shape") or "http" in text
            assert formula or not re.search(r"(?<![\w<…=(-])-\d|\de-\d", text), (language, key)


def test_lists_and_names_are_punctuated_as_their_language_does_it():
    assert [listed(language, ["a", "b", 3]) for language in ("en", "zh")] == ["a, b, 3", "a、b、3"]
    assert [named(language, "a", "b") for language in ("en", "zh")] == ["a: b", "a：b"]
    refusal = Refusal("runs.not_live", name="d_model", names=("dropout", "clip"))
    assert "dropout, clip" in str(refusal)
    assert "dropout、clip" in refusal.say("zh")
