"""The training replay of a run: frames at log-spaced steps, and rounded parameters at some of them, within a byte budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from playground.config import ModelConfig
from playground.runs.rounded import HEADER_BYTES, RoundedParameters, Shapes, round_parameters, rounded_bytes

Parameters = Mapping[str, torch.Tensor]

MAX_FRAMES, MIN_FRAMES = 48, 24  # frames of a long run, and of a short one
STEPS_PER_FRAME = 5  # steps per frame in between, so that a replay takes about the same share of any training
MAX_SAVED = 12  # frames with parameters besides the last; more if they fit into SAVED_BYTES
SAVED_BYTES = 3_250_000  # a default run takes 5 MB on the disk, and a small one has parameters at every frame
BUDGET_BYTES = 24_000_000  # the default budget for the two files of a replay
ATTENTION_FRACTION = 0.5  # maximum fraction of the budget for attention; parameters get the rest
TOP_TOKENS = 5  # likeliest tokens saved for each generated token
TOKEN_BYTES = 4 + 2 + TOP_TOKENS * (4 + 2) + 8  # id, probability, the likeliest tokens, and a share of replay.json
ROUNDING = 0.01  # maximum change of an attention weight by rounding the parameters


def replay_steps(total: int, most: int = MAX_FRAMES) -> tuple[int, ...]:
    """Returns the steps to capture: MIN_FRAMES to `most` distinct, log-spaced from 0 to `total`; all steps when there are no more."""
    steps, points = {0, total}, 2
    while len(steps) < min(max(total // STEPS_PER_FRAME, MIN_FRAMES), most, total + 1):
        points += 1
        steps = {0, total, *(round((total + 1) ** (i / (points - 1)) - 1) for i in range(points))}
    return tuple(sorted(steps))


def select_evenly(steps: Sequence[int], count: int) -> tuple[int, ...]:
    """Selects `count` steps evenly from the list, including the first and the last (only the last when `count` is 1)."""
    if count <= 1:
        return tuple(steps[-1:]) if count == 1 else ()
    places = {round(i * (len(steps) - 1) / (count - 1)) for i in range(count)}
    return tuple(steps[i] for i in sorted(places))


def include_step(steps: tuple[int, ...], step: int) -> tuple[int, ...]:
    """Returns the same number of steps with `step` replacing the nearest inner one; unchanged when there is no inner step."""
    if step in steps or len(steps) < 3:
        return steps
    nearest = min(steps[1:-1], key=lambda other: abs(other - step))
    return tuple(sorted({*steps, step} - {nearest}))


def attention_bytes(config: ModelConfig, source: int, target: int) -> int:
    """Returns the size of one completion's attention in float16: encoder, decoder and cross-attention of all layers and heads."""
    decoder = config.attention_layers("decoder") * (target * target + target * source)
    return 2 * config.n_heads * (config.attention_layers("encoder") * source * source + decoder)


@dataclass(frozen=True)
class Completion:
    """The greedy output for one probe sentence of S tokens (EOS included): T tokens, EOS last when it was generated.

    Attention is (layers, H, query, key) in float16; None when the budget has no room for a sentence this long. Decoder rows are the
    generated tokens, decoder columns the inputs (BOS first), cross-attention columns the source.
    """

    ids: tuple[int, ...]
    probabilities: np.ndarray  # (T,) float16, of the generated tokens
    top_ids: np.ndarray  # (T, TOP_TOKENS) int32, likeliest first; fewer columns when the vocabulary is smaller
    top_probabilities: np.ndarray  # (T, TOP_TOKENS) float16
    encoder: np.ndarray | None = None  # (L, H, S, S)
    decoder: np.ndarray | None = None  # (L, H, T, T)
    cross: np.ndarray | None = None  # (L, H, T, S)


@dataclass(frozen=True)
class Frame:
    """One replay frame: the completions of all probes after `step` steps, in the order of the replay's probes."""

    step: int
    completions: tuple[Completion, ...]


@dataclass(frozen=True)
class ReplayPlan:
    """The steps and parts to save, decided before the first step so that they are spread evenly over the run."""

    probes: tuple[tuple[str, str], ...] = ()  # (source, target) sentences
    lengths: tuple[tuple[int, int], ...] = ()  # of each probe: source tokens with EOS, and the output limit in tokens
    attention: tuple[bool, ...] = ()  # of each probe: whether its attention is saved
    steps: tuple[int, ...] = ()
    parameter_steps: tuple[int, ...] = ()


