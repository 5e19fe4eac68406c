"""The mutants that no test can notice, and what each fault was seen to fail without, are still there."""

import json

from tests.faults.__main__ import TESTS, breaks, faults
from tests.mutants.__main__ import EQUIVALENT, ROOT
from tests.mutants.mutations import mutate


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
