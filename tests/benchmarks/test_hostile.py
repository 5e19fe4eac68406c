"""Calls that no page sends: whatever they are, nothing breaks. Each is known by its number, so that one can be tried again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import tests.ui.conftest as ui
from benchmarks.hostile import Attack, People, valid_calls
from benchmarks.hostile.mutations import mutated
from benchmarks.hostile.valid import Call
from playground.ui.rights import COMMANDS, LISTENERS, OFF, ROOM, ROUTES
from tests.benchmarks.test_benchmarks import result_of

site = ui.site


@pytest.fixture(scope="module")
def attack(site) -> Attack:
    people = People.come(site.http.base_url.port)
    return Attack(people.port, valid_calls(people), people, seed=1)


def test_there_is_a_valid_call_of_everything_that_has_a_right(attack):
    calls = attack.calls
    assert {name for name in COMMANDS if f"command {name}" not in calls} == set()
    assert {name for name in ROOM if f"room {name}" not in calls} == set()
    closed = {name for name, right in LISTENERS.items() if right is OFF}
    assert {name for name in LISTENERS if not {f"listener {name}", f"endpoint {name}"} & set(calls)} - closed == set()
    called = ("/command", "/room/{action}", "/run/{api_name}", "/queue/join", "/call/{api_name}", "/call/v2/{api_name}")  # by those above
    rows = {f"{method} {path}" for method, paths in ROUTES.items() for path in paths if "/mcp/" not in path and not path.endswith(called)}
    assert rows - set(calls) == set()


def test_each_of_them_is_answered(attack):
    """As their owner, their teacher or whoever asks it would be."""
    with ThreadPoolExecutor(16) as pool:
        findings = list(pool.map(lambda call: attack.judged(-1, replace(call, who="nobody")), attack.calls.values()))
    assert [found.said for found in findings if found.fault and found.fault != "slow"] == []
    assert all(200 <= found.status < 500 for found in findings)


def test_the_same_number_is_the_same_call(attack):
    drawn = [[mutated(attack.calls, number, seed) for number in range(50)] for seed in (3, 3, 4)]
    assert repr(drawn[0]) == repr(drawn[1])
    assert repr(drawn[0]) != repr(drawn[2])
    assert sum(call in attack.calls.values() for call in drawn[0]) < 10, "most are changed"


def test_when_the_time_is_over_no_further_one_is_sent(attack):
    assert attack.run(range(10**9), 2, seconds=0.0) == []


def test_an_honest_visitor_who_waits_in_vain_has_waited_and_looks_again(attack, monkeypatch):
    answers = iter([TimeoutError(), (200, b"")])

    def ask(call):
        answer = next(answers)
        if isinstance(answer, TimeoutError):
            raise answer
        return answer

    monkeypatch.setattr(attack, "ask", ask)
    assert len(attack.honest(2)) == 2
    monkeypatch.setattr(attack, "ask", lambda call: (500, b""))
    with pytest.raises(RuntimeError, match="500"):
        attack.honest(1)


@pytest.mark.parametrize("fault", ["5xx", "cut off", "slow", "traceback", "somebody else's sentence", "an error without a sentence"])
def test_what_breaks_is_seen(attack, fault, monkeypatch):
    said = {
        "5xx": (500, b"{}"), "traceback": (200, b"Traceback (most recent call last):"), "somebody else's sentence": (200, b"zeisig 3"),
        "an error without a sentence": (200, b'data: {"error": null}'), "cut off": ConnectionResetError(),
        "slow": TimeoutError("timed out"),
    }[fault]  # fmt: skip

    def asked(call: Call) -> tuple[int, bytes]:
        if isinstance(said, Exception):
            raise said
        return said

    monkeypatch.setattr(attack, "ask", asked)
    assert attack.one(0).fault == fault


def test_three_hundred_of_them_break_nothing(attack):
    findings = attack.send(range(300), at_once=16)
    assert [found.said for found in findings if found.fault and found.fault != "slow"] == []


@pytest.mark.night
def test_nor_do_a_thousand(capsys):
    result = result_of(capsys, "hostile", "--calls", "1000", "--at-once", "8")
    assert result["calls"] == 1000
    assert {fault: count for fault, count in result["faults"].items() if count and fault != "slow"} == {}
