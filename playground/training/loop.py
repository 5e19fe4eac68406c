"""The training loop as a generator of steps. To pause, don't ask for the next step; to stop, drop the generator; one step is next()."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_

from playground.config import LIVE_KNOBS, PAD, Experiment, current_name
from playground.data.batches import Batch, batches, split_batch
from playground.data.corpus import Corpus, Item
from playground.model.transformer import Transformer
from playground.training.bleu import BeamGain, compare_beam
from playground.training.diagnostics import StepDiagnostics
from playground.training.fast_step import CapturedSteps, chunked_cross_entropy, record_cuda_graph, skip_projection, uses_chunks
from playground.training.metrics import EvalSet, Validation, build_eval_set, validate
from playground.training.optimisers import Optimiser, learning_rate, rewarm_factor
from playground.training.replicas import replica
from playground.training.step import cross_entropy
from playground.variants import build, variant_of


@dataclass(frozen=True)
class Live:
    """The knobs that may change between two steps: those that config.py marks as live."""

    memory_mode: str
    learning_rate: float
    label_smoothing: float
    max_grad_norm: float


@dataclass(frozen=True)
class TrainingStep:
    """One update: its number from 1, the loss of its batch in nats, the learning rate, the gradient norm before clipping, the batch's
    source and target tokens without padding, and diagnostics (training/diagnostics.py) if they were requested for this step."""

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    tokens: int
    diagnostics: Mapping[str, float] | None = None


class Diverged(Exception):
    """The loss or its gradient at `step` was not finite. The model has the parameters of the last step with a finite loss."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


class MicroBatch(NamedTuple):
    """Part of a batch, and the replica that computes it."""

    number: int
    replica: Transformer
    batch: Batch
    share: float  # of the target tokens of the whole batch
    tokens: int = 0  # of source and target, without padding


