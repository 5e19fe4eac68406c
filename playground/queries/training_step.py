"""One training step of a run, taken apart by a training of one's own: the run is neither asked nor changed, so that anybody may look.

A run's own next step needs the moments of its optimiser, which are in its saves; at its beginning there are none. From parameters that were
kept without them the step is the one that a fork of the run would take there: the same batch, loss and gradients, and a fresh optimiser.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from playground.config import Refusal
from playground.data.batches import batches
from playground.data.corpus import Corpus
from playground.inspection.backward import LINEAR, Site
from playground.inspection.update import Entry
from playground.model.size import parameter_count
from playground.queries.reader import Reader
from playground.queries.training_rows import part_of
from playground.runs.disk.folder import Folder
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.training.loop import Diverged, Live, Training
from playground.training.muon import orthogonalise
from playground.training.slow_step import SlowStep, slow_step

# The most operations of a step that is taken apart, by formula as in time_slices.py: forward, backward, and one forward pass after it.
MAX_OPERATIONS, PASSES = 2e11, 4
MAX_LOGITS = 12_000_000  # numbers of one batch: target tokens times the vocabulary


@dataclass(frozen=True)
class Start:
    """Where the step begins: after `step` steps. `saved`: with all that the run's last save has; else with the parameters alone, and the
    optimiser fresh. `exact`: it is the step that the run itself makes there, or made."""

    step: int
    saved: bool
    exact: bool


@dataclass(frozen=True)
class TakenStep:
    """The step, how it began, and what the run's history says of its loss; None while the run has not made it."""

    start: Start
    slow: SlowStep
    recorded: float | None

    @property
    def nbytes(self) -> int:
        return self.slow.nbytes

    def gradient(self, parameter: str) -> np.ndarray:
        return self.slow.gradients[parameter].numpy()

    def before(self, parameter: str) -> np.ndarray:
        return self.slow.before[parameter].numpy()

    def moved(self, parameter: str) -> np.ndarray:
        """By how much the step moved each of its numbers."""
        return (self.slow.after[parameter] - self.slow.before[parameter]).numpy()

    def way(self, parameter: str) -> str:
        """What rows and columns of a parameter are: a "vector" has one row; a "linear" layer's are outputs and inputs, as torch keeps it; a
        "table" has a row for each token or position."""
        if self.slow.gradients[parameter].ndim == 1:
            return "vector"
        first = self.slow.uses[parameter][0].module
        return "linear" if self.slow.kinds.get(first) == LINEAR else "table"

    def logits(self, row: int, place: int) -> np.ndarray:
        """(V,) at one target token of the batch."""
        part, at = part_of(self.slow, row)
        return self.slow.logits[part][at, place].numpy()

    def logit_gradients(self, row: int, length: int) -> np.ndarray:
        """(T, V) of the first `length` tokens of a row of the batch."""
        part, at = part_of(self.slow, row)
        return _array(self.slow.flows["projection"][part].gradient[at, :length])


def training_step(reader: Reader, runs: Runs, run: Run, step: int | None) -> TakenStep:
    """The step after `step`, or the nearest to it that can be taken; None: the newest. Raises Refusal while there is nothing to begin with,
    and for a step that is too dear."""
    start = starting_point(run, step)

    def take() -> TakenStep:
        try:
            slow = slow_step(_training(runs, run, start))
        except Diverged as error:
            raise Refusal("step.diverged", step=error.step) from error
        return TakenStep(start, slow, recorded_loss(run, slow.number))

    parameters = id(run.parameters_at(start.step)[1]) if start.step and not start.saved else run.checkpoint_step
    return reader.take_apart((run.id, start, parameters, tuple(sorted(run.live.items()))), take)


def starting_point(run: Run, step: int | None) -> Start:
    """The nearest to `step` that there is, and of two as near the exact one; None: the last save, or where there is none the newest.

    Of a run that trains and has no save yet that is a new one whenever its steps have doubled: to take a step apart costs as much as ten
    steps.
    """
    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    saved = run.checkpoint_step if run.unfinished or run.resumable else None
    found = [Start(saved, True, True)] if saved is not None and saved < run.steps else []
    if not run.first_step:
        found.append(Start(0, False, True))
    with_parameters = {*run.replay.parameters_by_step, *([run.snapshot.step] if run.snapshot else [])}
    found += [Start(at, False, False) for at in sorted(with_parameters, reverse=True) if 0 < at < run.steps]
    if not found:
        raise Refusal("runs.nothing_yet")
    if step is None:
        if run.working:
            kept = sorted(run.replay.parameters_by_step)
            doubled = {0, *(next((at for at in kept if at >= 2**n), 0) for n in range(run.step.bit_length()))}
            found = [start for start in found if start.saved or start.step in doubled] or found
        return next((start for start in found if start.saved), max(found, key=lambda start: start.step))
    return min(found, key=lambda start: (abs(start.step - step), not start.exact))


