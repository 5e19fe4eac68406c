"""The table of faults has what the tests say, every file of them is in it, and of each is known what it was seen to fail without."""

import shutil
from pathlib import Path

import pytest

from tests.faults import red
from tests.faults.__main__ import faults, name_of, table

HERE = Path(__file__)


def test_it_is_read_off_the_tests(tmp_path):
    (tmp_path / "test_it.py").write_text(
        'import pytest\n@pytest.mark.night\n@pytest.mark.fault("pulled", "it goes on")\ndef test_a():\n    pass\ndef test_b():\n    pass\n'
    )
    (tmp_path / "it.test.js").write_text('// fault: pushed | it stays\ntest("this, and that", () => {});\ntest("other", () => {});\n')
    assert list(faults(tmp_path)) == [
        ("pulled", "it goes on", f"{tmp_path.name}/test_it.py::test_a"),
        ("pushed", "it stays", f"{tmp_path.name}/it.test.js::this, and that"),
    ]
    assert table(tmp_path).endswith(f"| pushed | it stays | {tmp_path.name}/it.test.js::this, and that | – |")


def test_every_file_that_breaks_something_is_in_it_and_no_line_comes_twice():
    rows = list(faults())
    named = {test.partition("::")[0] for _, _, test in rows}
    assert {f"tests/faults/{file.name}" for file in HERE.parent.glob("test_*.py")} - named == {f"tests/faults/{HERE.name}"}
    assert len({done for done, _, _ in rows}) == len(rows)


def test_of_each_is_known_what_it_was_seen_to_fail_without(tmp_path):
    """And that is in the code, so that it can be taken out once more."""
    assert sorted(red.RED) == sorted(name_of(address) for _, _, address in faults())
    shutil.copytree(red.ROOT / "playground", tmp_path / "playground", ignore=shutil.ignore_patterns("__pycache__", "*.json", "*.png"))
    for name, taken in red.RED.items():
        path = tmp_path / taken.file
        before = path.read_text(encoding="utf-8")
        red.broken(name, tmp_path)
        assert path.read_text(encoding="utf-8") != before
        path.write_text(before, encoding="utf-8")
    name = next(iter(red.RED))
    red.broken(name, tmp_path)
    with pytest.raises(ValueError, match=name):
        red.broken(name, tmp_path)
