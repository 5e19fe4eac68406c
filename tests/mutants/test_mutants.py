"""The mutants are what they say, and a sample of them is the same each time."""

import json

import pytest

from tests.faults.__main__ import TESTS, breaks, faults
from tests.mutants.__main__ import EQUIVALENT, ROOT, draw
from tests.mutants.mutations import mutate


@pytest.mark.parametrize("file", ["playground/model/attention.py", "playground/runs/queue/scheduler.py"])
def test_mutants_are_python_have_names_of_their_own_and_move_no_line(file):
    source = (ROOT / file).read_text(encoding="utf-8")
    mutants = list(mutate(source, file))
    assert len({mutant.id for mutant in mutants}) == len(mutants) > 20
    changed = [text.splitlines() for text in (mutant.apply(source) for mutant in mutants) if text]
    assert len(changed) > 0.95 * len(mutants)
    assert {len(lines) for lines in changed} == {len(source.splitlines())}
    assert source.splitlines() not in changed


def test_a_sample_is_the_same_each_time_and_has_as_many_of_each_room():
    drawn = draw(("model", "rooms"), 8, seed=3)
    assert drawn == draw(("model", "rooms"), 8, seed=3)
    assert [mutant.file.split("/")[1] for mutant in drawn] == ["model"] * 4 + ["rooms"] * 4


def test_every_equivalent_mutant_is_still_there_and_has_a_reason():
    for id, reason in json.loads(EQUIVALENT.read_text(encoding="utf-8")).items():
        file = id.partition(":")[0]
        assert id in {mutant.id for mutant in mutate((ROOT / file).read_text(encoding="utf-8"), file)}
        assert len(reason.split()) > 3


def test_of_each_is_known_what_it_was_seen_to_fail_without():
    rows = list(faults())
    assert sorted(breaks()) == sorted(address.partition("::")[2] for _, _, address in rows)
    assert len({done for done, _, _ in rows}) == len(rows)
    for removal in breaks().values():
        source = (TESTS.parent / removal.file).read_text(encoding="utf-8")
        assert removal.apply(source) != source
