"""An environment of its own for each optional peer: the project's torch is seen from there, and pip fetches only what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from venv import EnvBuilder

import torch

from benchmarks.suite import Missing

ROOT = Path(__file__).parents[2]
PATIENCE = 600  # seconds that an installation may take
SHORT = 160  # characters of a problem that a table shows


@dataclass(frozen=True)
class Package:
    """A package with the arguments of pip, call by call, and the module that must then be importable."""

    name: str
    version: str
    module: str
    calls: tuple[tuple[str, ...], ...]


PACKAGES = {
    "xtransformer": Package("x-transformers", "2.31.10", "x_transformers", (("x-transformers==2.31.10",),)),
    # It also names what its training never imports (datasets, pylint, pytest) and a protobuf without a build for today's Python.
    "joey": Package(
        "joeynmt",
        "2.3.0",
        "joeynmt.training",
        (
            ("--no-deps", "joeynmt==2.3.0"),
            ("importlib-metadata", "matplotlib", "pyyaml", "sacrebleu", "sentencepiece", "subword-nmt", "tensorboard", "tqdm"),
        ),
    ),
}


def default_folder() -> Path:
    """Where the environments are kept: PLAYGROUND_PEERS, or a folder in the user's cache."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Path(os.environ.get("PLAYGROUND_PEERS") or Path.home() / ".cache" / "transformer-playground" / f"peers-{version}")


def interpreter(peer: str, folder: Path) -> str:
    """The Python that can train this peer: our own, or that of an environment below `folder`, made and filled when it isn't there.

    Raises Missing when something can't be installed.
    """
    if peer not in PACKAGES:
        return sys.executable
    package, place = PACKAGES[peer], folder / peer
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    try:
        if not python.exists():
            EnvBuilder(with_pip=True).create(place)
        own = Path(_call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
        (own / "project.pth").write_text(f"{Path(torch.__file__).parents[1]}\n", encoding="utf-8")
        if _version(python, package) != package.version:
            for call in package.calls:
                torch_stays = () if "--no-deps" in call else (f"torch=={torch.__version__}",)
                _call(python, "-m", "pip", "install", "--quiet", "--retries", "1", *torch_stays, *call)
        _call(python, "-W", "ignore", "-c", f"import {package.module}")
    except (OSError, subprocess.SubprocessError) as problem:
        raise Missing(f"{package.name} {package.version} can't be installed here: {last_words(problem)}") from None
    return str(python)


def _version(python: Path, package: Package) -> str:
    """The version that is installed, empty when there is none."""
    look = f"import importlib.metadata as m; print(next((d.version for d in m.distributions(name={package.name!r})), ''))"
    return _call(python, "-c", look)


def _call(python: Path, *arguments: str) -> str:
    """Returns its output. Raises SubprocessError."""
    done = subprocess.run([python, *arguments], check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    return done.stdout.strip()


def last_words(problem: Exception) -> str:
    """The last line that a failed process wrote to stderr, or of the problem itself, cut."""
    message = getattr(problem, "stderr", None) or str(problem)
    lines = (message.decode(errors="replace") if isinstance(message, bytes) else message).strip().splitlines()
    return lines[-1][:SHORT] if lines else type(problem).__name__
