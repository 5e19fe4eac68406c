"""Environments that hold only what is asked for: a fresh one, into which packages of this one are linked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

REQUIRED = re.compile(r"^([A-Za-z0-9._-]+)[^;]*(?:;(.*))?$")


def environment(folder: Path, packages: Iterable[str]) -> Path:
    """Makes a virtual environment with these packages and what they need, and nothing else. Returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in _with_dependencies(packages):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if not file.parts[0].startswith(("..", "__pycache__"))}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(found.locate_file(top)).resolve())
    return folder / "bin" / "python"


def _with_dependencies(packages: Iterable[str]) -> set[str]:
    found, left = set(), list(packages)
    while left:
        name = left.pop().lower().replace("_", "-")
        try:
            needed = distribution(name).requires or ()
        except PackageNotFoundError:  # of another system
            continue
        if name not in found:
            found.add(name)
            left += [match[1] for text in needed if (match := REQUIRED.match(text)) and "extra" not in (match[2] or "")]
    return found


def run(python: Path, *arguments: str, at: Path, path: Path | None = None) -> str:
    """What a program prints, started in the folder `at` with nothing of ours in reach but what is in `path`. Raises when it fails."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = own | ({"PYTHONPATH": str(path)} if path else {})
    done = subprocess.run([str(python), *arguments], cwd=at, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
