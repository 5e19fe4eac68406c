"""`python -m tests.mutants`: draws small faults in the rooms whose truths matter, and says which the gate's tests notice.

    python -m tests.mutants measure          # runs the gate once: which test runs which line, and how long it takes
    python -m tests.mutants --seed 2         # draws mutants and runs the tests of their lines; --only ID … these again, with their prints

A mutant that no test can notice stands in equivalent.json with the reason. The status is 1 when another one survives.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from itertools import accumulate, count
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from coverage import CoverageData

from tests.mutants.mutations import Mutant, mutate

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "test-output" / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent.json")
ROOMS = {
    "model": "**/*.py", "training": "**/*.py", "decoding": "**/*.py", "inspection": "**/*.py", "data": "**/*.py", "reading": "**/*.py",
    "runs": "**/*.py", "features": "**/*.py", "rooms": "**/*.py", "ui": "*.py",
}  # fmt: skip
COPIED = ("playground", "tests", "benchmarks", "app.py", "pyproject.toml", "package.json", "setup.py", "README.md")
LINKED = ("checkpoints", "node_modules")
NEVER = ("tests/browser/", "tests/mutants/", "tests/test_readme.py")  # the page's process is not measured; the README quotes source lines
COUNT = 160
TESTS_S = 20.0  # of tests by their own seconds, for one mutant
OPTIONS = ("-q", "-rsfE", "-x", "-n0", "-p", "no:cacheprovider", "-m", "", "--tb=line")
STARTUP_S = 120.0  # more than a run of them may take before it counts as hung, which is a fault that is noticed


class Result(NamedTuple):
    """What became of one mutant: "killed", "hung" or "survived", by which test or after how many."""

    mutant: Mutant
    outcome: str
    detail: str


class Coverage:
    """The tests that ran each line of playground/, from pytest-cov's contexts, with the seconds of pytest's JUnit report."""

    def __init__(self, data: Path, report: Path) -> None:
        self.seconds = read_seconds(report)
        self._of_file: dict[str, list[str]] = defaultdict(list)  # test file -> its tests
        for test in self.seconds:
            self._of_file[test.partition("::")[0]].append(test)
        self._data = CoverageData(str(data))
        self._data.read()
        self._files = {path[path.rindex("playground/") :]: path for path in self._data.measured_files() if "playground/" in path}

    def tests(self, file: str, lines: Iterable[int], seconds: float) -> list[str]:
        """The tests that run one of the lines, as many as take `seconds`: the file's own first, then the quickest; after them, where a
        fixture of a file ran the line, the other tests of that file. Without any, as of a constant, those that run anything of the file."""
        own = f"test_{Path(file).stem}.py::"
        covered = self._data.contexts_by_lineno(self._files.get(file, file))
        for contexts in ({context for line in lines for context in covered.get(line, ())}, set().union(*covered.values())):
            direct = {context.partition("|")[0] for context in contexts}
            files = {context.partition("::")[0] for context in contexts if context.endswith("|setup")}
            tests = self.seconds.keys() & direct.union(*(self._of_file[name] for name in files))
            if known := [test for test in tests if not test.startswith(NEVER)]:
                known.sort(key=lambda test: (test not in direct, own not in test, self.seconds[test]))
                totals = accumulate(self.seconds[test] + 0.01 for test in known)
                return known[: max(1, sum(total <= seconds for total in totals))]
        return []


def read_seconds(report: Path) -> dict[str, float]:
    """Test -> seconds, of every test that passed."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if not len(case) or all(part.tag in ("system-out", "system-err", "properties") for part in case):
            found[f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"] = float(case.get("time", 0))
    return found


def draw(rooms: Iterable[str], total: int, seed: int) -> list[Mutant]:
    """The same number from each room, and no two from one statement."""
    rooms, drawn = list(rooms), []
    for room in rooms:
        paths = (ROOT / "playground" / room).glob(ROOMS[room])
        files = sorted(file for file in paths if not file.name.startswith(("test_", "conftest")))
        mutants = [mutant for file in files for mutant in mutate(file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix())]
        taken: dict[tuple[str, int], Mutant] = {}
        for mutant in sorted(mutants, key=lambda mutant: mutant.order(seed)):
            if len(taken) < total // len(rooms) and mutant.apply((ROOT / mutant.file).read_text(encoding="utf-8")):
                taken.setdefault((mutant.file, mutant.line), mutant)
        drawn += taken.values()
    return drawn


class Copies:
    """Copies of the tree in which a file may be wrong for a while; each is used by one thread at a time."""

    def __init__(self, number: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self._free: Queue[Path] = Queue()
        self._times = count(int(time.time()))  # a time of its own for each change, or Python would take the module it compiled before
        for at in range(number):
            self._free.put(self._copy(Path(self._folder.name) / str(at)))

    def _copy(self, folder: Path) -> Path:
        folder.mkdir()
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        for name in LINKED:
            if (ROOT / name).exists():
                (folder / name).symlink_to(ROOT / name)
        return folder

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[Path]:
        """One of the copies, in which the file is wrong."""
        folder = self._free.get()
        file = folder / mutant.file
        before = file.read_text(encoding="utf-8")
        try:
            self._write(file, mutant.apply(before))
            yield folder
        finally:
            self._write(file, before)
            self._free.put(folder)

    def run(self, mutant: Mutant, tests: list[str], seconds: float, show: bool) -> Result:
        """Runs the tests in one of the copies until one of them fails."""
        with self.changed(mutant) as folder:
            status, output = run_tests(folder, tests, STARTUP_S + 5 * seconds)
        if show:
            print(output)
        lines = output.splitlines()
        if status in (None, 0):
            skipped = next((line for line in lines if line.startswith("SKIPPED")), f"{len(tests)} tests")
            return Result(mutant, "hung" if status is None else "survived", skipped)
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        return Result(mutant, "killed", failed[0].split(" - ")[0][:160] if failed else f"status {status}")

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        at = next(self._times)
        os.utime(file, (at, at))


def run_tests(folder: Path, tests: list[str], seconds: float) -> tuple[int | None, str]:
    """(status of pytest, None where it hung; its output). Whatever the tests have started is ended with them."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        command = [sys.executable, "-m", "pytest", *OPTIONS, *tests]
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, start_new_session=True)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        status = process.returncode
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        return status, output.read()


def results(mutants: list[Mutant], coverage: Coverage, jobs: int, show: bool) -> Iterator[Result]:
    copies = Copies(jobs)
    with ThreadPoolExecutor(jobs) as pool:
        futures = []
        for mutant in mutants:
            tests = coverage.tests(mutant.file, range(mutant.line, mutant.last + 1), TESTS_S)
            seconds = sum(coverage.seconds[test] for test in tests)
            futures.append(pool.submit(copies.run, mutant, tests, seconds, show))
        for future in as_completed(futures):
            yield future.result()


def measure(words: list[str]) -> int:
    """Runs the gate, or the tests that are named, with coverage by test."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    config = OUTPUT / "settings.ini"  # a name beginning with "coverage." would be deleted with the data of before
    config.write_text(f"[run]\nsource = playground\ndata_file = {OUTPUT / 'coverage'}\n", encoding="utf-8")
    options = ["--cov=playground", "--cov-context=test", "--cov-report=", f"--cov-config={config}", f"--junitxml={OUTPUT / 'report.xml'}"]
    return subprocess.run([sys.executable, "-m", "pytest", *options, *words], cwd=ROOT).returncode


def main(words: list[str]) -> int:
    if words[:1] == ["measure"]:
        return measure(words[1:])
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID")
    options = parser.parse_args(words)
    coverage = Coverage(OUTPUT / "coverage", OUTPUT / "report.xml")
    if options.only:
        named = {part.partition(":")[0] for part in options.only}
        every = [mutant for file in named for mutant in mutate((ROOT / file).read_text(encoding="utf-8"), file)]
        mutants = [mutant for mutant in every if mutant.id in options.only]
    else:
        mutants = draw(ROOMS, options.count, options.seed)
    equivalent = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    table: dict[str, list[Result]] = defaultdict(list)
    survivors, began = 0, time.monotonic()
    for result in results(mutants, coverage, options.jobs, bool(options.only)):
        table[result.mutant.file.split("/")[1]].append(result)
        reason = equivalent.get(result.mutant.id)
        survivors += result.outcome == "survived" and reason is None
        change = f"{result.mutant.before[:60]!r} -> {result.mutant.after[:60]!r}"
        print(f"{result.outcome:<9}{result.mutant.id}  {change}  {reason or result.detail}", flush=True)
    print("\n| room | mutants | killed | equivalent | survived |\n|---|---|---|---|---|")
    for room, rows in [*table.items(), ("all", [row for of_room in table.values() for row in of_room])]:
        left = [row for row in rows if row.outcome == "survived"]
        same = sum(row.mutant.id in equivalent for row in left)
        print(f"| {room} | {len(rows)} | {len(rows) - len(left)} | {same} | {len(left) - same} |")
    print(f"\n{time.monotonic() - began:.0f} s")
    return int(survivors > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
