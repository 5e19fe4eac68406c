"""A run: one experiment being trained, or trained. What it is, how far it is, and what a reader sees of it.

The worker that trains it is the only writer of everything under "how far it is". Readers take no lock: what they read is replaced whole
(`snapshot`, `probes`, `status`) or only ever grows (`history`, `replay`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from playground.config import LIVE_KNOBS, Experiment, Refusal
from playground.logs import event
from playground.runs.history import History, Probe
from playground.runs.names import owns
from playground.runs.replay import Parameters, Replay
from playground.runs.runtime import REAL, Runtime
from playground.runs.steady_clock import now

if TYPE_CHECKING:
    from playground.data.tokenizers import Tokenizer
    from playground.reading.uploads import Pairs

log = logging.getLogger(__name__)
WORKING = ("queued", "preparing", "training")  # a worker has it, or will soon
UNFINISHED = (*WORKING, "paused")  # what counts against an owner's share
RESUMABLE = ("paused", "stopped", "interrupted")  # the state is kept: training goes on exactly where it was
FINISHED = ("done", "stopped", "failed", "diverged", "interrupted")  # interrupted: the server went away while it was working
STATUSES = (*UNFINISHED, *FINISHED)
WATCHED_SECONDS = 10.0  # how long one look counts as looking
MARKS = 512  # versions that an update can start from; older ones get everything


@dataclass(frozen=True)
class Snapshot:
    """The parameters as they were after `step` steps: a copy on the CPU, which training never touches again; while a run trains also what
    they made of the probe sentences."""

    version: int
    step: int
    parameters: Parameters
    probes: tuple[Probe, ...] = ()


class Mark(NamedTuple):
    """What a reader of one version has seen of what grows, beside the rows of the curve."""

    rows: int
    validations: int
    events: int
    replay: tuple[int, ...]  # steps with a picture
    parameter_steps: tuple[int, ...]


@dataclass(eq=False)
class Run:
    """See the module. `owner` is the sha256 of the maker's token in hexadecimal ("" for shipped runs); the token itself is kept nowhere."""

    id: str
    name: str  # adjective-animal, unique among the kept runs
    experiment: Experiment
    owner: str = ""
    label: str = ""  # what the owner typed; text, never a path
    created: float = field(default_factory=now)  # seconds since 1970, UTC
    secret: bool = False  # what was changed in its model on purpose is for its reader to find out; so it is in every copy
    parent: tuple[str, int] | None = None  # forked from (run id, step)
    beside: str = ""  # id of the run that it was started beside, or that it is a copy of: what it is compared with
    first_step: int = 0  # where it began: a fork at its parent's step, with the history and the replay up to there
    shipped: bool = False
    device: str = "cpu"
    threads: int = 1  # into how many parts a batch is cut: it changes the last bits, so it is part of the record
    precision: str = "float32"  # of the products in a step; "bfloat16" where that is faster
    data: InitVar[Pairs | None] = None  # own pairs
    credit: str = ""
    longest_target: int = 0  # of its corpus, in tokens with EOS: what it writes may be as long; 0 before it is known
    visited: bool = False  # others than its owner have opened it
    sentences_shared: bool = False  # own ones are open to whoever has the run's link; else to the owner alone

    status: str = "queued"
    message: Refusal | None = None
    step: int = 0
    seconds: float = 0.0  # spent training, evaluation and replay included; waiting and pauses not
    eta: tuple[float, float] | None = None  # seconds to the end, at least and at most (see pace.py); None when not training
    place: int = 0  # in the queue for memory: 1 is next, 0 is not waiting
    checkpoint_step: int | None = None  # the step of the last save
    where: dict[str, Any] = field(default_factory=dict)  # it is trained, where that isn't the page's process, see remote.Link
    live: dict[str, Any] = field(default_factory=dict)  # the live knobs as they are to be from the next step on
    runtime: Runtime = field(default=REAL, repr=False, compare=False)  # of the server that has it

    def __post_init__(self, data: Pairs | None) -> None:
        # tenths of a second since 1970: a page that slept through a restart of the server can't mistake a new version for one it has
        self.version = time.time_ns() // 100_000_000
        self.seen()
        self._counting = threading.Lock()
        self.loading, self.disk = threading.RLock(), threading.Lock()  # whoever takes both takes them in this order
        self.marks: dict[int, Mark] = {}  # version -> what belongs to it; written by `touch` and by nobody else
        self.loaders: dict[str, Callable[[], Any]] = {}  # for parts that are on the disk
        self.parts: dict[str, Any] = {"history": History(), "replay": Replay(), "snapshot": None, "tokenizers": None, "pairs": data}
        for knob in LIVE_KNOBS:
            self.live.setdefault(knob, self.experiment.flat()[knob])

    @property
    def history(self) -> History:
        return self._part("history")

    @property
    def replay(self) -> Replay:
        return self._part("replay")

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest parameters a reader may have; None before the first step."""
        return self._part("snapshot")

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer] | None:
        """Of source and target; None before the run is prepared."""
        return self._part("tokenizers")

    @property
    def pairs(self) -> Pairs | None:
        """Own data; None when the task makes its sentences."""
        return self._part("pairs")

    def may_be_read_by(self, token: str) -> bool:
        """Whether somebody may see what it learns from: sentences that a task makes, that were shared, or that are their own."""
        return self.experiment.data.task != "own" or self.shipped or self.sentences_shared or owns(self.owner, token)

    def label_for(self, token: str) -> str:
        """What its owner typed, which is as private as the sentences; "" for anybody who may not see them."""
        return self.label if self.may_be_read_by(token) else ""

    @property
    def probes(self) -> tuple[Probe, ...]:
        return self.history.probes

    def _part(self, name: str) -> Any:
        """Read from the disk when first asked for. Raises Refusal when what is there is no run."""
        try:
            return self.parts[name]
        except KeyError:
            with self.loading:
                if name not in self.parts:
                    self.parts[name] = self.loaders[name]()
                return self.parts[name]

    def parameters_at(self, step: int | None) -> tuple[int, Parameters]:
        """(actual step, tensors by name): the newest when `step` is None, else the kept ones nearest to it. Raises Refusal."""
        snapshot = self.snapshot
        if snapshot is None:
            raise Refusal("runs.nothing_yet")
        newest = (snapshot.step, snapshot.parameters)
        if step is None:
            return newest
        try:
            kept = self.replay.parameters(step)
        except KeyError:  # none is kept
            return newest
        return newest if abs(newest[0] - step) < abs(kept[0] - step) else kept

    def live_at(self, step: int) -> dict[str, Any]:
        """The live knobs as they were in training step `step`; they may change between two steps."""
        began = self.experiment.flat()
        changed = {knob: value for after, knob, value in self.history.events if after < step}
        return {knob: changed.get(knob, began[knob]) for knob in LIVE_KNOBS}

    def memory_at(self, step: int) -> str:
        """How the decoder got the encoder's memory in training step `step`."""
        return self.live_at(step)["memory_mode"]

    def hold(self, **parts: Any) -> None:
        """The worker only: these parts are now ahead of what is on the disk, so nothing may be let go."""
        with self.loading:
            self.loaders = {}
            self.parts |= parts

    def release(self) -> None:
        """Gives the memory of what can be read back from the disk free."""
        with self.loading:
            for name in self.loaders:
                self.parts.pop(name, None)

    @property
    def steps(self) -> int:
        """The step at which the run is to end: the experiment's, unless the clock has moved it (see timed_steps.py)."""
        if self.experiment.training.minutes or "history" in self.parts:
            for _, knob, value in reversed(self.history.events):
                if knob == "steps":
                    return value
        return self.experiment.training.steps

    @property
    def unfinished(self) -> bool:
        return self.status in UNFINISHED

    @property
    def working(self) -> bool:
        return self.status in WORKING

    @property
    def resumable(self) -> bool:
        return self.status in RESUMABLE and not self.shipped

    @property
    def exact_match(self) -> float | None:
        """Of the newest validation."""
        last = self.history.validations.last()
        return last["exact_match"] if last else None

    def touch(self) -> int:
        """Says that something a reader shows has changed. Returns the new version."""
        with self._counting:
            version = self.version + 1
            if "history" in self.parts and "replay" in self.parts:
                self.marks[version] = self.mark()
            for old in list(self.marks)[:-MARKS]:
                del self.marks[old]
            self.version = version
            return version

    def mark(self) -> Mark:
        """What there is now."""
        history, replay = self.history, self.replay
        return Mark(len(history.steps), len(history.validations), len(history.events), replay.steps, replay.parameter_steps)

    def say(self, status: str, message: Refusal | None = None) -> None:
        """A new status, with the sentence that explains it; the log has it too."""
        if status != self.status:
            reason = {"reason": message.key} if message else {}
            event(log, f"run_{status}", run=self.id, name=self.name, owner=self.owner, step=self.step, **reason)
        self.status, self.message = status, message
        self.touch()

    def seen(self, token: str = "") -> None:
        """Somebody is looking, the holder of this token: snapshots are made, and the run may go on."""
        self.seen_at, self.looked_at = self.runtime.monotonic(), self.runtime.date()
        if token and not self.visited and self.owner:
            self.visited = not owns(self.owner, token)

    @property
    def unseen_seconds(self) -> float:
        """Since somebody looked; of a run that was read from the disk, since then at most."""
        return self.runtime.monotonic() - self.seen_at

    @property
    def watched(self) -> bool:
        return self.unseen_seconds < WATCHED_SECONDS
