"""So many runs at once, unwatched, and then with everybody watching and somebody asking."""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.crowd import Member, Streams, crowd, first_update, progress
from benchmarks.server import ROUTES, Client, Server
from benchmarks.suite import note
from benchmarks.tables import markdown, milliseconds, percent, percentile, whole
from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.tasks.toy_tasks import examples

CROWDS = {"1": (1,), "5": (1,) * 5, "5 of 2": (4, 1), "30": (1,) * 30, "30 of 12": (4,) * 6 + (1,) * 6}  # runs of each owner
SHIPPED = "reverse"  # the trained run that comes with the app
EVENTS = {
    "live": "opening a run's live stream, to its first update",
    "own": "translating a sentence with a run that trains",
    "shipped": "translating a sentence with a run that comes with the app",
}
SHARES = (0.5, 0.95, 0.99)


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"rows": [{"crowd", "runs", "owners", "steps", "tokens", "fair_runs", "fair_owners", "bytes", "watched", "lost", "events"}]}, a row
    without runs first.

    steps and tokens (real ones) of all runs per second, with nobody watching; watched: steps/s with a stream open for each run and one
    visitor who asks; lost: the share of steps that costs. fair_: Jain's index of steps by run and by owner. bytes: memory of the server
    with all of them. events: {name: (median, 95 %, 99 %)} in seconds.
    """
    knobs = dict(options.set)
    tokens = tokens_of_a_step(Experiment().with_(**knobs))
    asking = Asking(server.port, options)
    rows = [{"crowd": "none", "runs": 0, "owners": 0, "events": asking.all(None, 0.0)}]
    for name in options.crowds:
        with crowd(server, CROWDS[name], knobs) as members:
            rows.append({"crowd": name} | _row(server, members, asking, options, tokens))
        note("{crowd}: {steps:.1f} steps/s, fair {fair_runs:.3f}, watched {watched:.1f} steps/s".format(**rows[-1]))
    return {"rows": rows}


def _row(server: Server, members: Sequence[Member], asking: Asking, options: argparse.Namespace, tokens: float) -> dict:
    time.sleep(options.quiet)
    with _counted(server, members) as quiet:
        time.sleep(options.window)
    memory = server.ask("resident")
    with Streams(server.port, [member.run for member in members]), _counted(server, members) as watched:
        events = asking.all(members[0].run, options.window)
    by_owner: dict[str, float] = {}
    for member, steps in zip(members, quiet, strict=True):
        by_owner[member.owner] = by_owner.get(member.owner, 0.0) + steps
    return {
        "runs": len(members),
        "owners": len(by_owner),
        "steps": sum(quiet),
        "tokens": tokens * sum(quiet),
        "fair_runs": jain(quiet),
        "fair_owners": jain([*by_owner.values()]),
        "bytes": memory,
        "watched": sum(watched),
        "lost": 1 - sum(watched) / sum(quiet),
        "events": events,
    }


class _counted:
    """The steps per second of each run while the block lasts; a list that is filled at its end."""

    def __init__(self, server: Server, members: Sequence[Member]) -> None:
        self._server, self._members = server, members

    def __enter__(self) -> list[float]:
        self._before, self._rates = progress(self._server, self._members), []
        return self._rates

    def __exit__(self, *problem: object) -> None:
        after, before = progress(self._server, self._members), self._before
        took = after["time"] - before["time"]
        self._rates += [(now - then) / took for now, then in zip(after["steps"], before["steps"], strict=True)]


def jain(values: Sequence[float]) -> float:
    """Jain's index of fairness: 1 when all have the same, 1 / n when one of n has everything."""
    squares = len(values) * sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else 1.0


def tokens_of_a_step(experiment: Experiment) -> float:
    """Source and target tokens of the mean batch, without padding."""
    corpus = build_corpus(experiment.data)
    return experiment.training.batch_size * statistics.fmean(len(item.src_ids) + len(item.tgt_ids) + 2 for item in corpus.train)


class Asking:
    """One visitor who asks one thing after the other, never the same sentence twice."""

    def __init__(self, port: int, options: argparse.Namespace) -> None:
        self._port, self._options = port, options
        self._texts = itertools.cycle(example.src for example in examples("reverse", "heldout", 5000, 999_997))

    def all(self, run: str | None, seconds: float) -> dict[str, tuple[float, ...]]:
        """Of each of EVENTS the median, 95 and 99 %, in seconds; asked in turns, at least for so long. `run` is one that trains."""
        client, times = Client(self._port), {name: [] for name in EVENTS if run or name != "own"}
        ask: dict[str, Callable[[], float]] = {
            "live": lambda: first_update(self._port, run or SHIPPED),
            "own": lambda: self._translate(client, run),
            "shipped": lambda: self._translate(client, SHIPPED),
        }
        until = time.perf_counter() + seconds
        try:
            for act in (ask[name] for name in times):  # the first of each is warm-up
                act()
            for _ in self._turns(until):
                for name, found in times.items():
                    found.append(ask[name]())
                    time.sleep(self._options.pause)
        finally:
            client.close()
        return {name: tuple(percentile(found, share) for share in SHARES) for name, found in times.items()}

    def _turns(self, until: float) -> Iterator[int]:
        return itertools.takewhile(lambda turn: turn < self._options.requests or time.perf_counter() < until, itertools.count())

    def _translate(self, client: Client, run: str) -> float:
        return client.get(f"{ROUTES}/panel/translate", run=run, text=next(self._texts))[1]


def table(result: dict) -> str:
    head = ("runs", "owners", "steps/s", "real tokens/s", "fair to runs", "to owners", "server MB", "steps/s, all watched", "lost")
    rows = [
        (
            str(row["runs"]),
            str(row["owners"]),
            f"{row['steps']:.1f}",
            whole(row["tokens"]),
            f"{row['fair_runs']:.3f}",
            f"{row['fair_owners']:.3f}",
            "–" if row["bytes"] is None else whole(row["bytes"] / 2**20),
            f"{row['watched']:.1f}",
            percent(row["lost"]),
        )
        for row in result["rows"]
        if row["runs"]
    ]
    events = [
        (said, row["crowd"], *map(milliseconds, row["events"][name]))
        for name, said in EVENTS.items()
        for row in result["rows"]
        if name in row["events"]
    ]
    about = "Fair: Jain's index of steps, 1 when all get the same. The page meanwhile, with a stream open for each run:"
    return f"{markdown(head, rows)}\n\n{about}\n\n{markdown(('what', 'runs', 'median ms', '95 %', '99 %'), events)}"
