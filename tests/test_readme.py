"""The README tells what is so: its table is the knobs', its quiz is answered where it says, its metadata fit the pins."""

import re
from pathlib import Path

import pytest

from playground import readme
from playground.readme import QUIZ, README, ROOT, WHERE, renewed
from playground.runs.limits import Limits

TEXT = README.read_text(encoding="utf-8")


def test_the_table_and_the_answers_are_up_to_date():
    assert renewed(TEXT) == TEXT, "run: python -m playground.readme"


def test_every_question_has_an_answer():
    questions = re.search(r"## Quiz(.*?)<details>", TEXT, re.DOTALL).group(1)
    assert len(re.findall(r"^\d+\. .*\?$", questions, re.MULTILINE)) == len(QUIZ) == 10


def test_where_is_what_is_found_or_said_to_be_gone(monkeypatch):
    assert len(WHERE) == 10
    assert readme.where().count("\n") == 11
    aim, file, _, others = WHERE[0]
    for gone in ((aim, file, "NO_SUCH_LINE", others), (aim, file, WHERE[0][2], ("playground/gone.py",))):
        monkeypatch.setattr(readme, "WHERE", (gone,))
        with pytest.raises(ValueError, match=aim):
            readme.where()


def test_the_space_runs_the_gradio_that_is_pinned():
    pinned = re.search(r"^gradio==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE).group(1)
    assert TEXT.startswith("---\n")
    assert f"sdk_version: {pinned}\n" in TEXT
    assert (ROOT / re.search(r"^app_file: (\S+)$", TEXT, re.MULTILINE).group(1)).is_file()
    assert len(re.search(r"^short_description: (.*)$", TEXT, re.MULTILINE).group(1)) <= 60


def test_the_limits_are_those_of_a_server():
    """In words, as a person reads them."""
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    each = re.search(r"Each student may have (\w+)\s+unfinished\s+runs", TEXT).group(1)
    idle = re.search(r"stops\s+when\s+nobody\s+has\s+looked\s+for\s+(\w+)\s+minutes", TEXT).group(1)
    assert words.index(each) == Limits.runs_each
    assert 60 * words.index(idle) == Limits.idle_seconds


def test_every_path_the_readme_names_exists():
    for path in re.findall(r"\]\(([\w/.]+)\)|`((?:playground|tests|benchmarks|checkpoints)/[\w/.]*)`", TEXT):
        assert (Path(ROOT) / (path[0] or path[1])).exists(), path