def plan(
    total: int, config: ModelConfig, parameters: Shapes, probes: Sequence[tuple[str, str]], lengths: Sequence[tuple[int, int]],
    budget: int = BUDGET_BYTES, frames: int = MAX_FRAMES, max_saved: int = MAX_SAVED,
) -> ReplayPlan:  # fmt: skip
    """Divides the budget: first the tokens of every frame (at most `frames`), then attention up to its fraction, shortest probe first; the
    rest goes to the parameters of at most `max_saved` frames, or of as many as SAVED_BYTES can hold.

    The last parameters are the run's own weights, which are saved anyway, so they cost nothing.
    """
    steps = replay_steps(total, frames)
    frames = len(steps) + 1  # a run that is stopped early adds one
    room = budget - 8 * HEADER_BYTES - frames * sum(target * TOKEN_BYTES for _, target in lengths)
    attention, left = [False] * len(lengths), min(room, ATTENTION_FRACTION * budget)
    for i in sorted(range(0 if config.alteration.recurrent else len(lengths)), key=lambda i: lengths[i]):
        needed = frames * attention_bytes(config, *lengths[i]) + 3 * HEADER_BYTES
        if needed <= left:
            attention[i], left, room = True, left - needed, room - needed
    first, later = rounded_bytes(parameters)
    fitting, small = (1 + int(bytes - first) // later if bytes >= first else 0 for bytes in (room, SAVED_BYTES))
    parameter_count = min(len(steps) - 1, fitting, max(max_saved, small))
    return ReplayPlan(tuple(probes), tuple(lengths), tuple(attention), steps, select_evenly(steps, 1 + parameter_count))


class Replay:
    """Frames in order of step, and parameters at some of them. Written by the worker only; any thread may read.

    Capturing saves only the inputs of a frame. The first reader materialises it, so that training does not wait for its own replay.
    """

    def __init__(self, plan: ReplayPlan | None = None) -> None:
        self.plan = plan or ReplayPlan()
        self.parameters_by_step: dict[int, RoundedParameters] = {}  # within the budget, in order of step: each precedes the next
        self.last: tuple[int, Parameters] | None = None  # the final weights of the run
        self.best: tuple[int, Parameters] | None = None  # those of the lowest validation loss, if the run keeps them
        self._frames: tuple[Frame, ...] = ()
        self._captured_steps: list[tuple[int, Callable[[], tuple[Completion, ...]]]] = []  # all later than the frames, in order of step
        self._lock = threading.Lock()

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All frames, materialised on first access."""
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
        captured = [step for step, _ in list(self._captured_steps)]  # read before the frames, so that one being materialised isn't missed
        return tuple(sorted({*captured, *(frame.step for frame in self._frames)}))

    @property
    def pending_count(self) -> int:
        """The number of frames not yet materialised."""
        return len(self._captured_steps)

    @property
    def parameter_steps(self) -> tuple[int, ...]:
        """The steps with parameters."""
        return tuple(sorted({*self.parameters_by_step, *self._exact()}))

    @property
    def stops(self) -> tuple[int, ...]:
        """The steps with a frame, and the best one."""
        best = self.best
        return tuple(sorted({*self.steps, *(best[:1] if best else ())}))

    def _exact(self) -> dict[int, Parameters]:
        """Returns the parameters that are not rounded, by step. Each is read once: the worker replaces it, or clears it when the run
        resumes."""
        return dict(exact for exact in (self.best, self.last) if exact)

    def frame(self, step: int) -> Frame | None:
        """Returns the last frame at or before `step` (otherwise the first; None in an empty replay)."""
        frames = self.frames
        before = [frame for frame in frames if frame.step <= step]
        return before[-1] if before else next(iter(frames), None)

    def parameters(self, step: int) -> tuple[int, Parameters]:
        """Returns (actual step, tensors by name): the saved parameters nearest to `step`. Raises KeyError when there are none."""
        candidates = self.parameters_by_step | self._exact()
        if not candidates:
            raise KeyError(step)
        nearest = min(candidates, key=lambda candidate: (abs(candidate - step), candidate))
        return nearest, candidates[nearest]

    def save_parameters(self, step: int, parameters: Parameters) -> RoundedParameters | None:
        """Rounds and saves the newest parameters if planned and finite; returns them rounded, or None. Called by the worker only."""
        planned = step in self.plan.parameter_steps and step != self.plan.steps[-1]
        if not planned or not all(bool(tensor.isfinite().all()) for tensor in parameters.values()):
            return None
        earlier = {at: rounded for at, rounded in self.parameters_by_step.items() if at < step}
        rounded = round_parameters(parameters, next(reversed(earlier.values()), None))
        self.parameters_by_step = earlier | {step: rounded}
        return rounded

    def capture(self, step: int, materialise: Callable[[], tuple[Completion, ...]]) -> None:
        """Adds a frame at `step`, replacing any from `step` on. Called by the worker only."""
        if step in self.steps:
            self.frames = tuple([frame for frame in self.frames if frame.step < step])
        self._captured_steps.append((step, materialise))

    def end(self, parameters: Parameters) -> None:
        """Ends the replay at the newest frame, with these weights. Called by the worker only."""
        if self.steps and self.steps[-1] not in self.parameters_by_step:
            self.last = (self.steps[-1], parameters)
        for rounded in self.parameters_by_step.values():
            rounded.read = None

    def resume_at(self, step: int, total: int, parameters: Parameters, changed: bool = False) -> Replay:
        """Returns the replay of a run that resumes at `step`, with these parameters, and ends at `total`: the same number of frames,
        including those up to `step`. Parameters saved up to there are reused, since rounding them again would change them; with `changed`
        parameters those of `step` are not, nor is its frame. A lost replay, which has no plan, starts afresh."""
        old = self.plan
        steps = old.steps
        if not steps:
            return Replay()
        if total > steps[-1]:
            later = [step + more for more in replay_steps(total - step)[1:]]
            steps = select_evenly((*(old_step for old_step in steps if old_step <= step), *later), len(steps))
        steps = include_step(steps, step)
        earlier, planned_count = [at for at in self.parameters_by_step if at <= step], len(old.parameter_steps)
        later = select_evenly([at for at in steps if at >= step], max(planned_count - len(earlier), planned_count // 2))
        resumed = Replay(replace(old, steps=steps, parameter_steps=tuple(sorted({*earlier, *later}))))
        resumed.frames, resumed.parameters_by_step = self.frames, dict(self.parameters_by_step)
        resumed.reopen(step - changed)
        if step not in resumed.parameters_by_step:
            resumed.save_parameters(step, parameters)
        return resumed

    def reopen(self, step: int) -> None:
        """Resumes the replay at `step`: drops later frames, and those that exist only because the run had ended."""
        self.last = None
        self.best = self.best if self.best and self.best[0] <= step else None
        self.frames = tuple([frame for frame in self.frames if frame.step <= step and frame.step in self.plan.steps])
        self.parameters_by_step = {at: parameters for at, parameters in self.parameters_by_step.items() if at <= step}
