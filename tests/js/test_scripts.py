"""What `npm run check` does not say of the scripts: they guard tables as the server does, and the linter knows text without a language.

A new test of a script that computes is a table in functions.test.js; one that draws or listens has a `<script>.test.js`, see page.js.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from playground.reading.writing import SIGN, guard_rows

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = ROOT / "node_modules" / ".bin"
STATIC = Path("playground") / "ui" / "static"

needs_tools = pytest.mark.skipif(
    shutil.which("node") is None or not (TOOLS / "tsc").exists(), reason="the scripts' tools are not installed: run npm ci"
)


def outcome(*command: str | Path, **options: str) -> tuple[int, str]:
    """(exit code, what was written) of a command."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, timeout=600, **options)
    return done.returncode, done.stdout + done.stderr


def test_a_table_that_the_page_saves_is_guarded_against_formulas_as_one_that_the_server_sends():
    (rule,) = re.findall(r"^const FORMULA = /(.*)/;", (ROOT / STATIC / "csv.js").read_text(encoding="utf-8"), re.MULTILINE)
    starts = [sign + chr(code) for code in range(0x10000) for sign in ("", SIGN)]
    _, *rows = guard_rows(["text"], [[start] for start in starts])
    dangerous = [start for start, (cell,) in zip(starts, rows, strict=True) if cell != start]
    assert [start for start in starts if re.match(rule, start)] == dangerous
    assert "=" in dangerous


@needs_tools
def test_the_linter_finds_text_that_is_in_no_language_file():
    js = 'h("p", {}, own ? "yours" : "");', "notice(`Run ${name} is gone`);", 'text = "正在读取";', 'element.title = "no";', 'say("runs");'
    options = ("--stdin", "--stdin-filename", STATIC / "none.js", "--rule", "no-undef: off", "--format", "json")
    (report,) = json.loads(outcome(TOOLS / "eslint", *options, input="\n".join(js))[1])
    assert [(message["ruleId"], message["line"]) for message in report["messages"]] == [("words/strays", n) for n in (1, 2, 3, 4)]
