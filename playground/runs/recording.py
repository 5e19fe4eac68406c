"""Records training: every step, validation and frame goes into the run's history and replay. No threads and no disk here.

The scheduler's worker and the command line share this code; their runs are bit for bit the same.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

import torch

from playground.config import EOS, LIVE_KNOBS, Refusal
from playground.data.corpus import Item
from playground.model.copies import trainable_copy
from playground.model.transformer import Transformer
from playground.runs.completer import Completer
from playground.runs.forecast import TimedSteps
from playground.runs.history import MAX_DIAGNOSTICS, Probe, get_pieces, tokens_correct
from playground.runs.replay import BUDGET_BYTES, MAX_FRAMES, MAX_SAVED, Completion, ReplayPlan, plan, select_evenly
from playground.runs.rounded import HEADER_BYTES, shapes_of
from playground.runs.run import Run, Snapshot
from playground.runs.runtime import Clock
from playground.training.loop import Live, Training
from playground.words import percentage

DIAGNOSED_VALIDATIONS, DIAGNOSED_FRAMES = 64, 20  # the most validations, and replay frames, whose step has diagnostics
LIVE_PERIOD_S = 0.4  # minimum time between two live snapshots of a watched run
LIVE_FRACTION = 0.03  # maximum fraction of the time for live snapshots
PROGRESS_PERIOD_S = 0.1  # seconds between two progress updates for viewers
BRIEF, FULL_FROM = 100, 0.5  # sentences of a short validation, and the exact match from which on it is a full one


class Recording:
    """Trains and records one run. `steps()` is a generator: to pause, stop iterating."""

    def __init__(
        self, run: Run, training: Training, replay_bytes: int = BUDGET_BYTES, frames: int = MAX_FRAMES, clock: Clock = time.perf_counter,
        max_saved: int = MAX_SAVED,
    ) -> None:  # fmt: skip
        """`frames` and `max_saved` limit the replay's frames, and those with parameters."""
        corpus, self.clock = training.corpus, clock
        self.run, self.corpus, self.training = run, corpus, training
        self.probes = corpus.probes
        shadow = trainable_copy(training.model)
        self._completer = Completer(self.probes, corpus.longest, lambda: shadow)
        self._next_live, self._newest = 0.0, ()  # when a viewer's next snapshot is due; the newest completions
        self._next_update = 0.0
        self._captured = False  # whether the replay's newest frame shows the present model
        self._size = sum(p.numel() * p.element_size() + HEADER_BYTES for p in training.model.parameters())
        self._replay_bytes = replay_bytes  # limits the frames not yet materialised as well
        run.parts["tokenizers"] = (corpus.src_tokenizer, corpus.tgt_tokenizer)
        run.longest_target = corpus.longest_target
        replay = run.replay
        if not replay.plan.steps:
            replay.plan = self._plan(frames, max_saved)
        training.diagnostic_steps = (
            diagnostic_steps(run, replay.plan) if run.experiment.model.alteration.is_built_of_layers else frozenset()
        )  # see training/diagnostics.py
        if training.step < training.planned:
            replay.reopen(training.step)
        run.step = training.step
        minutes = run.experiment.training.minutes
        self._timed = TimedSteps(minutes, run.experiment.training.steps, run.step, run.seconds) if minutes else None

    def _plan(self, frames: int, max_saved: int) -> ReplayPlan:
        sentences = [(item.src, item.tgt) for item in self.probes]
        lengths = [(len(item.src_ids) + 1, limit) for item, limit in zip(self.probes, self._completer.limits, strict=True)]
        model = self.training.model
        shapes = shapes_of(dict(model.named_parameters()))
        return plan(self.run.steps, model.config, shapes, sentences, lengths, self._replay_bytes, frames, max_saved)

    def steps(self) -> Iterator[int]:
        """Trains and records one step per next(); yields its number. Ends when the run is done; raises Diverged."""
        run, training = self.run, self.training
        started = self.clock()
        if training.step in run.replay.plan.steps and training.step not in run.replay.steps:  # the first frame
            self._capture_frame(look=True)
        elif not run.probes:
            self.show()
        steps = training.steps()
        while self._has_next_step():
            before, self._captured = self.clock(), False
            step = next(steps)
            after = self.clock()
            if step.diagnostics:
                run.history.add_diagnostics(step.step, step.diagnostics)
            run.history.steps.append(step.step, step.loss, step.learning_rate, step.grad_norm, step.tokens / max(after - before, 1e-9))
            run.step = step.step
            self._do_due_work()
            now = self.clock()
            run.seconds += now - started
            if self._timed and (planned := self._timed.plan(run.step, run.seconds)):
                self._plan_steps(planned)
            yield step.step
            started = self.clock()

    def _has_next_step(self) -> bool:
        """Applies the live knobs and returns whether another step follows; replayed events may extend the run."""
        if self._is_over():
            return False
        self._apply_live_knobs()
        return self.training.step < self.training.planned

    def _do_due_work(self) -> None:
        """Does the work that is due after a step: validation, replay frame, live snapshot, progress update."""
        run, step = self.run, self.run.step
        if step % run.experiment.training.eval_every == 0:
            self.validate(is_full=step == self.training.planned)
        look = run.watched and self.clock() >= self._next_live
        if step in run.replay.plan.steps:
            self._capture_frame(look)
        elif look:
            self.show()
        if run.watched and self.clock() >= self._next_update:
            run.touch()
            self._next_update = self.clock() + PROGRESS_PERIOD_S

    def _is_over(self) -> bool:
        """Returns whether a stop condition holds; sets the message when that is before the last step."""
        run, config = self.run, self.run.experiment.training
        last = run.history.validations.last()
        if config.stop_at and last and last["step"] == run.step > run.first_step and last["exact_match"] >= config.stop_at:
            run.message = Refusal("runs.reached", percent=percentage(last["exact_match"]), step=run.step)
            return True
        best = config.patience and last and last["step"] == run.step and run.history.best(run.first_step)
        if best and run.step - best >= config.patience * config.eval_every:
            run.message = Refusal("runs.patience_over", step=run.step, best=best, count=config.patience)
            return True
        if config.minutes and run.seconds >= 60 * config.minutes:
            run.message = Refusal("runs.minutes_over", minutes=f"{config.minutes:g}", step=run.step)
            return True
        return False

    def _plan_steps(self, planned: int) -> None:
        """Changes the planned last step."""
        if planned != self.training.planned:
            self.run.history.events.append((self.run.step, "steps", planned))
            self.training.planned = planned

    def _apply_live_knobs(self) -> None:
        self._plan_steps(self.run.live.get("steps", self.training.planned))  # for a run that replays another run's events
        wanted, training = Live(**{name: self.run.live[name] for name in LIVE_KNOBS}), self.training
        if wanted == training.live:
            return
        for knob, value in asdict(training.live).items():
            if getattr(wanted, knob) != value:
                self.run.history.events.append((self.run.step, knob, getattr(wanted, knob)))
                if knob == "memory_mode" and training.diagnostic_steps and len(self.run.history.diagnostics or ()) < MAX_DIAGNOSTICS // 2:
                    training.diagnostic_steps |= {self.run.step + 1}  # shows the effect at once
        training.live = wanted

    def validate(self, is_full: bool = False) -> None:
        """Appends a row to the history's validations, unless this step has one. Below an exact match of FULL_FROM only BRIEF sentences are
        scored, except at the end; the steps that compete for the best are all scored on all of them."""
        config, table, total = self.run.experiment.training, self.run.history.validations, len(self.corpus.heldout)
        is_full = is_full or config.keep_best or config.patience > 0
        last = table.last() or {"step": -1, "exact_match": 0.0, "pairs": 0}
        if last["step"] == self.run.step and (last["pairs"] == total or not is_full):
            return
        scores = None if is_full or last["exact_match"] >= FULL_FROM else self.training.validate(most=BRIEF)
        if scores is None or (scores.exact_match >= FULL_FROM and scores.pairs < total):
            scores = self.training.validate()
        table.append(self.run.step, *asdict(scores).values(), total)
        if config.keep_best and self.run.history.best(self.run.first_step) == self.run.step:
            self.run.replay.best = self.run.step, copy_parameters(self.training.model)

    def finish(self) -> None:
        """Ends the run: last validation, last frame, final weights, and how to decode."""
        started = self.clock()
        self.run.step = self.training.step
        self.validate(is_full=True)
        if self._captured:
            self.show()
        else:
            self._capture_frame(look=True)
        self.run.replay.end(self.run.snapshot.parameters)
        self.run.history.beam = self.training.compare_beam()
        self.run.seconds += self.clock() - started

    def _capture_frame(self, look: bool) -> None:
        """Captures a replay frame. If the plan saves parameters here, the frame is computed from them as rounded, so that both agree.
        Viewers get it at once."""
        step, replay, config = self.run.step, self.run.replay, self.training.model.config
        completions = self.show() if look else ()
        parameters = self.run.snapshot.parameters if look else copy_parameters(self.training.model)
        rounded = replay.save_parameters(step, parameters)
        if completions and rounded is None:
            replay.capture(step, lambda: completions)
        else:
            replay.capture(step, partial(self._completer.at, step, rounded or parameters, config, replay.plan.attention))
            if replay.pending_count * self._size > self._replay_bytes:
                _ = replay.frames
        self._captured = True

    def show(self) -> tuple[Completion, ...]:
        """Publishes the newest parameters and completions to all viewers."""
        run, started = self.run, self.clock()
        self._newest = self._completer.complete(self.training.model, self._newest, run.step, run.replay.plan.attention)
        run.history.probes = tuple(map(self._probe, self.probes, self._newest))
        run.parts["snapshot"] = Snapshot(run.version + 1, run.step, copy_parameters(self.training.model), run.probes)
        run.touch()
        now = self.clock()
        self._next_live = now + max(LIVE_PERIOD_S, (now - started) / LIVE_FRACTION)
        return self._newest

    def _probe(self, item: Item, completion: Completion) -> Probe:
        src, tgt = self.corpus.src_tokenizer, self.corpus.tgt_tokenizer
        right = tokens_correct(completion.ids, [tgt.encode(answer) for answer in self.corpus.references.get(item.src, (item.tgt,))])
        finished = completion.ids[-1] == EOS
        return Probe(get_pieces(src, item.src_ids), get_pieces(tgt, item.tgt_ids), get_pieces(tgt, completion.ids), right, finished)


def diagnostic_steps(run: Run, plan: ReplayPlan) -> frozenset[int]:
    """Returns the steps with diagnostics: the first, some of the replay's, which are dense at the beginning, and those of the validations
    (of every n-th when there are many)."""
    period = run.experiment.training.eval_every
    period *= -(-run.steps // (period * DIAGNOSED_VALIDATIONS))
    return frozenset({run.first_step + 1, *select_evenly(plan.steps, DIAGNOSED_FRAMES), *range(period, run.steps + 1, period)})


def copy_parameters(model: Transformer) -> dict[str, torch.Tensor]:
    """Copies every parameter once (tied ones share a name) to the CPU."""
    return {name: parameter.detach().to("cpu", copy=True) for name, parameter in model.named_parameters()}
