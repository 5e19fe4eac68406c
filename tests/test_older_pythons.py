"""The oldest Python that pyproject.toml promises (ZeroGPU has it) reads every file of the app, and its library has every name we take."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OLDEST = "python3.10"
# Run there, without any package: each file is parsed, and what it imports of the standard library is looked for.
READ = """
import ast, importlib, pathlib, sys
for file in map(pathlib.Path, sys.argv[1:]):
    for node in ast.walk(ast.parse(file.read_bytes(), str(file))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            wanted = [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            wanted = [(alias.name, "__name__") for alias in node.names]
        else:
            continue
        for module, name in wanted:
            if module.partition(".")[0] in sys.stdlib_module_names and not hasattr(importlib.import_module(module), name):
                print(f"{file}:{node.lineno}: {module}.{name}")
"""


def oldest() -> str | None:
    """On the path, or among pyenv's."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob("3.10.*/bin/python"))
    found = str(kept[-1]) if kept else shutil.which(OLDEST)
    return found if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0 else None


def missing(*files: Path) -> str:
    return subprocess.run([oldest(), "-c", READ, *map(str, files)], capture_output=True, text=True, check=True).stdout


@pytest.mark.night
@pytest.mark.skipif(not oldest(), reason=f"there is no {OLDEST} here")
def test_the_oldest_python_has_every_name_that_the_app_imports(tmp_path):
    assert missing(ROOT / "app.py", *(ROOT / "playground").rglob("*.py")) == ""
    (tmp_path / "newer.py").write_text("from enum import StrEnum\n")
    assert "enum.StrEnum" in missing(tmp_path / "newer.py")
