"""One step in slow motion: what the loop does in one go, done by the same calls one after the other, with all that passes written down.

It belongs to a training of one's own (a fresh one, put where a run is), which moves as the run's would: the same parts of the same batch,
the same dropout masks, the same clipping and the same optimiser. What passes in it is put aside meanwhile (see watched.py), and nothing is
changed by that; only where the run takes its loss chunk by chunk (chunked_loss.py), this one has all logits, and sums in another order.
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
from playground.training.watched import Attended, Flow, Summed, WatchedPart, watched


class Use(NamedTuple):
    """Where a parameter takes part: the module, by its name, and as what ("weight", "bias", "table"). A shared matrix has several."""

    module: str
    role: str


@dataclass(frozen=True)
class SlowStep:
    """Update `number`. Tensors by the names of their parameters; `logits`, `losses` and `flows` have an entry for each part of the batch,
    and so have the losses that these get afterwards, under the same dropout masks. Gradients are those before clipping; `clipped` is what
    they are multiplied by. Moments are called "parameter/moment", as in Optimiser.state, and are missing where there were none."""

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
    kinds: Mapping[str, str]  # of each module that is used: the name of its class
    flows: Mapping[str, tuple[Flow, ...]]
    rest_rate: Mapping[str, float]  # by parameter, what its optimiser multiplies the learning rate by
    rules: Mapping[str, str]  # and which optimiser that is: "adam", "adamw", "muon"
    live: Live
    eps: Mapping[str, float] = field(default_factory=dict)  # of each layer norm
    attentions: Mapping[str, tuple[Attended, ...]] = field(default_factory=dict)  # by sublayer, where it is the paper's attention
    sums: Mapping[str, tuple[Summed, ...]] = field(default_factory=dict)  # by sublayer, of each residual connection

    @property
    def tokens(self) -> int:
        """Target tokens without padding: the mean is over so many."""
        return sum(int((part.tgt_out != PAD).sum()) for part in self.parts)

    @property
    def nbytes(self) -> int:
        kept = [*self.logits, *self.losses, *self.losses_after]
        for passed in (self.flows, self.attentions, self.sums):
            kept += [tensor for found in passed.values() for one in found for tensor in one if isinstance(tensor, Tensor)]
        for tensors in (self.gradients, self.before, self.after, self.moments_before, self.moments_after):
            kept += tensors.values()
        return sum(tensor.nbytes for tensor in kept)


def slow_step(training: Training) -> SlowStep:
    """The next step of this training, whose parameters and moments have moved when it returns. Raises Diverged when the loss or the
    gradient is no finite number."""
    number, rate, items = training.step + 1, training.rate(), next(training.order())
    names = training.optimiser.names
    before = {name: parameter.detach().clone() for parameter, name in names.items()}
    moments_before = training.optimiser.state()
    micro_batches = training.micro_batches(items)
    with watched(micro_batches) as seen:
        loss, gradients = training.gradient(micro_batches)
    norm = torch.stack(torch._foreach_norm(gradients)).norm()
    if not (loss.isfinite() and norm.isfinite()):
        raise Diverged(number)
    kept = [gradient.clone() for gradient in gradients]  # clipping writes into them
    training.move(gradients, norm, rate)
    again = training.micro_batches(items)  # the dropout masks as they were
    with torch.no_grad(), watched(again) as seen_after:
        loss_after = sum(map(training.share_of_loss, again))
    training.step = number
    most, optimiser = training.live.max_grad_norm, training.optimiser
    rules = list(training.experiment.training.update_rules)
    owners = {
        names[p]: (rules[at], share)
        for at, (part, share) in enumerate(optimiser.parts)
        for group in part.param_groups
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
        clipped=min(1.0, most / (norm.item() + 1e-6)) if most else 1.0,  # as clip_grads_with_norm_ has it
        parts=tuple(micro_batch.batch for micro_batch in micro_batches),
        logits=tuple(part.logits for part in seen),
        losses=tuple(map(losses, seen, micro_batches)),
        losses_after=tuple(map(losses, seen_after, micro_batches)),
        gradients=dict(zip(names.values(), kept, strict=True)),
        before=before,
        after={name: parameter.detach().clone() for parameter, name in names.items()},
        moments_before=moments_before,
        moments_after=optimiser.state(),
        uses=_uses(training.model),
        kinds={name: type(modules[name]).__name__ for name in seen[0].flows},
        flows={name: tuple(part.flow(name) for part in seen) for name in seen[0].flows},
        rest_rate={name: share for name, (_, share) in owners.items()},
        rules={name: rule for name, (rule, _) in owners.items()},
        live=training.live,
        eps={name: module.eps for name, module in modules.items() if isinstance(module, nn.LayerNorm)},
        attentions={name: tuple(part.attended(name) for part in seen) for name in seen[0].attentions},
        sums={name: tuple(part.summed(name) for part in seen) for name in seen[0].sums},
    )


def _uses(model: Transformer) -> dict[str, tuple[Use, ...]]:
    """Where each parameter takes part, under the one name that it has in the model."""
    found: dict[Tensor, list[Use]] = {}
    for name, module in model.named_modules():
        for role, parameter in module.named_parameters(recurse=False):
            found.setdefault(parameter, []).append(Use(name, role))
    return {name: tuple(found[parameter]) for name, parameter in model.named_parameters()}
