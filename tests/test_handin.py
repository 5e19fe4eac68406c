"""Results handed in: a code holds what the server signed, and every change, foreign server and repetition is named."""

import stat

from playground import handin
from playground.cli import main
from playground.lessons.course import LESSONS

NAMES = [lesson.name for lesson in LESSONS]


def test_a_table_of_codes_is_checked_line_by_line(tmp_path, capsys):
    key, other = handin.read_key(tmp_path), handin.read_key(tmp_path.parent)
    assert (handin.read_key(tmp_path), len({key, other}), stat.S_IMODE((tmp_path / handin.KEY_FILE).stat().st_mode)) == (key, 2, 0o600)
    anna, bob, foreign = (handin.sign(*each, [(4, 12), (11, 12)], name) for *each, name in (
        (key, "2026-11-29", NAMES, 34, "a" * 32), (key, "2026-11-30", [], 0, "b" * 32), (other, "2026-11-29", NAMES, 34, "c" * 32),
    ))  # fmt: skip
    assert len(anna) <= 300
    assert not {"a" * 32, key.decode()} & set(anna.split("."))
    again = handin.sign(key, "2026-12-01", NAMES, 36, [(4, 12), (12, 12)], "a" * 32)
    rows = {
        "name,code": None, f"Anna,{anna}": "", f"Bob,{bob[:40]} {bob[40:]}": "", "Cem,": "no code",
        f"Dora,{anna}": "same code is in line 2",
        f"Eve,{anna.replace('4of12', '9of12')}": "changed after", f"Finn,{foreign}": "another server", f"Gil,{anna[:-1]}": "incomplete",
        f"Anna,{again}": "same browser made the code in line 2",
    }  # fmt: skip
    table = tmp_path / "codes.csv"
    table.write_text("\n".join(rows), encoding="utf-8")
    assert main(["verify", str(table), "--folder", str(tmp_path)]) == 1
    head, *lines = capsys.readouterr().out.splitlines()
    assert (head.split(), len(lines)) == (list(handin.COLUMNS), len(rows) - 1)
    assert all(note in line for line, note in zip(lines, list(rows.values())[1:], strict=True))
    assert lines[0].split() == ["2", "2026-11-29", str(len(NAMES)), "34", "4of12", "11of12"]
    parts = bob.split(".")
    for at, other_value in enumerate(("20261129", "tour", "1", "5of12", "12of12", "0" * 8, "0" * 8), 1):  # every field is signed
        table.write_text(".".join([*parts[:at], other_value, *parts[at + 1 :]]), encoding="utf-8")
        assert next(handin.verify(table, key))[-1]
    table.write_text("\n".join(list(rows)[:3]), encoding="utf-8")
    assert main(["verify", str(table), "--key", str(tmp_path / handin.KEY_FILE)]) == 0
