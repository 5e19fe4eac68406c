"""`python -m tests.faults`: what was broken on purpose, what must happen then, and the test that breaks it, as a table.

A test is in it by `@pytest.mark.fault("what is done", "what must happen")`; nothing stands here that no test says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]


def faults(folder: Path = TESTS) -> Iterator[tuple[str, str, str]]:
    """(what is done, what must happen, the test's address) of each, in order."""
    for file in sorted(folder.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "mark.fault" in text else ():
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "fault":
                    done, must_happen = map(ast.literal_eval, mark.args)
                    yield done, must_happen, f"{file.relative_to(folder.parent).as_posix()}::{node.name}"


def table(folder: Path = TESTS) -> str:
    """In Markdown."""
    return "\n".join(["| fault | what must happen | test |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in faults(folder))])


if __name__ == "__main__":
    print(table())
