"""Every fact that a test brings about has its sentence in both languages."""

from collections.abc import Iterator

import pytest

from playground.inspection import Fact
from playground.words import LANGUAGES, known, say

CALLERS = {"layer": 1, "head": 1, "name": "x", "heads": "2", "query_token": "x", "key_token": "y"}  # what the page adds to some facts


@pytest.fixture(autouse=True)
def _facts_have_sentences(monkeypatch) -> Iterator[None]:
    facts, new = {}, Fact.__new__

    def remember(cls, key, values):
        facts[key] = values
        return new(cls, key, values)

    monkeypatch.setattr(Fact, "__new__", remember)
    yield
    for key, values in facts.items():
        for language in LANGUAGES:
            assert known(language, key), (language, key)
            sentence = say(language, key, **CALLERS | values)
            assert "{" not in sentence, (language, key)
