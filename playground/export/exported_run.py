"""The exported state of a run, frozen while the run continues; and the files of one that was exported, from a folder, a zip, a link or the
Hugging Face Hub."""

import csv
import io
import itertools
import math
import re
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import safetensors.torch

from playground.config import Experiment, Refusal
from playground.data.tokenizers import Tokenizer
from playground.runs.disk import SHIPPED, default_folder, files
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import open_kept_folders, open_shipped_folders
from playground.runs.history import COUNTS, STEPS, VALIDATIONS, History
from playground.runs.incoming import MAX_BYTES, NAMES, files_of_zip, folder_of_zip
from playground.runs.run import Run, Snapshot

VALIDATED = tuple(f"validation_{name}" if name in STEPS else name for name in VALIDATIONS if name != "step")


@dataclass(frozen=True)
class ExportedRun:
    """A run as it was after `step` steps."""

    run: Run
    snapshot: Snapshot
    tokenizers: tuple[Tokenizer, Tokenizer]
    history: History

    @property
    def step(self) -> int:
        return self.snapshot.step

    @property
    def name(self) -> str:
        """The name shown to users."""
        return self.run.label or self.run.name

    @property
    def experiment(self) -> Experiment:
        """Its settings, with the memory mode of this step, and without the id of own sentences, which is valid on this server only."""
        return self.run.experiment.with_(memory_mode=self.run.memory_mode_at(self.step), own="")

    @property
    def vocabularies(self) -> tuple[int, int]:
        src, tgt = self.tokenizers
        return src.size, tgt.size

    def config(self) -> dict[str, Any]:
        """Returns config.json: every knob, both vocabulary sizes, the longest target (see `limit_output`), and what a beam gains."""
        src_vocab, tgt_vocab = self.vocabularies
        config = self.experiment.flat() | {"src_vocab": src_vocab, "tgt_vocab": tgt_vocab, "longest_target": self.run.longest_target}
        return config | ({"beam": list(self.run.history.beam)} if self.run.history.beam else {})

    def parameters(self) -> bytes:
        """Returns model.safetensors. A shared parameter is stored once."""
        whole = {name: tensor.contiguous() for name, tensor in self.snapshot.parameters.items()}
        return safetensors.torch.save(whole, {"format": "pt"})

    def curve(self) -> bytes:
        """Returns history.csv: a row for each step, with its validation. Numbers are written so that they are read back bit for bit."""
        tables = self.history.steps, self.history.validations
        steps, validations = ({row[0]: row[1:] for row in zip(*table.rows().values(), strict=True)} for table in tables)
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*STEPS, *VALIDATED])
        blanks = [math.nan] * (len(STEPS) - 1), [math.nan] * len(VALIDATED)
        for step in sorted(steps.keys() | validations.keys()):
            numbers = [*steps.get(step, blanks[0]), *validations.get(step, blanks[1])]
            cells = [_cell(name, number) for name, number in zip([*STEPS[1:], *VALIDATED], numbers, strict=True)]
            writer.writerow([int(step), *cells])
        return text.getvalue().encode()

    def model_files(self) -> dict[str, bytes]:
        """Returns the files that `playground.load` reads."""
        src, tgt = self.tokenizers
        return {
            "config.json": files.to_json(self.config()),
            "history.csv": self.curve(),
            "model.safetensors": self.parameters(),
            "src_tokenizer.json": src.to_bytes(),
            "tgt_tokenizer.json": tgt.to_bytes(),
        }


def find(name: str) -> Run:
    """Returns the run with this name, as `folder_of` takes it. Raises Refusal."""
    return folder_of(name).run


