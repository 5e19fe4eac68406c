"""What is asked of the Hub, and every way it can fail, each as one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, HTTPError  # the second: of whatever HTTP library it uses

from playground.config import Refusal

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
MAX_SAID = 300  # characters of what the Hub says that are passed on


def check_name(repo: str) -> str:
    """`repo` when it reads OWNER/NAME as the Hub allows it. Raises Refusal."""
    if not NAME.fullmatch(repo) or any(pair in repo for pair in ("--", "..")) or repo.endswith((".git", "-", ".")):
        raise Refusal("hub.not_a_name", name=repo[:100])
    return repo


@contextmanager
def plainly(repo: str) -> Iterator[None]:
    """Turns what goes wrong between here and the Hub into a Refusal."""
    try:
        yield
    except HfHubHTTPError as error:
        raise _refusal(error, repo) from error
    except (HTTPError, ConnectionError) as error:
        raise Refusal("hub.unreachable", host=HfApi().endpoint) from error
    except ValueError as error:  # what huggingface_hub itself finds wrong before it asks, such as the metadata of a README
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


def _first_line(said: str) -> str:
    return " ".join(said.split())[:MAX_SAID].rstrip(".")


def upload(
    folder: Path, repo: str, kind: str, message: str, private: bool = False, delete: list[str] | None = None, **creation: str
) -> str:
    """Puts a folder into the repository `repo` of this `kind` ("model" or "space"), which is created where it doesn't exist. Returns its
    address. What it holds and the folder doesn't is left there, but for what fits a pattern of `delete`. Raises Refusal."""
    check_name(repo)
    if get_token() is None:
        raise Refusal("hub.no_token")
    api = HfApi()
    with plainly(repo):
        url = api.create_repo(repo, repo_type=kind, private=private or None, exist_ok=True, **creation)
        api.upload_folder(repo_id=repo, repo_type=kind, folder_path=folder, commit_message=message, delete_patterns=delete)
    return str(url)
