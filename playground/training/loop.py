"""The loop: training as a generator of steps. Pause is not asking, stop is leaving, one step is next()."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_

from playground.config import PAD, Experiment
from playground.data.batches import Batch, batches
from playground.data.corpus import Corpus
from playground.model.transformer import Transformer
from playground.training.health import Checkup
from playground.training.loss import cross_entropy
from playground.training.metrics import Exam, Validation, prepare, validate
from playground.training.optimisers import Optimiser
from playground.training.schedule import learning_rate


@dataclass(frozen=True)
class Live:
    """The knobs that may change between two steps."""

    memory: str
    learning_rate: float
    label_smoothing: float
    clip: float


@dataclass(frozen=True)
class Step:
    """One update: its number from 1, the loss of its batch in nats, the learning rate, the gradient's length before clipping, the
    batch's source and target tokens without padding, and what an examined step showed (training/health.py)."""

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    tokens: int
    health: Mapping[str, float] | None = None


class Diverged(Exception):
    """The loss or its gradient at `step` was no finite number. The model has the parameters of the last step whose loss was finite."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


class Training:
    """One model learning one corpus. Between two steps the model is in eval mode, ready to be asked.

    All randomness is its own: the seed gives the first parameters, (seed, step) the batch and the dropout masks. So the same experiment
    gives the same losses whoever else trains in the process, and a resumed run goes on as if it had never stopped.
    """

    def __init__(self, experiment: Experiment, corpus: Corpus, device: torch.device | str = "cpu") -> None:
        config = experiment.training
        self.experiment, self.corpus, self.device = experiment, corpus, torch.device(device)
        self.step = 0
        self.examined: Set[int] = frozenset()  # the numbers of the steps whose health is to be told
        generator = torch.Generator(self.device).manual_seed(config.seed)
        self.model = Transformer(experiment.model, corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, generator).eval()
        self.live = Live(experiment.model.memory, config.learning_rate, config.label_smoothing, config.clip)
        self.optimiser = Optimiser(config, self.model)
        self._last_good = self._copy_parameters()
        self._exams: dict[str, Exam] = {}

    @property
    def live(self) -> Live:
        """The live knobs of the next step; the model looks at its memory as they say, also when it is asked in between."""
        return self._live

    @live.setter
    def live(self, live: Live) -> None:
        self._live = live
        self.model.config = replace(self.model.config, memory=live.memory)

    def steps(self) -> Iterator[Step]:
        """One update for each next(), until experiment.training.steps are done. Raises Diverged."""
        config = self.experiment.training
        order = batches(self.corpus.train, config.batch_size, config.batch_unit, config.seed, start=self.step)
        while self.step < config.steps:
            yield self._update(next(order))

    def validate(self, split: str = "heldout") -> Validation:
        """How the model does on a split ("heldout" or "harder") of the corpus."""
        if split not in self._exams:
            self._exams[split] = prepare(self.corpus, getattr(self.corpus, split), self.device)
        return validate(self.model, self._exams[split])

    def pack(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that must be kept to go on exactly: copies of the tensors on the CPU, none sharing memory, and a JSON-ready mapping."""
        tensors = {f"model/{name}": p.detach().cpu().clone() for name, p in self.model.named_parameters()}
        tensors |= {f"optimiser/{name}": tensor.cpu() for name, tensor in self.optimiser.state().items()}
        return tensors, {"step": self.step, "live": asdict(self.live)}

    def unpack(self, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
        """Takes the state that `pack` gave. Raises ValueError when it belongs to another model."""
        self.load_parameters({name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")})
        self.optimiser.load_state({n.removeprefix("optimiser/"): t for n, t in tensors.items() if n.startswith("optimiser/")})
        self.step = meta["step"]
        self.live = replace(self.live, **meta["live"])  # a knob younger than the file stays as the experiment has it

    @torch.no_grad()
    def load_parameters(self, parameters: Mapping[str, Tensor]) -> None:
        """Copies these values into the model, and nothing else: a fork starts with a fresh optimiser at step 0. Raises ValueError."""
        own = dict(self.model.named_parameters())
        second_names = self.model.state_dict().keys() - own.keys()  # a shared matrix has two
        if parameters.keys() - second_names != own.keys() or any(parameters[name].shape != p.shape for name, p in own.items()):
            raise ValueError("these parameters belong to another model")
        for name, parameter in own.items():
            parameter.copy_(parameters[name])
        self._last_good = self._copy_parameters()

    def _update(self, batch: Batch) -> Step:
        """Forward, backward, step (section 5)."""
        config, number = self.experiment.training, self.step + 1
        batch = Batch(*(tensor.to(self.device) for tensor in batch))
        self.model.train()
        self.model.generator.manual_seed(config.seed * 1_000_003 + number)
        checkup = Checkup(self.model, self.optimiser.names, batch) if number in self.examined else None
        with checkup.watch() if checkup else nullcontext():
            output = self.model(batch.src, batch.tgt_in)
            loss = cross_entropy(output.logits, batch.tgt_out, self.live.label_smoothing)
            loss.backward()
        self.model.eval()
        parameters = list(self.model.parameters())
        lengths = torch._foreach_norm([parameter.grad for parameter in parameters])
        grad_norm = torch.stack(lengths).norm()
        if not (math.isfinite(loss.item()) and math.isfinite(grad_norm.item())):
            self._restore()
            raise Diverged(number)
        self._last_good = self._copy_parameters()
        if self.live.clip:
            clip_grads_with_norm_(parameters, self.live.clip, grad_norm)
        rate = learning_rate(replace(config, learning_rate=self.live.learning_rate), self.experiment.model.d_model, number)
        self.optimiser.step(rate)
        self.step = number
        tokens = int((batch.src != PAD).sum() + (batch.tgt_out != PAD).sum())
        health = checkup.row(output, lengths, self._last_good) if checkup else None
        return Step(number, loss.item(), rate, grad_norm.item(), tokens, health)

    def _copy_parameters(self) -> list[Tensor]:
        return [parameter.detach().clone() for parameter in self.model.parameters()]

    @torch.no_grad()
    def _restore(self) -> None:
        """Back to the parameters of the last finite loss, without gradients."""
        for parameter, good in zip(self.model.parameters(), self._last_good, strict=True):
            parameter.copy_(good)
            parameter.grad = None
