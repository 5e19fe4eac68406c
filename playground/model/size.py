"""Size: the memory of a training, by formula, before anything is allocated."""

from __future__ import annotations

from dataclasses import replace

from playground.config import Experiment, ModelConfig, Refusal, UpdateRule, limits
from playground.model.attention import head_widths
from playground.model.sublayers import hidden_matrices, parameters, query_width

FLOAT = 4  # bytes
CHUNK = 2**20  # logits of a training step at once; a batch with more is split
LOGITS = 4.5  # numbers in memory for each logit, where a step has them all
OF_A_CHUNK = 8  # for each logit of a chunk, with oneDNN's reordered copies for its products: measured
LARGE = 2**16  # numbers of a matrix from which its products are oneDNN's: with fewer, as at d_model 64, a whole step gained nothing
OF_A_LARGE = 3.5  # for each number of a large matrix, with oneDNN's kernels and reordered copies, and heap fragmentation: measured
VALIDATION_CELLS = 2048  # source and target tokens of one forward pass of a validation, padding included


def parameter_count(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> int:
    """Counts the model's learned numbers."""
    return sum(parameters(config, src_vocab, tgt_vocab).values())


def update_counts(experiment: Experiment, src_vocab: int, tgt_vocab: int) -> list[tuple[UpdateRule, int]]:
    """Returns each update rule of the optimiser with its number of parameters. Raises Refusal for an unknown optimiser."""
    rule, *rest = experiment.training.update_rules.values()
    every = parameter_count(experiment.model, src_vocab, tgt_vocab)
    hidden = sum(rows * columns * count for rows, columns, count in hidden_matrices(experiment.model))
    return [(rule, hidden), (rest[0], every - hidden)] if rest else [(rule, every)]


def training_bytes(experiment: Experiment, src_vocab: int, tgt_vocab: int, longest: int) -> int:
    """Estimates the peak bytes of a training; `longest` is the longest sentence in tokens, BOS and EOS included.

    Parameters, their last good copy, gradients and the optimiser's moments; and the larger of a step and the widest forward pass of a
    validation. The activations of a batch of the longest sentences are freed before the optimiser allocates its matrices, but the heap is
    too fragmented to reuse: both count.
    """
    counts = update_counts(experiment, src_vocab, tgt_vocab)
    learned = sum((3 + rule.moments) * count for rule, count in counts)
    large = sum(rows * columns * count for rows, columns, count in hidden_matrices(experiment.model) if rows * columns >= LARGE)
    step = sum(rule.scratch * count for rule, count in counts) + OF_A_LARGE * large
    model, rows, parts = experiment.model, _batch_rows(experiment, longest), experiment.training.threads
    activations = rows * row_floats(model, longest)
    cells = VALIDATION_CELLS // 2
    validation = cells * (tgt_vocab + 6 * model.d_model + 2 * query_width(model) + 2 * model.d_ff) + 2 * min(cells * tgt_vocab, CHUNK)
    if takes_chunks(experiment) and is_chunked(rows * longest / parts, tgt_vocab):
        # The projection's gradient, its sum and its scaled copy; a validation's logits don't fit into the freed memory of a chunk's.
        chunks = parts * (OF_A_CHUNK * CHUNK + 3 * model.d_model * tgt_vocab)
        return int(FLOAT * (learned + activations + chunks + step + validation))
    return int(FLOAT * (learned + max(activations + LOGITS * rows * longest * tgt_vocab + step, validation)))


def admit(experiment: Experiment, src_vocab: int, tgt_vocab: int, longest: int, available_bytes: int) -> None:
    """Raises Refusal when rotary positions have no pair of numbers to rotate, which would be a model without positions; and when the
    training needs more than `available_bytes`, with the nearest setting that fits."""
    if experiment.model.encoding.rotary and head_widths(experiment.model)[0] < 2:
        raise Refusal("model.nothing_to_turn")
    needed = training_bytes(experiment, src_vocab, tgt_vocab, longest)
    if needed <= available_bytes:
        return
    numbers = {"needed": _megabytes(needed), "available": _megabytes(available_bytes)}
    for name in ("batch_size", "d_model"):
        value = _largest_that_fits(experiment, name, src_vocab, tgt_vocab, longest, available_bytes)
        if value is not None:
            raise Refusal("model.too_large", **numbers, name=name, value=value)
    raise Refusal("model.much_too_large", **numbers)


def row_floats(config: ModelConfig, length: float) -> float:
    """Counts the activations that one pair of `length` tokens on each side holds for the backward pass, without its logits."""
    dropped = 2 if config.dropout else 0  # dropout holds its factors and the products
    attention = length * (5 * config.d_model + 2 * query_width(config)) + (2 + dropped) * config.n_heads * length * length
    feed_forward = length * ((2 + dropped) * config.d_ff + (1 + dropped) * config.d_model)
    norm = length * 2 * config.d_model
    encoder = config.encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = config.decoder_layers * (2 * attention + feed_forward + 3 * norm)
    return encoder + decoder + length * 6 * config.d_model


def takes_chunks(experiment: Experiment) -> bool:
    """Tests whether its steps may split their loss; a variant's loss may need all logits."""
    return experiment.model.variant == "none"


def is_chunked(rows: float, tgt_vocab: float) -> bool:
    """Tests whether the logits of `rows` tokens exceed a chunk, so that a step splits their loss (training/chunked_loss.py)."""
    return rows * tgt_vocab > CHUNK


def _batch_rows(experiment: Experiment, longest: int) -> int:
    """Counts the pairs of the largest batch."""
    training = experiment.training
    return training.batch_size if training.batch_unit == "sentences" else max(1, training.batch_size // (2 * longest))


def _largest_that_fits(experiment: Experiment, name: str, src_vocab: int, tgt_vocab: int, longest: int, available_bytes: int) -> int | None:
    """Returns the largest value of a knob, below its present one, with which the training fits; None without one.

    A batch is reduced to 8 pairs at least: smaller ones hardly learn.
    """
    part = "training" if name == "batch_size" else "model"
    config, knob = getattr(experiment, part), limits(name)
    low = int(knob.low)
    if name == "batch_size":
        low = 8 if experiment.training.batch_unit == "sentences" else 16 * longest
    for value in range(getattr(config, name) - int(knob.step), low - 1, -int(knob.step)):
        smaller = replace(experiment, **{part: replace(config, **{name: value})})
        if training_bytes(smaller, src_vocab, tgt_vocab, longest) <= available_bytes:
            return value
    return None


def _megabytes(count: int) -> str:
    return f"{count / 2**20:,.0f} MB"
