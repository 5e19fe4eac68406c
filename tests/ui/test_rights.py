"""The table of rights is true: each kind of person is answered as it says, and who may not learns nothing."""

from __future__ import annotations

import pytest

from benchmarks.hostile.people import People
from tests import rights
from tests.rights import DONE, PEOPLE, Row, who_may

REFUSED = {"runs.no_token", "runs.not_yours", "runs.sentences_private", "rooms.not_in", "rooms.not_teacher", "page.no_upload"}


@pytest.fixture(scope="module")
def found(site) -> dict[str, Row]:
    return {row.kind: row for row in rights.rows(People.come(site.http.base_url.port))}


@pytest.mark.slow
@pytest.mark.parametrize("who", PEOPLE)
def test_whoever_may_is_not_refused_and_whoever_may_not_is(found, who):
    for row in found.values():
        if row.right.name in ("OFF",):
            assert row.told[who] not in (DONE, *REFUSED), row
        elif who in who_may(row.right):
            assert row.told[who] not in REFUSED, (who, row)
        else:
            assert row.told[who] in REFUSED, (who, row)


@pytest.mark.slow
def test_the_table_can_be_printed(found):
    printed = rights.table(list(found.values()))
    assert len(printed.splitlines()) == 2 + len(found)
    assert "rooms.not_teacher" in printed
