"""The page's scripts by their own tools: unit tests in Node, ESLint, and TypeScript's checker with the types of the blocks.

Node alone runs the unit tests, `npm ci` brings the other two; what is not there is skipped, and says so. A new test of a script that
computes is a table in functions.test.js; one that draws or listens has a `<script>.test.js`, see page.js.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = ROOT / "node_modules" / ".bin"
UNITS = sorted(HERE.glob("*.test.js"))
STATIC = Path("playground") / "ui" / "static"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
needs_tools = pytest.mark.skipif(
    shutil.which("node") is None or not (TOOLS / "tsc").exists(), reason="the scripts' tools are not installed: run npm ci"
)


def said(*command: str | Path, at: Path = ROOT) -> tuple[int, str]:
    """(exit code, what was written) of a command."""
    done = subprocess.run([str(part) for part in command], cwd=at, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


@needs_node
def test_units():
    eslint = (TOOLS / "eslint").exists()
    code, text = said("node", "--test", *(file for file in UNITS if eslint or "eslint" not in file.read_text(encoding="utf-8")))
    assert code == 0, text


@needs_tools
@pytest.mark.parametrize("tool", ["eslint .", "tsc"])
def test_the_linter_and_the_type_checker_find_nothing(tool):
    program, *words = tool.split()
    code, text = said(TOOLS / program, *words)
    assert code == 0, text


@needs_tools
def test_a_kind_that_is_not_drawn_and_a_field_that_there_is_not_are_found(tmp_path):
    """The types of the blocks reach the places where they are drawn."""
    shutil.copytree(ROOT / STATIC, tmp_path / STATIC)
    shutil.copy(ROOT / "tsconfig.json", tmp_path)
    faults = {
        "kinds.js": ("  compare: changed(drawCompare),\n", "", "'compare' is missing"),
        "controls.js": ("block.options.map(", "block.option.map(", "'option' does not exist"),
        "lanes.js": ("block.parted", "block.partet", "'partet' does not exist"),
        "sheet.js": ("block.equals", "block.same", "'same' does not exist"),
    }
    for name, (right, wrong, _) in faults.items():
        file = tmp_path / STATIC / name
        assert right in file.read_text(encoding="utf-8"), name
        file.write_text(file.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    code, text = said(TOOLS / "tsc", at=tmp_path)
    assert code != 0
    for name, (_, _, fault) in faults.items():
        assert any(name in line and fault in line for line in text.splitlines()), (name, text)
