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
        """The tests that run one of the lines: those of the mirrored test file first, then the quickest, as many as take `seconds`. Where a
        fixture of a file ran the line, the other tests of the file are taken as well. Without any, the tests of the mirrored folder."""
        direct, files, covered = set(), set(), self._data.contexts_by_lineno(self._files.get(file, file))
        for context in {context for line in lines for context in covered.get(line, ()) if context}:
            test, _, phase = context.partition("|")
            direct.add(test)
            if phase == "setup":
                files.add(test.partition("::")[0])
        shared = {test for name in files for test in self._of_file[name]}
        mirrored = mirror(file)
        chosen = direct | shared
        if not any(test in self.seconds for test in chosen):
            folder = mirrored.rpartition("/")[0] + "/"
            chosen = {test for name, tests in self._of_file.items() if name.startswith(folder) for test in tests}
        known = [test for test in chosen if test in self.seconds and not test.startswith(NEVER)]
        known.sort(key=lambda test: (not test.startswith(mirrored), test not in direct, self.seconds[test]))
        return within(known, self.seconds, seconds)


def read_seconds(report: Path) -> dict[str, float]:
    """Test -> seconds, of every test that passed."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if not len(case) or all(part.tag in ("system-out", "system-err", "properties") for part in case):
            found[address(case.get("classname", ""), case.get("name", ""))] = float(case.get("time", 0))
    return found


def address(classname: str, name: str) -> str:
    """What pytest calls a test, from what its JUnit report calls it: the module, and the class where it is in one."""
    parts = classname.split(".")
    length = next(number for number, part in enumerate(parts, 1) if part.startswith("test_"))
    return "::".join([f"{'/'.join(parts[:length])}.py", *parts[length:], name])


def mirror(file: str) -> str:
    """Where the tests of a module are by custom: tests/runs/test_cache for playground/runs/cache.py, beside the modules of a feature."""
    mirrored = file if file.startswith("playground/features/") else file.replace("playground/", "tests/", 1)
    folder, _, name = mirrored.removesuffix(".py").rpartition("/")
    return f"{folder}/test_{name}"


def within(tests: Sequence[str], seconds: dict[str, float], most: float) -> list[str]:
    """As many of the first tests as take at most so long together, and at least one."""
    total, taken = 0.0, []
    for test in tests:
        total += seconds[test] + 0.01
        if taken and total > most:
            break
        taken.append(test)
    return taken
