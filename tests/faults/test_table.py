"""Of each fault it is known what its test was seen to fail without, and that is in the code, so that it can be taken out once more."""

from tests.faults.__main__ import TESTS, breaks, faults


def test_of_each_is_known_what_it_was_seen_to_fail_without():
    rows = list(faults())
    assert sorted(breaks()) == sorted(address.partition("::")[2] for _, _, address in rows)
    assert len({done for done, _, _ in rows}) == len(rows)
    for removal in breaks().values():
        source = (TESTS.parent / removal.file).read_text(encoding="utf-8")
        assert removal.apply(source) != source
