"""A run: one experiment that is training or trained, its progress, and the snapshot that readers see.

The worker that trains it is the only writer of everything under "progress". Readers are lock-free: `snapshot`, `probes` and `status` are
replaced whole, `history` and `replay` are append-only.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from playground.config import LIVE_KNOBS, Experiment, Refusal
from playground.logs import event
from playground.runs.history import History, Probe
from playground.runs.identity import owns
from playground.runs.orders import RESUMABLE, UNFINISHED, WORKING, next_status
from playground.runs.replay import Parameters, Replay
from playground.runs.runtime import REAL, Runtime, now

if TYPE_CHECKING:
    from playground.data.tokenizers import Tokenizer
    from playground.reading.pairs import Pairs

log = logging.getLogger(__name__)
WATCHED_SECONDS = 10.0  # a run counts as watched for this long after a view
MAX_MARKS = 512  # versions that an update can start from; readers of older ones get everything


@dataclass(frozen=True)
class Snapshot:
    """The parameters after `step` steps: a CPU copy that training never modifies; while a run trains, also the probe completions that they
    produced."""

    version: int
    step: int
    parameters: Parameters
    probes: tuple[Probe, ...] = ()


class Mark(NamedTuple):
    """The sizes of a run's growing parts at one version, beside the rows of the curve."""

    rows: int
    validations: int
    events: int
    replay: tuple[int, ...]  # steps with a frame, and the best one
    parameter_steps: tuple[int, ...]


