"""The table of faults has what the tests say, and every file of them is in it."""

from pathlib import Path

from tests.faults.__main__ import faults, table

HERE = Path(__file__)


def test_it_is_read_off_the_tests(tmp_path):
    (tmp_path / "test_it.py").write_text(
        'import pytest\n@pytest.mark.slow\n@pytest.mark.fault("pulled", "it goes on")\ndef test_a():\n    pass\ndef test_b():\n    pass\n'
    )
    assert list(faults(tmp_path)) == [("pulled", "it goes on", f"{tmp_path.name}/test_it.py::test_a")]
    assert table(tmp_path).endswith(f"| pulled | it goes on | {tmp_path.name}/test_it.py::test_a |")


def test_every_file_that_breaks_something_is_in_it_and_no_line_comes_twice():
    rows = list(faults())
    named = {test.partition("::")[0] for _, _, test in rows}
    assert {f"tests/faults/{file.name}" for file in HERE.parent.glob("test_*.py")} - named == {f"tests/faults/{HERE.name}"}
    assert len({done for done, _, _ in rows}) == len(rows)
