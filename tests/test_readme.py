"""The README is true: its generated blocks are current, its commands and paths exist, and its numbers are the limits of a server."""

import re
import shlex

from playground.arguments import parser
from playground.readme import QUIZ, README, ROOT, renewed
from playground.runs.limits import Limits

TEXT = README.read_text(encoding="utf-8")


def test_the_generated_blocks_are_current():
    assert renewed(TEXT) == TEXT, "run: python -m playground.readme"
    questions = re.search(r"## Quiz(.*?)<details>", TEXT, re.DOTALL).group(1)
    assert len(re.findall(r"^\d+\. .*\?$", questions, re.MULTILINE)) == len(QUIZ)


def test_every_command_and_path_exists():
    commands = re.findall(r"^    python -m playground (.*?)(?:\s+#.*)?$", TEXT, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        parser().parse_args(shlex.split(command))  # SystemExit for one that there is not
    for module in re.findall(r"python -m ((?:playground|tests|benchmarks)[\w.]*)", TEXT):
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
    paths = re.findall(r"\]\(([\w/.]+)\)|`((?:playground|tests|benchmarks|checkpoints)/[\w/.]*)`|pytest ((?:tests/[\w/.]+ ?)+)", TEXT)
    for path in " ".join(filter(None, (path for found in paths for path in found))).split():
        assert (ROOT / path).exists(), path


def test_the_space_runs_the_gradio_that_is_pinned():
    pinned = re.search(r"^gradio==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE).group(1)
    assert TEXT.startswith("---\n")
    assert f"sdk_version: {pinned}\n" in TEXT
    assert (ROOT / re.search(r"^app_file: (\S+)$", TEXT, re.MULTILINE).group(1)).is_file()
    assert len(re.search(r"^short_description: (.*)$", TEXT, re.MULTILINE).group(1)) <= 60, "the Hub refuses a longer one"


def test_the_limits_are_those_of_a_server():
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    each = re.search(r"Each student may have (\w+)\s+unfinished\s+runs", TEXT).group(1)
    idle = re.search(r"stops\s+when\s+nobody\s+has\s+looked\s+for\s+(\w+)\s+minutes", TEXT).group(1)
    assert (words.index(each), 60 * words.index(idle)) == (Limits.runs_each, Limits.idle_seconds)
