"""The stand-in for the Hub, and a visitor with a token who speaks to nothing else."""

import pytest
from huggingface_hub import constants

from tests.hub.stand_in import TOKEN, standing_in


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with standing_in() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # its storage speaks a protocol of its own; LFS is what it replaces
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield hub
