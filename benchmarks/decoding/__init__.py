"""Writing sentences, on one thread: ours with lean code, with the cache and without, against nn.Transformer and CTranslate2."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks.decoding.calls import calls
from benchmarks.decoding.models import LENGTH, Sentences, endless, plain, plain_greedy, sentences
from benchmarks.decoding.other import Other
from benchmarks.page import numbers
from benchmarks.peers.environment import PACKAGES, default_folder, interpreter
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown, milliseconds, ratio, shown, summary, whole
from playground.config import ModelConfig
from playground.decoding import beam, greedy
from playground.model.transformer import Transformer

ABOUT = "ms to write 12 tokens after 12, greedy, 32 sentences at once and by a beam of 4, against nn.Transformer and CTranslate2"
OURS = {"ours, lean": {}, "ours, own code": {"fast": False}, "ours, no cache": {"cache": False}}
FIRST, PEER, THEIRS = next(iter(OURS)), "nn.Transformer, no cache", "CTranslate2"
KINDS = {"one": "one sentence", "batch": "{batch} sentences at once", "beam": "one, beam of {beam}"}
INNER = 4  # d_ff as a multiple of d_model
COMPARED = 8  # batches whose tokens are compared
SMOKE = {"widths": [16], "rounds": 2, "batch": 3, "beam": 2, "heads": 2, "without": True}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--widths", type=numbers, default=[64, 128, 256], metavar="N,M", help="d_model; d_ff is four times as much")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32, help="sentences at once")
    parser.add_argument("--beam", type=int, default=4, help="its width")
    parser.add_argument("--rounds", type=int, default=25, help="in which all that is compared takes its turn")
    parser.add_argument("--without", action="store_true", help=f"without {THEIRS}, which pip would install")
    parser.add_argument("--environments", type=Path, default=default_folder(), help=f"where {THEIRS} is installed (PLAYGROUND_PEERS)")


def run(options: argparse.Namespace) -> dict:
    """{"rows", "agreement", "calls", "missing": [sentence], "batch", "beam", "length", "versions"}.

    rows: {"d_model", "kind", "who", "seconds": of all sentences, "cpu": seconds of processor time, which other processes disturb less,
    "rate": tokens/s, "ratio": times the processor time of our lean code in the same round}, summaries over the rounds. agreement:
    {"d_model", "kind", "who", "same", "of"}: how many sentences have the tokens that our lean code writes. calls: {"d_model", "who",
    "calls", "products"} of torch for one token of one sentence, the products of matrices among them. Everybody has one thread, and every
    sentence grows to its full length.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    result: dict = {"rows": [], "agreement": [], "calls": [], "missing": [], "versions": {"torch": torch.__version__}}
    try:
        python = None if options.without else _python(options, result)
        for width in options.widths:
            with ExitStack() as stack:
                _measure(options, width, python, stack, result)
    finally:
        torch.set_num_threads(threads)
    return result | {"batch": options.batch, "beam": options.beam, "length": LENGTH}


def table(result: dict) -> str:
    names = {kind: text.format(**result) for kind, text in KINDS.items()}
    head = ("d_model", "what", "who", "ms", "CPU ms", "tokens/s", "CPU of ours, lean, is 1")
    rows = (
        (
            str(row["d_model"]), names[row["kind"]], row["who"], shown(row["seconds"], milliseconds), shown(row["cpu"], milliseconds),
            whole(row["rate"]["median"]), shown(row["ratio"], ratio),
        )
        for row in result["rows"]
    )  # fmt: skip
    same = ((str(row["d_model"]), names[row["kind"]], row["who"], f"{row['same']}/{row['of']}") for row in result["agreement"])
    inside = ((str(row["d_model"]), row["who"], str(row["calls"]), str(row["products"])) for row in result["calls"])
    parts = [
        f"{result['length']} tokens are written after {result['length']}, by each on one thread; nothing may end earlier.",
        markdown(head, rows),
        f"Sentences with the same tokens as {FIRST}:",
        markdown(("d_model", "what", "who", "same"), same),
        "Calls of torch for one more token of one sentence:",
        markdown(("d_model", "who", "calls", "of which products"), inside),
        *result["missing"],
    ]
    return "\n\n".join(parts)


def _python(options: argparse.Namespace, result: dict) -> str | None:
    """The Python that has CTranslate2, or None, and the reason among what is missing."""
    package = PACKAGES["ctranslate2"]
    try:
        python = interpreter("ctranslate2", options.environments)
    except Missing as problem:
        result["missing"].append(str(problem))
        note(result["missing"][-1])
        return None
    result["versions"][package.name] = package.version
    return python


