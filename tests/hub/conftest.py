"""A Hub of folders: what is uploaded lies there, and nothing is asked of the network."""

import shutil
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import pytest
from huggingface_hub import HfApi, hub_mixin
from huggingface_hub.errors import EntryNotFoundError

from playground.hub import model, remote


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """The folder of all repositories, the library's client, whose signatures calls must fit, and the names of the files that were read."""
    folder, read = tmp_path / "hub", []
    api = create_autospec(HfApi, instance=True, endpoint="https://hub.example")

    def create(repo_id, *, repo_type, **_):
        (folder / repo_type / repo_id).mkdir(parents=True, exist_ok=True)
        return f"https://hub.example/{repo_id}"

    def upload(*, repo_id, repo_type, folder_path, delete_patterns, **_):
        repo = folder / repo_type / repo_id
        for path in [path for path in repo.rglob("*") if path.is_file()]:
            if any(fnmatch(path.relative_to(repo).as_posix(), pattern) for pattern in delete_patterns or ()):
                path.unlink()
        shutil.copytree(folder_path, repo, dirs_exist_ok=True)

    def download(repo_id, filename, **_):
        read.append(filename)
        path = folder / "model" / repo_id / filename
        if not path.exists():
            raise EntryNotFoundError(filename)
        return str(path)

    api.create_repo.side_effect, api.upload_folder.side_effect = create, upload
    monkeypatch.setattr(remote, "HfApi", lambda: api)
    for module in (model, hub_mixin):
        monkeypatch.setattr(module, "hf_hub_download", download)
    monkeypatch.setenv("HF_TOKEN", "hf_write")
    return SimpleNamespace(folder=Path(folder), api=api, read=read)
