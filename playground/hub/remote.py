"""Uploads to the Hub, with every error as one sentence."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
