"""The same reversals learnt by others and by our presets: torch.nn.Transformer as in PyTorch's tutorial, x-transformers, Joey NMT."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module
from itertools import islice
from pathlib import Path

import torch

from benchmarks.pace import cores
from benchmarks.peers.common import Setting
from benchmarks.peers.environment import PACKAGES, ROOT, default_folder, interpreter, last_words
from benchmarks.peers.report import NAMES, ratios, rows, written
from benchmarks.suite import Missing, note, some_of
from playground.config import PAD, Experiment, limits, preset
from playground.data.batches import batches, split_batch
from playground.data.corpus import Corpus, build_corpus
from playground.runs.limits import machine_cores, machine_devices
from playground.runs.queue.warmup import warm_up
from playground.training.loop import Training

ABOUT = "the same reversals learnt by nn.Transformer, x-transformers, Joey NMT and our presets: seconds to 99 %, steps/s, tokens/s"
PEERS = ("plain", "xtransformer", "joey")
SETTINGS = ("own", "equal")
OURS = ("default", "fast", "paper")
TARGET = 0.99
WARM_STEPS = 40  # of ours, before the first that counts
WARM = 1.0  # seconds of training that warm a peer's process up
SMOKE = {
    "peers": ["plain"],
    "presets": ["default"],
    "settings": ["equal"],
    "limit": 0.5,
    "warm": 0.0,
    "our_seeds": 1,
    "set": [("d_model", 16), ("d_ff", 32), ("train_size", 200), ("validation_size", 20), ("steps", 4), ("eval_every", 2), ("threads", 1)],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", type=some_of(PEERS), default=list(PEERS), metavar="A,B", help=", ".join(PEERS))
    parser.add_argument("--presets", type=some_of(OURS), default=list(OURS), metavar="A,B", help=", ".join(OURS))
    parser.add_argument("--settings", type=some_of(SETTINGS), default=list(SETTINGS), metavar="A,B", help="own, or as large as ours")
    parser.add_argument("--width", type=int, default=128, help="d_model and, in proportion, d_ff of peers whose own example is wider")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which a peer's training is given up")
    parser.add_argument(
        "--threads", type=some_of(("1", "2")), default=["1"], metavar="A,B", help="of peers, 1 or 2 or both; the best counts"
    )
    parser.add_argument("--seeds", type=int, default=1, help="trainings of a peer in each setting")
    parser.add_argument("--our-seeds", type=int, default=3, help="trainings of each preset, spread over the benchmark")
    parser.add_argument("--first-seed", type=int, help="repeats an earlier benchmark")
    parser.add_argument("--environments", type=Path, default=default_folder(), help="where optional peers are installed (PLAYGROUND_PEERS)")
    parser.add_argument("--warm", type=float, default=WARM, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> dict:
    """{"first_seed", "target", "limit", "width", "rows", "ratios", "trainings", "missing": [sentence], "versions"}; see report.py.

    All learn the same pairs. A peer's seconds begin with the pairs as token ids, in a warm process of its own; ours with nothing, so they
    include drawing the pairs that are needed. Examinations count for everybody. Ours are trained several times in between, with as many
    threads as the peers and with as many as the preset says.
    """
    first = options.first_seed if options.first_seed is not None else random.SystemRandom().randrange(1000, 900_000)
    base = Experiment().with_(data_seed=(first + 500_000) % limits("data_seed").high, **dict(options.set))
    corpus = build_corpus(base.data)
    pythons, missing = _interpreters(options)
    if options.warm:
        warm_up()
        _train(Experiment().with_(**{"task": "copy", "train_size": 2000} | dict(options.set) | {"steps": WARM_STEPS}), 2.0)
    trainings = []
    for found in _trainings(options, first, base, corpus, pythons, missing):
        note("{who:<13} {setting:<6} {threads} {seconds:6.2f} s, {cpu_seconds:6.2f} s CPU, step {step}, {exact_match:.1%}".format(**found))
        trainings.append(found)
    found = rows(trainings)
    return {
        "first_seed": first,
        "target": TARGET,
        "limit": options.limit,
        "width": options.width,
        "rows": found,
        "ratios": ratios(found, options.limit),
        "trainings": trainings,
        "missing": missing,
        "versions": {"torch": torch.__version__} | {PACKAGES[peer].name: PACKAGES[peer].version for peer in pythons if peer in PACKAGES},
    }


def _trainings(
    options: argparse.Namespace, first: int, base: Experiment, corpus: Corpus, pythons: dict[str, str], missing: list[str]
) -> Iterator[dict]:
    """Every training as it ends: the presets with one seed, some of the peers, the presets with another seed, and so on. A sentence for
    each that breaks joins `missing`."""
    threads, seeds = [int(count) for count in options.threads], range(first, first + options.seeds)
    jobs = [(seed, name, peer, count) for seed in seeds for count in threads for name in options.settings for peer in pythons]
    for turn in range(options.our_seeds):
        for name in options.presets:
            experiment = preset(name).with_(**{"seed": first + turn, "data_seed": base.data.data_seed} | dict(options.set))
            for count in sorted({*threads, experiment.training.threads}):
                yield {"who": name, "setting": "ours", "threads": count} | _ours(experiment.with_(threads=count), corpus)
        for seed, name, peer, count in jobs[turn :: options.our_seeds]:
            size = asdict(sizes(peer, name, base, options.width))
            asked = {"peer": peer, "setting": size, "seed": seed, "threads": count, "target": TARGET, "limit": options.limit}
            try:
                found = _theirs(asked | _pairs(corpus) | {"warm": options.warm}, pythons[peer])
            except Missing as problem:
                missing.append(str(problem))
                note(missing[-1])
            else:
                yield {"who": peer, "setting": name, "threads": count, "size": size} | found


def sizes(peer: str, name: str, base: Experiment, width: int) -> Setting:
    """How large a peer is: as in its own example, though no wider than `width`, or as ours."""
    own: Setting = import_module(f"benchmarks.peers.{peer}").OWN
    model = base.model
    if name == "equal":
        return Setting(model.d_model, model.n_heads, model.encoder_layers, model.d_ff, model.dropout, base.training.batch_size)
    narrower = min(width, own.d_model)
    return replace(own, d_model=narrower, d_ff=own.d_ff * narrower // own.d_model)


def table(result: dict) -> str:
    return written(result)


def _interpreters(options: argparse.Namespace) -> tuple[dict[str, str], list[str]]:
    """The Python of every peer, and a sentence for each that can't be had."""
    pythons, missing = {}, []
    for peer in options.peers:
        try:
            pythons[peer] = interpreter(peer, options.environments)
        except Missing as problem:
            missing.append(str(problem))
            note(missing[-1])
    return pythons, missing


