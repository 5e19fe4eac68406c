"""One training step of a run, repeated and taken apart by a separate training: the run isn't touched, so every visitor may request it.

A run's own next step needs its optimiser's moments, which are in its saves; at its beginning there are none. From parameters that were
kept without them the step is that of a fork of the run: the same batch, loss and gradients, and a fresh optimiser.
"""

from dataclasses import dataclass

import numpy as np
import torch

from playground.config import Refusal
from playground.data.batches import batches
from playground.data.corpus import Corpus
from playground.features.shared.queries.reader import Reader
from playground.features.step.rows_query import part_of
from playground.inspection.backward import LINEAR, Entry, Site
from playground.model.costs import parameter_count
from playground.runs.disk.folder import Folder
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.training.loop import Diverged, Live, Training
from playground.training.optimisers import orthogonalise
from playground.training.slow_step import SlowStep, slow_step

# Limit of a step's operations, by the formulas of model/costs.py: forward, backward (twice a forward pass), and one forward pass after it.
MAX_OPERATIONS, PASSES = 2e11, 4
MAX_LOGITS = 12_000_000  # numbers of one batch: target tokens times the vocabulary


@dataclass(frozen=True)
class Start:
    """The state before the step: after `step` steps. `saved`: from the run's last save; else from the parameters alone, with a fresh
    optimiser. `exact`: the step is the run's own."""

    step: int
    saved: bool
    exact: bool


@dataclass(frozen=True)
class TakenStep:
    """A step taken apart, its start, and its loss in the run's history; None while the run has not made it."""

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
        """Returns the step's change of each number of a parameter."""
        return (self.slow.after[parameter] - self.slow.before[parameter]).numpy()

    def layout(self, parameter: str) -> str:
        """Returns the meaning of a parameter's rows and columns: a "vector" has one row; a "linear" layer's are outputs and inputs, as in
        torch; a "table" has a row for each token or position."""
        if self.slow.gradients[parameter].ndim == 1:
            return "vector"
        first = self.slow.uses[parameter][0].module
        return "linear" if self.slow.kinds.get(first) == LINEAR else "table"

    def logits(self, row: int, place: int) -> np.ndarray:
        """Returns the logits (V,) at one target token of the batch."""
        part, at = part_of(self.slow, row)
        return self.slow.logits[part][at, place].numpy()

    def logit_gradients(self, row: int, length: int) -> np.ndarray:
        """Returns the gradients (T, V) of the first `length` tokens of a row of the batch."""
        part, at = part_of(self.slow, row)
        return self.slow.flows["projection"][part].gradient[at, :length].numpy()


def training_step(reader: Reader, runs: Runs, run: Run, step: int | None) -> TakenStep:
    """Takes the step after `step` apart, or the nearest possible; None: the newest. Raises Refusal while the run has no parameters, and for
    a step that is too expensive."""
    start = starting_point(run, step)

    def take() -> TakenStep:
        try:
            slow = slow_step(_make_training(runs, run, start))
        except Diverged as error:
            raise Refusal("step.diverged", step=error.step) from error
        return TakenStep(start, slow, recorded_loss(run, slow.number))

    parameters = id(run.parameters_at(start.step)[1]) if start.step and not start.saved else run.checkpoint_step
    return reader.take_apart((run.id, start, parameters, tuple(sorted(run.live.items()))), take)


def starting_point(run: Run, step: int | None) -> Start:
    """Returns the start nearest to `step`, of two as near the exact one; None: the last save or, without one, the newest.

    While a run trains without a save yet, that is a new one only when its steps have doubled: taking a step apart costs as much as ten.
    """
    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    saved = run.checkpoint_step if run.unfinished or run.resumable else None
    starts = [Start(saved, True, True)] if saved is not None and saved < run.steps else []
    if not run.first_step:
        starts.append(Start(0, False, True))
    with_parameters = {*run.replay.parameters_by_step, *([run.snapshot.step] if run.snapshot else [])}
    starts += [Start(at, False, False) for at in sorted(with_parameters, reverse=True) if 0 < at < run.steps]
    if not starts:
        raise Refusal("runs.nothing_yet")
    if step is None:
        if run.working:
            steps = sorted(run.replay.parameters_by_step)
            doubled = {0, *(next((at for at in steps if at >= 2**n), 0) for n in range(run.step.bit_length()))}
            starts = [start for start in starts if start.saved or start.step in doubled] or starts
        return next((start for start in starts if start.saved), max(starts, key=lambda start: start.step))
    return min(starts, key=lambda start: (abs(start.step - step), not start.exact))


def recorded_loss(run: Run, step: int) -> float | None:
    """Returns the loss of the step of this number in the run's history."""
    steps = run.history.steps
    row = step - int(steps.column("step", 0, 1)[0]) if len(steps) else -1
    if not 0 <= row < len(steps) or steps.column("step", row, row + 1)[0] != step:
        return None
    return float(steps.column("loss", row, row + 1)[0])


def _make_training(runs: Runs, run: Run, start: Start) -> Training:
    """Creates a training of the same experiment in the state before the step."""
    if run.experiment.model.alteration.decoder_only and run.experiment.model.dropout:
        raise Refusal("step.one_pass")
    corpus = runs.corpora.get(run.experiment, run.pairs)
    _check_cost(run, corpus)

    def create() -> Training:
        return Training(run.experiment, corpus, precision=run.precision)

    def restore(folder: Folder) -> Training:
        training = create()
        folder.restore(training)
        return training

    if start.saved:
        training = runs.last_save(run, restore)
        knobs = run.live if training.step == run.step else run.live_at(training.step + 1)
    else:
        training, knobs = create(), run.live_at(start.step + 1)
        if start.step:
            training.go_on(run.replay.parameters_by_step.get(start.step) or run.parameters_at(start.step)[1], start.step)
    training.planned = run.steps
    training.live = Live(**{name: knobs[name] for name in vars(training.live)})
    return training


def _check_cost(run: Run, corpus: Corpus) -> None:
    """Raises Refusal where a batch like the first takes too long or too much memory, before a model of that size is made."""
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
    """Returns the modules that use a parameter, with the inputs and gradients there."""
    places = []
    for module, role in slow.uses[parameter]:
        if module in slow.flows:
            flows = [tuple(tensor.numpy() for tensor in flow) for flow in slow.flows[module]]
            places.append(Site(module, slow.kinds[module], role, flows, slow.eps.get(module, 0.0)))
    return places


def entry(slow: SlowStep, run: Run, parameter: str, index: tuple[int, ...]) -> Entry:
    """Returns one number of a parameter with all that the optimiser computes for it."""
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


def nesterov_momentum(slow: SlowStep, run: Run, parameter: str) -> torch.Tensor:
    """Returns Muon's Nesterov momentum, the matrix that it orthogonalises."""
    beta, gradient = run.experiment.training.beta1, slow.gradients[parameter] * slow.clipped
    return torch.lerp(gradient, slow.moments_after[f"{parameter}/momentum"], beta)


def singular_values(slow: SlowStep, run: Run, parameter: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the singular values of Muon's matrix before and after it is orthogonalised, the largest first."""
    before, after = (torch.linalg.svdvals(make(slow, run, parameter)).numpy() for make in (nesterov_momentum, direction))
    return before, after


def direction(slow: SlowStep, run: Run, parameter: str) -> torch.Tensor:
    """Returns Muon's direction: the orthogonalised momentum."""
    return orthogonalise(nesterov_momentum(slow, run, parameter)[None], getattr(torch, run.precision))[0]
