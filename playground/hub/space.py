"""This very app becomes a Gradio Space: only the files that belong, and metadata and requirements to suit the hardware.

By upload and not by git: the Hub refuses pictures and weights that come as plain git files.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playground.config import Refusal
from playground.hub import remote

ROOT = Path(__file__).parents[2]
BELONGS = ("app.py", "LICENSE", "README.md", "requirements.txt", "checkpoints", "playground")
OURS = ["checkpoints/*", "playground/*"]  # what an older version left in these folders goes away
CPU_WHEELS = "--extra-index-url https://download.pytorch.org/whl/cpu"  # 192 MB instead of 2.7 GB with CUDA


@dataclass(frozen=True)
class Hardware:
    """What a Space is run on: its name on the Hub, which torch suits, and what its owner should know."""

    flavor: str
    torch: str  # "" for the pinned one
    wheels: str  # the first line of requirements.txt
    note: str
    asked_for: bool = False  # when the Space is created, and not left to its owner's settings


HARDWARE = {
    "cpu": Hardware("cpu-basic", "", CPU_WHEELS, "A CPU Space needs a PRO or Team account."),
    "gpu": Hardware("t4-small", "", "", "Choose a GPU in the Space's settings; it is paid by the hour."),
    "zero": Hardware(
        "zero-a10g", "2.11.0", "", "ZeroGPU is the one compute Space of a free account. Training uses its CPU threads.", asked_for=True
    ),
}
THUMBNAIL = "https://huggingface.co/spaces/{repo}/resolve/main/playground/ui/static/preview.png"
PYTHON = "3.12"  # which ZeroGPU has too


@dataclass(frozen=True)
class Plan:
    """What would be uploaded: files from the disk by their paths in the Space, and two that are written for it."""

    repo: str
    hardware: Hardware
    copied: dict[str, Path]
    written: dict[str, str]

    def sizes(self) -> dict[str, int]:
        """Bytes by path, in order."""
        sizes = {name: path.stat().st_size for name, path in self.copied.items()}
        sizes |= {name: len(text.encode()) for name, text in self.written.items()}
        return dict(sorted(sizes.items()))

    def metadata(self) -> str:
        return self.written["README.md"].split("---\n")[1]

    def say(self) -> Iterator[str]:
        """The plan as lines of text."""
        sizes = self.sizes()
        yield f"Space {self.repo}, Gradio, on {self.hardware.flavor}. {self.hardware.note}"
        yield f"\nREADME.md begins with\n{self.metadata().rstrip()}"
        yield f"\nrequirements.txt\n{self.written['requirements.txt'].rstrip()}"
        yield f"\n{len(sizes)} files, {sum(sizes.values()):,} bytes"
        yield from (f"{size:>10,}  {name}" for name, size in sizes.items())


def plan(repo: str, hardware: str, root: Path = ROOT) -> Plan:
    """What the Space `repo` on this hardware ("cpu", "gpu" or "zero") is made of. Raises Refusal for a name that can't be one, and where
    the app isn't a whole folder."""
    chosen = HARDWARE[hardware]
    remote.check_name(repo)
    if not all((root / name).exists() for name in BELONGS):
        raise Refusal("hub.no_app", folder=str(root))
    copied = {path.relative_to(root).as_posix(): path for name in BELONGS for path in _files(root / name)}
    readme, needed = copied.pop("README.md"), copied.pop("requirements.txt")
    return Plan(repo, chosen, copied, {"README.md": _readme(readme, repo, chosen), "requirements.txt": _needed(needed, chosen)})


def upload(made: Plan, private: bool = False) -> str:
    """Uploads a plan. Returns the Space's address. Raises Refusal."""
    creation = {"space_sdk": "gradio"} | ({"space_hardware": made.hardware.flavor} if made.hardware.asked_for else {})
    with tempfile.TemporaryDirectory() as folder:
        for name, source in made.copied.items():
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for name, text in made.written.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        return remote.upload(Path(folder), made.repo, "space", "Transformer Playground", private, OURS, **creation)


def _files(path: Path) -> Iterator[Path]:
    """The file, or all in the folder but what Python and editors leave behind."""
    if path.is_file():
        yield path
        return
    for found in sorted(path.rglob("*")):
        inside = found.relative_to(path).parts
        if found.is_file() and "__pycache__" not in inside and not any(part.startswith(".") for part in inside) and found.suffix != ".pyc":
            yield found


def _readme(path: Path, repo: str, hardware: Hardware) -> str:
    """The README with the metadata of this Space in place of those it begins with, or at their end."""
    _, begin, rest = path.read_text(encoding="utf-8").partition("---\n")
    metadata, end, text = rest.partition("---\n")
    said = {"python_version": f'"{PYTHON}"', "suggested_hardware": hardware.flavor, "thumbnail": THUMBNAIL.format(repo=repo)}
    for name, value in said.items():
        metadata = re.sub(rf"^{name}: .*\n", "", metadata, flags=re.MULTILINE) + f"{name}: {value}\n"
    return begin + metadata + end + text


def _needed(path: Path, hardware: Hardware) -> str:
    text = path.read_text(encoding="utf-8")
    if hardware.torch:
        text = re.sub(r"^torch==\S+$", f"torch=={hardware.torch}", text, count=1, flags=re.MULTILINE)
    return f"{hardware.wheels}\n{text}" if hardware.wheels else text
