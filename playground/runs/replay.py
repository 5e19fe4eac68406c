"""The replay of a run: pictures taken at log-spaced steps, and rounded parameters at some of them, as the byte budget allows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from playground.config import ModelConfig
from playground.runs.rounded import HEADER_BYTES, RoundedParameters, Shapes, round_parameters, rounded_bytes

Parameters = Mapping[str, torch.Tensor]

MAX_FRAMES, MIN_FRAMES = 48, 24  # pictures of a long run, and of a short one
EVERY = 5  # steps of a run in between for each picture: so that a replay takes about the same share of a training, long or short
MAX_KEPT = 12  # of the pictures of a run have parameters, beside the last, or as many as
KEPT_BYTES = 3_250_000  # hold: a default run takes 5 MB on the disk, and a small one can be gone back to at every picture
BUDGET_BYTES = 24_000_000  # the default budget for the two files of a replay
ATTENTION = 0.5  # the most of the budget that attention takes; parameters get what is left
TOP_TOKENS = 5  # likeliest tokens kept for every token written
TOKEN_BYTES = 4 + 2 + TOP_TOKENS * (4 + 2) + 8  # id, probability, the likeliest ones, and a share of replay.json
ROUNDING = 0.01  # the most by which rounded parameters may change an attention weight


def replay_steps(total: int, most: int = MAX_FRAMES) -> tuple[int, ...]:
    """The steps to picture: MIN_FRAMES to `most` distinct ones, log-spaced, from 0 to `total`; all when there are no more."""
    steps, points = {0, total}, 2
    while len(steps) < min(max(total // EVERY, MIN_FRAMES), most, total + 1):
        points += 1
        steps = {0, total, *(round((total + 1) ** (i / (points - 1)) - 1) for i in range(points))}
    return tuple(sorted(steps))


def spread(steps: Sequence[int], count: int) -> tuple[int, ...]:
    """`count` of the steps, evenly over the list, the first and the last among them (only the last when there is room for one)."""
    if count <= 1:
        return tuple(steps[-1:]) if count == 1 else ()
    places = {round(i * (len(steps) - 1) / (count - 1)) for i in range(count)}
    return tuple(steps[i] for i in sorted(places))


def including(steps: tuple[int, ...], step: int) -> tuple[int, ...]:
    """As many steps, `step` among them in the place of the nearest one that is neither the first nor the last; the same when there is
    no such place."""
    if step in steps or len(steps) < 3:
        return steps
    nearest = min(steps[1:-1], key=lambda other: abs(other - step))
    return tuple(sorted({*steps, step} - {nearest}))


def attention_bytes(config: ModelConfig, source: int, target: int) -> int:
    """Of one completion in float16: encoder, decoder and cross-attention of all layers and heads."""
    decoder = config.decoder_layers * (target * target + target * source)
    return 2 * config.n_heads * (config.encoder_layers * source * source + decoder)


@dataclass(frozen=True)
class Completion:
    """What the model made of one probe sentence of S tokens (EOS included): T tokens written greedily, EOS last when it came.

    Attention is (layers, H, ., .) float16, rows ask; None when the budget has no room for a sentence this long. Decoder rows ask for the
    written tokens, decoder columns are what was fed (BOS first), columns of cross are the source.
    """

    ids: tuple[int, ...]
    probabilities: np.ndarray  # (T,) float16, of the written tokens
    top_ids: np.ndarray  # (T, TOP_TOKENS) int32, likeliest first; fewer columns when the vocabulary is smaller
    top_probabilities: np.ndarray  # (T, TOP_TOKENS) float16
    encoder: np.ndarray | None = None  # (L, H, S, S)
    decoder: np.ndarray | None = None  # (L, H, T, T)
    cross: np.ndarray | None = None  # (L, H, T, S)


@dataclass(frozen=True)
class Frame:
    """One picture: the completions of all probes after `step` steps, in the order of the replay's probes."""

    step: int
    completions: tuple[Completion, ...]


@dataclass(frozen=True)
class ReplayPlan:
    """What will be kept, decided before the first step so that it is spread evenly over the run."""

    probes: tuple[tuple[str, str], ...] = ()  # (source, target) sentences
    lengths: tuple[tuple[int, int], ...] = ()  # of each probe: source tokens with EOS, and the most tokens it may write
    attention: tuple[bool, ...] = ()  # of each probe: whether its attention is kept
    steps: tuple[int, ...] = ()
    parameter_steps: tuple[int, ...] = ()


