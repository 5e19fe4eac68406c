"""What nobody looks at for the idle time makes room, and loses nothing by it."""

import json
import time

import pytest

from playground.config import Refusal
from playground.runs import housekeeping
from tests.runs.tiny import ME, YOU, alone, at_step, curve, done, limits, needed, same_replay, tiny, wait


def paused(runs, owner, **knobs):
    run = at_step(runs.create(tiny(**{"steps": 100, **knobs}), owner), 3)
    runs.pause(run.id, owner)
    wait(lambda: run.status == "paused" and not runs._workers.busy(run))
    return run


def forget(*found, seconds=601):
    """Nobody has looked at them for so long."""
    for run in found:
        run.seen_at = time.monotonic() - seconds


def on_disk(runs, run):
    return json.loads((runs.store.path(run) / "run.json").read_bytes())


def test_paused_runs_that_nobody_looks_at_make_room_for_others(serve):
    runs = serve(limits(runs_unfinished=3))
    kept = [paused(runs, owner) for owner in ("a", "b", "c")]
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), YOU)
    assert refusal.value.key == "runs.too_many"
    forget(*kept)
    assert done(runs.create(tiny(steps=1), YOU)).status == "done"
    for run in kept:
        assert (run.status, run.message.key) == ("stopped", "runs.nobody_looked")
        assert "10 minutes" in str(run.message)
        assert "resumed" in str(run.message)
        assert on_disk(runs, run)["status"] == "stopped"
        assert on_disk(runs, run)["message"]["key"] == "runs.nobody_looked"


def test_one_who_paused_too_many_and_went_away_may_begin_again(serve):
    runs = serve(limits(runs_each=1))
    old = paused(runs, ME)
    with pytest.raises(Refusal, match="unfinished"):
        runs.create(tiny(), ME)
    forget(old)
    done(runs.create(tiny(steps=1), ME))
    assert old.status == "stopped"


def test_it_goes_on_exactly_where_it_was(runs):
    run = paused(runs, ME)
    step = run.step
    forget(run)
    runs._housekeeper.stop_idle()
    assert (run.status, run.step, run.resumable) == ("stopped", step, True)
    runs.resume(run.id, ME)
    assert done(run).status == "done"
    assert run.message is None
    assert curve(run) == curve(alone(tiny(steps=100))[0])
    assert same_replay(run, alone(tiny(steps=100))[0])


def test_a_paused_run_that_somebody_watches_stays_paused(serve):
    runs = serve(limits(runs_unfinished=1))
    run = paused(runs, ME)
    forget(run)
    runs.seen(run.id)
    runs._housekeeper.stop_idle()
    with pytest.raises(Refusal):
        runs.create(tiny(), YOU)
    assert run.status == "paused"
    forget(run, seconds=590)
    runs._housekeeper.stop_idle()
    assert run.status == "paused"


def test_after_a_restart_the_time_is_counted_from_there(serve):
    first = serve(limits(runs_unfinished=2))
    ids = [paused(first, owner).id for owner in (ME, "b")]
    first.close()
    second = serve(limits(runs_unfinished=2))
    back = [second.get(id) for id in ids]
    second._housekeeper.stop_idle()
    assert [run.status for run in back] == ["paused", "paused"]
    forget(*back)
    done(second.create(tiny(steps=1), YOU))
    assert [run.status for run in back] == ["stopped", "stopped"]
    second.close()
    third = serve()
    assert [third.get(id).status for id in ids] == ["stopped", "stopped"]
    third.resume(ids[0], ME)
    assert done(third.get(ids[0])).status == "done"
    assert curve(third.get(ids[0])) == curve(alone(tiny(steps=100))[0])


def test_the_server_does_it_by_itself(serve, monkeypatch):
    monkeypatch.setattr(housekeeping, "TIDY_SECONDS", 0.02)
    runs = serve()
    run = paused(runs, ME)
    forget(run)
    wait(lambda: run.status == "stopped")
    wait(lambda: on_disk(runs, run)["status"] == "stopped")


def test_what_waits_for_memory_makes_room_too(serve):
    runs = serve(limits(memory=int(needed(tiny()) * 1.5)))
    first = at_step(runs.create(tiny(steps=100_000), ME), 1)
    waiting = runs.create(tiny(steps=2), YOU)
    assert waiting.status == "queued"
    forget(waiting)
    runs._housekeeper.stop_idle()
    done(waiting)
    assert (waiting.status, waiting.message.key, waiting.step) == ("stopped", "runs.nobody_looked", 0)
    assert waiting.resumable
    assert first.working


def test_the_sentence_says_what_is_so(serve):
    runs = serve(limits(runs_unfinished=1))
    paused(runs, ME)
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), YOU)
    assert "paused" in refusal.value.say("en")
    assert "10 minutes" in refusal.value.say("en")
    assert "暂停" in refusal.value.say("zh")
    assert "10 分钟" in refusal.value.say("zh")


def test_a_full_disk_keeps_nobody_out(serve, monkeypatch, caplog):
    runs = serve(limits(runs_unfinished=1))
    run = paused(runs, ME)
    forget(run)
    monkeypatch.setattr(runs.store, "note", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    runs._housekeeper.stop_idle()
    assert run.status == "stopped"
    assert "No space" in caplog.text


def test_free_memory_goes_back_when_a_run_has_ended_and_stays_while_the_same_ones_train(serve, monkeypatch):
    runs, given = serve(), []
    monkeypatch.setattr(housekeeping, "give_back", lambda: given.append(1))
    housekeeper = runs._housekeeper
    housekeeper.free_memory()
    assert given == [1], "nobody trains"
    long = at_step(runs.create(tiny(steps=100_000), ME), 1)
    for _ in range(3):
        housekeeper.free_memory()
    assert given == [1]
    short = runs.create(tiny(steps=100_000), YOU)
    housekeeper.free_memory()
    runs.stop(short.id, YOU)
    done(short)
    housekeeper.free_memory()
    housekeeper.free_memory()
    assert given == [1, 1]
    runs.stop(long.id, ME)
