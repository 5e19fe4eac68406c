"""A run whose turn hangs. A hung step can't be killed, so the run is reloaded from its last save; the abandoned object, to which the thread
may still write, is garbage once the turn ends.
"""

from __future__ import annotations

import logging
from functools import partial

from playground.config import Refusal
from playground.runs.admission import Admission
from playground.runs.disk.store import Store
from playground.runs.run import Run

log = logging.getLogger(__name__)


def restore_last_save(run: Run, message: Refusal, admission: Admission, store: Store) -> None:
    """Marks the run as failed at once, then replaces it by its last save in the background, since the disk may be slow."""
    run.eta, run.place = None, 0
    run.set_status("failed", message)
    run.runtime.spawn(partial(_restore_last_save, run, message, admission, store), "lost-run")


def _restore_last_save(run: Run, message: Refusal, admission: Admission, store: Store) -> None:
    try:
        reloaded = store.reload(run)
        reloaded.version = run.version + 1
        reloaded.set_status("interrupted", message)
        with admission.lock:
            if admission.runs.get(run.id) is not run:  # deleted meanwhile
                return
            admission.runs[run.id] = reloaded
        store.write_card(reloaded, "status", "message")
    except (Refusal, OSError) as error:
        log.warning("run %s (%s): its last save is not in its place: %s", run.name, run.id, error)
