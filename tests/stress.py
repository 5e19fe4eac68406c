"""`python -m tests.stress 5` runs the gate five times with three busy processes beside it, and prints what each run came to."""

import argparse
import multiprocessing
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COLUMNS = ("passed", "failed", "error", "skipped", "rerun")
COUNTS = re.compile(rf"(\d+) ({'|'.join(COLUMNS)})")


def burn() -> None:
    while True:
        pass


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--busy", type=int, default=3, help="processes beside it")
    options, tests = parser.parse_known_args(words)
    for _ in range(options.busy):
        multiprocessing.Process(target=burn, daemon=True).start()  # ended with this one
    print(f"| run | seconds | {' | '.join(COLUMNS)} | status |\n|{'---|' * (len(COLUMNS) + 3)}", flush=True)
    worst = 0
    for number in range(1, options.runs + 1):
        began = time.monotonic()
        ended = subprocess.run([sys.executable, "-m", "pytest", "-v", "--tb=short", *tests], cwd=ROOT, capture_output=True, text=True)
        worst = max(worst, ended.returncode)
        counts = {word: count for count, word in COUNTS.findall("\n".join(ended.stdout.splitlines()[-3:]))}
        numbers = " | ".join(counts.get(column, "0") for column in COLUMNS)
        print(f"| {number} | {time.monotonic() - began:.0f} | {numbers} | {ended.returncode} |", flush=True)
        if ended.returncode:
            print(ended.stdout[-5000:], flush=True)
    return worst


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
