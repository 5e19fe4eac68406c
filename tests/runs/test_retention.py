"""Which runs stay on the disk, and which make room, on it and among those at work; an address has its share, whatever its tokens."""

import json
import math
import os
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from playground.runs.admission import Rules
from playground.runs.housekeeping import DAY, HOUR, Retention
from playground.runs.identity import owner_of
from playground.runs.limits import Limits
from playground.runs.orders import STATUSES, UNFINISHED
from playground.runs.run import Run
from playground.ui.operator import health
from tests.runs.tiny import LONG, ME, YOU, alone, at_rest, begun, curve, ended, ended_as_if_alone, ordered, refused, tiny

NOW = 1e9
MEGABYTE = 1_000_000
ROOMY = Limits(runs_kept=100, bytes_kept=100 * MEGABYTE, bytes_each=100 * MEGABYTE)
IDLE_S = 601


def keeping(roomed=(), **values):
    return Retention(replace(ROOMY, **values), lambda run: MEGABYTE, lambda run: run in roomed, lambda: NOW)


def aged(days, owner=ME, **values):
    run = Run("x" * 22, f"run-{days:g}", tiny(), owner_of(owner), **{"status": "done", **values})
    run.id, run.looked_at = f"{id(run):022d}", NOW - days * DAY
    return run


AGES = (0.0, 0.9 * HOUR / DAY, 1.1 * HOUR / DAY, 2.0, 40.0, 89.0, 91.0, 364.0, 366.0, 1000.0)
RUNS = st.lists(
    st.builds(
        aged, st.sampled_from(AGES), st.sampled_from([ME, YOU]), status=st.sampled_from(STATUSES), visited=st.booleans(),
        shipped=st.sampled_from([False, False, True]),
    ), max_size=8,
)  # fmt: skip
LIMITS = st.fixed_dictionaries({"runs_kept": st.integers(0, 6), "bytes_kept": st.integers(0, 6 * MEGABYTE)})


@given(RUNS, LIMITS, st.integers(0, 6 * MEGABYTE), st.booleans())
def test_those_go_that_may_and_must_and_no_others(runs, limits, each, rooms):
    """Unseen for longest first, beyond what an owner, and then what the server keeps."""
    roomed = runs[:1] if rooms else []
    retention = keeping(roomed, **limits, bytes_each=each, unseen_days=365)
    gone = retention.find_evictable(runs)
    left = [run for run in runs if run not in gone and not run.shipped]
    for run in gone:
        seen = NOW - run.looked_at
        reasons = run.status in UNFINISHED, run.shipped, run in roomed, seen < HOUR, run.visited and seen < 90 * DAY
        assert not any(reasons)
    free = [run for run in left if not retention.is_protected(run)]
    assert not [run for run in free if run.looked_at <= NOW - 365 * DAY], "for a year"
    if free:
        assert len(left) <= limits["runs_kept"]
        assert len(left) * MEGABYTE <= limits["bytes_kept"]
        for owner in {run.owner for run in free}:
            assert sum(run.owner == owner for run in left) * MEGABYTE <= each
    if each == 6 * MEGABYTE and gone and free:
        old = [run for run in gone if run.looked_at > NOW - 365 * DAY]
        assert not old or max(run.looked_at for run in old) <= min(run.looked_at for run in free)
    assert len(gone) == len({*gone})
    assert keeping(roomed).find_evictable(runs) == [run for run in gone if run.looked_at <= NOW - 365 * DAY], "there is room"


def test_what_is_unseen_for_longest_goes_first_its_owner_is_told_and_a_full_server_refuses():
    runs = [aged(days) for days in (5, 30, 2, 9)]
    assert (keeping().find_evictable(runs), keeping(runs_kept=2).find_evictable(runs)) == ([], [runs[1], runs[3]])
    assert keeping(bytes_kept=3 * MEGABYTE).find_evictable(runs) == [runs[1]]
    assert keeping(bytes_kept=3 * MEGABYTE - 1).find_evictable(runs) == [runs[1], runs[3]]
    ours, yours = [aged(3), aged(4), aged(5)], [aged(100, YOU)]
    assert keeping(bytes_each=2 * MEGABYTE).find_evictable([*ours, *yours]) == [ours[2]]
    never = {"unseen_days": math.inf, "shared_days": math.inf}
    old = [aged(10_000), aged(9_000, visited=True), aged(2)]
    assert (keeping(**never).find_evictable(old), keeping(runs_kept=1, **never).find_evictable(old)) == ([], [old[0], old[2]])
    assert [keeping(runs_kept=most, **never).share(old, ME).next for most in (4, 3)] == [None, old[0]]
    new, full = [aged(0)], [aged(0, YOU), aged(50, YOU, visited=True)]
    keeping(runs_kept=3).admit(full, new)
    keeping(runs_kept=2).admit([full[0], aged(2)], new)  # one makes room
    for values in ({"runs_kept": 2}, {"bytes_kept": 2 * MEGABYTE}):
        with refused("runs.server_full") as refusal:
            keeping(**values).admit(full, new)
        assert refusal.value.values["used"] == "2.0"
    with refused("runs.share_full"):
        keeping(bytes_each=MEGABYTE).admit([aged(0), *full], new)
    keeping(bytes_each=MEGABYTE).admit([aged(1), *full], new)
    mine = [aged(3), aged(40), aged(60, visited=True)]
    share = keeping().share([*mine, aged(80, YOU)], ME)
    assert (share.count, share.used, share.limit, share.next) == (3, 3 * MEGABYTE, 100 * MEGABYTE, mine[1])
    assert (share.expires_at, share.crowded) == (NOW + (365 - 40) * DAY, False)
    assert keeping(runs_kept=4).share([*mine, aged(80, YOU)], ME).crowded
    assert keeping().share(mine, "").count == 0