class Training:
    """Trains one model on one corpus. The model is always in eval mode; between two steps it can be used for inference.

    It owns its randomness: the seed gives the first parameters, (seed, step, part) the batch and the dropout masks. So the same experiment
    gives the same losses whatever else trains in the process, and a resumed run continues bit by bit.

    A batch is split into as many parts as the experiment has threads. `parallel_map` computes them: one after the other, like `map`, or in
    parallel if the caller has spare cores. The sums are the same, so the losses are.

    With `precision` "bfloat16" the products of a step are computed in bfloat16 (on a CPU those of wide linear maps only, see replicas.py);
    parameters, norms, softmax and sums stay float32, and so does validation.
    """

    def __init__(self, experiment: Experiment, corpus: Corpus, device: torch.device | str = "cpu", precision: str = "float32") -> None:
        config = experiment.training
        self.experiment, self.corpus, self.device, self.product_dtype = experiment, corpus, torch.device(device), getattr(torch, precision)
        self.step = self.fresh_at = 0  # the number of steps done, and the step after which the optimiser was fresh
        self.diagnostic_steps: Set[int] = frozenset()  # steps that record diagnostics
        generator = torch.Generator(self.device).manual_seed(config.seed)
        self.model = build(experiment.model, corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, generator).eval()
        self.variant = variant_of(experiment.model)
        self.parallel_map: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map
        micro_batches = config.threads if self.device.type == "cpu" and not experiment.model.alteration.needs_whole_batch else 1
        self.replicas = [replica(self.model, self.product_dtype).train() for _ in range(micro_batches)]
        self.captured_steps = (
            CapturedSteps(record_cuda_graph(self.replicas[0].generator)) if self.device.type == "cuda" else None
        )
        self._rate = torch.zeros((), device=self.device)  # the learning rate, read by recorded steps
        self._evaluated = replica(self.model)
        self._planned = config.steps
        self.live = Live(**{name: experiment.flat()[name] for name in LIVE_KNOBS})
        self.optimiser = Optimiser(config, self.model, precision)
        self._parameters = list(self.model.parameters())  # of the replicas too; every walk through the modules costs 1 % of a small step
        self._last_good = [parameter.detach().clone() for parameter in self._parameters]
        self._eval_sets: dict[tuple[str, int | None], EvalSet] = {}

    @property
    def live(self) -> Live:
        """The live knobs of the next step; the model applies its own between steps too."""
        return self._live

    @live.setter
    def live(self, live: Live) -> None:

        def with_live(config: Any) -> Any:
            return replace(config, **{name: value for name, value in asdict(live).items() if hasattr(config, name)})

        self._live, self._config = live, replace(with_live(self.experiment.training), steps=self.planned)
        for model in (self.model, self._evaluated, *self.replicas):
            model.config = with_live(model.config)

    @property
    def planned(self) -> int:
        """The step at which the training and its learning rate schedule end: the experiment's, unless set anew."""
        return self._planned

    @planned.setter
    def planned(self, steps: int) -> None:
        self._planned = steps
        self._config = replace(self._config, steps=steps)

    def steps(self) -> Iterator[TrainingStep]:
        """Yields one update after the other until `planned` is reached. Raises Diverged."""
        order = self.order()
        while self.step < self.planned:
            yield self._update(next(order))

    def order(self) -> Iterator[list[Item]]:
        """Yields the batches from that of the next step on."""
        config = self.experiment.training
        return batches(self.corpus.train, config.batch_size, config.batch_unit, config.seed, start=self.step)

    def validate(self, split: str = "heldout", most: int | None = None) -> Validation:
        """Evaluates the model on a split ("heldout" or "harder") of the corpus, or on `most` sentences spread evenly over it."""
        if (split, most) not in self._eval_sets:
            items = getattr(self.corpus, split)
            items = items[:: max(1, len(items) // most)][:most] if most else items
            self._eval_sets[split, most] = build_eval_set(self.corpus, items, self.device, self.variant.batch)
        eval_set = self._eval_sets[split, most]
        if self.variant.argmax_is_greedy(self.model):
            return validate(self._evaluated, eval_set, self.parallel_map)
        self._evaluated.generator.manual_seed(self.step)  # for a model that samples in eval mode too, in a fixed order
        return validate(self._evaluated, eval_set, written=True)

    def compare_beam(self) -> BeamGain | None:
        """Compares greedy decoding and a beam on held-out sentences of own data, see bleu.py; None for a task."""
        return compare_beam(self._evaluated, self.corpus) if self.experiment.data.task == "own" else None

    def pack(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns a checkpoint to resume exactly from: copies of the tensors on the CPU, none sharing memory, and a JSON-ready mapping."""
        tensors = {f"model/{name}": p.detach().cpu().clone() for name, p in self.model.named_parameters()}
        tensors |= {f"optimiser/{name}": tensor.cpu() for name, tensor in self.optimiser.state().items()}
        return tensors, {"step": self.step, "fresh_at": self.fresh_at, "planned": self.planned, "live": asdict(self.live)}

    def unpack(self, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
        """Loads a checkpoint that `pack` returned. Raises ValueError when it belongs to another model."""
        self.load_parameters({name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")})
        self.optimiser.load_state({n.removeprefix("optimiser/"): t for n, t in tensors.items() if n.startswith("optimiser/")})
        self.step, self.fresh_at = meta["step"], meta.get("fresh_at", 0)  # missing in older files
        self.planned = meta.get("planned", self.planned)
        self.live = replace(
            self.live, **{current_name(name): value for name, value in meta["live"].items()}
        )  # a knob newer than the file keeps the experiment's value

    def go_on(self, parameters: Mapping[str, Tensor], step: int) -> None:
        """Continues after `step` from parameters alone: the optimiser is fresh, so the learning rate warms up again (see `rewarm_factor`).
        Raises ValueError."""
        self.load_parameters(parameters)
        self.step = self.fresh_at = step

    @torch.no_grad()
    def load_parameters(self, parameters: Mapping[str, Tensor]) -> None:
        """Copies these values into the model. Raises ValueError for other names or shapes."""
        own = dict(self.model.named_parameters())
        second_names = self.model.state_dict().keys() - own.keys()  # a shared matrix has two
        if parameters.keys() - second_names != own.keys() or any(parameters[name].shape != p.shape for name, p in own.items()):
            raise ValueError("these parameters belong to another model")
        for name, parameter in own.items():
            parameter.copy_(parameters[name])
        self._remember()

    def rate(self) -> float:
        """Returns the learning rate of the next step."""
        number = self.step + 1
        return learning_rate(self._config, self.experiment.model.d_model, number) * rewarm_factor(number, self.fresh_at)

    def micro_batches(self, items: Sequence[Item]) -> list[MicroBatch]:
        """Splits the batch of the next step into parts and seeds their replicas' dropout masks for this step."""
        config, number = self._config, self.step + 1
        splits = split_batch(items, len(self.replicas), self.experiment.packs)
        batches = [self.variant.batch(batch) if self.variant.batch else batch for batch in splits]
        tokens = [int((batch.tgt_out != PAD).sum()) for batch in batches]
        sources = [int((batch.src != PAD).sum()) for batch in batches]
        parts = [
            MicroBatch(n, self.replicas[n], batch.to(self.device), tokens[n] / sum(tokens), sources[n] + tokens[n])
            for n, batch in enumerate(batches)
        ]
        for micro_batch in parts:
            micro_batch.replica.generator.manual_seed((config.seed * 1_000_003 + number) * len(self.replicas) + micro_batch.number)
        return parts

    def _update(self, items: Sequence[Item]) -> TrainingStep:
        """Does one step: forward, backward, update (section 5)."""
        number, rate, micro_batches = self.step + 1, self.rate(), self.micro_batches(items)
        step_diagnostics = StepDiagnostics(micro_batches[0].replica, self.optimiser.names) if number in self.diagnostic_steps else None
        if self.captured_steps and not step_diagnostics:
            self._rate.fill_(rate)
            constants = tuple(value for name, value in asdict(self.live).items() if name != "learning_rate")
            loss, grad_norm = self.captured_steps(self._update_on_device, micro_batches[0].batch, constants).tolist()
        else:
            loss, gradients = self.gradient(micro_batches, step_diagnostics)
            lengths = torch._foreach_norm(gradients)
            norm = torch.stack(lengths).norm()
            loss, grad_norm = loss.item(), norm.item()
            if math.isfinite(loss) and math.isfinite(grad_norm):
                self._remember()
                self.move(gradients, norm, rate)
        if not (math.isfinite(loss) and math.isfinite(grad_norm)):
            self._restore()
            raise Diverged(number)
        self.step = number
        diagnostics = step_diagnostics.row(lengths, self._last_good) if step_diagnostics else None
        return TrainingStep(number, loss, rate, grad_norm, sum(micro_batch.tokens for micro_batch in micro_batches), diagnostics)

    def gradient(self, micro_batches: list[MicroBatch], step_diagnostics: StepDiagnostics | None = None) -> tuple[Tensor, list[Tensor]]:
        """Returns the loss of the whole batch and its gradient for every parameter."""
        losses, (gradients, *other_gradients) = zip(
            *self.parallel_map(lambda micro_batch: self._learn(micro_batch, step_diagnostics), micro_batches), strict=True
        )
        for addend in other_gradients:
            torch._foreach_add_(gradients, addend)
        return sum(losses), gradients

    def _learn(self, micro_batch: MicroBatch, step_diagnostics: StepDiagnostics | None) -> tuple[Tensor, list[Tensor]]:
        """Returns the part's contribution to the loss and to its gradient."""
        model = micro_batch.replica
        with step_diagnostics.watch(model, micro_batch.batch) if step_diagnostics else nullcontext():
            loss = self.share_of_loss(micro_batch)
            gradients = torch.autograd.grad(loss, self._parameters, allow_unused=True, materialize_grads=True)
        return loss.detach(), list(gradients)

    def share_of_loss(self, micro_batch: MicroBatch) -> Tensor:
        """Returns the part's contribution to the loss of the whole batch, with its graph."""
        model, batch, smoothing = micro_batch.replica, micro_batch.batch, self._config.label_smoothing
        chunked = not self.variant.loss and uses_chunks(model, batch.tgt_in)
        is_autocast = self.device.type != "cpu" and self.product_dtype != torch.float32
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_autocast):
            with skip_projection(model) if chunked else nullcontext():
                output = model(batch.src, batch.tgt_in, batch.packing).logits
            if chunked:
                matrix = model.projection.weight, model.projection.bias
                return chunked_cross_entropy(output, *matrix, batch.tgt_out, smoothing, self.product_dtype) * micro_batch.share
        return (self.variant.loss or cross_entropy)(output.float(), batch.tgt_out, smoothing) * micro_batch.share

    def move(self, gradients: list[Tensor], grad_norm: Tensor, rate: float | Tensor) -> None:
        """Clips the gradient and steps the optimiser."""
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        if most := self._config.max_grad_norm:
            clip_grads_with_norm_(self._parameters, most, grad_norm)
        self.optimiser.step(rate, self.parallel_map)

    def _update_on_device(self, batch: Batch) -> Tensor:
        """Does the same update without copies to the host, so that it can be recorded -> (2,) loss and gradient norm. If these aren't
        finite, the parameters have moved all the same; `_restore` brings back the old ones."""
        loss, gradients = self.gradient([MicroBatch(0, self.replicas[0], batch, 1.0)])
        grad_norm = torch.stack(torch._foreach_norm(gradients)).norm()
        numbers = torch.stack((loss, grad_norm))
        self._remember(numbers.isfinite().all())
        self.move(gradients, grad_norm, self._rate)
        return numbers

    @torch.no_grad()
    def _remember(self, good: Tensor | None = None) -> None:
        """Copies the parameters for `_restore`, unless the boolean tensor `good` is False."""
        parameters = self._parameters
        if good is not None:
            parameters = [torch.where(good, *values) for values in zip(parameters, self._last_good, strict=True)]
        torch._foreach_copy_(self._last_good, parameters)

    @torch.no_grad()
    def _restore(self) -> None:
        """Restores the parameters of the last finite loss, without gradients."""
        torch._foreach_copy_(self._parameters, self._last_good)
        for parameter in self._parameters:
            parameter.grad = None
