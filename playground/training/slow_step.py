"""One step in slow motion: the calls of the training loop, one after the other, with all intermediate tensors recorded.

It needs a training of its own (a fresh one, loaded with a run's state), which moves as the run's would: the same parts of the same batch,
the same dropout masks, clipping and optimiser. Hooks record the input of each module and the gradient of its output, and inside the
sublayers, which own no parameter, the queries, keys and values of each attention and the sum of each residual connection. They change
nothing; only where the run computes its loss in chunks (fast_step.py), this one holds all logits, and sums in another order. A decoder-only
model reads source and target in one pass here, so that each layer is called once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from playground.config import PAD
from playground.data.batches import Batch
from playground.model.attention import MultiHeadAttention
from playground.model.costs import SUBLAYERS
from playground.model.layers import Residual
from playground.model.parts import Dropout
from playground.model.positions import LearnedPositions
from playground.model.transformer import Transformer
from playground.training.loop import Diverged, Live, MicroBatch, Training
from playground.training.replicas import FastAttention
from playground.training.step import token_losses
from playground.variants.decoder_only import DecoderOnly

KINDS = (nn.Linear, nn.Embedding, nn.LayerNorm, LearnedPositions)  # modules that own parameters


class Flow(NamedTuple):
    """One module and one part of the batch: its `input` (B, L, in), or ids of tokens or positions (B, L); and the gradient of its output
    (B, L, out)."""

    input: Tensor
    gradient: Tensor


class Attended(NamedTuple):
    """One attention and one part of the batch: q (B, H, Q, K), k (B, H, L, K) and v (B, H, L, U) as they were multiplied, mask (B, 1, Q, L)
    True where a query attends, the `multipliers` that dropout applied to the weights (B, H, Q, L; None without), and the gradient of the
    heads' output (B, H, Q, U). Scores were divided by K ^ power."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor
    multipliers: Tensor | None
    gradient: Tensor
    power: float


class Summed(NamedTuple):
    """One residual connection and one part of the batch: the gradients of the sum x + Sublayer(x), (B, L, D), and of x itself, which adds
    the gradient that comes back through the sublayer."""

    of_sum: Tensor
    of_x: Tensor


class WatchedPart:
    """The recordings of one part of the batch. Of attention only the paper's: variants have other gradients."""

    def __init__(self) -> None:
        self.flows: dict[str, list[tuple[Tensor, Tensor]]] = {}  # by module: the input and the output of each call
        self.attentions: dict[str, tuple] = {}  # by sublayer: the fields of an Attended but the gradient
        self.sums: dict[str, tuple[Tensor, Tensor]] = {}  # by sublayer: x, and the sum
        self.gradients: dict[str, Tensor] = {}
        self.logits = torch.empty(0)

    def note(self, name: str) -> Callable[[nn.Module, tuple, Tensor], None]:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            input = inputs[1].expand(output.shape[:2]) if isinstance(module, LearnedPositions) else inputs[0]
            calls = self.flows.setdefault(name, [])
            calls.append((input.detach(), output.detach()))
            if name == "projection":
                self.logits = output.detach().float()
            self._record_gradient(f"{name} {len(calls)}", output)

        return hook

    def note_sum(self, layer: str, names: Sequence[str]) -> Callable[[nn.Module, tuple, Tensor], None]:
        """Returns a hook for a layer's one residual module, which runs once for each of its sublayers, in their order."""

        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            name = next(name for name in (f"{layer}.{sublayer}" for sublayer in names) if name not in self.sums)
            self.sums[name] = inputs[0].detach(), output.detach()
            self._record_gradient(f"{name} x", inputs[0])
            self._record_gradient(f"{name} sum", output)

        return hook

    @contextmanager
    def record_attention(self, name: str, attention: MultiHeadAttention) -> Iterator[None]:
        """Records the arguments of an attention, which computes as before."""
        attend, dropout = attention.attend_heads, attention.dropout

        def record(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor | None]:
            before = dropout.generator.get_state() if dropout.active else None
            heads, weights = attend(q, k, v, mask)
            multipliers = None if before is None else _redraw_multipliers(dropout, before, (*q.shape[:-1], k.shape[-2]))
            whole_mask = mask.expand(*q.shape[:1], 1, q.shape[-2], k.shape[-2])
            self.attentions[name] = q.detach(), k.detach(), v.detach(), whole_mask, multipliers, attention.power
            self._record_gradient(f"{name} heads", heads)
            return heads, weights

        attention.attend_heads = record
        try:
            yield
        finally:
            del attention.attend_heads

    def _record_gradient(self, name: str, tensor: Tensor) -> None:
        """Records the tensor's gradient when it is computed: the whole of it, summed over all uses."""
        if tensor.requires_grad:
            tensor.register_hook(lambda gradient: self.gradients.update({name: gradient.detach()}))

    def flow(self, name: str) -> Flow:
        inputs, outputs = zip(*self.flows[name], strict=True)
        gradients = [self.gradients.get(f"{name} {call}", torch.zeros_like(output)) for call, output in enumerate(outputs, 1)]
        return Flow(torch.cat(inputs, dim=1), torch.cat(gradients, dim=1))  # one table of positions may serve both sides

    def attended(self, name: str) -> Attended:
        q, k, v, mask, multipliers, power = self.attentions[name]
        return Attended(q, k, v, mask, multipliers, self.gradients[f"{name} heads"], power)

    def summed(self, name: str) -> Summed:
        x, total = self.sums[name]
        return Summed(self.gradients.get(f"{name} sum", torch.zeros_like(total)), self.gradients.get(f"{name} x", torch.zeros_like(x)))


def _redraw_multipliers(dropout: Dropout, state: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Draws the multipliers of a past dropout again, from the state its generator had then."""
    after = dropout.generator.get_state()
    dropout.generator.set_state(state)
    multipliers = dropout.multipliers(torch.empty(shape, device=dropout.generator.device))
    dropout.generator.set_state(after)
    return multipliers


@contextmanager
def watch_parts(micro_batches: Sequence[MicroBatch]) -> Iterator[list[WatchedPart]]:
    """Yields a recording for each part of a batch, filled inside the block. The hooks are removed afterwards."""
    parts = [WatchedPart() for _ in micro_batches]
    with ExitStack() as hooks:
        for micro_batch, part in zip(micro_batches, parts, strict=True):
            if isinstance(micro_batch.replica, DecoderOnly):
                micro_batch.replica.forward = micro_batch.replica.forward_joined
                hooks.callback(delattr, micro_batch.replica, "forward")
            for name, module in micro_batch.replica.named_modules():
                layer, _, _ = name.rpartition(".")
                if isinstance(module, KINDS):
                    hooks.callback(module.register_forward_hook(part.note(name)).remove)
                elif isinstance(module, Residual):
                    names = SUBLAYERS[layer.partition(".")[0]]
                    hooks.callback(module.register_forward_hook(part.note_sum(layer, names)).remove)
                elif isinstance(module, FastAttention):
                    hooks.enter_context(part.record_attention(name, module))
        yield parts


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
