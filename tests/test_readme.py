"""Promises outside the code are true: the README's blocks, commands and paths, and the Pythons of the gate."""

import re
import shlex
import sys

import yaml

from playground.cli import parser
from playground.readme import BLOCKS, DOCUMENTS, QUIZ, ROOT, renew

TEXTS = {document.relative_to(ROOT).as_posix(): document.read_text(encoding="utf-8") for document in DOCUMENTS}
TEXT = "\n".join(TEXTS.values())


def test_the_front_page_is_short():
    assert len(TEXTS["README.md"]) <= 8_000


def test_the_generated_blocks_are_current():
    for name, text in TEXTS.items():
        assert renew(text) == text, f"{name}: run python -m playground.readme"
    assert all(TEXT.count(f"<!-- {name}: begin -->") == 1 for name in BLOCKS)
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
    paths = re.findall(r"`((?:playground|tests|benchmarks|checkpoints)/[\w/.]*)`|pytest ((?:tests/[\w/.]+ ?)+)", TEXT)
    for path in " ".join(filter(None, (path for groups in paths for path in groups))).split():
        assert (ROOT / path).exists(), path
    for name, text in TEXTS.items():
        for link in re.findall(r"\]\(([\w/.-]+)\)", text):
            assert (ROOT / name).parent.joinpath(link).exists(), (name, link)


def test_the_gate_runs_on_every_python_from_the_oldest_that_is_promised():
    gate = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]["gate"]
    versions = [tuple(map(int, version.split("."))) for version in gate["strategy"]["matrix"]["python"]]
    oldest = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert versions == [(3, minor) for minor in range(int(oldest[2]), versions[-1][1] + 1)]
    assert versions[0] <= sys.version_info[:2] <= versions[-1]