@dataclass(eq=False)
class Run:
    """One run. `owner` is the sha256 of the creator's token in hexadecimal ("" for shipped runs); the token itself is never stored."""

    id: str
    name: str  # adjective-animal, unique among the saved runs
    experiment: Experiment
    owner: str = ""
    label: str = ""  # typed by the owner; text, never a path
    created: float = field(default_factory=now)  # seconds since 1970, UTC
    secret: bool = False  # its model was changed on purpose, for its reader to find out how; copies inherit the flag
    parent: tuple[str, int] | None = None  # forked from (run id, step)
    beside: str = ""  # id of the run that it is compared with: started together, or copied from
    guess: str = ""  # of a lab, and its confidence, with which its visitor trained this arm: "grows~75"
    first_step: int = 0  # of a fork, its parent's step; history and replay up to there are included
    edits: int = 0  # typed over in its parent's parameters before it began
    shipped: bool = False
    device: str = "cpu"
    threads: int = 1  # parts that a batch is split into: it changes the last bits, so it is recorded
    precision: str = "float32"  # of the matrix products in a step; "bfloat16" where that is faster
    data: InitVar[Pairs | None] = None  # uploaded pairs
    credit: str = ""
    longest_target: int = 0  # the corpus's maximum, in tokens with EOS, which bounds the output; 0 before it is known
    visited: bool = False  # whether a visitor other than its owner has opened it
    sentences_shared: bool = False  # whether uploaded sentences are readable with the run's link; otherwise only by the owner

    status: str = "queued"
    message: Refusal | None = None
    step: int = 0
    seconds: float = 0.0  # training time, including evaluation and replay, excluding waiting and pauses
    eta: tuple[float, float] | None = None  # seconds to the end, lower and upper bound (see forecast.py); None when not training
    place: int = 0  # in the queue for memory: 1 is next, 0 is not waiting
    checkpoint_step: int | None = None  # the step of the last save
    where: dict[str, Any] = field(default_factory=dict)  # the process that trains it, if not the page's, see choice.Link
    live: dict[str, Any] = field(default_factory=dict)  # live knobs that apply from the next step on
    runtime: Runtime = field(default=REAL, repr=False, compare=False)  # clocks and threads of its server

    def __post_init__(self, data: Pairs | None) -> None:
        # tenths of a second since 1970: a page that slept through a restart of the server can't mistake a new version for one it has
        self.version = time.time_ns() // 100_000_000
        self.mark_seen()
        self._version_lock = threading.Lock()
        self.loading, self.disk = threading.RLock(), threading.Lock()  # lock order: loading, then disk
        self.marks: dict[int, Mark] = {}  # by version; written only by `touch`
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
        """The newest parameters available to readers; None before the first step."""
        return self._part("snapshot")

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer] | None:
        """Of source and target; None before the run is prepared."""
        return self._part("tokenizers")

    @property
    def pairs(self) -> Pairs | None:
        """Uploaded pairs; None when the task generates its sentences."""
        return self._part("pairs")

    @property
    def base(self) -> tuple[str, int] | None:
        """The (run id, step) that it was fine-tuned from, on other sentences; None for any other run, and for a fork."""
        return None if self.first_step or self.edits or self.experiment.data.task != "own" else self.parent

    def may_be_read_by(self, token: str) -> bool:
        """Returns whether the token's holder may see the training sentences: generated by a task, shared, or the holder's own."""
        return self.experiment.data.task != "own" or self.shipped or self.sentences_shared or owns(self.owner, token)

    def label_for(self, token: str) -> str:
        """Returns the owner's label, which is as private as the sentences; "" for a visitor who may not see them."""
        return self.label if self.may_be_read_by(token) else ""

    @property
    def probes(self) -> tuple[Probe, ...]:
        return self.history.probes

    def _part(self, name: str) -> Any:
        """Loads a part from the disk on first access. Raises Refusal when the file is damaged."""
        try:
            return self.parts[name]
        except KeyError:
            with self.loading:
                if name not in self.parts:
                    self.parts[name] = self.loaders[name]()
                return self.parts[name]

    def parameters_at(self, step: int | None) -> tuple[int, Parameters]:
        """Returns (actual step, tensors by name): the newest when `step` is None, otherwise the nearest saved ones. Raises Refusal."""
        snapshot = self.snapshot
        if snapshot is None:
            raise Refusal("runs.nothing_yet")
        newest = (snapshot.step, snapshot.parameters)
        if step is None:
            return newest
        try:
            nearest = self.replay.parameters(step)
        except KeyError:  # the replay has no parameters
            return newest
        return newest if abs(newest[0] - step) < abs(nearest[0] - step) else nearest

    def average(self, count: int) -> None:
        """Replaces the newest parameters, in memory only, by the mean of the last `count` saved ones: checkpoint averaging (Vaswani et al.
        2017, section 6.1). A run whose replay has fewer is averaged over those. Raises Refusal: also for less than 1, and where only the
        newest are kept."""
        if count < 1:
            raise Refusal("runs.bad_average", average=count)
        if count == 1:
            return
        step, newest = self.parameters_at(None)
        earlier = [at for at in self.replay.parameter_steps if at < step][::-1][: count - 1]
        if not earlier:
            raise Refusal("runs.no_average", name=self.label or self.name)
        saved = [newest, *(self.replay.parameters(at)[1] for at in earlier)]
        mean = {name: torch.stack([parameters[name] for parameters in saved]).mean(dim=0) for name in newest}
        self.parts["snapshot"] = Snapshot(0, step, mean)

    def live_at(self, step: int) -> dict[str, Any]:
        """Returns the live knobs that were in effect at training step `step`; they may change between two steps."""
        initial = self.experiment.flat()
        changed = {knob: value for after, knob, value in self.history.events if after < step}
        return {knob: changed.get(knob, initial[knob]) for knob in LIVE_KNOBS}

    def memory_mode_at(self, step: int) -> str:
        """Returns the memory_mode in effect at training step `step`."""
        return self.live_at(step)["memory_mode"]

    def hold(self, **parts: Any) -> None:
        """Holds these parts in memory only: they are newer than the disk, so `release` can't drop any. Called by the worker only."""
        with self.loading:
            self.loaders = {}
            self.parts |= parts

    def release(self) -> None:
        """Frees the parts that can be reloaded from the disk."""
        with self.loading:
            for name in self.loaders:
                self.parts.pop(name, None)

    @property
    def steps(self) -> int:
        """The planned last step: the experiment's, unless a time limit has moved it (see TimedSteps)."""
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
        """The newest validation's exact match."""
        last = self.history.validations.last()
        return last["exact_match"] if last else None

    @property
    def beam_width(self) -> int:
        """The beam width with which to decode by default: the one that scored higher at the end of training; 1 is greedy decoding."""
        return self.history.beam.best_width if self.history.beam else 1

    def touch(self) -> int:
        """Marks the run as changed for its readers. Returns the new version."""
        with self._version_lock:
            return self._bump_version()

    def _bump_version(self) -> int:
        version = self.version + 1
        if "history" in self.parts and "replay" in self.parts:
            self.marks[version] = self.mark()
        for old in list(self.marks)[:-MAX_MARKS]:
            del self.marks[old]
        self.version = version
        return version

    def mark(self) -> Mark:
        """Returns the present sizes."""
        history, replay = self.history, self.replay
        return Mark(len(history.steps), len(history.validations), len(history.events), replay.stops, replay.parameter_steps)

    def set_status(self, status: str, message: Refusal | None = None) -> None:
        """Sets the status and the message that explains it, and logs the change. The version grows last: a reader that has met half of the
        change gets it again."""
        if status != self.status:
            reason = {"reason": message.key} if message else {}
            event(log, f"run_{status}", run=self.id, name=self.name, owner=self.owner, step=self.step, **reason)
        with self._version_lock:
            self.status, self.message = status, message
            self._bump_version()

    def obey(self, order: str, message: Refusal | None = None) -> None:
        """Carries out an order at once, see orders.py. Raises Refusal where it is none for a run of this status."""
        self.set_status(next_status(self.status, order), message)

    def mark_seen(self, token: str = "") -> None:
        """Records a view by the token's holder: enables live snapshots and postpones the idle stop."""
        self.seen_at, self.looked_at = self.runtime.monotonic(), self.runtime.date()
        if token and not self.visited and self.owner:
            self.visited = not owns(self.owner, token)

    @property
    def unseen_seconds(self) -> float:
        """Seconds since the last view; for a run loaded from the disk, since loading at most."""
        return self.runtime.monotonic() - self.seen_at

    @property
    def watched(self) -> bool:
        return self.unseen_seconds < WATCHED_SECONDS
