"""The diagnostics of a run at one step: as training recorded them, or recomputed for a run that was trained without them; one
true sentence for each quantity; and the measured costs by route (model/costs.py)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from playground.config import MAX_POSITIONS, limits
from playground.data.batches import Batch, collate
from playground.data.corpus import make_items
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.validation import affordable
from playground.inspection import Fact, short
from playground.inspection.activations import run_once
from playground.model import costs as formulas
from playground.model.copies import shadow_copy, trainable_copy
from playground.model.costs import sublayer_of, sublayers
from playground.model.transformer import Transformer
from playground.runs.run import Run
from playground.tasks import Example
from playground.training.diagnostics import StepDiagnostics
from playground.training.step import cross_entropy

STEADY_RATIO = 1.05  # a curve within this factor is called steady
MAX_SENTENCES, MIN_SENTENCES = 64, 8  # held-out sentences of a recomputation
PASSES = 3 * len(limits("memory_mode").choices)  # a backward pass costs two forward passes, and every kind of memory has its own


def extremes(values: Mapping[str, float], key: str) -> Fact:
    """States the largest and the smallest of the values that are not 0, their ratio, and the number of exact zeros.

    Keys: `key`, `key`_zero when some are 0, `key`_none when all are.
    """
    some = {name: value for name, value in values.items() if value}
    zeros = len(values) - len(some)
    if not some:
        return Fact(f"{key}_none", {})
    most, least = max(some, key=some.get), min(some, key=some.get)
    fields = {"most": most, "largest": some[most], "least": least, "smallest": some[least], "times": short(some[most] / some[least])}
    return Fact(f"{key}_zero" if zeros else key, fields | {"zeros": zeros})


def dead(shares: Mapping[str, float], units: int) -> Fact:
    """States the number of hidden units of the feed-forward networks that never fired, of `units` in each, and the network with most."""
    counts = {name: round(share * units) for name, share in shares.items()}
    total, worst = sum(counts.values()), max(counts, key=counts.get)
    parts = {"count": total, "all": f"{units * len(shares):,}"}
    return Fact("diagnostics.dead_none", parts) if not total else Fact("diagnostics.dead", parts | {"most": worst, "there": counts[worst]})


def spread(entropies: Mapping[str, Sequence[float]]) -> Fact:
    """States the sharpest and the most even head, from each attention's entropies of its heads (shares of the largest possible)."""
    heads = {(name, head): value for name, row in entropies.items() for head, value in enumerate(row) if value == value}
    if not heads:
        return Fact("diagnostics.entropy_none", {})
    (sharp, sharp_head), (even, even_head) = min(heads, key=heads.get), max(heads, key=heads.get)
    values = {"most": even, "head": even_head + 1, "largest": heads[even, even_head]}
    return Fact("diagnostics.entropy", values | {"least": sharp, "sharp_head": sharp_head + 1, "smallest": heads[sharp, sharp_head]})


def course(steps: Sequence[int], values: Sequence[float]) -> Fact:
    """States the ends of a curve, and its highest point where that is neither of them, else its lowest."""
    good = [(step, value) for step, value in zip(steps, values, strict=True) if np.isfinite(value)]
    if not good:
        return Fact("diagnostics.course_none", {})
    (first, began), (last, ended) = good[0], good[-1]
    peak, highest = max(good, key=lambda point: point[1])
    fields = {"first": f"{first:,}", "began": began, "last": f"{last:,}", "ended": ended}
    if highest > STEADY_RATIO * max(began, ended):
        return Fact("diagnostics.course_peak", fields | {"peak": f"{peak:,}", "highest": highest})
    dip, lowest = min(good, key=lambda point: point[1])
    if STEADY_RATIO * lowest < min(began, ended):
        return Fact("diagnostics.course_dip", fields | {"dip": f"{dip:,}", "lowest": lowest})
    return Fact("diagnostics.course", fields)


def reaching(memory: str, arriving: float, encoder: float, decoder: float) -> Fact:
    """States the gradient at the memory, and the encoder's and the decoder's."""
    values = {"arriving": short(arriving, 3), "encoder": short(encoder, 3), "decoder": short(decoder, 3)}
    return Fact(f"diagnostics.reaching_{memory}", values)


def cost(parameters: Mapping[str, int], flops: Mapping[str, int]) -> Fact:
    """States the sums, and the shares of the operations of attention, of the decoder's side of the memory, and of the costliest route."""
    total = sum(flops.values())
    attention = sum(count for name, count in flops.items() if name.endswith("attention"))
    decoder = sum(count for name, count in flops.items() if not name.startswith(("encoder", "src")))
    costliest = max(flops, key=flops.get)
    parts = {"attention": attention, "decoder": decoder, "share": flops[costliest]}
    shares = {name: f"{100 * count / total:.0f}" for name, count in parts.items()}
    return Fact("diagnostics.cost", {"parameters": f"{sum(parameters.values()):,}", "flops": f"{total:,}", "most": costliest} | shares)


def heads(by_heads: Mapping[int, tuple[int, int]]) -> Fact:
    """States whether the number of heads changes (parameters, operations): not as long as H heads of d_model / H share one width."""
    parameters, flops = zip(*by_heads.values(), strict=True)
    if len(set(parameters)) == len(set(flops)) == 1:
        return Fact("diagnostics.heads_same", {"parameters": f"{parameters[0]:,}", "flops": f"{flops[0]:,}"})
    values = {"fewest": min(by_heads), "most": max(by_heads)}
    return Fact("diagnostics.heads_differ", values | {"parameters": f"{parameters[0]:,}", "more_parameters": f"{parameters[-1]:,}"})


# --- measured costs ---


