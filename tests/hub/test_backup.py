"""The store's backup on the Hub: a server on a new disk has its runs and rooms again, and only what has changed is uploaded."""

import shutil
import time
from unittest.mock import create_autospec

import pytest
from huggingface_hub import HfApi

from playground import handin
from playground.config import Refusal
from playground.hub import backup as module
from playground.hub.backup import HubBackup
from playground.rooms.registry import DAY, Rooms
from playground.runs.identity import owner_of
from playground.runs.runtime import REAL
from tests.hub.stand_in import served_hub
from tests.runs.disk.test_saves import served
from tests.runs.tiny import ME, done, tiny


@pytest.fixture(params=["bucket", "dataset"])
def address(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def dataset():
    """The address of an empty one over HTTP."""
    with served_hub():
        yield "hf://datasets/ada/class"


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    """The same in a bucket, whose files go by Xet: here the calls must fit the signatures of the library."""
    api, there = create_autospec(HfApi, instance=True, endpoint="https://hub.example"), tmp_path / "hub.tar"

    def fetch(repo, files, **_):
        for _, target in files if there.exists() else ():
            shutil.copy(there, target)

    api.download_bucket_files.side_effect = fetch
    api.batch_bucket_files.side_effect = lambda repo, *, add: shutil.copy(add[0][0], there)
    monkeypatch.setattr(module, "HfApi", lambda: api)
    monkeypatch.setenv("HF_TOKEN", "hf_write")
    return "hf://buckets/anna/class"


def test_a_new_disk_gets_what_the_last_one_had(address, tmp_path):
    folders = [tmp_path / name for name in ("first", "second", "third")]
    backup, again, after = (HubBackup(address, folder) for folder in folders)
    backup.begin(REAL)
    assert not backup.save()
    with served(folders[0]) as runs:
        done(runs.create(tiny(steps=4), ME))
        Rooms(folders[0] / "rooms").open(ME, "en", time.time() + DAY)
        assert (backup.save(), backup.save()) == (True, False)
        key = handin.read_key(folders[0])
        assert (backup.save(), backup.save()) == (True, False)
    report = again.restore()
    assert (handin.read_key(folders[1]), report.runs, report.rooms) == (key, 1, 1)
    assert not again.save(), "what came from there needn't go back"
    with served(folders[1]) as runs:
        (run,) = runs.list_unshipped()
        assert (run.status, run.owner) == ("done", owner_of(ME))
        done(runs.create(tiny(steps=4), ME))
    again.close()
    assert after.restore().runs == 2


def test_a_server_that_can_not_read_its_backup_does_not_begin(address, tmp_path, monkeypatch):
    for wrong in ("hf://models/anna/class", "anna/class", "hf://buckets/anna"):
        with pytest.raises(Refusal, match="no place for a backup"):
            HubBackup(wrong, tmp_path)
    broken = create_autospec(HfApi, instance=True, endpoint="https://hub.example")
    broken.create_bucket.side_effect = broken.create_repo.side_effect = ConnectionError
    monkeypatch.setattr(module, "HfApi", lambda: broken)
    with pytest.raises(Refusal, match="be reached"):
        HubBackup(address, tmp_path / "store").begin(REAL)
