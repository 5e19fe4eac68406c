"""Plain English: docstrings and comments name the caller, the request, the run; names are nouns and verbs. What is left can only shrink."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFT = {"playground": 13, "tests": 309, "benchmarks": 0}  # in playground only what is sent or stored by this name
NAMES = {"found", "said", "told", "asked", "kept", "shown", "mine", "one", "others", "seen", "beside", "made", "given", "taken", "gone",
         "what"}  # fmt: skip
PEOPLE = re.compile(r"\b(whoever|somebody|nobody|anybody|someone|anyone)\b", re.IGNORECASE)
RELATIVE = re.compile(r"(what|who|whose|whoever|those|that|which) ", re.IGNORECASE)  # a clause without its noun

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


STORE = ast.Store()  # what a definition or an argument does by itself
DECLARED = {ast.FunctionDef: "name", ast.AsyncFunctionDef: "name", ast.arg: "arg", ast.Name: "id", ast.Attribute: "attr"}


def faults(source: str) -> Iterator[str]:
    """Yields every declared name, docstring and comment of a file that breaks the rule."""
    for node in ast.walk(ast.parse(source)):
        kind = type(node)
        if kind in DECLARED and isinstance(getattr(node, "ctx", STORE), ast.Store):
            name = getattr(node, DECLARED[kind])
            yield from NAMES.intersection([name.lstrip("_") if kind is ast.Attribute else name])
        if kind in DOCUMENTED:
            text = ast.get_docstring(node) or ""
            yield from [text] * bool(PEOPLE.search(text) or RELATIVE.match(text))
    for token in tokenize.generate_tokens(io.StringIO(source).readline) if PEOPLE.search(source) else ():  # tokens take longest
        if token.type == tokenize.COMMENT and PEOPLE.search(token.string):
            yield token.string


@pytest.mark.parametrize("folder", LEFT)
def test_names_and_docstrings_say_what_they_are(folder):
    local_tests = {*(ROOT / "playground").rglob("test_*.py"), *(ROOT / "playground").rglob("conftest.py")}  # tests beside what they test
    files = sorted({*(ROOT / folder).rglob("*.py")} - local_tests | (local_tests if folder == "tests" else set()))
    broken = [f"{file.relative_to(ROOT)}: {text}" for file in files for text in faults(file.read_text(encoding="utf-8"))]
    assert len(broken) <= LEFT[folder], "\n".join(broken)
    assert len(broken) == LEFT[folder], f"{folder}: only {len(broken)} are left, so LEFT can say so"
