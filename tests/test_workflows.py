"""The commands that the workflows call exist: modules, options, marks, profiles, files."""

import importlib.util
import re
import shlex
from itertools import pairwise, product
from pathlib import Path

import pytest
import yaml
from hypothesis import settings

import playground
from playground.cli import parser

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROGRAMS = {"playwright": "playwright.__main__", "ruff": "ruff.__main__"}
# programs, and the file that each needs
SHELL = {"pipx": "pyproject.toml", "npm": "package-lock.json", "mkdocs": "mkdocs.yml", "grep": "", "tee": "", "sudo": ""}


def cases(job: dict) -> list[dict]:
    """Returns the values of `matrix.NAME` in each run of a job."""
    matrix = job.get("strategy", {}).get("matrix", {})
    if "include" in matrix:
        return matrix["include"]
    return [dict(zip(matrix, values, strict=True)) for values in product(*matrix.values())]


def commands(workflow: dict) -> set[tuple[str, ...]]:
    """The words of each command, those in a matrix filled in."""
    called = set()
    for job in workflow["jobs"].values():
        for case, step in product(cases(job), job["steps"]):
            line = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda match, case=case: str(case.get(match[1], "")), step.get("run", ""))
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            command: list[str] = []
            for word in [*words, ";"]:
                if set(word) <= set("();|&"):
                    called.add(tuple(command))
                    command = []
                else:
                    command.append(word)
    return called - {()}


def check(program: str, *words: str) -> None:
    """Raises AssertionError when a command calls what is not there."""
    if program == "python":
        assert words[0] == "-m", words
        package = importlib.util.find_spec(words[1])
        assert package, words
        if package.submodule_search_locations:
            assert importlib.util.find_spec(f"{words[1]}.__main__"), words
        if words[1] == "playground":
            parser().parse_args(words[2:])
    elif program == "pytest":
        check_pytest(dict(pairwise([*words, ""])))
    elif program == "pip":
        assert words[0] in ("install", "list")
        for option, file in pairwise(words):
            assert option not in ("-r", "-c") or (ROOT / file).is_file(), file
    elif program in SHELL:
        assert (ROOT / SHELL[program]).exists()
    else:
        assert importlib.util.find_spec(PROGRAMS[program]), program


def check_pytest(options: dict[str, str]) -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for option, value in options.items():
        if option == "-m":
            assert f'"{value}: ' in project, value
        elif option.startswith("--hypothesis-profile="):
            settings.get_profile(option.partition("=")[2])
        elif "/" in option:
            assert (ROOT / option).exists(), option


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_every_command_of_a_workflow_exists(file):
    called = commands(yaml.safe_load(file.read_text(encoding="utf-8")))
    for command in called:
        check(*command)
    assert file.stem == "release" or {"pytest", "python"} <= {command[0] for command in called}


def test_every_place_that_names_the_version_names_this_one():
    change_log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", change_log, re.MULTILINE)[1] == playground.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == playground.__version__
    assert '"playground.__version__"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
