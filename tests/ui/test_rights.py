"""The table of rights is true: each kind of person is answered as it says, and who may not learns nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.hostile.people import People
from benchmarks.hostile.valid import Call
from playground.ui.rights import Right
from tests import rights
from tests.rights import PEOPLE, Row, others_in, who_may

NO_KEY, NOT_YOURS = {"runs.no_token", "api.no_owner"}, {"runs.not_yours", "runs.sentences_private", "page.no_upload"}
REFUSED = {*NO_KEY, *NOT_YOURS, "rooms.not_in", "rooms.not_teacher"}


@pytest.fixture(scope="module")
def found(site) -> dict[str, Row]:
    return {row.kind: row for row in rights.rows(People.come(site.http.base_url.port))}


@pytest.mark.night
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


def test_what_is_somebody_elses_is_seen_in_an_answer_unless_the_question_had_it():
    people = People(0, {"nobody": "", "owner": "key of ada", "stranger": "key of bob"})
    call = Call("", "GET", "/x", {}, who="stranger")
    assert others_in(call, b"zeisig 3, key of ada, key of bob", people) == {"the owner's words", "the key of the owner"}
    assert others_in(replace(call, query={"text": "zeisig"}), b"zeisig 3", people) == set()
    assert others_in(replace(call, who="owner"), b"zeisig 3, key of ada", people) == set()


@pytest.mark.night
def test_no_answer_has_what_is_somebody_elses(found):
    assert {row.kind: row.read for row in found.values() if row.read} == {}


@pytest.mark.night
def test_the_table_can_be_printed(found):
    printed = rights.table(list(found.values()))
    assert len(printed.splitlines()) == 2 + len(found)
    assert "rooms.not_teacher" in printed