def _measure(options: argparse.Namespace, width: int, python: str | None, stack: ExitStack, result: dict) -> None:
    """All rows of one width."""
    config = ModelConfig(d_model=width, n_heads=options.heads, d_ff=INNER * width)
    model, peer = endless(config), plain(config)
    other = None
    if python:
        try:
            other = stack.enter_context(Other(python, model))
        except Missing as problem:
            result["missing"].append(str(problem))
            note(result["missing"][-1])
    ways = _ways(options, model, peer, other)
    batches = [sentences(options.batch, seed) for seed in range(COMPARED)]
    for kind, writers in ways.items():
        spent: dict[str, list[Spent]] = {who: [] for who in writers}
        given = batches[0] if kind == "batch" else batches[0][:1]
        for who, write in writers.items():
            write(given)  # finds the caches cold
            if who not in (FIRST, PEER):
                result["agreement"].append({"d_model": width, "kind": kind, "who": who, **_same(kind, writers[FIRST], write, batches)})
        for _ in range(options.rounds):
            for who, write in writers.items():
                spent[who].append(write(given)[1])
        result["rows"] += [_row(width, kind, who, times, spent[FIRST], len(given)) for who, times in spent.items()]
        note(f"{width:4d} {kind:<6}" + "".join(f" | {who} {1000 * min(one.cpu for one in times):.2f} ms" for who, times in spent.items()))
    result["calls"] += [{"d_model": width, "who": who, **calls(model, choice)} for who, choice in OURS.items()]


class Spent(NamedTuple):
    """Seconds by the clock, and of processor time."""

    seconds: float
    cpu: float


Writer = Callable[[Sentences], tuple[list[tuple[int, ...]], Spent]]


def _ways(options: argparse.Namespace, model: Transformer, peer: torch.nn.Module, other: Other | None) -> dict[str, dict[str, Writer]]:
    """Who writes, by kind; each takes sentences to their tokens and what it took."""
    ways: dict[str, dict[str, Writer]] = {kind: {} for kind in KINDS}
    for who, choice in OURS.items():
        plainly = _timed(lambda given, choice=choice: [found.ids for found in greedy(model, given, LENGTH, **choice)])
        ways["one"][who] = ways["batch"][who] = plainly
        ways["beam"][who] = _timed(lambda given, choice=choice: [beam(model, given[0], options.beam, 0.0, LENGTH, **choice)[0].ids])
    ways["one"][PEER] = ways["batch"][PEER] = _timed(lambda given: plain_greedy(peer, given))
    if other:
        ways["one"][THEIRS] = ways["batch"][THEIRS] = lambda given: _told(other.write(given, 1))
        ways["beam"][THEIRS] = lambda given: _told(other.write(given, options.beam))
    return ways


def _timed(write: Callable[[Sentences], list[tuple[int, ...]]]) -> Writer:
    def timed(given: Sentences) -> tuple[list[tuple[int, ...]], Spent]:
        seconds, cpu = time.perf_counter(), time.process_time()
        found = write(given)
        return found, Spent(time.perf_counter() - seconds, time.process_time() - cpu)

    return timed


def _told(answer: dict) -> tuple[list[tuple[int, ...]], Spent]:
    """What the other process says of itself."""
    return [tuple(ids) for ids in answer["ids"]], Spent(answer["seconds"], answer["cpu"])


def _same(kind: str, ours: Writer, theirs: Writer, batches: list[Sentences]) -> dict[str, int]:
    """In how many sentences both write the same tokens, and of how many."""
    asked = batches if kind == "batch" else [[sentence] for sentence in batches[0]]
    pairs = [pair for given in asked for pair in zip(ours(given)[0], theirs(given)[0], strict=True)]
    return {"same": sum(one == other for one, other in pairs), "of": len(pairs)}


def _row(width: int, kind: str, who: str, spent: list[Spent], first: list[Spent], count: int) -> dict:
    return {
        "d_model": width,
        "kind": kind,
        "who": who,
        "seconds": summary(one.seconds for one in spent),
        "cpu": summary(one.cpu for one in spent),
        "rate": summary(count * LENGTH / one.seconds for one in spent),
        "ratio": summary(one.cpu / ours.cpu for one, ours in zip(spent, first, strict=True)),
    }
