"""The Transformer with `save_pretrained`, `from_pretrained` and `push_to_hub`; model/ itself doesn't depend on the Hub. And
uploads, with every error as one sentence: a run, and this app as a Gradio Space.

A Space gets only the needed files, with metadata and requirements for the hardware. By upload and not by git: the Hub rejects pictures and
weights as plain git files.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import HfApi, PyTorchModelHubMixin, get_token, hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HTTPError  # the second: of whatever HTTP library it uses

from playground.config import Experiment, Refusal, current_name
from playground.data.tokenizers import Tokenizer, load_tokenizer
from playground.export import write_folder
from playground.export.exported_run import find
from playground.model.transformer import Transformer
from playground.runs.disk import files
from playground.runs.disk.replay_file import read_parameters, to_safetensors
from playground.runs.run import Run
from playground.training.bleu import BeamGain
from playground.variants import variant_of

WEIGHTS = "model.safetensors"
TOKENIZERS = ("src_tokenizer.json", "tgt_tokenizer.json")
MAX_VOCABULARY = 2**20  # tokens: more than any tokenizer here can have


class HubTransformer(Transformer, PyTorchModelHubMixin, library_name="transformer-playground", tags=["attention", "education"]):
    """A trained model with its tokenizers. `from_pretrained("owner/name")`, or of a folder, gives the logits of the run to the bit.

    The signature is flat, and so is config.json: both vocabulary sizes, the longest target, what a beam gains, and every knob of the run by
    its name. Raises Refusal for an unknown knob or value.
    """

    def __init__(self, src_vocab: int, tgt_vocab: int, longest_target: int = 0, beam: Any = None, **knobs: Any) -> None:
        config = experiment_of(knobs).model
        super().__init__(config, src_vocab, tgt_vocab)
        with torch.no_grad():
            variant_of(config).apply(self)
        self.tokenizers: tuple[Tokenizer, Tokenizer] | None = None
        self.run: Run | None = None
        self.longest_target = longest_target  # of the training data: decoding should allow as many tokens
        self.beam = BeamGain.read(beam)

    @classmethod
    def from_run(cls, run: Run) -> HubTransformer:
        """Loads the run's newest parameters, in eval mode. Saving it writes the files of the run's export. Raises Refusal."""
        with tempfile.TemporaryDirectory() as folder:
            write_folder(run, Path(folder))
            model = cls.from_pretrained(folder)
        model.run = run
        return model

    def _save_pretrained(self, save_directory: Path) -> None:
        if self.run is not None:
            write_folder(self.run, save_directory)
            return
        (save_directory / WEIGHTS).write_bytes(to_safetensors(dict(self.named_parameters())))
        for name, tokenizer in zip(TOKENIZERS, self.tokenizers or (), strict=False):
            (save_directory / name).write_bytes(tokenizer.to_bytes())

    @classmethod
    def _from_pretrained(
        cls, *, model_id: str, map_location: str = "cpu", src_vocab: int = 0, tgt_vocab: int = 0, **rest: Any
    ) -> HubTransformer:
        """Loads untrusted files: the size is compared with the config before a model of that size is created. Raises Refusal."""
        download_options = {name: rest.pop(name) for name in ("revision", "cache_dir", "force_download", "local_files_only", "token")}

        def fetch(name: str) -> Path:
            if os.path.isdir(model_id):
                return Path(model_id, name)
            return Path(hf_hub_download(model_id, name, **download_options)).resolve()  # the cache holds links

        data = files.read_bytes(fetch(WEIGHTS), files.MAX_TENSOR_BYTES, WEIGHTS)
        longest_target, beam = rest.pop("longest_target", 0), rest.pop("beam", None)
        config = experiment_of(rest).model
        if any(type(size) is not int or not 0 < size <= MAX_VOCABULARY for size in (src_vocab, tgt_vocab)):
            raise Refusal("runs.not_a_run", what="config.json")
        parameters = read_parameters(data, config, src_vocab, tgt_vocab, WEIGHTS)
        model = cls(src_vocab=src_vocab, tgt_vocab=tgt_vocab, longest_target=longest_target, beam=beam, **rest)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(parameters[name])
        with suppress(FileNotFoundError, EntryNotFoundError):  # a model that was not trained here has none
            src, tgt = (load_tokenizer(fetch(name).read_bytes()) for name in TOKENIZERS)
            model.tokenizers = src, tgt
        return model.to(map_location).eval()


def experiment_of(knobs: dict[str, Any]) -> Experiment:
    """Builds the experiment of a flat mapping. Raises Refusal."""
    return Experiment().with_(**{current_name(name): value for name, value in knobs.items()})


# ---- uploads: a run, and this app as a Gradio Space ----

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
REFUSALS = {401: "hub.bad_token", 402: "hub.not_free", 403: "hub.no_right", 404: "hub.no_right", 409: "hub.taken"}  # by the Hub's status
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
    except RuntimeError as error:  # in which the library wraps what ended the upload of a large file
        if error.__cause__ is None:
            raise
        with translate_errors(repo):
            raise error.__cause__ from None
    except ValueError as error:  # checks of huggingface_hub before any request, such as the metadata of a README
        raise Refusal("hub.refused", name=repo, said=_first_line(str(error))) from error


def _refusal(error: HfHubHTTPError, repo: str) -> Refusal:
    key = REFUSALS.get(error.response.status_code, "hub.refused")
    return Refusal(key, name=repo, said=_first_line(error.server_message or str(error)))


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
OURS = ["checkpoints/*", "playground/*", "answers/*", "asset/*"]  # files of an older version in these folders are deleted
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
STATIC = Hardware("static", "", "", "A static Space is free and never sleeps.")
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

    @property
    def sdk(self) -> str:
        return "static" if self.hardware is STATIC else "gradio"

    def metadata(self) -> str:
        return self.written["README.md"].split("---\n")[1]

    def say(self) -> Iterator[str]:
        """Yields the plan as lines of text."""
        sizes = self.sizes()
        yield f"Space {self.repo}, {self.sdk}, on {self.hardware.flavor}. {self.hardware.note}"
        yield f"\nREADME.md begins with\n{self.metadata().rstrip()}"
        if "requirements.txt" in self.written:
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


def plan_static(repo: str, folder: Path) -> Plan:
    """Plans a static Space of a frozen page. Raises Refusal for an invalid name or a folder without one."""
    check_name(repo)
    copied = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    if not {"frozen.js", "README.md"} <= copied.keys():
        raise Refusal("hub.no_frozen", folder=folder)
    return Plan(repo, STATIC, copied, {"README.md": copied.pop("README.md").read_text(encoding="utf-8")})


def upload_space(plan: Plan, private: bool = False) -> str:
    """Uploads a plan. Returns the Space's address. Raises Refusal."""
    creation = {"space_sdk": plan.sdk} | ({"space_hardware": plan.hardware.flavor} if plan.hardware.requested else {})
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
