"""The same reversals learnt by others and by our presets: torch.nn.Transformer as in PyTorch's tutorial, and x-transformers."""

import argparse
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path

import torch

from benchmarks.machine import cores
from benchmarks.peers.common import Setting, Watch
from benchmarks.suite import Missing, note, some_of, tiny
from benchmarks.tables import percent, seconds, show_summary, summary, tabulate, whole
from playground.config import Experiment, limits, preset
from playground.data.batches import batches, split_batch
from playground.data.corpus import build_corpus
from playground.runs.limits import machine_devices
from playground.runs.machine_speed import warm_up
from playground.training.loop import Training

ABOUT = "the same reversals learnt by nn.Transformer, x-transformers and our presets, on one thread: seconds to 99 %, steps/s"
ROOT = Path(__file__).parents[2]
NAMES = {"plain": "nn.Transformer", "xtransformer": "x-transformers"}
PACKAGES = {"plain": "torch", "xtransformer": "x-transformers"}
SETTINGS = {"own": "its own", "equal": "equal size and dropout", "ours": "ours"}
PEERS, OURS = tuple(NAMES), ("default", "fast", "paper")
TARGET = 0.99
WARM_STEPS = 40  # of ours, before the first that counts
SMOKE = {"peers": ["plain"], "presets": ["default"], "settings": ["equal"], "limit": 0.5, "warm": 0.0, "our_seeds": 1}
SMOKE |= {"set": tiny(steps=4, eval_every=2)}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", type=some_of(PEERS), default=list(PEERS), metavar="A,B", help=", ".join(PEERS))
    parser.add_argument("--presets", type=some_of(OURS), default=list(OURS), metavar="A,B", help=", ".join(OURS))
    parser.add_argument("--settings", type=some_of(["own", "equal"]), default=["own", "equal"], metavar="A,B", help="or as large as ours")
    parser.add_argument("--width", type=int, default=128, help="d_model and, in proportion, d_ff of peers whose own example is wider")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which a peer's training is given up")
    parser.add_argument("--our-seeds", type=int, default=3, help="trainings of each preset, spread over the benchmark")
    parser.add_argument("--first-seed", type=int, help="repeats an earlier benchmark")
    parser.add_argument("--warm", type=float, default=1.0, help="seconds of training that warm a peer's process up")


def run(options: argparse.Namespace) -> dict:
    """Returns {"first_seed", "limit", "rows", "missing": [sentence], "versions"}.

    All learn the same pairs on one thread. A peer's seconds begin with the pairs as token ids, in a warm process of its own; ours with
    nothing, so they include drawing the pairs. Examinations count for all. rows: {"who", "setting", "size", "parameters", "seconds" and
    "cpu_seconds" to the target, None where it was not reached, "steps_per_second" and "tokens_per_second" (source and target, without
    padding) of training alone, "padding": the share of computed cells that held none, "right": the last exact match}, summaries.
    """
    first = options.first_seed if options.first_seed is not None else random.SystemRandom().randrange(1000, 900_000)
    base = Experiment().with_(data_seed=(first + 500_000) % limits("data_seed").high, **dict(options.set))
    missing, versions = [], {"torch": torch.__version__}
    for peer in options.peers:
        try:
            versions[PACKAGES[peer]] = version(PACKAGES[peer])
        except PackageNotFoundError:
            missing.append(f"{PACKAGES[peer]} is not here: pip install {PACKAGES[peer]}")
    peers = [peer for peer in options.peers if PACKAGES[peer] in versions]
    if options.warm:
        warm_up()
        _ours(Experiment().with_(**{"task": "copy", "train_size": 2000} | dict(options.set) | {"steps": WARM_STEPS}), 2.0)
    groups: dict[tuple[str, str], list[dict]] = {}
    for training in _trainings(options, first, base, peers, missing):
        note("{who:<13} {setting:<6} {seconds:6.2f} s, {cpu_seconds:6.2f} s CPU, step {step}, {exact_match:.1%}".format(**training))
        groups.setdefault((training["who"], training["setting"]), []).append(training)
    rows = [_row(*key, trainings) for key, trainings in groups.items()]
    return {"first_seed": first, "limit": options.limit, "rows": rows, "missing": missing, "versions": versions}


def _row(who: str, setting: str, trainings: list[dict]) -> dict:
    alone = [each["seconds"] - each["preparing"] - each["validating"] for each in trainings]  # seconds of steps
    return {
        "who": who,
        "setting": setting,
        "size": trainings[0].get("size"),
        "parameters": trainings[0]["parameters"],
        "seconds": summary(each["seconds"] if each["reached"] else None for each in trainings),
        "cpu_seconds": summary(each["cpu_seconds"] if each["reached"] else None for each in trainings),
        "steps_per_second": summary(each["step"] / took for each, took in zip(trainings, alone, strict=True)),
        "tokens_per_second": summary(each["tokens"] / took for each, took in zip(trainings, alone, strict=True)),
        "padding": summary(1 - each["tokens"] / each["cells"] for each in trainings),
        "right": summary(each["exact_match"] for each in trainings),
    }


