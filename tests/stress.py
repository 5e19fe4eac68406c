"""`python -m tests.stress 5` runs the gate, or the tests that follow, five times beside three busy processes and prints how each run ended."""

import subprocess
import sys
from multiprocessing import Process


def burn() -> None:
    while True:
        pass


def main(runs: str = "5", *tests: str) -> int:
    for _ in range(3):
        Process(target=burn, daemon=True).start()  # ended with this one
    worst = 0
    for _ in range(int(runs)):
        ended = subprocess.run([sys.executable, "-m", "pytest", "--tb=short", *tests], capture_output=True, text=True)
        worst = max(worst, ended.returncode)
        print(ended.stdout[-5000:] if ended.returncode else ended.stdout.splitlines()[-1], flush=True)
    return worst


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