def _ours(experiment: Experiment, corpus: Corpus) -> dict:
    """One training of ours; what a peer's watch finds, found from outside."""
    before, spent = time.perf_counter(), time.process_time()
    found = _train(experiment, TARGET)
    busy = (time.process_time() - spent) / (time.perf_counter() - before)
    config, training = experiment.training, Training(experiment, corpus)
    tokens = cells = 0
    for items in islice(batches(corpus.train, config.batch_size, config.batch_unit, config.seed), found["step"]):
        for batch in split_batch(items, len(training.replicas), config.packing):
            tokens += int((batch.src != PAD).sum() + (batch.tgt_out != PAD).sum())
            cells += batch.src.numel() + batch.tgt_in.numel()
    parameters = sum(parameter.numel() for parameter in training.model.parameters())
    # The process goes on after the target, to look at other pairs: its share of CPU time is the same.
    return found | {"cpu_seconds": found["seconds"] * busy, "tokens": tokens, "cells": cells, "parameters": parameters}


def _train(experiment: Experiment, target: float) -> dict:
    """Trains up to the target: no thread, no replay, no page."""
    config = experiment.training
    with cores(min(config.threads, machine_cores())) as parallel_map:
        started = time.perf_counter()
        corpus = build_corpus(experiment.data)
        prepared = time.perf_counter()
        training, validation, validating = Training(experiment, corpus, machine_devices()[0]), None, 0.0
        training.parallel_map = parallel_map
        for step in training.steps():
            if step.step % config.eval_every and step.step != config.steps:
                continue
            before = time.perf_counter()
            validation = training.validate()
            validating += time.perf_counter() - before
            if validation.exact_match >= target:
                break
        now = time.perf_counter()
        training.parallel_map = map
    return {
        "seconds": now - started,
        "preparing": prepared - started,
        "validating": validating,
        "step": training.step,
        "exact_match": validation.exact_match,
        "reached": validation.exact_match >= target,
    }


def _pairs(corpus: Corpus) -> dict:
    sides = {name: [(item.src_ids, item.tgt_ids) for item in getattr(corpus, name)] for name in ("train", "heldout")}
    return sides | {"vocabulary": max(corpus.src_tokenizer.size, corpus.tgt_tokenizer.size)}


def _theirs(asked: dict, python: str) -> dict:
    """One training of a peer in a process of its own, with "curve", its examinations. Raises Missing when it breaks."""
    patience = 60 + 3 * (asked["limit"] + asked["warm"])  # a step of a large model can be long
    command = [python, "-m", "benchmarks.peers.drive"]
    try:
        done = subprocess.run(command, input=json.dumps(asked), check=True, capture_output=True, text=True, timeout=patience, cwd=ROOT)
    except subprocess.SubprocessError as problem:
        raise Missing(f"{NAMES[asked['peer']]} could not be trained: {last_words(problem)}") from None
    *curve, last = [json.loads(line) for line in done.stdout.splitlines()]
    return last | {"curve": [(point["seconds"], point["exact_match"]) for point in curve]}
