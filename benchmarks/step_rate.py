"""Training steps per second, of our presets and of torch.nn.Transformer at equal size and on equal batches, and how far from the floor.

The floor is the products of matrices that a step can't do without, at the rate that a core of this machine reaches with matrices of
that width, times the cores.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

from benchmarks.machine import cores
from benchmarks.peers.plain import Plain
from benchmarks.suite import note, numbers, some_of
from benchmarks.tables import markdown, milliseconds, percent, ratio, show_summary, summary, whole
from playground.config import PAD, Experiment, ModelConfig, preset
from playground.data.batches import batches, collate
from playground.data.corpus import Corpus, Item, build_corpus
from playground.model.costs import flops
from playground.runs.limits import machine_cores
from playground.runs.machine_speed import measure_rate, precision, warm_up
from playground.training.loop import Training

ABOUT = "training steps/s at four widths against torch.nn.Transformer on equal batches, and against the floor"
PEER = "nn.Transformer"
OURS = {"default": ("default", {}), "fast": ("fast", {}), "default by AdamW": ("default", {"optimiser": "adamw"})}  # the peer's optimiser
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
CPU, PEER_TYPE = "cpu", "float32"
INNER = 4  # d_ff as a multiple of d_model
WIDE, FEW_HEADS, MANY_HEADS = 256, 4, 8  # from this width on more heads
PASSES = 3  # forward, and backward twice as much: the gradient of every factor of a product is a product as large
WHICH = ("d_model", "threads", "who")
LEAST = 2  # steps that are timed, however long they take
# A training that doesn't end while it is timed, and whose rate is so low that no width diverges. A step takes no less time for it.
STEADY = {"steps": 100_000, "schedule": "constant", "learning_rate": 0.001}
SMOKE = {
    "widths": [16],
    "threads": [1],
    "rounds": 2,
    "seconds": 0.0,
    "set": [("train_size", 200), ("validation_size", 20), ("batch_size", 8), ("encoder_layers", 1), ("decoder_layers", 1)],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--widths", type=numbers, default=[64, 128, 256, 512], metavar="N,M", help="d_model; d_ff is four times as much")
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="N,M")
    parser.add_argument("--who", type=some_of(OURS), default=list(OURS), metavar="A,B", help=f"of ours: {'; '.join(OURS)}")
    parser.add_argument("--rounds", type=int, default=3, help="in which all that is compared takes its turn")
    parser.add_argument("--seconds", type=float, default=1.2, help="for which each is timed in a round, two steps at least")


def run(options: argparse.Namespace) -> dict:
    """Returns {"rows": [{"d_model", "threads", "who", "type": of the products, "seconds": of a step, "rate": steps/s, "tokens": real
    tokens/s, "share": of the floor in that type, "ratio": times as fast as the peer}]}, summaries over the rounds, each compared in itself.
    """
    warm_up()
    corpus = build_corpus(Experiment().with_(**dict(options.set)).data)
    threads = sorted({min(count, machine_cores()) for count in options.threads})
    return {"rows": [row for width in options.widths for row in _rows(width, threads, corpus, options)]}


def _rows(width: int, threads: list[int], corpus: Corpus, options: argparse.Namespace) -> list[dict]:
    experiments = {who: at_width(who, width, dict(options.set)) for who in options.who}
    first = next(iter(experiments.values()))
    pairs = first.training.batch_size
    operations, tokens = step_flops(first.model, corpus.tgt_tokenizer.size, corpus.train, pairs), step_tokens(corpus.train, pairs)
    types = {who: precision(each.training.precision, width, CPU) for who, each in experiments.items()} | {PEER: PEER_TYPE}
    trainings = {who: Training(each, corpus, CPU, types[who]) for who, each in experiments.items()}
    steps = {who: training.steps().__next__ for who, training in trainings.items()} | {PEER: theirs(first, corpus)}
    samples: dict[tuple[int, str], list[dict]] = {}
    for count in threads * options.rounds:
        torch.set_num_threads(count)
        rates = {name: count * measure_rate(width, dtype, CPU) for name, dtype in TYPES.items()}
        medians = {PEER: statistics.median(timed(steps[PEER], options.seconds))}
        with cores(count) as parallel_map:
            for who, training in trainings.items():
                training.parallel_map = parallel_map
                medians[who] = statistics.median(timed(steps[who], options.seconds))
        note(f"d_model {width}, {count} threads: " + ", ".join(f"{who} {1000 * took:.1f} ms" for who, took in medians.items()))
        for who, took in medians.items():
            sample = {"rate": 1 / took, "tokens": tokens / took, "seconds": took, "share": operations / rates[types[who]] / took}
            samples.setdefault((count, who), []).append(sample | {"ratio": medians[PEER] / took})
    return [
        {"d_model": width, "threads": count, "who": who, "type": types[who]}
        | {name: summary(sample[name] for sample in series) for name in series[0]}
        for (count, who), series in samples.items()
    ]


def at_width(who: str, width: int, knobs: dict) -> Experiment:
    """One of OURS at this width, in the paper's proportions."""
    name, other = OURS[who]
    heads = MANY_HEADS if width >= WIDE else FEW_HEADS
    return preset(name).with_(**{"d_model": width, "n_heads": heads, "d_ff": INNER * width} | other | knobs | STEADY)


