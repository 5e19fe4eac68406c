"""When all places of a server are taken, paused runs that nobody looks at give way; and an address has its share, whatever its tokens."""

from __future__ import annotations

import time

import pytest

from playground.config import Refusal
from playground.runs import visitors
from playground.runs.rules import Rules
from tests.runs.test_idle import forget, on_disk, paused
from tests.runs.tiny import ME, YOU, alone, at_step, curve, done, limits, tiny


def put_away(run) -> bool:
    return run.status == "stopped" and run.message.key == "runs.gave_way"


@pytest.mark.night
@pytest.mark.fault("every place taken by paused runs that nobody looks at", "the one that was seen longest ago gives way")
def test_twenty_five_visitors_with_six_paused_runs_each_block_nobody(serve):
    runs = serve(limits(runs_unfinished=4, runs_each=2))
    kept = [paused(runs, owner) for owner in ("a", "a", "b", "b")]
    for age, run in enumerate(kept):
        forget(run, seconds=60 - age)  # far less than what is idle
    new = runs.create(tiny(steps=100_000), YOU)
    assert [put_away(run) for run in kept] == [True, False, False, False], "the one that was seen longest ago, and no other"
    assert on_disk(runs, kept[0])["status"] == "stopped"
    assert "resumed" in kept[0].message.say("en")
    runs.stop(new.id, YOU)
    runs.resume(kept[0].id, "a")
    assert done(kept[0]).status == "done"
    assert curve(kept[0]) == curve(alone(tiny(steps=100))[0])


def test_one_that_is_resumed_finds_room_too(serve):
    runs = serve(limits(runs_unfinished=1))
    mine = paused(runs, ME)
    runs.stop(mine.id, ME)
    other = paused(runs, YOU)
    forget(other, seconds=60)
    runs.resume(mine.id, ME)
    assert put_away(other)
    done(mine)


class Shared(Rules):
    def shared(self, run) -> bool:
        return True


@pytest.mark.parametrize("reason", ["watched", "shared", "training"])
def test_what_others_count_on_stays(serve, reason):
    runs = serve(limits(runs_unfinished=1))
    run = at_step(runs.create(tiny(steps=100_000), ME), 1) if reason == "training" else paused(runs, ME)
    if reason != "watched":
        forget(run, seconds=60)
    if reason == "shared":
        runs.rules = Shared()
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), YOU)
    assert refusal.value.key == "runs.too_many"
    assert run.unfinished


def test_nobody_is_put_away_in_vain(serve):
    runs = serve(limits(runs_unfinished=2, runs_each=2))
    old, seen = paused(runs, "a"), paused(runs, "b")
    forget(old, seconds=60)
    with pytest.raises(Refusal) as refusal:
        runs.create_all([tiny(), tiny(seed=2)], YOU, ["", ""])
    assert refusal.value.key == "runs.too_many"
    assert (old.status, seen.status) == ("paused", "paused")


def test_who_has_too_many_puts_nobody_away(serve):
    runs = serve(limits(runs_unfinished=2, runs_each=1))
    old, mine = paused(runs, "a"), paused(runs, ME)
    forget(old, mine, seconds=60)
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), ME)
    assert refusal.value.key == "runs.too_many_yours"
    assert old.status == "paused"


@pytest.mark.fault("a new token for each of many runs", "the address is told that it has too many")
def test_new_tokens_at_one_address_get_no_more_than_its_share(serve):
    runs = serve(limits(runs_address=2))
    for token in ("one", "two", "three"):
        runs.visitors.came(token, "192.0.2.1")
    runs.visitors.came(YOU, "192.0.2.2")
    for token in ("one", "two"):
        paused(runs, token)
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), "three")
    assert refusal.value.key == "runs.too_many_near"
    assert refusal.value.say("en").endswith(".")
    done(runs.create(tiny(steps=1), YOU))
    done(runs.create(tiny(steps=1), "somebody without an address"))


def test_in_a_room_its_own_limits_hold_instead(serve):
    class InRoom(Rules):
        def in_room(self, token: str) -> bool:
            return token == "student"

    runs = serve(limits(runs_address=1))
    runs.rules = InRoom()
    for token in ("student", "stranger"):
        runs.visitors.came(token, "192.0.2.1")
    paused(runs, "student")
    paused(runs, "student")
    with pytest.raises(Refusal):
        runs.create(tiny(), "stranger")


def test_addresses_are_known_for_so_many_and_no_more(serve, monkeypatch):
    monkeypatch.setattr(visitors, "MOST_OWNERS", 2)
    found = visitors.Visitors()
    for token in ("a", "b", "a", "c"):
        found.came(token, f"of {token} at {time.time()}")
    assert len(found._addresses) == 2
    assert found.address(visitors.owner_of("b")) == ""
    assert found.address(visitors.owner_of("a"))
