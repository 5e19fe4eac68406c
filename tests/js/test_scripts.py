"""The scripts guard tables as the server does, and the linter knows text without a language; the rest is `npm run check`, see page.js."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from playground.reading.writing import SIGN, guard_rows
from tests.test_plain_english import PEOPLE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = ROOT / "node_modules" / ".bin"
STATIC = Path("playground") / "ui" / "static"

needs_tools = pytest.mark.skipif(
    shutil.which("node") is None or not (TOOLS / "tsc").exists(), reason="the scripts' tools are not installed: run npm ci"
)


def test_a_table_that_the_page_saves_is_guarded_as_one_of_the_server_and_comments_name_the_visitor():
    (rule,) = re.findall(r"^const FORMULA = /(.*)/;", (ROOT / STATIC / "downloads.js").read_text(encoding="utf-8"), re.MULTILINE)
    starts = [sign + chr(code) for code in range(0x10000) for sign in ("", SIGN)]
    _, *rows = guard_rows(["text"], [[start] for start in starts])
    dangerous = [start for start, (cell,) in zip(starts, rows, strict=True) if cell != start]
    assert [start for start in starts if re.match(rule, start)] == dangerous
    assert "=" in dangerous
    files = [*(ROOT / "playground").rglob("*.css"), ROOT / STATIC / "page.d.ts"]
    assert not [text for file in files for text in re.findall(r"/\*.*?\*/|// .*", file.read_text(encoding="utf-8")) if PEOPLE.search(text)]


@needs_tools
def test_the_linter_finds_text_that_is_in_no_language_file():
    js = 'h("p", {}, own ? "yours" : "");', "notice(`Run ${name} is gone`);", 'text = "正在读取";', 'element.title = "no";', 'say("runs");'
    options = ("--stdin", "--stdin-filename", STATIC / "none.js", "--rule", "no-undef: off", "--format", "json")
    command = [*map(str, (TOOLS / "eslint", *options))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, input="\n".join(js))
    (report,) = json.loads(done.stdout + done.stderr)
    assert [(message["ruleId"], message["line"]) for message in report["messages"]] == [("words/strays", n) for n in (1, 2, 3, 4)]