def timed(step: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each step, for about so many seconds; the first, which finds the caches cold, is not among them."""
    step()
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < LEAST or time.perf_counter() < until:
        started = time.perf_counter()
        step()
        times.append(time.perf_counter() - started)
    return times


def theirs(experiment: Experiment, corpus: Corpus) -> Callable[[], int]:
    """A step of the peer at the size of an experiment, on the very pairs that ours takes, in one rectangle; returns its real tokens. It is
    a plain loop: cross entropy, the gradient cut to length, fused AdamW."""
    model, config = experiment.model, experiment.training
    size = (model.d_model, model.n_heads, model.encoder_layers, model.d_ff, model.dropout)
    plain = Plain(corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, *size).train()
    parameters = list(plain.parameters())
    optimiser = torch.optim.AdamW(parameters, lr=config.learning_rate, fused=True)
    order = batches(corpus.train, config.batch_size, config.batch_unit, config.seed)

    def step() -> int:
        batch = collate(next(order))
        logits = plain(batch.src, batch.tgt_in)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        clip_grad_norm_(parameters, config.max_grad_norm)
        optimiser.step()
        loss.item()
        return int((batch.src != PAD).sum() + (batch.tgt_out != PAD).sum())

    return step


def step_flops(config: ModelConfig, tgt_vocab: int, items: Sequence[Item], pairs: int) -> float:
    """Floating-point operations of the mean training step of so many pairs, counted over real tokens: padding costs nothing here."""
    sizes = [(len(item.src_ids) + 1, len(item.tgt_ids) + 1) for item in items]
    forward = cache(lambda s, t: sum(flops(config, tgt_vocab, s, t).values()))
    return PASSES * pairs * statistics.fmean(forward(s, t) for s, t in sizes)


def step_tokens(items: Sequence[Item], pairs: int) -> float:
    """Source and target tokens of the mean step, with the EOS of each."""
    return pairs * statistics.fmean(len(item.src_ids) + len(item.tgt_ids) + 2 for item in items)


def table(result: dict) -> str:
    forms = {"rate": "{:.1f}".format, "tokens": whole, "seconds": milliseconds, "share": percent, "ratio": ratio}
    head = (*WHICH, "type", "steps/s", "real tokens/s", "ms a step", "of the floor", f"times {PEER}")
    rows = (
        (*(str(row[name]) for name in (*WHICH, "type")), *(show_summary(row[name], form) for name, form in forms.items()))
        for row in result["rows"]
    )
    about = "The floor: operations of a step by formula, without padding, at the rate at which this machine multiplies."
    return f"{markdown(head, rows)}\n\n{about}"
