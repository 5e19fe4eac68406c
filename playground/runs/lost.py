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


def put_back(run: Run, message: Refusal, admission: Admission, store: Store) -> None:
    """Marks the run as failed at once, then replaces it by its last save in the background, since the disk may be slow."""
    run.eta, run.place = None, 0
    run.say("failed", message)
    run.runtime.spawn(partial(_put_back, run, message, admission, store), "lost-run")


def _put_back(run: Run, message: Refusal, admission: Admission, store: Store) -> None:
    try:
        back = store.again(run)
        back.version = run.version + 1
        back.say("interrupted", message)
        with admission.lock:
            if admission.runs.get(run.id) is not run:  # deleted meanwhile
                return
            admission.runs[run.id] = back
        store.note(back, "status", "message")
    except (Refusal, OSError) as error:
        log.warning("run %s (%s): its last save is not in its place: %s", run.name, run.id, error)
