"""Which tests cover a line, and how long each takes: read from one measured run of the gate."""

import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from coverage import CoverageData

NEVER = ("tests/browser/", "tests/mutants/", "tests/test_readme.py")  # the page's process is not measured; the README quotes source lines


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
        """The quickest tests that run one of the lines, as many as take `seconds`; after them, where a fixture of a file ran the line, the
        other tests of that file. Without any, as of a constant, the tests that run anything of the file."""
        covered = self._data.contexts_by_lineno(self._files.get(file, file))
        for contexts in ({context for line in lines for context in covered.get(line, ())}, set().union(*covered.values())):
            direct = {context.partition("|")[0] for context in contexts}
            files = {context.partition("::")[0] for context in contexts if context.endswith("|setup")}
            tests = self.seconds.keys() & direct.union(*(self._of_file[name] for name in files))
            if known := [test for test in tests if not test.startswith(NEVER)]:
                return within(sorted(known, key=lambda test: (test not in direct, self.seconds[test])), self.seconds, seconds)
        return []


def read_seconds(report: Path) -> dict[str, float]:
    """Test -> seconds, of every test that passed."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if not len(case) or all(part.tag in ("system-out", "system-err", "properties") for part in case):
            found[f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"] = float(case.get("time", 0))
    return found


def within(tests: Sequence[str], seconds: dict[str, float], most: float) -> list[str]:
    """As many of the first tests as take at most so long together, and at least one."""
    total, taken = 0.0, []
    for test in tests:
        total += seconds[test] + 0.01
        if taken and total > most:
            break
        taken.append(test)
    return taken
