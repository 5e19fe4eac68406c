"""The files of a trained model, from wherever a source says they are: a shipped or exported run, a zip, a link, the Hugging Face Hub."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from playground.config import Refusal
from playground.export.exported_run import export_run
from playground.runs.disk import files
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import SHIPPED
from playground.runs.incoming import MAX_BYTES, NAMES, files_of_zip

TIMEOUT_S = 60.0  # without data
ROUTE = "gradio_api/playground/takeaway/"  # below the page's address
_OURS = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


def files_of(source: str) -> Mapping[str, bytes]:
    """Returns the contents of NAMES."""
    if source.startswith("hf:"):
        return _files_of_folder(snapshot_of(source.removeprefix("hf:"), NAMES))
    if source.startswith(("http://", "https://")):
        return files_of_link(source, NAMES)
    shipped = sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) if SHIPPED.is_dir() else []
    path = SHIPPED / source if source in shipped else Path(source).expanduser()
    if path.is_dir():
        return _files_of_folder(path)
    if path.is_file():
        return files_of_zip(files.read_bytes(path, MAX_BYTES), NAMES)
    raise Refusal("export.not_found", source=source[:200], names=", ".join(shipped))


def _files_of_folder(path: Path) -> Mapping[str, bytes]:
    """Reads an exported folder, or a run's."""
    if (path / "run.json").is_file():
        return export_run(Folder(path).run).model_files()
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
