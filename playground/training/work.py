"""Work: what one training step computes, by formula, before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from playground.config import PAD, Experiment
from playground.data.batches import batches, split_batch
from playground.data.corpus import Corpus, Item
from playground.model.size import parameter_count
from playground.model.sublayers import flops
from playground.training.muon import ITERATIONS

BATCHES, MOST = 4, 512  # batches that are looked at, and pairs of each: what holds for so many holds for more
BACKWARD = 2  # a backward pass takes two products for each of the forward pass
ADAM = 12  # operations of Adam for each parameter


@dataclass(frozen=True)
class Work:
    """Of one step, a mean over a few: `operations` of multiplying and adding, `tokens` that are no padding, `cells` of the rectangles."""

    operations: float
    tokens: float
    cells: float

    @property
    def padding(self) -> float:
        """The share of the cells that is computed for nothing."""
        return 1 - self.tokens / self.cells


def step_work(experiment: Experiment, corpus: Corpus, sizes: tuple[int, int] | None = None) -> Work:
    """What a step of this experiment computes; the corpus may be a small one of the same kind, with vocabularies of other `sizes`."""
    config, (src_vocab, vocab) = experiment.training, sizes or (corpus.src_tokenizer.size, corpus.tgt_tokenizer.size)
    size = min(config.batch_size, MOST) if config.batch_unit == "sentences" else min(config.batch_size, MOST * 2 * corpus.longest)
    scale = config.batch_size / size
    operations = tokens = cells = 0.0
    for items in islice(batches(_long_enough(corpus.train, size), size, config.batch_unit, seed=1), BATCHES):
        for part in split_batch(items, config.threads, config.packing):
            rows, s, t = *part.src.shape, part.tgt_in.shape[1]
            operations += (1 + BACKWARD) * rows * sum(flops(experiment.model, vocab, s, t).values())
            tokens += int((part.src != PAD).sum() + (part.tgt_out != PAD).sum())
            cells += rows * (s + t)
    of_one = scale / BATCHES
    update = _update(experiment, src_vocab, vocab)
    return Work(operations * of_one + update, tokens * of_one, cells * of_one)


def _long_enough(items: Sequence[Item], size: int) -> list[Item]:
    """As many as a batch has, though the corpus may have fewer."""
    some = list(items[:size])
    return some * -(-size // len(some)) if size > len(some) else list(items)


def _update(experiment: Experiment, src_vocab: int, tgt_vocab: int) -> float:
    """What the optimiser computes in a step."""
    adam = ADAM * parameter_count(experiment.model, src_vocab, tgt_vocab)
    if experiment.training.optimiser != "muon":
        return adam
    model = experiment.model
    square = 4 * model.encoder_layers + 8 * model.decoder_layers
    flat = 2 * (model.encoder_layers + model.decoder_layers)
    short, long = sorted((model.d_model, model.d_ff))
    return adam + ITERATIONS * (square * _iteration(model.d_model, model.d_model) + flat * _iteration(short, long))


def _iteration(rows: int, columns: int) -> float:
    """Of Newton and Schulz: X X^T, its square, and that times X."""
    return 2 * (2 * rows * rows * columns + rows**3)
