"""An id of somebody else's, at every place of every call there is, opens nothing and changes nothing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from playground.ui.assets import PREFIX
from tests.hostile.attack import Attack
from tests.hostile.people import SOURCE, People
from tests.hostile.valid import GRADIO, Call, valid_calls
from tests.rights import LAST, others_in

ROUTINE = {f"GET {GRADIO}/upload_progress", f"GET {GRADIO}/heartbeat/{{session_hash}}"}  # of Gradio's, which wait and know no ids
LABEL = "label-of-the-owner"


@pytest.fixture(scope="module")
def people(site) -> People:
    people = People.come(site.http.base_url.port)
    site.act(people.tokens["owner"], "rename", people.run, label=LABEL)
    return people


def placed(value: Any, secret: str, each: bool) -> Iterator[Any]:
    """The same value with `secret` in place of each that it holds, and in each object as if it were asked for by that name. What a list
    holds, which for a listener are fifty controls, is replaced one after the other, or at once."""
    if isinstance(value, dict):
        yield value | {"task": "own", "own": secret}
        for key, inner in value.items():
            if each or key == "data" or "data" not in value:  # what stands around a listener's data is Gradio's
                yield from (value | {key: one} for one in placed(inner, secret, each))
    elif isinstance(value, list):
        is_plain = [not isinstance(inner, dict | list) for inner in value]
        yield [secret if plain else inner for plain, inner in zip(is_plain, value, strict=True)]
        for at, inner in enumerate(value):
            if each or not is_plain[at]:
                yield from ([*value[:at], one, *value[at + 1 :]] for one in placed(inner, secret, each))
    else:
        yield secret


def calls_with(call: Call, secret: str, each: bool) -> Iterator[Call]:
    """In the room the teacher asks, who may change it, and may not read what the owner has."""
    who = "teacher" if call.kind.startswith("room") and call.kind not in LAST else "stranger"
    for part in ("query", "body"):
        if isinstance(getattr(call, part), dict):
            yield from (replace(call, **{part: value}, who=who) for value in placed(getattr(call, part), secret, each))


def owned(site, people: People) -> list[object]:
    """All that is the owner's or was made of it, and whether the room names it."""
    run = site.runs.get(people.run)
    room = people.get(f"{PREFIX}/room?code={people.room}", "teacher")
    made = [one.id for one in site.runs.find_by_data(people.own)], len(site.runs.list_owned(people.tokens["owner"]))
    return [run.label, run.status, run.step, run.sentences_shared, dict(run.live), *made, people.own in str(room)]


@pytest.mark.parametrize("each", [False, pytest.param(True, marks=pytest.mark.night)])
def test_the_ids_of_others_open_nothing_wherever_they_stand(site, people, each):
    """By day the id of sentences, which is no link; that of their run at night as well."""
    before, calls, secrets = owned(site, people), valid_calls(people), (people.own, people.run)[: 1 + each]
    attack = Attack(people.port, calls, people)
    for kind in sorted(set(calls) - ROUTINE, key=lambda kind: kind in LAST):
        for call in (call for secret in secrets for call in calls_with(calls[kind], secret, each)):
            _, answer = attack.answered(call, "hostile")
            assert others_in(call, answer, people) == set(), call
            assert SOURCE.encode() not in answer, call
            assert LABEL.encode() not in answer, call
        assert owned(site, people) == before, kind
