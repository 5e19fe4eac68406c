"""Which runs stay on the disk, and which make room."""

import math
import os
from dataclasses import replace

import pytest

from playground.config import Refusal
from playground.runs.health import health
from playground.runs.limits import Limits
from playground.runs.names import owner_of
from playground.runs.retention import DAY, HOUR, Retention
from playground.runs.run import Run
from tests.runs.tiny import ME, YOU, done, limits, tiny

NOW = 1e9
MEGABYTE = 1_000_000
ROOMY = Limits(runs_kept=100, bytes_kept=100 * MEGABYTE, bytes_each=100 * MEGABYTE)


def keeping(roomed=(), **values):
    return Retention(replace(ROOMY, **values), lambda run: MEGABYTE, lambda run: run in roomed, lambda: NOW)


def aged(days, owner=ME, **values):
    run = Run("x" * 22, f"run-{days:g}", tiny(), owner_of(owner), **{"status": "done", **values})
    run.id, run.looked_at = f"{id(run):022d}", NOW - days * DAY
    return run


def test_what_nobody_looked_at_for_longest_goes_first():
    runs = [aged(days) for days in (5, 30, 2, 9)]
    assert keeping().overdue(runs) == []
    assert keeping(runs_kept=2).overdue(runs) == [runs[1], runs[3]]
    assert keeping(bytes_kept=3 * MEGABYTE).overdue(runs) == [runs[1]]
    assert keeping(bytes_kept=3 * MEGABYTE - 1).overdue(runs) == [runs[1], runs[3]]


@pytest.mark.parametrize("status", ["queued", "preparing", "training", "paused"])
def test_no_unfinished_run_ever_goes(status):
    assert keeping(runs_kept=0, bytes_kept=0, bytes_each=0, unseen_days=1).overdue([aged(1000, status=status)]) == []


def test_nor_one_that_ships_that_a_room_shows_or_that_somebody_just_saw():
    roomed = aged(1000)
    staying = [aged(1000, shipped=True), roomed, aged(0.9 * HOUR / DAY)]
    assert keeping([roomed], runs_kept=0, bytes_kept=0, bytes_each=0, unseen_days=1).overdue(staying) == []
    assert keeping(runs_kept=0).overdue([gone := aged(1.1 * HOUR / DAY)]) == [gone]


def test_a_shared_run_stays_while_its_link_is_opened_now_and_then():
    fresh, forgotten, mine = aged(89, visited=True), aged(91, visited=True), aged(50)
    assert keeping(runs_kept=0).overdue([fresh, forgotten, mine]) == [forgotten, mine]
    assert keeping(runs_kept=1).overdue([fresh, forgotten, mine]) == [forgotten, mine]


def test_a_run_that_nobody_saw_for_a_year_goes_though_there_is_room():
    assert keeping().overdue([aged(364), old := aged(366), aged(366, status="paused")]) == [old]


def test_where_runs_never_go_unseen_they_go_only_to_make_room():
    ages = {"unseen_days": math.inf, "shared_days": math.inf}
    runs = [aged(10_000), aged(9_000, visited=True), aged(2)]
    assert keeping(**ages).overdue(runs) == []
    assert keeping(runs_kept=1, **ages).overdue(runs) == [runs[0], runs[2]]
    assert keeping(**ages).share(runs, ME).next is None
    assert keeping(runs_kept=3, **ages).share(runs, ME).next is runs[0]


def test_beyond_their_share_a_visitor_makes_room_for_themselves():
    mine, yours = [aged(3), aged(4), aged(5)], [aged(100, YOU)]
    assert keeping(bytes_each=2 * MEGABYTE).overdue([*mine, *yours]) == [mine[2]]


def test_a_full_server_refuses_and_says_what_to_do():
    new, full = [aged(0)], [aged(0, YOU), aged(50, YOU, visited=True)]
    keeping(runs_kept=3).admit(full, new)
    keeping(runs_kept=2).admit([full[0], aged(2)], new)  # one makes room
    for values in ({"runs_kept": 2}, {"bytes_kept": 2 * MEGABYTE}):
        with pytest.raises(Refusal) as refused:
            keeping(**values).admit(full, new)
        assert refused.value.key == "runs.server_full"
        assert "2.0 MB" in str(refused.value)
    with pytest.raises(Refusal) as refused:
        keeping(bytes_each=MEGABYTE).admit([aged(0), *full], new)
    assert refused.value.key == "runs.share_full"
    keeping(bytes_each=MEGABYTE).admit([aged(1), *full], new)


def test_the_owner_is_told_what_goes_and_when():
    mine = [aged(3), aged(40), aged(60, visited=True)]
    share = keeping().share([*mine, aged(80, YOU)], ME)
    assert (share.count, share.used, share.most, share.next) == (3, 3 * MEGABYTE, 100 * MEGABYTE, mine[1])
    assert share.goes == NOW + (365 - 40) * DAY
    assert not share.crowded
    assert keeping(runs_kept=4).share([*mine, aged(80, YOU)], ME).crowded
    assert keeping().share(mine, "").count == 0


def test_a_server_lets_go_refuses_and_remembers_looks(serve):
    """The registry and the housekeeper do what is said here, and a restart makes nothing older or younger."""
    runs = serve(limits(runs_kept=2))
    first, second = (done(runs.create(tiny(steps=1), ME)) for _ in range(2))
    with pytest.raises(Refusal) as refused:
        runs.create(tiny(steps=1), ME)
    assert refused.value.key == "runs.server_full"
    runs._housekeeper.retire()
    assert (health(runs)["status"], health(runs)["reasons"]) == ("busy", ["kept_full"])
    for run in (first, second):
        runs._workers.wait(run)
        run.looked_at -= 2 * HOUR
        os.utime(runs.store.path(run) / "run.json", (0, 0))
    runs.seen(first.id, YOU)
    runs._housekeeper.note_looks()
    runs.close()
    runs = serve(limits(runs_kept=2))
    again, other = runs.get(first.id), runs.get(second.id)
    assert (again.visited, other.visited) == (True, False)
    assert again.looked_at - other.looked_at == pytest.approx(2 * HOUR, abs=60)
    again.looked_at -= 2 * HOUR
    new = runs.create(tiny(steps=1), ME)
    assert {run.id for run in runs.mine(ME)} == {first.id, new.id}  # the link of the first is somewhere
    assert not runs.store.path(other).exists()
    done(new)


def test_only_others_make_a_run_visited(serve):
    runs = serve()
    run = done(runs.create(tiny(steps=1), ME))
    for token in (ME, ""):
        runs.seen(run.id, token)
    assert not run.visited
    runs.seen(run.id, YOU)
    assert run.visited
    runs._housekeeper.note_looks()
    assert not runs.copy(run.id, YOU).visited
