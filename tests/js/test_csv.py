"""A table that the page saves is guarded against formulas as one that the server sends."""

import re
from pathlib import Path

from playground.reading.formats.guard import SIGN, guarded

SCRIPT = Path(__file__).parents[2] / "playground" / "ui" / "static" / "csv.js"


def test_the_script_takes_for_a_formula_what_the_server_does():
    (rule,) = re.findall(r"^const FORMULA = /(.*)/;", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    starts = [sign + chr(code) for code in range(0x10000) for sign in ("", SIGN)]
    _, *rows = guarded(["text"], [[start] for start in starts])
    dangerous = [start for start, (cell,) in zip(starts, rows, strict=True) if cell != start]
    assert [start for start in starts if re.match(rule, start)] == dangerous
    assert "=" in dangerous
