"""Runs that nobody looks at make room, and lose nothing by it; an address has its share, whatever its tokens."""

import json

import pytest

from playground.config import Refusal
from playground.runs import housekeeping, visitors
from playground.runs.rules import Rules
from tests.runs.tiny import ME, YOU, alone, curve, needed, same_replay, tiny

IDLE_S = 601


class Shared(Rules):
    def shared(self, run):
        return True


class InRoom(Rules):
    def in_room(self, token):
        return token == "student"


def begin(world, owner=ME, order="pause", **knobs):
    """A run that has come to step 3, and is paused there unless the order is another."""
    run = world.runs.create(tiny(**{"steps": 30, **knobs}), owner)
    world.until(lambda: run.step >= 3)
    if order:
        getattr(world.runs, order)(run.id, owner)
        world.until(lambda: not run.working and not world.runs._workers.busy(run))
    return run


def on_disk(world, run):
    card = json.loads((world.runs.store.path(run) / "run.json").read_bytes())
    return card["status"], card["message"] and card["message"]["key"]


def refusal_of(call, *arguments):
    with pytest.raises(Refusal) as refusal:
        call(*arguments)
    return refusal.value


def gave_way(run):
    return run.status == "stopped" and run.message.key == "runs.gave_way"


def test_a_paused_run_that_is_idle_is_stopped_and_goes_on_exactly_where_it_was(world):
    run = begin(world)
    step = run.step
    world.clock.passed += IDLE_S
    world.round()
    assert (run.status, run.step, run.resumable) == ("stopped", step, True)
    assert on_disk(world, run) == ("stopped", "runs.nobody_looked")
    assert "10" in run.message.say("en")
    world.runs.resume(run.id, ME)
    world.until(lambda: not run.working)
    twin, _ = alone(tiny(steps=30))
    assert (run.status, run.message) == ("done", None)
    assert curve(run) == curve(twin)
    assert same_replay(run, twin)


@pytest.mark.fault("the browser of a run that trains closed for good", "the run is stopped, saved, and can be resumed")
def test_nobody_looks(world):
    run = begin(world, order=None, steps=100_000)
    world.clock.passed += IDLE_S
    world.until(lambda: not run.working)
    assert (run.status, run.message.key, run.resumable) == ("stopped", "runs.nobody_looked", True)
    assert run.checkpoint_step == run.step > 3


def test_a_run_that_is_looked_at_stays(world):
    run = begin(world)
    world.clock.passed += IDLE_S
    world.runs.seen(run.id)
    world.clock.passed += IDLE_S - 20
    world.round()
    assert run.status == "paused"


def test_idle_runs_make_room_for_their_owner_and_for_others(world):
    world.restart(runs_unfinished=3, runs_each=1)
    idle = [begin(world, owner) for owner in ("a", "b", ME)]
    assert refusal_of(world.runs.create, tiny(), ME).key == "runs.too_many_yours"
    assert refusal_of(world.runs.create, tiny(), YOU).key == "runs.too_many"
    world.clock.passed += IDLE_S
    for owner in (YOU, ME):
        world.runs.create(tiny(steps=1), owner)
    assert [on_disk(world, run) for run in idle] == [("stopped", "runs.nobody_looked")] * 3


def test_after_a_restart_the_time_is_counted_from_there(world):
    ids = [begin(world, owner).id for owner in (ME, "b")]
    world.clock.passed += IDLE_S - 30
    world.restart()
    world.clock.passed += 60
    world.round()
    assert [world.runs.get(id).status for id in ids] == ["paused", "paused"]
    world.clock.passed += IDLE_S
    world.round()
    world.restart()
    assert [world.runs.get(id).status for id in ids] == ["stopped", "stopped"]


def test_what_waits_for_memory_is_idle_too(world):
    world.restart(memory=int(needed(tiny()) * 1.5))
    first = begin(world, order=None, steps=100_000)
    waiting = world.runs.create(tiny(steps=2), YOU)
    world.clock.passed += IDLE_S
    first.seen()
    world.round()
    world.until(lambda: not waiting.working)
    assert (waiting.status, waiting.message.key, waiting.step, waiting.resumable) == ("stopped", "runs.nobody_looked", 0, True)
    assert first.working


