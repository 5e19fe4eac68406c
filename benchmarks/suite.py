"""The command line of the benchmarks: which there are, their options, their tables and their JSON."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import releases
from benchmarks.machine import machine, one_line
from playground.config import Experiment, Refusal

TINY = {"d_model": 16, "d_ff": 32, "train_size": 200, "validation_size": 20, "encoder_layers": 1, "decoder_layers": 1}
BENCHMARKS = ("tasks", "page", "step_rate", "classroom", "peers", "decoding", "real", "labs")


class Missing(Exception):
    """Something that a benchmark needs is not on this machine; the sentence says what to install."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one benchmark, or all of them and keeps their numbers; or shows kept ones. Returns the exit code: 2 for what was missing or
    refused, 1 if there are no numbers to show."""
    first = [*(sys.argv[1:] if arguments is None else arguments)]
    if first and first[0] in ("show", "compare"):
        return releases.main(first)
    if first and first[0] in BENCHMARKS:
        return _run(read_options(first[0], first[1:]), first[0])
    about = f"{_listing()}\n\nNAME: only this one, see NAME --help\nshow A, compare A B: the numbers of a version or file, and of two"
    top = argparse.ArgumentParser(prog="python -m benchmarks", description=about, formatter_class=argparse.RawTextHelpFormatter)
    top.add_argument("--list", action="store_true", help="only say which there are")
    top.add_argument("--keep", type=Path, metavar="FILE", default=releases.FILE, help="where the numbers are kept: %(default)s")
    top.add_argument("--smoke", action="store_true", help="tiny settings: shows that all run, measures nothing")
    chosen = top.parse_args(first)
    print(_listing(), flush=True)
    if chosen.list:
        return 0
    options = ["--smoke"] if chosen.smoke else ["--keep", str(chosen.keep)]
    code = max([_run(read_options(name, options), name) for name in BENCHMARKS])
    if chosen.smoke:
        return code
    if not chosen.keep.exists():
        note(f"No benchmark could run, so {chosen.keep} has no numbers to show.")
        return 1
    print(f"\n{releases.show_page(str(chosen.keep))}\n\nKept in {chosen.keep}")
    return code


def load(name: str) -> ModuleType:
    return import_module(f"benchmarks.{name}")


def read_options(name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """The options of one benchmark: what was asked for, else the defaults, or with --smoke those of a run that only shows that it runs."""
    module = load(name)
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=module.ABOUT)
    parser.add_argument("--json", action="store_true", help="end with one JSON object instead of tables")
    parser.add_argument("--smoke", action="store_true", help="tiny settings: shows that it runs, measures nothing")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="also write the numbers into this file, beside those of other benchmarks")
    parser.add_argument("--set", nargs="+", type=setting, default=[], metavar="KNOB=VALUE", help="knobs of all trainings")
    module.add_options(parser)
    if "--smoke" in arguments:
        parser.set_defaults(**module.SMOKE)
    return parser.parse_args(arguments)


def setting(text: str) -> tuple[str, Any]:
    """KNOB=VALUE as a checked pair."""
    name, _, value = text.partition("=")
    try:
        return name, Experiment().with_(**{name: value}).flat()[name]
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def tiny(**more: Any) -> list[tuple[str, Any]]:
    """Knobs of a training that only shows that it runs, as --set has them."""
    return [*(TINY | more).items()]


def some_of(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """The type of an option that takes some of these names, with commas between them."""
    known = list(choices)

    def names(text: str) -> list[str]:
        chosen = text.split(",")
        if unknown := [name for name in chosen if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return chosen

    return names


def numbers(text: str) -> list[int]:
    """The type of an option that takes numbers, with commas between them."""
    return [int(word) for word in text.split(",")]


def note(text: str) -> None:
    """How it goes. On stderr: stdout is for results."""
    print(text, file=sys.stderr, flush=True)


def _run(options: argparse.Namespace, name: str) -> int:
    """Runs, keeps and prints one benchmark. Returns the exit code."""
    module, ran_on = load(name), machine()
    try:
        result = module.run(options)
    except (Missing, Refusal) as problem:
        note(f"{name}: {problem}")
        return 2
    plain = {key: value for key, value in vars(options).items() if key not in ("json", "set", "keep")}
    complete = {"benchmark": name, "machine": ran_on, "settings": plain | {"set": dict(options.set)}, **result}
    if options.keep:
        releases.keep(name, complete, options.keep)
    if options.json:
        print(json.dumps(complete, default=str))
    else:
        print(f"\n## {name}\n\n{module.ABOUT}\n\n{one_line(ran_on)}\n\n{module.table(result)}", flush=True)
    return 0


def _listing() -> str:
    return "\n".join(f"{name:<16}{load(name).ABOUT}" for name in BENCHMARKS)