def recorded_loss(run: Run, step: int) -> float | None:
    """Of the step of this number, as the run's curve has it."""
    steps = run.history.steps
    row = step - int(steps.column("step", 0, 1)[0]) if len(steps) else -1
    if not 0 <= row < len(steps) or steps.column("step", row, row + 1)[0] != step:
        return None
    return float(steps.column("loss", row, row + 1)[0])


def _training(runs: Runs, run: Run, start: Start) -> Training:
    """A new one of the same experiment, put where the step begins."""
    corpus = runs.corpora.get(run.experiment, run.pairs)
    _check_cost(run, corpus)

    def made() -> Training:
        return Training(run.experiment, corpus, precision=run.precision)

    def restored(folder: Folder) -> Training:
        training = made()
        folder.restore(training)
        return training

    if start.saved:
        training = runs.last_save(run, restored)
        knobs = run.live if training.step == run.step else run.live_at(training.step + 1)
    else:
        training, knobs = made(), run.live_at(start.step + 1)
        if start.step:
            training.go_on(run.replay.parameters_by_step.get(start.step) or run.parameters_at(start.step)[1], start.step)
    training.planned = run.steps
    training.live = Live(**{name: knobs[name] for name in vars(training.live)})
    return training


def _check_cost(run: Run, corpus: Corpus) -> None:
    """Raises Refusal where a batch, as large as the first, takes too long or too much room: before a model of that size is made."""
    config = run.experiment.training
    items = next(batches(corpus.train, config.batch_size, config.batch_unit, config.seed))
    vocabularies = [tokenizer.size for tokenizer in run.tokenizers]
    targets = sum(len(item.tgt_ids) + 1 for item in items)
    tokens = targets + sum(len(item.src_ids) + 1 for item in items)
    operations = PASSES * tokens * parameter_count(run.experiment.model, *vocabularies)
    fits = min(MAX_OPERATIONS / operations, MAX_LOGITS / (targets * vocabularies[1]))
    if fits >= 1:
        return
    batch, about = int(config.batch_size * fits), {"operations": f"{operations / 1e9:,.0f}"}
    if len(items) * fits < 1:
        raise Refusal("step.too_wide", **about)
    raise Refusal("step.too_dear", pairs=len(items), tokens=f"{tokens:,}", batch=f"{batch:,}", now=f"{config.batch_size:,}", **about)


def sites(slow: SlowStep, parameter: str) -> list[Site]:
    """Where a parameter takes part, and what went through there."""
    found = []
    for module, role in slow.uses[parameter]:
        if module in slow.flows:
            flows = [tuple(map(_array, flow)) for flow in slow.flows[module]]
            found.append(Site(module, slow.kinds[module], role, flows, slow.eps.get(module, 0.0)))
    return found


def _array(tensor: torch.Tensor) -> np.ndarray:
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def entry(slow: SlowStep, run: Run, parameter: str, index: tuple[int, ...]) -> Entry:
    """One number of a parameter on its way through the optimiser."""
    config, rule = run.experiment.training, slow.rules[parameter]

    def moment(name: str) -> float:
        tensor = slow.moments_before.get(f"{parameter}/{name}")
        return 0.0 if tensor is None else float(tensor[index])

    shape, orthogonal, count = (1, 1), 0.0, 1
    if rule == "muon":
        shape, orthogonal = tuple(slow.before[parameter].shape), float(direction(slow, run, parameter)[index])
    else:
        count = int(slow.moments_after[f"{parameter}/step"])
    return Entry(
        rule=rule,
        before=float(slow.before[parameter][index]),
        after=float(slow.after[parameter][index]),
        gradient=float(slow.gradients[parameter][index]),
        clipped=slow.clipped,
        rate=slow.rate * slow.rest_rate[parameter],
        weight_decay=config.weight_decay,
        beta1=config.beta1,
        beta2=config.beta2,
        momentum=moment("momentum" if rule == "muon" else "exp_avg"),
        square=0.0 if rule == "muon" else moment("exp_avg_sq"),
        count=count,
        orthogonal=orthogonal,
        shape=shape,
    )


def ahead(slow: SlowStep, run: Run, parameter: str) -> torch.Tensor:
    """Muon: the averaged gradient, looked one step ahead, which is to be orthogonalised."""
    beta, gradient = run.experiment.training.beta1, slow.gradients[parameter] * slow.clipped
    return torch.lerp(gradient, slow.moments_after[f"{parameter}/momentum"], beta)


def singular_values(slow: SlowStep, run: Run, parameter: str) -> tuple[np.ndarray, np.ndarray]:
    """Muon: those of the matrix before it is orthogonalised and after, the largest first."""
    before, after = (torch.linalg.svdvals(make(slow, run, parameter)).numpy() for make in (ahead, direction))
    return before, after


def direction(slow: SlowStep, run: Run, parameter: str) -> torch.Tensor:
    """Muon: the same, orthogonalised."""
    return orthogonalise(ahead(slow, run, parameter)[None], getattr(torch, run.precision))[0]
