"""What a package says of its modules, and in which order to read them, is all of them and nothing else."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "playground"
ORDER = re.compile(r"Read\s+in\s+this\s+order:(.*?)(?:\n\n[A-Z](?!hat they share)|$)", re.DOTALL)
PACKAGES = [file for file in sorted(ROOT.rglob("__init__.py")) if ORDER.search(file.read_text(encoding="utf-8"))]


def named(docstring: str) -> list[str]:
    """The modules that a reading order names: `one (what it is) · two and three (what they are) · four`."""
    order = re.sub(r"\([^()]*\)", "", ORDER.search(docstring)[1].replace("What they share:", ""))
    return [name for item in re.split(r"[·,.]|\n\n", order) for name in re.split(r"\s+and\s+|\s+with\s+", item.strip()) if name]


def modules(package: Path) -> set[str]:
    """The modules and packages in a folder, those that are started from the command line left out."""
    folders = {folder.name for folder in package.iterdir() if (folder / "__init__.py").exists()}
    return {file.stem for file in package.glob("*.py") if not file.stem.startswith("__")} | folders


@pytest.mark.parametrize("file", PACKAGES, ids=lambda file: str(file.parent.relative_to(ROOT)))
def test_a_reading_order_names_every_module_once(file):
    found = named(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))))
    assert len(found) == len(set(found))
    assert set(found) == modules(file.parent)


def test_every_package_of_more_than_three_modules_has_one():
    for file in ROOT.rglob("__init__.py"):
        assert file in PACKAGES or len(modules(file.parent)) <= 3, file
