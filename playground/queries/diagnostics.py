"""The diagnostics of a run at one step: as training recorded them, or recomputed for a run that was trained without them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch

from playground.config import MAX_POSITIONS, limits
from playground.data.batches import Batch, collate
from playground.data.corpus import Item
from playground.inspection.diagnostics import counted_flops, counted_parameters
from playground.model import costs as formulas
from playground.model.copies import trainable_copy
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.queries.time_slices import affordable
from playground.runs.run import Run
from playground.training.diagnostics import StepDiagnostics
from playground.training.step import cross_entropy

MAX_SENTENCES, MIN_SENTENCES = 64, 8  # held-out sentences of a recomputation
PASSES = 3 * len(limits("memory_mode").choices)  # a backward pass costs two forward passes, and every kind of memory has its own


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
    src, tgt = run.tokenizers or (None, None)

    def work(model: Transformer, actual: int) -> dict[str, Diagnostics]:
        pairs = reader.examples(run, "heldout", min(MAX_SENTENCES, run.experiment.data.validation_size))
        items = [Item(source, target, tuple(src.encode(source)), tuple(tgt.encode(target))) for source, target in pairs]
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
