"""Each kind of person is answered as the right of a route, listener or action says; and an id of another's opens and changes nothing."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pytest

from playground.runs.names import owner_of
from playground.ui.assets import PREFIX
from playground.ui.command import ACTIONS
from playground.ui.endpoints import add_endpoints
from playground.ui.page import build_page
from playground.ui.rights import OFF, Right, Table
from tests import rights
from tests.hostile.attack import Attack
from tests.hostile.people import SOURCE, People
from tests.hostile.valid import GRADIO, Call, valid_calls
from tests.rights import LAST, PEOPLE, Row, others_in, who_may
from tests.runs.tiny import at_step
from tests.ui.looking import TINY
from tests.ui.test_actions import MINE, THEIRS

CLOSED, ROOMS = ("page.not_a_command", "page.not_there"), {"rooms.not_in", "rooms.not_teacher"}
REFUSED = {"runs.no_token", "api.no_owner", "runs.not_yours", "runs.sentences_private", "page.no_upload"} | ROOMS


@pytest.fixture(scope="module")
def rows(site) -> dict[str, Row]:
    """A valid call of everything in the table, made by each of PEOPLE."""
    return {row.kind: row for row in rights.rows(People.come(site.http.base_url.port))}


def test_each_person_may_do_what_the_table_says_and_nothing_else(rows):
    wrong = {}
    for row in rows.values():
        for who in PEOPLE:
            reply = row.answers[who]
            if reply not in CLOSED if row.right is Right.OFF else (reply in REFUSED) == (who in who_may(row.right)):
                wrong[row.kind, who] = row.right, reply
    assert wrong == {}
    assert len(rights.table(list(rows.values())).splitlines()) == 2 + len(rows)


def test_no_answer_has_what_belongs_to_another(rows):
    assert {row.kind: row.read for row in rows.values() if row.read} == {}


def test_a_stranger_changes_nothing_whatever_token_they_have(site):
    run = at_step(site.train(MINE, TINY | {"steps": 100_000}), 1)
    owned = [action for action, (right, _) in ACTIONS.items() if right is Right.OWNER]
    assert len(owned) > 5
    live, values = dict(run.live), {"label": "taken", "knob": "learning_rate", "value": 0.5, "shared": True, "step": 1}
    for token in (THEIRS, "", None, owner_of(MINE), run.id, "0", '["a"]', "a" * 33, f"{MINE},{THEIRS}"):
        before = len(site.runs.list_unshipped())
        for action in (*owned, *(["train", "fork", "tune", "copy", "repeat"] if not token else [])):
            answer = site.command({"action": action, "run": run.id, "knobs": TINY, **values}, token)
            assert answer.json()["key"] == ("runs.not_yours" if token else "runs.no_token"), (action, token)
        assert site.runs.get(run.id) is run
        assert len(site.runs.list_unshipped()) == before
        assert (run.status, run.label, run.live, run.sentences_shared) == ("training", "", live, False)


def routes_of(app) -> Iterator[tuple[str, str]]:
    """(method, path) of every route, those of included routers too."""
    for route in app.routes:
        for one in route.effective_route_contexts() if hasattr(route, "effective_route_contexts") else [route]:
            for method in getattr(one, "methods", None) or ():
                yield method, one.path


def test_all_that_can_be_reached_is_declared_and_nothing_else(site):
    """A route or listener without a declared right is closed: give it a GuardedRoute, or add it to Listeners, with its right."""
    there, table = set(routes_of(site.app)), Table(site.app.routes)
    rows = {(rule.method, rule.path) for rule in table.rules if "/mcp/" not in rule.path}
    assert {(method, path) for method, path in there if path.startswith(PREFIX) and method != "HEAD"} <= rows <= there
    page, listeners = build_page(site.runs, MagicMock())
    listeners |= add_endpoints(page, site.runs, site.reader, MagicMock())
    assert {event["id"] for event in page.get_config_file()["dependencies"] if event["backend_fn"]} == listeners.keys()
    assert table.find("/monitoring") == table.find(f"{PREFIX}/something/new") == Table().find(f"{PREFIX}/command") == {}
    assert table.rule_of({"method": "PUT", "path": f"{PREFIX}/command"}).right is OFF
    paths = [getattr(route, "path", "") for route in site.app.router.routes]  # ours come first, from the first request on
    assert max(at for at, path in enumerate(paths) if path.startswith(PREFIX)) < paths.index("/config")
    assert paths.index("/gradio_api/deep_link") < paths.index("/config")


def test_no_route_takes_a_method_that_is_not_declared(site):
    table = Table(site.app.routes)
    for path in {re.sub(r"\{.*?\}", "reverse", rule.path) for rule in table.rules if rule.path.startswith(PREFIX)}:
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "X"):
            others = sorted(table.find(path))
            if method not in others:
                answer = site.http.request(method, path)
                assert (answer.status_code, answer.headers["allow"]) == (405, ", ".join(others)), (method, path)
                assert answer.json()["key"] == "page.not_there"


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
