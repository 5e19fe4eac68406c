"""`python -m tests.faults`: what was broken on purpose, what must happen then, the test that breaks it, and without what it was seen to
fail, as a table. `--red` takes that out once more, of a copy, and runs each test, or those whose names contain the words after it.

A test is in it by `@pytest.mark.fault("what is done", "what must happen")`, a script's by `// fault: what is done | what must happen`
above it. What each was seen to fail without stands in red.json: a piece of a file that is there once, and what comes in its place.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.mutants.__main__ import Copies

TESTS = Path(__file__).parents[1]
SCRIPTED = re.compile(r"^// fault: (.+) \| (.+)\ntest\(\"(.+?)\",", re.MULTILINE)
HEAD = ("fault", "what must happen", "test", "seen red without this")
SECONDS = 60.0  # of a test by itself, see Copies


class Break(NamedTuple):
    """`without` says what is gone once `old`, which stands in the file once, is `new`."""

    without: str
    file: str
    old: str
    new: str

    def apply(self, source: str) -> str:
        if source.count(self.old) != 1:
            raise ValueError(f"{self.file} has it {source.count(self.old)} times: {self.old}")
        return source.replace(self.old, self.new)


def breaks() -> dict[str, Break]:
    return {name: Break(**row) for name, row in json.loads(Path(__file__).with_name("red.json").read_text(encoding="utf-8")).items()}


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


def outcome(copies: Copies, removal: Break, address: str) -> str:
    """ "killed" or "hung" when the test has seen what was taken out, and by what; else "survived"."""
    file, _, name = address.partition("::")
    if file.endswith(".js"):
        with copies.changed(removal) as folder:
            ended = subprocess.run(["node", "--test", f"--test-name-pattern={name}", file], cwd=folder, capture_output=True, check=False)
        return "killed" if ended.returncode else "survived"
    result = copies.run(removal, [address], SECONDS, show=False)
    return f"{result.outcome} ({result.detail})"


def main(words: list[str]) -> int:
    """How many tests did not see what was taken out."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--red", nargs="*", metavar="WORD", help="runs the tests whose names contain one of these, or all")
    red, known, blind = parser.parse_args(words).red, breaks(), 0
    if red is None:
        rows = [(*row, known[row[2].partition("::")[2]].without) for row in faults()]
        print("\n".join(f"| {' | '.join(row)} |" for row in (HEAD, ("---",) * len(HEAD), *rows)))
        return 0
    copies = Copies(1)
    for *_, address in faults():
        name = address.partition("::")[2]
        if any(word in name for word in red or [""]):
            result = outcome(copies, known[name], address)
            blind += result.startswith("survived")
            print(f"{result}: {name}", flush=True)
    return blind


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
