"""Calls that no page sends break nothing. Each is known by its number, so that one can be tried again."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import tests.ui.conftest as ui
from benchmarks.hostile import Attack, People, valid_calls
from playground.ui.actions import ACTIONS
from tests.rights import ROOM, TABLE

site = ui.site
BREAKS = {
    "5xx": (500, b"{}"), "traceback": (200, b"Traceback (most recent call last):"), "somebody else's sentence": (200, b"zeisig 3"),
    "an error without a sentence": (200, b'data: {"error": null}'), "cut off": ConnectionResetError(), "slow": TimeoutError("timed out"),
}  # fmt: skip


@pytest.fixture(scope="module")
def attack(site) -> Attack:
    people = People.come(site.http.base_url.port)
    return Attack(people.port, valid_calls(people), people, seed=1)


def test_everything_that_has_a_right_is_called_and_its_owner_answered(attack, site):
    called = ("/command", "/room/{action}", "/run/{api_name}", "/queue/join", "/call/{api_name}", "/call/v2/{api_name}")  # by the names
    names = {*(f"command {name}" for name in ACTIONS), *(f"room {name}" for name in ROOM)}
    names |= {f"{rule.method} {rule.path}" for rule in TABLE.rules if "/mcp/" not in rule.path and not rule.path.endswith(called)}
    assert names - set(attack.calls) == set()
    dependencies = site.http.get("/config").json()["dependencies"]
    listeners = {event["api_name"].rstrip("_0123456789") for event in dependencies if event["backend_fn"]}
    assert {name for name in listeners if not {f"listener {name}", f"endpoint {name}"} & set(attack.calls)} == set()
    with ThreadPoolExecutor(16) as pool:
        findings = list(pool.map(lambda call: attack.judged(-1, replace(call, who="nobody")), attack.calls.values()))
    assert [one.said for one in findings if one.fault and one.fault != "slow"] == []
    assert all(200 <= one.status < 500 for one in findings if one.fault != "slow"), "slow is the machine"


@pytest.mark.parametrize("fault", BREAKS)
def test_what_breaks_is_seen(attack, fault, monkeypatch):
    monkeypatch.setattr(attack, "ask", lambda call: given(BREAKS[fault]))
    assert attack.one(0).fault == fault


def given(answer: tuple[int, bytes] | Exception) -> tuple[int, bytes]:
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.night)])
def test_many_of_them_break_nothing(attack, count):
    findings = attack.send(range(count), at_once=16)
    assert [one.said for one in findings if one.fault and one.fault != "slow"] == []
