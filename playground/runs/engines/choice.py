"""Which engine a run begins on, and stays on: the page's process, or one beside it."""

from __future__ import annotations

import logging
import multiprocessing
import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from playground.logs import event, reason
from playground.runs.corpora import Corpora
from playground.runs.engines.children import Child
from playground.runs.engines.in_process import InProcess
from playground.runs.engines.remote import Remote
from playground.runs.engines.trainer import Trainer
from playground.runs.limits import Limits
from playground.runs.run import Run

log = logging.getLogger(__name__)
PRELOADED = "playground.runs.engines.preloaded"


class Engines:
    """A lone run is trained where it was asked for, on all cores that it can use. The processes are for those who come while another is at
    work, or, with limits.engine "processes", for all; with "here", for none. A GPU has one process anyway."""

    def __init__(self, corpora: Corpora, limits: Limits) -> None:
        """Begins to start the processes. As long as none is ready, runs are trained here."""
        self._corpora, self._limits = corpora, limits
        self.ready: list[Child] = []
        self._children: list[Child] = []
        wanted = limits.engine == "processes" or (limits.engine == "auto" and limits.cores > 1)
        if wanted and "cpu" in limits.devices and "forkserver" in multiprocessing.get_all_start_methods():
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([PRELOADED])
            self._children = [Child(number, context, limits.step_seconds) for number in range(limits.cores)]
        self._starter = threading.Thread(target=self._start, name="starter", daemon=True)
        self._starter.start()

    def trainer(self, run: Run, others: Iterable[Trainer]) -> Trainer:
        """For a run that begins beside `others`."""
        others = list(others)
        alone = self._limits.engine == "auto" and not others
        if run.device != "cpu" or alone or not self.ready:
            return InProcess(run, self._corpora, self._limits.replay_bytes)
        return Remote(run, self._quietest(others), self._limits.replay_bytes)

    def better(self, run: Run, trainer: Trainer, others: Iterable[Trainer]) -> Trainer | None:
        """Another process, where one has two trainings less than the one that this run is in."""
        if trainer.lane not in self.ready:
            return None
        others = list(others)
        quietest, busy = self._quietest(others), Counter(other.lane for other in others)
        if busy[trainer.lane] > busy[quietest]:
            return Remote(run, quietest, self._limits.replay_bytes)
        return None

    def close(self) -> None:
        """Ends every process. What was trained there is gone."""
        children, self._children = self._children, []
        while True:
            is_starting = self._starter.is_alive()
            for child in children:
                child.close()
            if not is_starting:
                return
            self._starter.join(0.05)  # until what is being started is there to be ended

    def _quietest(self, others: Sequence[Trainer]) -> Child:
        busy = Counter(other.lane for other in others)
        return min(self.ready, key=lambda child: busy[child])

    def _start(self) -> None:
        for child in tuple(self._children):
            if not self._children:  # closed meanwhile
                return
            try:
                child.start()
            except Exception as error:  # the page's process trains as well
                if self._children:
                    event(log, "no_process", logging.WARNING, error=reason(error))
                return
            self.ready.append(child)
