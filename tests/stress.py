"""`python -m tests.stress 5` runs the gate, or the tests named then, five times beside three busy processes; prints how each run ended."""

import subprocess
import sys


def main(runs: str = "5", *tests: str) -> int:
    worst, busy = 0, [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        for _ in range(int(runs)):
            ended = subprocess.run([sys.executable, "-m", "pytest", "--tb=short", *tests], capture_output=True, text=True)
            worst = max(worst, ended.returncode)
            print(ended.stdout[-5000:] if ended.returncode else ended.stdout.splitlines()[-1], flush=True)
    finally:
        for process in busy:
            process.kill()
    return worst


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
