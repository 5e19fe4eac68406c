"""The work that is told before a training is what torch counts in it."""

import pytest
from torch.utils.flop_counter import FlopCounterMode

from playground.config import PAD
from playground.data.batches import batches, split_batch
from playground.training.muon import Muon
from playground.training.work import BATCHES, step_work
from tests.training.corpora import training_of

KNOBS = [
    {}, {"packing": False, "threads": 1}, {"optimiser": "adam", "batch_size": 24},
    {"batch_unit": "tokens", "batch_size": 150, "norm": "pre"},
]  # fmt: skip


@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_products_of_a_step_are_what_torch_counts(knobs):
    """Explicit attention, as torch's counter knows it; Adam's own operations are no products."""
    training = training_of(**knobs, d_model=16, d_ff=32)
    config, model, counted, tokens, cells = training.experiment.training, training.model, 0, 0, 0
    stream = batches(list(training.corpus.train), config.batch_size, config.batch_unit, 1)
    for _ in range(BATCHES):
        for part in split_batch(next(stream), config.threads, config.packing):
            with FlopCounterMode(display=False) as counter:
                model(part.src, part.tgt_in, part.src_segment_ids, part.tgt_segment_ids).logits.sum().backward()
            counted += counter.get_total_flops()
            tokens += int((part.src != PAD).sum() + (part.tgt_in != PAD).sum())
            cells += part.src.numel() + part.tgt_in.numel()
    for optimiser, _ in training.optimiser.parts:
        if isinstance(optimiser, Muon):
            with FlopCounterMode(display=False) as counter:
                optimiser.step()
            counted += BATCHES * counter.get_total_flops()
    found = step_work(training.experiment, training.corpus)
    assert (found.tokens, found.cells) == (tokens / BATCHES, cells / BATCHES)
    assert found.padding == pytest.approx(1 - tokens / cells)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    # the first layers of a stack need no gradient of their input, which the formula counts
    assert found.operations - 12 * parameters == pytest.approx(counted / BATCHES, rel=0.06)
