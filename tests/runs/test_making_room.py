"""Runs that nobody looks at make room, and lose nothing by it; an address has its share, whatever its tokens."""

import json

import pytest

from playground.runs import visitors
from playground.runs.rules import Rules
from tests.runs.by_hand import at_rest, begun, ordered, refused
from tests.runs.tiny import ME, YOU, alone, curve, ended_as_if_alone, tiny

IDLE_S = 601


class Room(Rules):
    """Where a run is shared, and a student works."""

    def shared(self, run):
        return True

    def in_room(self, token):
        return token == "student"


def on_disk(world, run):
    card = json.loads((world.runs.store.path(run) / "run.json").read_bytes())
    return card["status"], card["message"] and card["message"]["key"]


def test_a_paused_run_that_is_idle_is_stopped_and_goes_on_exactly_where_it_was(world):
    """Counted from when somebody looked, and after a restart from there."""
    run = begun(world, order="pause", steps=30)
    step = run.step
    world.clock.passed += IDLE_S
    world.runs.seen(run.id)
    world.clock.passed += IDLE_S - 20
    world.round()
    assert run.status == "paused"
    run = world.restart().get(run.id)
    for passed, status in ((IDLE_S - 20, "paused"), (20, "stopped")):
        world.clock.passed += passed
        world.round()
        assert (run.status, run.step, run.resumable) == (status, step, True)
    assert on_disk(world, run) == ("stopped", "runs.nobody_looked")
    assert run.message.values["minutes"] == "10"
    run = world.restart().get(run.id)
    ended_as_if_alone(ordered(world, run, "resume"), tiny())


@pytest.mark.fault("the browser of a run that trains closed for good", "the run is stopped, saved, and can be resumed")
def test_nobody_looks(world):
    run = begun(world)
    world.clock.passed += IDLE_S
    at_rest(world, run)
    assert (run.status, run.message.key, run.resumable) == ("stopped", "runs.nobody_looked", True)
    assert run.checkpoint_step == run.step > 3


def test_idle_runs_make_room_for_their_owner_and_for_others(world):
    world.restart(runs_unfinished=3, runs_each=1)
    idle = [begun(world, owner, order="pause") for owner in ("a", "b", ME)]
    with refused("runs.too_many_yours"):
        world.runs.create(tiny(), ME)
    with refused("runs.too_many"):
        world.runs.create(tiny(), YOU)
    world.clock.passed += IDLE_S
    for owner in (YOU, ME):
        world.runs.create(tiny(steps=1), owner)
    assert [on_disk(world, run) for run in idle] == [("stopped", "runs.nobody_looked")] * 3


def test_a_full_disk_shuts_no_one_out(world, caplog):
    world.restart(runs_unfinished=1)
    run = begun(world, order="pause")
    world.clock.passed += IDLE_S
    with world.disk:
        world.disk.refusals = 1
        world.runs._housekeeper.stop_idle()
    assert run.status == "stopped"
    assert "No space" in caplog.text


@pytest.mark.fault("every place taken by paused runs that nobody looks at", "the one that was seen longest ago gives way")
def test_twenty_five_visitors_with_six_paused_runs_each_block_nobody(world):
    world.restart(runs_unfinished=4, runs_each=2)
    held = [begun(world, owner, order="pause", steps=30) for owner in ("a", "a", "b", "b")]
    world.clock.passed += 60  # far less than what is idle
    new = begun(world, YOU)
    assert [run.status for run in held] == ["stopped", "paused", "paused", "paused"], "the one that was seen longest ago, and no other"
    assert on_disk(world, held[0]) == ("stopped", "runs.gave_way")
    world.clock.passed += 60
    ordered(world, new, "stop", YOU)
    world.runs.resume(held[1].id, "a")  # which takes a place of its own
    world.runs.create(tiny(steps=1), YOU)
    world.runs.resume(held[0].id, "a")
    assert [run.status for run in held[2:]] == ["stopped", "paused"], "one that is resumed finds room too"
    at_rest(world, held[0])
    assert curve(held[0]) == curve(alone(tiny())[0])


@pytest.mark.parametrize("reason", ["watched", "shared", "training"])
def test_what_others_count_on_stays(world, reason):
    world.restart(runs_unfinished=1)
    run = begun(world, order=None if reason == "training" else "pause")
    world.clock.passed += 0 if reason == "watched" else 60
    if reason == "shared":
        world.runs.rules = Room()
    with refused("runs.too_many"):
        world.runs.create(tiny(), YOU)
    assert run.unfinished


@pytest.mark.parametrize(("each", "owner", "count", "key"), [(2, YOU, 2, "runs.too_many"), (1, ME, 1, "runs.too_many_yours")])
def test_no_run_is_put_away_in_vain(world, each, owner, count, key):
    world.restart(runs_unfinished=2, runs_each=each)
    old = begun(world, "a", order="pause")
    world.clock.passed += 60
    mine = begun(world, order="pause")
    with refused(key):
        world.runs.create_all([tiny(seed=seed) for seed in range(count)], owner, [""] * count)
    assert (old.status, mine.status) == ("paused", "paused")


@pytest.mark.fault("a new token for each of many runs", "the address is told that it has too many")
def test_new_tokens_at_one_address_get_no_more_than_its_share(world):
    """But for those in a room, where its own limits hold instead."""
    world.restart(runs_address=2)
    for token in ("one", "two", "three", "student"):
        world.runs.visitors.came(token, "192.0.2.1")
    world.runs.visitors.came(YOU, "192.0.2.2")
    for token in ("one", "two"):
        begun(world, token)
    with refused("runs.too_many_near"):
        world.runs.create(tiny(), "three")
    for token in (YOU, "one without an address"):
        world.runs.create(tiny(steps=1), token)
    world.runs.rules = Room()
    for _ in range(2):
        world.runs.create(tiny(steps=1), "student")
    with refused("runs.too_many_near"):
        world.runs.create(tiny(), "three")


def test_addresses_are_known_for_so_many_and_no_more(monkeypatch):
    monkeypatch.setattr(visitors, "MOST_OWNERS", 2)
    known = visitors.Visitors()
    for number, token in enumerate("abac"):
        known.came(token, f"of {token}, {number}")
    assert [known.address(visitors.owner_of(token)) for token in "abc"] == ["of a, 2", "", "of c, 3"]
