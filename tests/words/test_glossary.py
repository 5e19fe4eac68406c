"""The glossary: the same terms in both languages, each told in two sentences, and no word that stands for two of them."""

import re

import pytest

from playground.words import LANGUAGES, entries
from playground.words.glossary import glossary, names

LEAST = 40  # terms


def test_there_are_enough_terms():
    assert len(set(names())) == len(names()) >= LEAST


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_has_all_its_words(language):
    """And nothing else stands in the file."""
    keys = {key for key in entries(language) if key.startswith("glossary.")}
    wanted = {f"glossary.{name}.{part}" for name in names() for part in ("name", "forms", "text")}
    assert wanted | {"glossary.not"} == {key for key in keys if not key.endswith(".shape")}
    assert {key.split(".")[1] for key in keys if key.endswith(".shape")} < set(names())


def test_mathematics_is_the_same_in_both_languages():
    shapes = [{term["id"]: term["shape"] for term in glossary(language)["terms"]} for language in LANGUAGES]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_form_is_that_of_another_term(language):
    said = glossary(language)
    forms = [form.lower() for term in said["terms"] for form in term["forms"]] + [phrase.lower() for phrase in said["not"]]
    assert all(form == form.strip() and form for form in forms)
    assert len(forms) == len(set(forms)), {form for form in forms if forms.count(form) > 1}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_is_told_in_one_or_two_sentences(language):
    """Short enough for a tooltip on a telephone."""
    end, most = (r"。", 90) if language == "zh" else (r"\.(?= |$)", 230)
    for term in glossary(language)["terms"]:
        assert len(re.findall(end, term["text"])) in (1, 2), term["id"]
        assert re.search(f"{end}$", term["text"]), term["id"]
        assert len(term["text"]) <= most, term["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_is_not_explained_by_itself(language):
    """A first sentence that begins with the term says nothing, unless it goes on about it as attention's does."""
    for term in glossary(language)["terms"]:
        assert not term["text"].lower().startswith(tuple(form.lower() for form in term["forms"] if len(form) > 2)), term["id"]
