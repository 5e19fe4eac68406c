"""Why attention: models with and without attention and recurrence at similar parameter counts: accuracy by length, time of a training step,
and sequential operations."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from playground.config import BOS, EOS, ModelConfig
from playground.data.corpus import Corpus
from playground.features.evaluation.lengths_query import teacher_forced
from playground.lessons.controlled import (
    CLEAR,
    DEVIATIONS,
    Arms,
    ControlledExperiment,
    Measured,
    Result,
    Results,
    falls,
    is_measured,
    mean,
    spread,
)
from playground.lessons.lab import Lines, TextTable
from playground.model.copies import trainable_copy
from playground.model.transformer import Transformer
from playground.runs.tables import parameters_of
from playground.training.step import cross_entropy
from playground.variants.recurrent import AttendingDecoder, RecurrentDecoder, RecurrentEncoder, replace_layers

ATTENDING, WITHOUT = ("whole", "gru_attention"), ("mean", "gru")
CLOCKED = (8, 16, 32, 64)  # tokens of a source and of its target
ROWS, TRIES = 16, 5  # pairs per timed step, repetitions; the minimum is the time without interruption


def sequential_steps(config: ModelConfig, source: int, target: int) -> tuple[int, int]:
    """Counts sequential operations of one pass over S source and T target tokens, EOS and BOS included: teacher-forced, and when generating
    T tokens. One operation is a step of a GRU, or a sublayer."""
    if config.alteration.recurrent:
        return source + target, source + target
    encoder, decoder = 2 * config.encoder_layers, 3 * config.decoder_layers
    return encoder + decoder, encoder + target * decoder


def measured(model: Transformer, corpus: Corpus) -> Measured:
    """Measures exact match at each length and for the shortest and longest third of lengths; and the time of a step."""
    right: dict[int, list[bool]] = {}
    for item, (_, whole) in zip(corpus.heldout, teacher_forced(model, corpus, corpus.heldout), strict=True):
        right.setdefault(len(item.src_ids), []).append(whole)
    lengths = sorted(right)
    third = -(-len(lengths) // 3)
    accuracy: dict[str, float | Sequence[float]] = {
        name: float(np.mean([whole for length in part for whole in right[length]]))
        for name, part in (("short", lengths[:third]), ("long", lengths[-third:]))
    }
    return accuracy | {
        "lengths": lengths,
        "by_length": [float(np.mean(right[length])) for length in lengths],
        "milliseconds": [milliseconds(model, length) for length in CLOCKED],
    }


def milliseconds(model: Transformer, length: int) -> float:
    """Measures CPU time of one forward and backward pass over `ROWS` pairs of random tokens of this length, on one core, independent of
    other processes."""
    torch.set_num_threads(1)  # for this thread, whose time is taken
    copy = trainable_copy(model)
    dice = torch.Generator().manual_seed(length)
    src, tgt = (torch.randint(EOS + 1, vocab, (ROWS, length), generator=dice) for vocab in (model.src_vocab, model.tgt_vocab))
    src[:, -1], fed = EOS, torch.cat((torch.full((ROWS, 1), BOS), tgt[:, :-1]), dim=1)
    times = []
    for _ in range(TRIES):
        start = time.thread_time()
        torch.autograd.grad(cross_entropy(copy(src, fed).logits, tgt), list(copy.parameters()), allow_unused=True)
        times.append(time.thread_time() - start)
    return 1000 * min(times)


def reaches(results: Sequence[Result]) -> bool:
    """Whether nearly all of the longest third is correct, with every seed."""
    return mean(results, "long") - DEVIATIONS * spread([results], "long") > 1 - CLEAR


def reach(results: Results) -> str:
    """Judges which arms handle long sentences: those with "attention", the Transformer alone, all; or any "other" set."""
    far = {arm for arm, arm_results in results.items() if reaches(arm_results)}
    if far == {*ATTENDING} and all(falls(results[arm], "short", "long", CLEAR) for arm in WITHOUT):
        return "attention"
    return {frozenset(results): "all", frozenset({"whole"}): "transformer"}.get(frozenset(far), "other")


def compare(results: Arms) -> tuple[Lines | TextTable, ...]:
    """Returns the sequential steps, and before them the measurements, once all models are trained."""
    if not is_measured(results):
        return (_waiting(results),)
    by_length = {arm: 100 * row for arm, row in _rows(results, "by_length").items()}  # the held-out sentences are the same for all
    x = np.asarray(results[0][0].profiles["lengths"])
    return (Lines("by_length", x, by_length, percent=True), _clock(results), _waiting(results))


def _clock(results: Arms) -> Lines:
    """Milliseconds a step, and how many times as long the longest takes as the shortest."""
    rows = _rows(results, "milliseconds")
    caption = {"rows": ROWS, "short": CLOCKED[0], "long": CLOCKED[-1]} | {arm: float(row[-1] / row[0]) for arm, row in rows.items()}
    return Lines("clock", np.asarray(CLOCKED), rows, log_x=True, log_y=True, caption=caption)


def _waiting(results: Arms) -> TextTable:
    """Tabulates parameters, and sequential steps at the shortest and the longest timed length."""
    short, long = CLOCKED[0], CLOCKED[-1]
    rows = []
    for (result, *_) in results:
        (fed, _), (fed_long, written) = (sequential_steps(result.run.experiment.model, n, n) for n in (short, long))
        rows.append((result.arm, f"{parameters_of(result.run) or 0:,}", str(fed), str(fed_long), str(written)))
    columns = ("arm", "parameters", "fed_short", "fed_long", "written_long")
    return TextTable("waiting", columns, tuple(rows), {"short": short, "long": long})


def _rows(results: Arms, name: str) -> Mapping[str, np.ndarray]:
    return {arm_results[0].arm: np.mean([result.profiles[name] for result in arm_results], axis=0) for arm_results in results}


LAB = ControlledExperiment(
    "why_attention",
    ("attention", "transformer", "all", "other"),
    code=(RecurrentEncoder, RecurrentDecoder, AttendingDecoder, replace_layers, Transformer.apply_memory_mode, sequential_steps),
    arms={"whole": {}, "mean": {"memory_mode": "mean"}, "gru": {"variant": "gru"}, "gru_attention": {"variant": "gru_attention"}},
    base={"d_model": 48, "d_ff": 96, "steps": 400, "validation_size": 300},
    judge=reach,
    more=measured,
    shows=compare,
    shows_first=True,
    expects="attention",
    minutes=10,
    order=10,
    next=("scores", "order"),
)
