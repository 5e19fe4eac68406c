"""`python -m tests.simulation --seed 17` tells one story again; `--minutes 60` tells new ones for an hour and prints failing seeds."""

import argparse
import logging
import os
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from tests.simulation.story import Story

RULES = 60  # that happen in a story


def tell(seed: int, rules: int = RULES) -> None:
    """One story in a folder of its own. Raises AssertionError."""
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        Story(Path(folder), seed).tell(rules)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds that --minutes tries")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rules", type=int, default=RULES)
    options = parser.parse_args(words)
    os.fsync = lambda file: None  # a process may end here, the machine may not
    logging.disable()
    if options.seed is not None:
        tell(options.seed, options.rules)
        return 0
    failed, end = [], time.monotonic() + 60 * options.minutes
    for seed in count(options.first):
        if time.monotonic() > end:
            break
        try:
            tell(seed, options.rules)
        except Exception as error:  # an error of any kind is a finding
            failed.append(seed)
            print(f"{type(error).__name__}: {error}", flush=True)
    print(f"seeds {options.first} to {seed - 1}; failed: {failed or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
