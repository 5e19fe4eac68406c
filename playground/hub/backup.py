"""Backup of a server's store in its owner's bucket or dataset on the Hub, for hosts whose disk is lost when they sleep: brought back at the
start, uploaded every few minutes and at the end."""

import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import EntryNotFoundError

from playground import logs
from playground.backup import Report, bring, export
from playground.config import Refusal
from playground.handin import KEY_FILE
from playground.hub.model import check_name, translate_errors
from playground.runs.runtime import Loop, Runtime

log = logs.logging.getLogger(__name__)
ADDRESS = re.compile(r"hf://(buckets|datasets)/([^/]+/[^/]+)/?")
SECONDS = 300.0  # between two looks at what has changed
FILE = "store.tar"


class HubBackup:
    """One archive of the store at `address`, overwritten each time: a bucket keeps no earlier one, a dataset's history is squashed."""

    def __init__(self, address: str, root: Path) -> None:
        """Raises Refusal for another kind of address."""
        match = ADDRESS.fullmatch(address)
        if not match:
            raise Refusal("hub.not_a_backup", address=address[:100])
        self._is_bucket, self._repo, self._root = match[1] == "buckets", check_name(match[2]), root
        self._uploaded: frozenset = frozenset()
        self._loop: Loop | None = None

    def begin(self, runtime: Runtime) -> None:
        """Restores the store, and begins to upload what changes. Raises as `restore`."""
        report = self.restore()
        logs.event(log, "store_restored", runs=report.runs, rooms=report.rooms, left_out=len(report.notes))
        self._loop = Loop(self._try_save, "backup", SECONDS, runtime)

    def close(self) -> None:
        """Uploads what has changed since the last time."""
        if self._loop:
            self._loop.close()
        self._try_save()

    def restore(self) -> Report:
        """Brings back what this disk doesn't have, before a server uses it; creates a private bucket or dataset. Raises Refusal and
        OSError: a server that went on without its backup would overwrite it."""
        if get_token() is None:
            raise Refusal("hub.no_token")
        api, report = HfApi(), Report()
        with translate_errors(self._repo), TemporaryDirectory() as folder:
            archive = Path(folder, FILE)
            if self._is_bucket:
                api.create_bucket(self._repo, private=True, exist_ok=True)
                api.download_bucket_files(self._repo, [(FILE, archive)])  # a missing one is passed over
            else:
                api.create_repo(self._repo, repo_type="dataset", private=True, exist_ok=True)
                with suppress(EntryNotFoundError):  # nothing was uploaded yet
                    api.hf_hub_download(self._repo, FILE, repo_type="dataset", local_dir=folder)
            if archive.exists():
                report = bring(archive, self._root)
        self._uploaded = self._list_state()
        return report

    def save(self) -> bool:
        """Uploads the store if it has changed since the last time; returns whether it has. Raises Refusal and OSError."""
        state = self._list_state()
        if state == self._uploaded:
            return False
        with translate_errors(self._repo), TemporaryDirectory() as folder:
            archive, api = Path(folder, FILE), HfApi()
            export(self._root, archive)
            if self._is_bucket:
                api.batch_bucket_files(self._repo, add=[(archive, FILE)])
            else:
                api.upload_file(path_or_fileobj=archive, path_in_repo=FILE, repo_id=self._repo, repo_type="dataset")
                api.super_squash_history(self._repo, repo_type="dataset")
        self._uploaded = state
        return True

    def _try_save(self) -> None:
        """Uploads what has changed, and logs an error: the next time tries again."""
        try:
            if self.save():
                logs.event(log, "store_uploaded")
        except (Refusal, OSError) as error:
            logs.event(log, "upload_failed", logs.logging.WARNING, reason=error.key if isinstance(error, Refusal) else logs.reason(error))

    def _list_state(self) -> frozenset:
        """Lists the saves, rooms and key of the store with their times: each save is a new folder, each room a new file."""
        places = (path for name in ("runs/*", "rooms/*", KEY_FILE) for path in self._root.glob(name) if not path.name.startswith("."))
        return frozenset((path.name, path.stat().st_mtime_ns) for path in places)