def test_a_server_lets_go_refuses_and_remembers_looks(world):
    """The registry and the housekeeper do what is said here, and a restart makes nothing older or younger."""
    runs = world.restart(runs_kept=2)
    first, second = (ended(world, steps=1) for _ in range(2))
    with refused("runs.server_full"):
        runs.create(tiny(), ME)
    runs._housekeeper.evict_overdue()
    assert (health(runs)["status"], health(runs)["reasons"]) == ("busy", ["kept_full"])
    for run in (first, second):
        run.looked_at -= 2 * HOUR
        os.utime(runs.store.path(run) / "run.json", (0, 0))
    for token in (ME, "", YOU):
        assert not first.visited, "only others make a run visited"
        runs.mark_seen(first.id, token)
    runs._housekeeper.save_view_times()
    runs = world.restart(killed=False)
    again, other = runs.get(first.id), runs.get(second.id)
    assert (again.visited, other.visited, again.looked_at - other.looked_at) == (True, False, pytest.approx(2 * HOUR, abs=60))
    again.looked_at -= 2 * HOUR
    new = runs.create(tiny(steps=1), ME)
    assert {run.id for run in runs.list_owned(ME)} == {first.id, new.id}  # the link of the first is somewhere
    assert not runs.store.path(other).exists()


class Room(Rules):
    """Where a run is shared, and a student works."""

    def shared(self, run):
        return True

    def in_room(self, token):
        return token.startswith("s")


def on_disk(world, run):
    card = json.loads((world.runs.store.path(run) / "run.json").read_bytes())
    return card["status"], card["message"] and card["message"]["key"]


def test_a_paused_run_that_is_idle_is_stopped_and_goes_on_exactly_where_it_was(world):
    """Counted from when somebody looked, and after a restart from there."""
    run = begun(world, order="pause", steps=12)
    step = run.step
    world.clock.passed += IDLE_S
    world.runs.mark_seen(run.id)
    world.clock.passed += IDLE_S - 20
    world.round()
    assert run.status == "paused"
    run = world.restart().get(run.id)
    for passed, status in ((IDLE_S - 20, "paused"), (20, "stopped")):
        world.clock.passed += passed
        world.round()
        assert (run.status, run.step, run.resumable) == (status, step, True)
    assert (on_disk(world, run), run.message.values["minutes"]) == (("stopped", "runs.nobody_looked"), "10")
    run = world.restart().get(run.id)
    ended_as_if_alone(ordered(world, run, "resume"), tiny())


@pytest.mark.fault("the browser of a run that trains closed for good", "the run is stopped, saved, and can be resumed")
def test_nobody_looks(world):
    run = begun(world)
    world.clock.passed += IDLE_S
    at_rest(world, run)
    assert (run.status, run.message.key, run.resumable) == ("stopped", "runs.nobody_looked", True)
    assert run.checkpoint_step == run.step > 3


def test_a_full_disk_shuts_no_one_out(world, caplog):
    world.restart(runs_unfinished=1)
    run = begun(world, order="pause")
    world.clock.passed += IDLE_S
    with world.disk:
        world.disk.refusals = 1
        world.runs._housekeeper.stop_idle()
    assert run.status == "stopped"
    assert "No space" in caplog.text


@pytest.mark.night
@pytest.mark.fault("every place taken by paused runs that nobody looks at", "the one that was seen longest ago gives way")
def test_twenty_five_visitors_with_six_paused_runs_each_block_nobody(world):
    world.restart(runs_unfinished=4, runs_each=2)
    held = [begun(world, owner, order="pause", steps=12) for owner in ("a", "a", "b", "b")]
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


@pytest.mark.fault("a new token for each of many runs", "the address is told that it has too many")
def test_new_tokens_at_one_address_get_no_more_than_its_share(world):
    """But for those in a room, where its own limits hold instead."""
    world.restart(runs_address=2)
    for token in ("one", "two", "three", "student"):
        world.runs.visitors.record_address(token, "192.0.2.1")
    world.runs.visitors.record_address(YOU, "192.0.2.2")
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


@pytest.mark.parametrize(("visitors", "most"), [("n", 3), ("s", 4)])
def test_no_address_takes_the_places_of_others_not_even_as_a_class(world, visitors, most):
    world.restart(runs_unfinished=6, runs_elsewhere=2, runs_address=3, runs_each=1)
    world.runs.rules = Room()

    def create(token: str, address: str) -> None:
        world.runs.visitors.record_address(token, address)
        world.runs.create(tiny(steps=LONG), token)

    for number in range(most):
        create(f"{visitors}{number}" * 16, "192.0.2.9")
    with refused("runs.too_many_near"):
        create(f"{visitors}9" * 16, "192.0.2.9")
    for number in range(2):
        create(f"e{number}" * 16, f"198.51.100.{number}")
