"""The mutants are what they say, and their tests are those that run their line."""

import json
from pathlib import Path

import pytest

from tests.mutants.__main__ import EQUIVALENT, ROOMS, ROOT, draw
from tests.mutants.mutations import mutate
from tests.mutants.selection import address, mirror, within

SOURCE = '''"""A file."""

import log

LIMIT: int = 3


class Thing:
    def size(self, n: int = 2) -> int:
        """Returns a size."""
        log.info("asked %d", n)
        if n < LIMIT and not self.small:
            raise ValueError(f"{n + 1}")
        self.count += 1
        return [n * 2, "a" + "b"][0]
'''


def test_each_rule_changes_one_thing_and_no_line_moves():
    changes = {mutant.id.partition(":")[2]: (mutant.before, mutant.after) for mutant in mutate(SOURCE, "f.py")}
    assert changes == {
        ":constant:1": ("3", "4"),
        "Thing.size:condition:1": ("n < LIMIT and not self.small", "(not (n < LIMIT and (not self.small)))"),
        "Thing.size:operator:1": ("n < LIMIT and not self.small", "(n < LIMIT or not self.small)"),
        "Thing.size:comparison:1": ("n < LIMIT", "n <= LIMIT"),
        "Thing.size:operator:2": ("not self.small", "(self.small)"),
        "Thing.size:dropped:1": ('raise ValueError(f"{n + 1}")', "pass"),
        "Thing.size:dropped:2": ("self.count += 1", "pass"),
        "Thing.size:constant:1": ("1", "2"),
        "Thing.size:operator:3": ("n * 2", "(n / 2)"),
        "Thing.size:constant:2": ("2", "3"),
        "Thing.size:constant:3": ("0", "1"),
        "Thing.size:constant:4": ("2", "3"),
    }
    for mutant in mutate(SOURCE, "f.py"):
        changed = mutant.apply(SOURCE).splitlines()
        lines = [(old, new) for old, new in zip(SOURCE.splitlines(), changed, strict=True) if old != new]
        assert len(lines) == 1


@pytest.mark.parametrize("file", ["playground/model/attention.py", "playground/runs/queue/scheduler.py", "playground/reading/encodings.py"])
def test_mutants_of_real_files_are_python_and_have_names_of_their_own(file):
    source = (ROOT / file).read_text(encoding="utf-8")
    mutants = list(mutate(source, file))
    assert len({mutant.id for mutant in mutants}) == len(mutants) > 20
    assert sum(mutant.apply(source) is None for mutant in mutants) < len(mutants) / 20


def test_a_sample_is_the_same_each_time_and_has_as_many_of_each_room():
    drawn = draw(("model", "rooms"), 8, seed=3)
    assert [mutant.id for mutant in drawn] == [mutant.id for mutant in draw(("model", "rooms"), 8, seed=3)]
    assert [mutant.file.split("/")[1] for mutant in drawn] == ["model"] * 4 + ["rooms"] * 4
    assert len({(mutant.file, mutant.line) for mutant in drawn}) == 8


def test_the_tests_of_a_module_are_in_its_mirror_and_as_many_as_there_is_time_for():
    assert mirror("playground/runs/lru.py") == "tests/runs/test_lru"
    assert within(["a", "b", "c"], {"a": 5.0, "b": 1.0, "c": 1.0}, 6.5) == ["a", "b"]
    assert within(["a"], {"a": 5.0}, 1.0) == ["a"]
    assert address("tests.runs.test_lru", "test_one[a.b]") == "tests/runs/test_lru.py::test_one[a.b]"
    assert address("tests.runs.test_lru.TestIt", "test_one") == "tests/runs/test_lru.py::TestIt::test_one"


def test_every_equivalent_mutant_is_still_there_and_has_a_reason():
    equivalent = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    files = {id.partition(":")[0] for id in equivalent}
    ids = {mutant.id for file in files for mutant in mutate((ROOT / file).read_text(encoding="utf-8"), file)}
    assert set(equivalent) <= ids
    assert all(len(reason.split()) > 3 for reason in equivalent.values())
    assert all(Path(file).parts[1] in ROOMS for file in files)
