"""Every fact that a test brings about has its sentence in both languages."""

import math
import re
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


KEYS = {"sqrt": math.sqrt, "fourth_root": lambda x: x**0.25, "exp": math.exp, "erf": math.erf, "sin": math.sin, "cos": math.cos, "max": max}
OPERATIONS = {
    "product": lambda left, right: left * right, "gradient": lambda left, right: left * right,
    "exp": lambda left, right: math.exp(left - right), "square": lambda left, right: (left - right) ** 2,
}  # fmt: skip


def parts(derivation) -> list[float]:
    """Computes the parts of the terms, from left and right alone; of the rest of a long table, its printed part."""
    make = OPERATIONS.get(derivation.operation)
    return [make(float(term.left_value), float(term.right_value)) if term.left_value else float(term.part) for term in derivation.terms]


def calculate(text: str, derivation) -> float:
    """One line, with the columns of the table where it names them."""
    lefts = [float(term.left_value) for term in derivation.terms if term.left_value]
    columns = {"Σ left": sum(lefts), "max left": max(lefts, default=0.0), "Σ": sum(float(term.part) for term in derivation.terms)}
    for name, value in columns.items():
        text = text.replace(name, f"({value!r})")
    for sign, other in (("×", "*"), ("÷", "/"), ("^", "**"), ("√", "sqrt"), ("∜", "fourth_root")):
        text = text.replace(sign, other)
    assert re.fullmatch(r"[\d\s.,+*/()e-]*", re.sub("|".join(KEYS), "", text)), text
    return float(eval(text, {"__builtins__": {}}, KEYS))


def numbers(text: str) -> list[str]:
    """Every number printed in a line, without its sign."""
    return re.findall(r"\d+(?:\.\d+)?(?:e\d+)?", text)
