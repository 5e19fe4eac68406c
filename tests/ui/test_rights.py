"""The table of rights is true: each kind of person is answered as it says, and who may not learns nothing."""

from __future__ import annotations

import pytest

from benchmarks.hostile.people import People
from playground.ui.rights import Right
from tests import rights
from tests.rights import PEOPLE, Row, who_may

NO_KEY, NOT_YOURS = {"runs.no_token", "api.no_owner"}, {"runs.not_yours", "runs.sentences_private", "page.no_upload"}
REFUSED = {*NO_KEY, *NOT_YOURS, "rooms.not_in", "rooms.not_teacher"}


@pytest.fixture(scope="module")
def found(site) -> dict[str, Row]:
    return {row.kind: row for row in rights.rows(People.come(site.http.base_url.port))}


@pytest.mark.slow
@pytest.mark.parametrize("who", PEOPLE)
def test_whoever_may_is_not_refused_and_whoever_may_not_is(found, who):
    wrong = {}
    for row in found.values():
        told = row.told[who]
        if row.right is Right.OFF or row.right is Right.OPERATOR:
            is_right = told in ("page.not_a_command", "page.not_there")
        else:
            is_right = (told not in REFUSED) == (who in who_may(row.right))
        if not is_right:
            wrong[row.kind] = row.right, told
    assert wrong == {}


@pytest.mark.slow
def test_the_table_can_be_printed(found):
    printed = rights.table(list(found.values()))
    assert len(printed.splitlines()) == 2 + len(found)
    assert "rooms.not_teacher" in printed
