"""`python -m tests.stress 5` runs the gate five times with three busy processes beside it, and prints what each run came to."""

from __future__ import annotations

import argparse
import multiprocessing
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped|rerun)")
COLUMNS = ("passed", "failed", "error", "skipped", "rerun")


def burn() -> None:
    """Keeps one core busy until it is ended."""
    while True:
        pass


def count(output: str) -> dict[str, int]:
    """What pytest's last lines count, by the words of its summary."""
    counts = dict.fromkeys(COLUMNS, 0)
    for number, word in COUNTS.findall("\n".join(output.splitlines()[-3:])):
        counts[word.removesuffix("s") if word.startswith("error") else word] = int(number)
    return counts


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--busy", type=int, default=3, help="processes beside it")
    options, tests = parser.parse_known_args(words)
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(options.busy)]
    for process in busy:
        process.start()
    print(f"| run | seconds | {' | '.join(COLUMNS)} | status |\n|{'---|' * (len(COLUMNS) + 3)}", flush=True)
    worst = 0
    for number in range(1, options.runs + 1):
        began = time.monotonic()
        ended = subprocess.run([sys.executable, "-m", "pytest", "-v", "--tb=short", *tests], cwd=ROOT, capture_output=True, text=True)
        worst = max(worst, ended.returncode)
        numbers = " | ".join(str(value) for value in count(ended.stdout).values())
        print(f"| {number} | {time.monotonic() - began:.0f} | {numbers} | {ended.returncode} |", flush=True)
        if ended.returncode:
            print(ended.stdout[-5000:], flush=True)
    for process in busy:
        process.kill()
    return worst


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
