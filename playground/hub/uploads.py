"""Uploads to the Hub, with every error as one sentence: a run, and this app as a Gradio Space.

A Space gets only the needed files, with metadata and requirements for the hardware. By upload and not by git: the Hub rejects pictures and
weights as plain git files.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, HTTPError  # the second: of whatever HTTP library it uses

from playground.config import Refusal
from playground.export.contents import write_folder
from playground.export.exported_run import find

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
MAX_MESSAGE = 300  # characters of the Hub's message that are shown


def check_name(repo: str) -> str:
    """Returns `repo` if it reads OWNER/NAME as the Hub allows. Raises Refusal."""
    if not NAME.fullmatch(repo) or any(pair in repo for pair in ("--", "..")) or repo.endswith((".git", "-", ".")):
        raise Refusal("hub.not_a_name", name=repo[:100])
    return repo


@contextmanager
def translate_errors(repo: str) -> Iterator[None]:
    """Turns network errors and errors of the Hub into a Refusal."""
    try:
        yield
    except HfHubHTTPError as error:
        raise _refusal(error, repo) from error
    except (HTTPError, ConnectionError) as error:
        raise Refusal("hub.unreachable", host=HfApi().endpoint) from error
    except ValueError as error:  # checks of huggingface_hub before any request, such as the metadata of a README
        raise Refusal("hub.refused", name=repo, said=_first_line(str(error))) from error


def _refusal(error: HfHubHTTPError, repo: str) -> Refusal:
    status = error.response.status_code
    if status == 401:
        return Refusal("hub.bad_token")
    if status == 402:
        return Refusal("hub.not_free", name=repo)
    if status in (403, 404):
        return Refusal("hub.no_right", name=repo)
    return Refusal("hub.refused", name=repo, said=_first_line(error.server_message or str(error)))


def _first_line(message: str) -> str:
    return " ".join(message.split())[:MAX_MESSAGE].rstrip(".")


def upload(
    folder: Path, repo: str, kind: str, message: str, private: bool = False, delete: list[str] | None = None, **creation: str
) -> str:
    """Uploads a folder to the repository `repo` of this `kind` ("model" or "space"), creating it if needed. Returns its address. Other
    files there stay, unless they match a pattern of `delete`. Raises Refusal."""
    check_name(repo)
    if get_token() is None:
        raise Refusal("hub.no_token")
    api = HfApi()
    with translate_errors(repo):
        url = api.create_repo(repo, repo_type=kind, private=private or None, exist_ok=True, **creation)
        api.upload_folder(repo_id=repo, repo_type=kind, folder_path=folder, commit_message=message, delete_patterns=delete)
    return str(url)


def push(name: str, repo: str, private: bool = False) -> str:
    """Uploads a run: the files of its export, with its model card as the README. Returns the repository's address. Raises Refusal."""
    check_name(repo)
    run = find(name)
    with tempfile.TemporaryDirectory() as folder:
        write_folder(run, Path(folder))
        return upload(Path(folder), repo, "model", f"{run.label or run.name} at step {run.step}", private)


ROOT = Path(__file__).parents[2]
BELONGS = ("app.py", "LICENSE", "README.md", "requirements.txt", "checkpoints", "playground")
OURS = ["checkpoints/*", "playground/*"]  # files of an older version in these folders are deleted
CPU_WHEELS = "--extra-index-url https://download.pytorch.org/whl/cpu"  # 192 MB instead of 2.7 GB with CUDA


@dataclass(frozen=True)
class Hardware:
    """Hardware of a Space: its name on the Hub, the torch version for it, and a note for its owner."""

    flavor: str
    torch: str  # "" for the pinned one
    wheels: str  # the first line of requirements.txt
    note: str
    requested: bool = False  # requested when the Space is created, not left to its owner's settings


