"""A run with a turn that never ends. Nobody can stop who is in it, so the run is read once more from its last save, and that is the run
from now on; what is still being written to in memory is nobody's, and gone when the turn is.
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
    """Says at once that the run is over, and then has its last save in its place; the disk may take its time."""
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