def plan(
    total: int, config: ModelConfig, parameters: Shapes, probes: Sequence[tuple[str, str]], lengths: Sequence[tuple[int, int]],
    budget: int = BUDGET_BYTES, frames: int = MAX_FRAMES, most_kept: int = MAX_KEPT,
) -> ReplayPlan:  # fmt: skip
    """Shares the budget out: tokens of every frame, of which there are at most `frames`, first; attention, shortest probe first, up to
    its share; parameters of at most `most_kept` frames, or of as many as KEPT_BYTES hold, get the rest.

    The last parameters are the run's own weights, which are kept anyway, so they take nothing from the budget.
    """
    steps = replay_steps(total, frames)
    frames = len(steps) + 1  # a run that is cut short adds one
    room = budget - 8 * HEADER_BYTES - frames * sum(target * TOKEN_BYTES for _, target in lengths)
    attention, left = [False] * len(lengths), min(room, ATTENTION * budget)
    for i in sorted(range(0 if config.alteration.recurrent else len(lengths)), key=lambda i: lengths[i]):
        needed = frames * attention_bytes(config, *lengths[i]) + 3 * HEADER_BYTES
        if needed <= left:
            attention[i], left, room = True, left - needed, room - needed
    first, later = rounded_bytes(parameters)
    fitting, small = (1 + int(bytes - first) // later if bytes >= first else 0 for bytes in (room, KEPT_BYTES))
    kept = min(len(steps) - 1, fitting, max(most_kept, small))
    return ReplayPlan(tuple(probes), tuple(lengths), tuple(attention), steps, spread(steps, 1 + kept))


class Replay:
    """Frames in order of step, and parameters at some of them. The worker captures; anyone reads.

    To capture is to keep what a picture needs. The picture is made when somebody first wants to see the replay, by whoever that is, so that
    a run which is training does not wait for its pictures.
    """

    def __init__(self, plan: ReplayPlan | None = None) -> None:
        self.plan = plan or ReplayPlan()
        self.kept: dict[int, RoundedParameters] = {}  # inside the budget, in order of step: each is the one before the next
        self.last: tuple[int, Parameters] | None = None  # the run's weights where it ended
        self._frames: tuple[Frame, ...] = ()
        self._captured_steps: list[tuple[int, Callable[[], tuple[Completion, ...]]]] = []  # later than all frames, in order of step
        self._lock = threading.Lock()

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All pictures, materialised."""
        if self._captured_steps:
            with self._lock:
                while self._captured_steps:
                    step, materialise = self._captured_steps[0]
                    self._frames = (*self._frames, Frame(step, materialise()))
                    del self._captured_steps[0]
        return self._frames

    @frames.setter
    def frames(self, frames: tuple[Frame, ...]) -> None:
        self._frames, self._captured_steps = frames, []

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps with a frame."""
        captured = [step for step, _ in list(self._captured_steps)]  # before the frames: one that is materialised meanwhile is not missed
        return tuple(sorted({*captured, *(frame.step for frame in self._frames)}))

    @property
    def waiting(self) -> int:
        """How many pictures are still to be materialised."""
        return len(self._captured_steps)

    @property
    def parameter_steps(self) -> tuple[int, ...]:
        """The steps with parameters."""
        last, kept = self.last, list(self.kept)
        return tuple(sorted({*kept, *([last[0]] if last else ())}))

    def frame(self, step: int) -> Frame | None:
        """The last frame at or before `step` (the first frame when none is; None in an empty replay)."""
        frames = self.frames
        before = [frame for frame in frames if frame.step <= step]
        return before[-1] if before else next(iter(frames), None)

    def parameters(self, step: int) -> tuple[int, Parameters]:
        """(actual step, tensors by name): the kept parameters nearest to `step`. Raises KeyError when there are none."""
        last = self.last  # read once: the worker takes it away when the run goes on
        found = dict([last] if last else ()) | self.kept
        if not found:
            raise KeyError(step)
        nearest = min(found, key=lambda kept: (abs(kept - step), kept))
        return nearest, found[nearest]

    def keep(self, step: int, parameters: Parameters) -> RoundedParameters | None:
        """The worker only: the newest parameters, where the plan keeps them here and they are numbers. Returns what is kept of them."""
        planned = step in self.plan.parameter_steps and step != self.plan.steps[-1]
        if not planned or not all(bool(tensor.isfinite().all()) for tensor in parameters.values()):
            return None
        earlier = {at: kept for at, kept in self.kept.items() if at < step}
        kept = round_parameters(parameters, next(reversed(earlier.values()), None))
        self.kept = earlier | {step: kept}
        return kept

    def capture(self, step: int, materialise: Callable[[], tuple[Completion, ...]]) -> None:
        """The worker only: the newest frame (again, maybe)."""
        if step in self.steps:
            self.frames = tuple([frame for frame in self.frames if frame.step < step])
        self._captured_steps.append((step, materialise))

    def end(self, parameters: Parameters) -> None:
        """The worker only: the run ends at the newest frame, with these weights."""
        if self.steps and self.steps[-1] not in self.kept:
            self.last = (self.steps[-1], parameters)
        for kept in self.kept.values():
            kept.read = None

    def until(self, step: int, total: int, parameters: Parameters) -> Replay:
        """The replay of a run that goes on from `step`, with these parameters, to `total`: as many pictures, those up to `step` taken. All
        parameters that were kept up to there stay, since what is rounded again would be other numbers. A replay that was lost, and has no
        plan, begins anew."""
        old = self.plan
        steps = old.steps
        if not steps:
            return Replay()
        if total > steps[-1]:
            later = [step + more for more in replay_steps(total - step)[1:]]
            steps = spread((*(old_step for old_step in steps if old_step <= step), *later), len(steps))
        steps = including(steps, step)
        earlier, most = [at for at in self.kept if at <= step], len(old.parameter_steps)
        later = spread([at for at in steps if at >= step], max(most - len(earlier), most // 2))
        early = Replay(replace(old, steps=steps, parameter_steps=tuple(sorted({*earlier, *later}))))
        early.frames, early.kept = self.frames, dict(self.kept)
        early.reopen(step)
        if step not in early.kept:
            early.keep(step, parameters)
        return early

    def reopen(self, step: int) -> None:
        """The run goes on from `step`: what comes later, or was only there because it had ended, is taken out."""
        self.last = None
        self.frames = tuple([frame for frame in self.frames if frame.step <= step and frame.step in self.plan.steps])
        self.kept = {kept: parameters for kept, parameters in self.kept.items() if kept <= step}