HARDWARE = {
    "cpu": Hardware("cpu-basic", "", CPU_WHEELS, "A CPU Space needs a PRO or Team account."),
    "gpu": Hardware("t4-small", "", "", "Choose a GPU in the Space's settings; it is paid by the hour."),
    "zero": Hardware(
        "zero-a10g", "2.11.0", "", "ZeroGPU is the one compute Space of a free account. Training uses its CPU threads.", requested=True
    ),
}
THUMBNAIL = "https://huggingface.co/spaces/{repo}/resolve/main/playground/ui/static/preview.png"
PYTHON = "3.12"  # a version that ZeroGPU supports


@dataclass(frozen=True)
class Plan:
    """A planned upload: files from the disk by their paths in the Space, and two generated ones."""

    repo: str
    hardware: Hardware
    copied: dict[str, Path]
    written: dict[str, str]

    def sizes(self) -> dict[str, int]:
        """Returns bytes by path, sorted."""
        sizes = {name: path.stat().st_size for name, path in self.copied.items()}
        sizes |= {name: len(text.encode()) for name, text in self.written.items()}
        return dict(sorted(sizes.items()))

    def metadata(self) -> str:
        return self.written["README.md"].split("---\n")[1]

    def say(self) -> Iterator[str]:
        """Yields the plan as lines of text."""
        sizes = self.sizes()
        yield f"Space {self.repo}, Gradio, on {self.hardware.flavor}. {self.hardware.note}"
        yield f"\nREADME.md begins with\n{self.metadata().rstrip()}"
        yield f"\nrequirements.txt\n{self.written['requirements.txt'].rstrip()}"
        yield f"\n{len(sizes)} files, {sum(sizes.values()):,} bytes"
        yield from (f"{size:>10,}  {name}" for name, size in sizes.items())


def plan_space(repo: str, hardware: str, root: Path = ROOT) -> Plan:
    """Plans the Space `repo` on this hardware ("cpu", "gpu" or "zero"). Raises Refusal for an invalid name or an incomplete app folder."""
    chosen = HARDWARE[hardware]
    check_name(repo)
    if not all((root / name).exists() for name in BELONGS):
        raise Refusal("hub.no_app", folder=str(root))
    copied = {path.relative_to(root).as_posix(): path for name in BELONGS for path in _files(root / name)}
    readme, requirements = copied.pop("README.md"), copied.pop("requirements.txt")
    return Plan(repo, chosen, copied, {"README.md": _readme(readme, repo, chosen), "requirements.txt": _requirements(requirements, chosen)})


def upload_space(plan: Plan, private: bool = False) -> str:
    """Uploads a plan. Returns the Space's address. Raises Refusal."""
    creation = {"space_sdk": "gradio"} | ({"space_hardware": plan.hardware.flavor} if plan.hardware.requested else {})
    with tempfile.TemporaryDirectory() as folder:
        for name, source in plan.copied.items():
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for name, text in plan.written.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        return upload(Path(folder), plan.repo, "space", "Transformer Playground", private, OURS, **creation)


def _files(path: Path) -> Iterator[Path]:
    """Yields the file, or all files of the folder but caches and hidden ones."""
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path).parts
        if file.is_file() and "__pycache__" not in inside and not any(part.startswith(".") for part in inside) and file.suffix != ".pyc":
            yield file


def _readme(path: Path, repo: str, hardware: Hardware) -> str:
    """Returns the README with this Space's metadata replaced or appended in its header."""
    _, begin, rest = path.read_text(encoding="utf-8").partition("---\n")
    metadata, end, text = rest.partition("---\n")
    fields = {"python_version": f'"{PYTHON}"', "suggested_hardware": hardware.flavor, "thumbnail": THUMBNAIL.format(repo=repo)}
    for name, value in fields.items():
        metadata = re.sub(rf"^{name}: .*\n", "", metadata, flags=re.MULTILINE) + f"{name}: {value}\n"
    return begin + metadata + end + text


def _requirements(path: Path, hardware: Hardware) -> str:
    text = path.read_text(encoding="utf-8")
    if hardware.torch:
        text = re.sub(r"^torch==\S+$", f"torch=={hardware.torch}", text, count=1, flags=re.MULTILINE)
    return f"{hardware.wheels}\n{text}" if hardware.wheels else text
