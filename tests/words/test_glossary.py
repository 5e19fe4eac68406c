"""The glossary has the same terms in both languages, and the page's sentences use them."""

import re

import pytest

from playground.words import LANGUAGES, entries
from playground.words.glossary import glossary, names

UNREAD = re.compile(r"^glossary\.(not|\w+\.(forms|shape))$|^language\.")  # forms are looked for in sentences; nobody reads them


def sentences(language: str) -> dict[str, str]:
    """What a person reads, without the {placeholders}."""
    return {key: re.sub(r"\{[^}]*\}", "…", text) for key, text in entries(language).items() if not UNREAD.search(key)}


def test_every_term_has_all_its_words_and_the_same_mathematics_in_both_languages():
    assert len(set(names())) == len(names()) >= 40
    wanted = {f"glossary.{name}.{part}" for name in names() for part in ("name", "forms", "text")} | {"glossary.not"}
    for language in LANGUAGES:
        keys = {key for key in entries(language) if key.startswith("glossary.")}
        assert wanted == {key for key in keys if not key.endswith(".shape")}
        assert {key.split(".")[1] for key in keys if key.endswith(".shape")} < set(names())
    shapes = [{term["id"]: term["shape"] for term in glossary(language)["terms"]} for language in LANGUAGES]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_is_explained_briefly_and_not_by_itself_and_no_form_stands_for_two(language):
    end, most = (r"。", 90) if language == "zh" else (r"\.(?= |$)", 230)
    terms = glossary(language)["terms"]
    forms = [form.lower() for term in terms for form in term["forms"]] + [phrase.lower() for phrase in glossary(language)["not"]]
    assert all(form == form.strip() and form for form in forms)
    assert len(forms) == len(set(forms)), {form for form in forms if forms.count(form) > 1}
    for term in terms:
        assert len(re.findall(end, term["text"])) in (1, 2), term["id"]
        assert re.search(f"{end}$", term["text"]), term["id"]
        assert len(term["text"]) <= most, term["id"]
        assert not term["text"].lower().startswith(tuple(form.lower() for form in term["forms"] if len(form) > 2)), term["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_is_used(language):
    """Matched as static/glossary.js does it."""
    texts = "\n".join(text for key, text in sentences(language).items() if not key.startswith("glossary."))
    unused = []
    for term in glossary(language)["terms"]:
        patterns = [(r"(?<![\w-])" if form[0].isascii() and form[0].isalnum() else "") + re.escape(form) for form in term["forms"]]
        if not re.search("|".join(patterns), texts, re.IGNORECASE | re.ASCII):
            unused.append(term["id"])
    assert unused == []
