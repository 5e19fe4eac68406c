"""The line that is always there: what it says of a sentence that the model can't read, and how to get one that it can."""

import pytest


def told(site, text: str, run: str = "reverse", **more: str) -> dict | None:
    return site.panel("sentence", run=run, text=text, **more)["unknown"]


@pytest.mark.parametrize(
    ("run", "text", "named", "use"),
    [
        ("reverse", "Hello world", ("H and ␣ are unknown", "a to z"), "helloworld"),
        ("reverse", "helloX", ("X is unknown",), "hellox"),
        ("numbers_de", "3a", ("a is unknown", "0 to 9"), "3"),
        ("german_english", "Die Frau liebt den Konig", ("Die and Konig", "111 words"), "die Frau liebt den König"),
    ],
)
def test_unknown_tokens_are_named_and_a_readable_sentence_offered(site, run, text, named, use):
    found = told(site, text, run)
    assert found["use"] == use
    assert use in found["label"]
    for words in named:
        assert words in found["told"]
    assert told(site, use, run) is None
    assert told(site, text, run, lang="zh")["told"] != found["told"]


def test_many_unknown_characters_are_counted(site):
    assert "A, B, C, D and 22 more are unknown" in told(site, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")["told"]


def test_nothing_is_said_of_a_known_sentence_and_nothing_offered_that_is_empty(site):
    assert told(site, "hello") is None
    assert told(site, "你好")["use"] == ""


def test_known_words_are_offered_for_each_unknown_one(site):
    found = told(site, "die frau liebt den Konig", "german_english")
    offered = {one["word"]: one["text"] for one in found["words"]}
    assert offered["Frau"] == "die Frau liebt den Konig"
    assert offered["König"] == "die frau liebt den König"
    assert "111" in found["all"]


def test_letters_have_no_list_of_words(site):
    found = told(site, "Hello")
    assert (found["words"], found["all"]) == ([], "")