def folder_of(name: str) -> Folder:
    """Returns the folder `name`, a downloaded zip as one, or that of the shipped or saved run with this name, label or id. Raises
    Refusal."""
    if name.endswith(".zip") and Path(name).is_file():
        return folder_of_zip(Path(name))
    if (Path(name) / "run.json").is_file():
        return Folder(Path(name))
    for folder in itertools.chain(open_shipped_folders(SHIPPED), open_kept_folders(default_folder())):
        if name in (folder.run.id, folder.run.name, folder.run.label):
            return folder
    if Path(name).is_dir():
        return Folder(Path(name))  # its error names the missing file
    raise Refusal("export.no_run", name=name[:100])


def export_run(run: Run, best: bool = False) -> ExportedRun:
    """Freezes the run as it is now, or at the `best` step, which it must keep. Raises Refusal before the first step, and for
    a lab's mystery run, whose files would give it away."""
    if run.secret:
        raise Refusal("export.secret")
    snapshot, tokenizers = Snapshot(0, *run.replay.best) if best else run.snapshot, run.tokenizers
    if snapshot is None or tokenizers is None or not snapshot.step:
        raise Refusal("runs.nothing_yet")
    return ExportedRun(run, snapshot, tokenizers, run.history.until(snapshot.step))


def _cell(name: str, number: float) -> str:
    if not math.isfinite(number):
        return ""
    return str(int(number)) if name in COUNTS else repr(number)


TIMEOUT_S = 60.0  # without data
ROUTE = "gradio_api/playground/takeaway/"  # below the page's address
_OURS = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


def files_of(source: str, average: int = 1) -> Mapping[str, bytes]:
    """Returns the contents of NAMES; see `pretrained.load`."""
    is_link = source.startswith(("hf:", "http://", "https://"))
    shipped = sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) if SHIPPED.is_dir() else []
    path = SHIPPED / source if source in shipped else Path(source).expanduser()
    if not (is_link or path.exists()):
        raise Refusal("export.not_found", source=source[:200], names=", ".join(shipped))
    if not is_link and (path / "run.json").is_file():
        run = Folder(path).run
        run.average(average)
        return export_run(run).model_files()
    if average != 1:
        raise Refusal("runs.no_average", name=source[:200])
    if source.startswith("hf:"):
        path = snapshot_of(source.removeprefix("hf:"), NAMES)
    elif is_link:
        return files_of_link(source, NAMES)
    elif path.is_file():
        return files_of_zip(files.read_bytes(path, MAX_BYTES), NAMES)
    return {name: files.read_bytes((path / name).resolve(), MAX_BYTES, name) for name in NAMES}  # the Hub's cache holds links


def files_of_link(link: str, names: Sequence[str]) -> Mapping[str, bytes]:
    """Downloads the files of the run that a link to a page names. Raises Refusal."""
    run = parse_qs(urlsplit(link).query).get("run")
    if not run:
        raise Refusal("export.no_run_in_link", link=link[:200])
    address = urljoin(link.partition("?")[0], ROUTE + quote(run[0], safe=""))
    try:
        with urllib.request.urlopen(urllib.request.Request(address), timeout=TIMEOUT_S) as answer:
            data, kind = answer.read(MAX_BYTES + 1), answer.headers.get_content_type()
    except (OSError, HTTPException, ValueError) as error:
        raise Refusal("export.unreachable", host=urlsplit(link).netloc[:200], why=str(getattr(error, "reason", error))[:200]) from error
    if len(data) > MAX_BYTES:
        raise Refusal("export.too_large", most=MAX_BYTES // 1_000_000)
    if kind != "application/zip":
        raise Refusal("export.refused", host=urlsplit(link).netloc[:200])
    return files_of_zip(data, names)


def snapshot_of(name: str, names: Sequence[str]) -> Path:
    """Downloads these files of "owner/name" from the Hugging Face Hub to a folder. Raises Refusal."""
    if not _OURS.fullmatch(name):
        raise Refusal("export.no_such_name", name=name[:200])
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise Refusal("export.no_package", package="huggingface_hub") from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(names)))
    except Exception as error:  # errors of the Hub and the network have many types
        raise Refusal("export.not_on_hub", name=name, why=type(error).__name__) from error