def test_a_full_disk_keeps_nobody_out(world, monkeypatch, caplog):
    world.restart(runs_unfinished=1)
    run = begin(world)
    world.clock.passed += IDLE_S
    monkeypatch.setattr(world.runs.store, "note", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    world.runs._housekeeper.stop_idle()
    assert run.status == "stopped"
    assert "No space" in caplog.text


@pytest.mark.fault("every place taken by paused runs that nobody looks at", "the one that was seen longest ago gives way")
def test_twenty_five_visitors_with_six_paused_runs_each_block_nobody(world):
    world.restart(runs_unfinished=4, runs_each=2)
    held = [begin(world, owner) for owner in ("a", "a", "b", "b")]
    world.clock.passed += 60  # far less than what is idle
    new = world.runs.create(tiny(steps=100_000), YOU)
    assert [gave_way(run) for run in held] == [True, False, False, False], "the one that was seen longest ago, and no other"
    assert on_disk(world, held[0]) == ("stopped", "runs.gave_way")
    world.runs.stop(new.id, YOU)
    world.until(lambda: not new.working)
    world.runs.resume(held[0].id, "a")
    world.until(lambda: held[0].status == "done")
    assert curve(held[0]) == curve(alone(tiny(steps=30))[0])


def test_one_that_is_resumed_finds_room_too(world):
    world.restart(runs_unfinished=1)
    mine = begin(world, order="stop")
    other = begin(world, YOU)
    world.clock.passed += 60
    world.runs.resume(mine.id, ME)
    assert gave_way(other)


@pytest.mark.parametrize("reason", ["watched", "shared", "training"])
def test_what_others_count_on_stays(world, reason):
    world.restart(runs_unfinished=1)
    run = begin(world, order=None if reason == "training" else "pause", steps=100_000)
    world.clock.passed += 0 if reason == "watched" else 60
    if reason == "shared":
        world.runs.rules = Shared()
    assert refusal_of(world.runs.create, tiny(), YOU).key == "runs.too_many"
    assert run.unfinished


@pytest.mark.parametrize(("each", "owner", "count", "key"), [(2, YOU, 2, "runs.too_many"), (1, ME, 1, "runs.too_many_yours")])
def test_no_run_is_put_away_in_vain(world, each, owner, count, key):
    world.restart(runs_unfinished=2, runs_each=each)
    old = begin(world, "a")
    world.clock.passed += 60
    mine = begin(world, ME)
    assert refusal_of(world.runs.create_all, [tiny(seed=seed) for seed in range(count)], owner, [""] * count).key == key
    assert (old.status, mine.status) == ("paused", "paused")


@pytest.mark.fault("a new token for each of many runs", "the address is told that it has too many")
def test_new_tokens_at_one_address_get_no_more_than_its_share(world):
    world.restart(runs_address=2)
    for token in ("one", "two", "three"):
        world.runs.visitors.came(token, "192.0.2.1")
    world.runs.visitors.came(YOU, "192.0.2.2")
    for token in ("one", "two"):
        begin(world, token)
    assert refusal_of(world.runs.create, tiny(), "three").key == "runs.too_many_near"
    for token in (YOU, "one without an address"):
        world.runs.create(tiny(steps=1), token)


def test_in_a_room_its_own_limits_hold_instead(world):
    world.restart(runs_address=1)
    world.runs.rules = InRoom()
    for token in ("student", "stranger"):
        world.runs.visitors.came(token, "192.0.2.1")
    begin(world, "student")
    begin(world, "student")
    assert refusal_of(world.runs.create, tiny(), "stranger").key == "runs.too_many_near"


def test_addresses_are_known_for_so_many_and_no_more(monkeypatch):
    monkeypatch.setattr(visitors, "MOST_OWNERS", 2)
    known = visitors.Visitors()
    for number, token in enumerate(("a", "b", "a", "c")):
        known.came(token, f"of {token}, {number}")
    assert len(known._addresses) == 2
    assert known.address(visitors.owner_of("b")) == ""
    assert known.address(visitors.owner_of("a")) == "of a, 2"


def test_free_memory_goes_back_when_a_run_has_ended_and_stays_while_the_same_ones_train(world, monkeypatch):
    given, tidy = [], world.runs._housekeeper.free_memory
    monkeypatch.setattr(housekeeping, "give_back", lambda: given.append(1))
    tidy()
    assert given == [1], "nothing trains"
    long = begin(world, order=None, steps=100_000)
    given.clear()
    tidy()
    assert given == []
    short = begin(world, YOU, order=None, steps=100_000)
    tidy()
    world.runs.stop(short.id, YOU)
    while short.working:
        world.turn()
    tidy()
    tidy()
    assert (given, long.working) == ([1], True)
