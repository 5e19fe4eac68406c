"""Work: the FLOPs and memory traffic of one training step, by formula, before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from playground.config import Experiment
from playground.data.batches import batches, part_sizes
from playground.data.corpus import Corpus, Item
from playground.model.costs import LOGITS, flops, is_chunked, parameter_count, row_floats, takes_chunks, update_operations

BATCHES, MAX_PAIRS = 4, 512  # batches that are sampled, and pairs of each: enough to estimate a mean
# The fraction of the logits' floats that goes through memory like everything else: with all at once, and in chunks. Measured.
AT_ONCE, CHUNKED = 0.8, 0.3
BACKWARD = 2  # a backward pass takes two products for each of the forward pass


@dataclass(frozen=True)
class Work:
    """Means over a few steps: `operations` (multiplications and additions), `elements` written to memory and read again (what the backward
    pass needs, and all parameters), `tokens` without padding, `cells` of the rectangles including padding."""

    operations: float
    elements: float
    tokens: float
    cells: float

    @property
    def padding(self) -> float:
        """The fraction of the cells that is padding."""
        return 1 - self.tokens / self.cells


def step_work(experiment: Experiment, corpus: Corpus, sizes: tuple[int, int] | None = None) -> Work:
    """Estimates a step of this experiment; the corpus may be a small one of the same kind, with vocabularies of other `sizes`."""
    config, (src_vocab, vocab) = experiment.training, sizes or (corpus.src_tokenizer.size, corpus.tgt_tokenizer.size)
    size = min(config.batch_size, MAX_PAIRS) if config.batch_unit == "sentences" else min(config.batch_size, MAX_PAIRS * 2 * corpus.longest)
    scale = config.batch_size / size
    parts = 1 if experiment.model.alteration.needs_whole_batch else config.threads
    operations = elements = tokens = cells = 0.0
    for items in islice(batches(_long_enough(corpus.train, size), size, config.batch_unit, seed=1), BATCHES):
        for rows, s, t, real in part_sizes(items, parts, experiment.packs):
            operations += (1 + BACKWARD) * rows * sum(flops(experiment.model, vocab, s, t).values())
            chunked = takes_chunks(experiment) and is_chunked(scale * rows * t, vocab)
            elements += rows * row_floats(experiment.model, (s + t) / 2)
            elements += rows * (s + t) / 2 * vocab * LOGITS * (CHUNKED if chunked else AT_ONCE)
            tokens += real
            cells += rows * (s + t)
    of_one = scale / BATCHES
    learned = parameter_count(experiment.model, src_vocab, vocab)
    update = update_operations(experiment, src_vocab, vocab)
    return Work(operations * of_one + update, elements * of_one + learned, tokens * of_one, cells * of_one)


def _long_enough(items: Sequence[Item], size: int) -> list[Item]:
    """Returns the items, repeated if needed to fill a batch."""
    some = list(items[:size])
    return some * -(-size // len(some)) if size > len(some) else list(items)
