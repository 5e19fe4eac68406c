"""`python -m tests.faults`: what was broken on purpose, what must happen then, the test that breaks it, and without what it was seen to
fail, as a table. `--red` takes that out once more, of a copy, and runs each test, or those whose names contain the words after it.

A test is in it by `@pytest.mark.fault("what is done", "what must happen")`, a script's by `// fault: what is done | what must happen`
above it; nothing stands here that no test says.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.faults.red import RED, seen

TESTS = Path(__file__).parents[1]
SCRIPTED = re.compile(r"^// fault: (.+) \| (.+)\ntest\(\"(.+?)\",", re.MULTILINE)
HEAD = ("fault", "what must happen", "test", "seen red without this")


def faults(folder: Path = TESTS) -> Iterator[tuple[str, str, str]]:
    """(what is done, what must happen, the test's address) of each, in order."""
    for file in sorted(folder.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "mark.fault" in text else ():
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "fault":
                    done, must_happen = map(ast.literal_eval, mark.args)
                    yield done, must_happen, f"{file.relative_to(folder.parent).as_posix()}::{node.name}"
    for file in sorted(folder.rglob("*.test.js")):
        for done, must_happen, name in SCRIPTED.findall(file.read_text(encoding="utf-8")):
            yield done, must_happen, f"{file.relative_to(folder.parent).as_posix()}::{name}"


def name_of(address: str) -> str:
    return address.partition("::")[2]


def table(folder: Path = TESTS) -> str:
    """In Markdown."""
    rows = [(*row, RED[name_of(row[2])].without if name_of(row[2]) in RED else "–") for row in faults(folder)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (HEAD, ("---",) * len(HEAD), *rows))


def main(asked: list[str]) -> int:
    """How many tests did not see what was taken out."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--red", nargs="*", metavar="WORD", help="runs the tests whose names contain one of these, or all")
    red = parser.parse_args(asked).red
    if red is None:
        print(table())
        return 0
    words = red or [""]
    tests = {name_of(address): address for _, _, address in faults() if any(word in name_of(address) for word in words)}
    others = 0
    for name, told in seen(tests):
        others += not told.startswith("red")
        print(f"{told}: {name}", flush=True)
    return others


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
