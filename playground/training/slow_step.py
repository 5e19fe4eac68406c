"""One step in slow motion: the calls of the training loop, one after the other, with all intermediate tensors recorded.

It needs a training of its own (a fresh one, loaded with a run's state), which moves as the run's would: the same parts of the same batch,
the same dropout masks, clipping and optimiser. Recording (see watched.py) changes nothing; only where the run computes its loss in chunks
(chunked_loss.py), this one holds all logits, and sums in another order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from playground.config import PAD
from playground.data.batches import Batch
from playground.model.transformer import Transformer
from playground.training.loop import Diverged, Live, MicroBatch, Training
from playground.training.loss import token_losses
from playground.training.watched import Attended, Flow, Summed, WatchedPart, watch_parts


class Use(NamedTuple):
    """A use of a parameter: the module's name, and the role in it ("weight", "bias", "table"). A shared matrix has several."""

    module: str
    role: str


@dataclass(frozen=True)
class SlowStep:
    """Update `number`. Tensors by parameter name; `logits`, `losses` and `flows` have an entry for each part of the batch, and so has
    `losses_after`: the losses after the update under the same dropout masks. Gradients are those before clipping; `clipped` is the factor
    clipping applies. Moments are named "parameter/moment", as in Optimiser.state, and missing where there were none."""

    number: int
    rate: float
    loss: float
    loss_after: float
    grad_norm: float
    clipped: float
    parts: tuple[Batch, ...]
    logits: tuple[Tensor, ...]  # (B, T, V)
    losses: tuple[Tensor, ...]  # (B, T), 0 for padding
    losses_after: tuple[Tensor, ...]
    gradients: Mapping[str, Tensor]
    before: Mapping[str, Tensor]
    after: Mapping[str, Tensor]
    moments_before: Mapping[str, Tensor]
    moments_after: Mapping[str, Tensor]
    uses: Mapping[str, tuple[Use, ...]]
    kinds: Mapping[str, str]  # of each module in use: the name of its class
    flows: Mapping[str, tuple[Flow, ...]]
    rest_rate: Mapping[str, float]  # by parameter, its optimiser's factor of the learning rate
    rules: Mapping[str, str]  # by parameter, its optimiser: "adam", "adamw", "muon"
    live: Live
    eps: Mapping[str, float] = field(default_factory=dict)  # of each layer norm
    attentions: Mapping[str, tuple[Attended, ...]] = field(default_factory=dict)  # by sublayer, where it is the paper's attention
    sums: Mapping[str, tuple[Summed, ...]] = field(default_factory=dict)  # by sublayer, of each residual connection

    @property
    def tokens(self) -> int:
        """The number of target tokens without padding, over which the mean is taken."""
        return sum(int((part.tgt_out != PAD).sum()) for part in self.parts)

    @property
    def nbytes(self) -> int:
        tensors = [*self.logits, *self.losses, *self.losses_after]
        for passed in (self.flows, self.attentions, self.sums):
            tensors += [tensor for parts in passed.values() for part in parts for tensor in part if isinstance(tensor, Tensor)]
        for named in (self.gradients, self.before, self.after, self.moments_before, self.moments_after):
            tensors += named.values()
        return sum(tensor.nbytes for tensor in tensors)


def slow_step(training: Training) -> SlowStep:
    """Does the next step of this training, moving its parameters and moments. Raises Diverged when the loss or the gradient is not
    finite."""
    number, rate, items = training.step + 1, training.rate(), next(training.order())
    names = training.optimiser.names
    before = {name: parameter.detach().clone() for parameter, name in names.items()}
    moments_before = training.optimiser.state()
    micro_batches = training.micro_batches(items)
    with watch_parts(micro_batches) as parts:
        loss, gradients = training.gradient(micro_batches)
    norm = torch.stack(torch._foreach_norm(gradients)).norm()
    if not (loss.isfinite() and norm.isfinite()):
        raise Diverged(number)
    unclipped = [gradient.clone() for gradient in gradients]  # clipping is in place
    training.move(gradients, norm, rate)
    again = training.micro_batches(items)  # with the same dropout masks
    with torch.no_grad(), watch_parts(again) as parts_after:
        loss_after = sum(map(training.share_of_loss, again))
    training.step = number
    most, optimiser = training.live.max_grad_norm, training.optimiser
    rules = list(training.experiment.training.update_rules)
    owners = {
        names[p]: (rules[at], share)
        for at, (rule, share) in enumerate(optimiser.parts)
        for group in rule.param_groups
        for p in group["params"]
    }
    modules = dict(training.model.named_modules())

    def losses(part: WatchedPart, micro_batch: MicroBatch) -> Tensor:
        return token_losses(part.logits, micro_batch.batch.tgt_out, training.live.label_smoothing)

    return SlowStep(
        number=number,
        rate=rate,
        loss=loss.item(),
        loss_after=loss_after.item(),
        grad_norm=norm.item(),
        clipped=min(1.0, most / (norm.item() + 1e-6)) if most else 1.0,  # as in clip_grads_with_norm_
        parts=tuple(micro_batch.batch for micro_batch in micro_batches),
        logits=tuple(part.logits for part in parts),
        losses=tuple(map(losses, parts, micro_batches)),
        losses_after=tuple(map(losses, parts_after, micro_batches)),
        gradients=dict(zip(names.values(), unclipped, strict=True)),
        before=before,
        after={name: parameter.detach().clone() for parameter, name in names.items()},
        moments_before=moments_before,
        moments_after=optimiser.state(),
        uses=_uses(training.model),
        kinds={name: type(modules[name]).__name__ for name in parts[0].flows},
        flows={name: tuple(part.flow(name) for part in parts) for name in parts[0].flows},
        rest_rate={name: share for name, (_, share) in owners.items()},
        rules={name: rule for name, (rule, _) in owners.items()},
        live=training.live,
        eps={name: module.eps for name, module in modules.items() if isinstance(module, nn.LayerNorm)},
        attentions={name: tuple(part.attended(name) for part in parts) for name in parts[0].attentions},
        sums={name: tuple(part.summed(name) for part in parts) for name in parts[0].sums},
    )


def _uses(model: Transformer) -> dict[str, tuple[Use, ...]]:
    """Returns every use of each parameter, under the one name that it has in the model."""
    uses: dict[Tensor, list[Use]] = {}
    for name, module in model.named_modules():
        for role, parameter in module.named_parameters(recurse=False):
            uses.setdefault(parameter, []).append(Use(name, role))
    return {name: tuple(uses[parameter]) for name, parameter in model.named_parameters()}