class _Counter(TorchDispatchMode):
    """A FLOP counter for the current thread only; torch.utils.flop_counter also hooks the modules of all other threads."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.flops, self.route = dict.fromkeys(names, 0), names[0]

    def enter(self, route: str) -> None:
        self.route = route

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        count = flop_registry.get(operation._overloadpacket)
        if count:
            self.flops[self.route] += count(*args, **(kwargs or {}), out_val=result)
        return result


def counted_flops(model: Transformer, src: Tensor, tgt_in: Tensor) -> dict[str, int]:
    """Counts the floating-point operations of each route while the model reads src (B, S) and tgt_in (B, T)."""
    copy, counter = shadow_copy(model), _Counter(sublayers(model.config))
    copy.config = replace(model.config, memory_mode="whole")  # all modes have as many matrix products
    for route in counter.flops:
        if not route.endswith("_norm"):
            copy.get_submodule(route).register_forward_pre_hook(lambda module, inputs, route=route: counter.enter(route))
    with torch.no_grad(), counter:
        run_once(copy, src, tgt_in)
    return counter.flops


def counted_parameters(model: Transformer) -> dict[str, int]:
    """Counts the numbers in the tensors of each route."""
    counts = dict.fromkeys(sublayers(model.config), 0)
    for name, parameter in model.named_parameters():
        counts[sublayer_of(name)] += parameter.numel()
    return counts


@dataclass(frozen=True)
class Diagnostics:
    """`numbers` by address (training/diagnostics.py) at `step`. Recorded ones are of the step's own batch; recomputed ones of `sentences`
    held-out sentences, with the parameters after the step, without dropout and without an update."""

    step: int
    numbers: Mapping[str, float]
    sentences: int | None = None


@dataclass(frozen=True)
class Costs:
    """Parameters of each route and FLOPs of its forward pass, by formula and as counted. `by_heads`: both sums, by formula, of the same
    model with another number of heads."""

    parameters: dict[str, int]
    counted_parameters: dict[str, int]
    flops: dict[str, int]
    counted_flops: dict[str, int]
    by_heads: dict[int, tuple[int, int]]


def diagnostics(reader: Reader, run: Run, step: int | None) -> Diagnostics:
    """Returns the diagnostics at `step`, or the newest (None). Raises Refusal when the run has nothing to show yet."""
    table = run.history.diagnostics
    if table:
        rows = bisect_right(table.column("step"), step) if step is not None else len(table)
        if rows:
            numbers = {name: table.column(name, rows - 1, rows)[0] for name in table.names}
            return Diagnostics(int(numbers.pop("step")), numbers)
    return recompute(reader, run, step)[run.memory_mode_at(step if step is not None else run.step)]


def recompute(reader: Reader, run: Run, step: int | None) -> dict[str, Diagnostics]:
    """Recomputes the diagnostics for each memory mode: the decoder reads the whole, its mean or zeros, all else equal."""

    def work(model: Transformer, actual: int) -> dict[str, Diagnostics]:
        pairs = reader.examples(run, "heldout", min(MAX_SENTENCES, run.experiment.data.validation_size))
        items = make_items((Example(*pair) for pair in pairs), run.tokenizers)
        items = [item for item in items if item.src_ids and max(len(item.src_ids), len(item.tgt_ids)) < MAX_POSITIONS]
        tokens = sum(len(item.src_ids) + len(item.tgt_ids) + 2 for item in items) / len(items)
        batch = collate(items[: affordable(run, PASSES * tokens, MAX_SENTENCES, MIN_SENTENCES)])
        return {memory: Diagnostics(actual, examine(model, batch, memory), len(batch.src)) for memory in limits("memory_mode").choices}

    return reader.work(run, step, ("diagnostics",), work)


def examine(model: Transformer, batch: Batch, memory: str) -> dict[str, float]:
    """Returns the numbers of one forward and one backward pass, and the loss under "loss". The model is in eval mode and isn't changed."""
    copy = trainable_copy(model)
    copy.config = replace(model.config, memory_mode=memory)
    parameters = dict(copy.named_parameters())
    step_diagnostics = StepDiagnostics(copy, {parameter: name for name, parameter in parameters.items()})
    with torch.enable_grad(), step_diagnostics.watch(copy, batch):
        loss = cross_entropy(copy(batch.src, batch.tgt_in).logits, batch.tgt_out)
        loss.backward()
    gradients = torch._foreach_norm([parameter.grad for parameter in parameters.values()])
    numbers = step_diagnostics.row(gradients, [parameter.detach() for parameter in parameters.values()])
    return {address: number for address, number in numbers.items() if not address.endswith("/update")} | {"loss": loss.item()}


def costs(reader: Reader, run: Run, s: int, t: int) -> Costs:
    """Counts the costs for S source and T target tokens, with EOS and BOS. They are the same at every step, so step 0 is read."""

    def work(model: Transformer, _: int) -> Costs:
        config, ones = model.config, torch.ones
        return Costs(
            formulas.parameters(config, model.src_vocab, model.tgt_vocab),
            counted_parameters(model),
            formulas.flops(config, model.tgt_vocab, s, t),
            counted_flops(model, ones(1, s, dtype=torch.long), ones(1, t, dtype=torch.long)),
            {heads: _sum_costs(model, heads, s, t) for heads in limits("n_heads").choices if config.d_model % heads == 0},
        )

    return reader.work(run, 0, ("costs", s, t), work)


def _sum_costs(model: Transformer, heads: int, s: int, t: int) -> tuple[int, int]:
    """Sums parameters and FLOPs of this model with another number of heads."""
    config = replace(model.config, n_heads=heads)
    parameters = formulas.parameters(config, model.src_vocab, model.tgt_vocab)
    return sum(parameters.values()), sum(formulas.flops(config, model.tgt_vocab, s, t).values())