def _trainings(options: argparse.Namespace, first: int, base: Experiment, peers: list[str], missing: list[str]) -> Iterator[dict]:
    """Yields every training as it ends: the presets with one seed, some of the peers, the presets with another seed, and so on. A sentence
    for each that breaks joins `missing`."""
    jobs = [(name, peer) for name in options.settings for peer in peers]
    for turn in range(options.our_seeds):
        for name in options.presets:
            knobs = {"seed": first + turn, "data_seed": base.data.data_seed, "threads": 1} | dict(options.set)
            yield {"who": name, "setting": "ours"} | _ours(preset(name).with_(**knobs))
        for name, peer in jobs[turn :: options.our_seeds]:
            size = asdict(sizes(peer, name, base, options.width))
            job = {"peer": peer, "knobs": base.difference(), "setting": size, "seed": first}
            job |= {"target": TARGET, "limit": options.limit, "warm": options.warm}
            try:
                yield {"who": peer, "setting": name, "size": size} | _theirs(job)
            except Missing as problem:
                missing.append(str(problem))


def sizes(peer: str, name: str, base: Experiment, width: int) -> Setting:
    """How large a peer is: as in its own example, though no wider than `width`, or as ours."""
    own: Setting = import_module(f"benchmarks.peers.{peer}").OWN
    model = base.model
    if name == "equal":
        return Setting(model.d_model, model.n_heads, model.encoder_layers, model.d_ff, model.dropout, base.training.batch_size)
    narrower = min(width, own.d_model)
    return replace(own, d_model=narrower, d_ff=own.d_ff * narrower // own.d_model)


def _ours(experiment: Experiment, target: float = TARGET) -> dict:
    """Trains a preset up to the target: no thread, no replay, no page. Returns what the watch counted, and the number of parameters."""
    config = experiment.training
    with cores(1) as parallel_map:
        watch = Watch(target, math.inf)
        corpus = build_corpus(experiment.data)
        training = Training(experiment, corpus, machine_devices()[0])
        training.parallel_map = parallel_map
        watch.prepared()
        for step in training.steps():
            if watch.step(step.tokens, 0, lambda: training.validate().exact_match, step.step == config.steps):
                break
    for items in islice(batches(corpus.train, config.batch_size, config.batch_unit, config.seed), training.step):
        for batch in split_batch(items, len(training.replicas), config.packing):
            watch.counts["cells"] += batch.src.numel() + batch.tgt_in.numel()
    return watch.counts | {"parameters": sum(parameter.numel() for parameter in training.model.parameters())}


def _theirs(job: dict) -> dict:
    """Trains a peer in a process of its own. Raises Missing when it breaks."""
    patience = 60 + 3 * (job["limit"] + job["warm"])  # a step of a large model can be long
    command = [sys.executable, "-m", "benchmarks.peers.common"]
    try:
        done = subprocess.run(command, input=json.dumps(job), check=True, capture_output=True, text=True, timeout=patience, cwd=ROOT)
    except subprocess.SubprocessError as problem:
        words = (getattr(problem, "stderr", None) or str(problem)).strip().splitlines()
        raise Missing(f"{NAMES[job['peer']]} could not be trained: {words[-1]}") from None
    return json.loads(done.stdout.splitlines()[-1])


def table(result: dict) -> str:
    rows = tabulate(result["rows"], {
        "who": lambda row: NAMES.get(row["who"], row["who"]),
        "settings": lambda row: SETTINGS[row["setting"]],
        "d_model": lambda row: str(row["size"]["d_model"]) if row["size"] else "–",
        "pairs": lambda row: str(row["size"]["pairs"]) if row["size"] else "–",
        "parameters": lambda row: whole(row["parameters"]),
        "steps/s": lambda row: show_summary(row["steps_per_second"], "{:.3g}".format),
        "tokens/s": lambda row: show_summary(row["tokens_per_second"], whole),
        "padding": lambda row: show_summary(row["padding"], percent),
        "seconds": lambda row: show_summary(row["seconds"], seconds),
        "CPU s": lambda row: show_summary(row["cpu_seconds"], seconds),
        "right": lambda row: show_summary(row["right"], percent),
    })  # fmt: skip
    about = (
        f"Seconds to {TARGET:.0%}; never: not by {result['limit']:g} s, or not in a preset's steps. They begin with the pairs as token ids"
        f" (ours: before they are drawn) and include every examination. --first-seed {result['first_seed']} repeats them."
    )
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    return "\n\n".join([rows, about, f"Versions: {versions}.", *result["missing"]])
