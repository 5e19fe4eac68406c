"""The server went away while runs trained: they go on by themselves once somebody is there for whom they train, and become what they would
have become."""

import json
import shutil

import pytest

from playground.config import Refusal
from playground.runs import cut_off
from playground.runs.rules import Rules
from tests.runs.tiny import ME, YOU, alone, at_step, curve, done, limits, same_parameters, same_replay, tiny, wait

LONG = 100_000


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(cut_off, "RETRY_SECONDS", 0.01)


@pytest.fixture
def restart(serve, tmp_path):
    """restart(runs) -> another server over the disk as kill -9 would leave it now."""
    folders = iter(range(100))

    def again(runs, limits=limits()):  # noqa: B008
        folder = tmp_path / f"after {next(folders)}"
        shutil.copytree(runs.store.root, folder / "runs")
        runs.close()
        return serve(limits, folder)

    return again


def saved(runs, run):
    """Once it has been saved while it trains."""
    at_step(run, 3)
    runs._workers.save(run)
    return run


def card(runs, run):
    return json.loads((runs.store.path(run) / "run.json").read_text())


@pytest.mark.fault(
    "kill -9 in the middle of a training",
    "it goes on by itself when somebody looks, and becomes what it would have become, bit for bit",
)
@pytest.mark.parametrize("how", ["killed", "ended in order"])
def test_whoever_looks_finds_it_going_on_and_it_becomes_what_it_would_have_become(runs, serve, restart, how):
    run = saved(runs, runs.create(tiny(steps=60), ME))
    assert run.working
    if how == "ended in order":
        runs.close()
    after = serve() if how == "ended in order" else restart(runs)
    back = after.get(run.id)
    step = back.step
    assert 3 <= step == back.checkpoint_step < 60
    after.seen(run.id)
    wait(lambda: back.status != "interrupted")
    assert done(back).status == "done"
    assert (back.message.key, back.message.values["step"]) == ("runs.went_on", step)
    twin, _ = alone(tiny(steps=60))
    assert curve(back) == curve(twin)
    assert same_parameters(back.snapshot.parameters, twin.snapshot.parameters)
    assert same_replay(back, twin)


@pytest.mark.fault("kill -9 while runs are paused or stopped", "they stay so until a person resumes them")
def test_what_a_person_paused_or_stopped_stays_as_it_is(runs, restart):
    held = {order: at_step(runs.create(tiny(steps=LONG), ME), 1) for order in ("pause", "stop")}
    for order, run in held.items():
        getattr(runs, order)(run.id, ME)
        wait(lambda run=run: not run.working)
    cut = saved(runs, runs.create(tiny(steps=LONG), ME))
    after = restart(runs)
    after.visitors.came(ME, "192.0.2.1")
    for run in (*held.values(), cut):
        after.seen(run.id)
    wait(lambda: after.get(cut.id).step > cut.checkpoint_step)
    assert [after.get(run.id).status for run in held.values()] == ["paused", "stopped"]


def test_the_owner_comes_and_all_of_theirs_go_on_and_nobody_elses(runs, restart):
    mine, yours = [runs.create(tiny(steps=LONG, seed=seed), ME) for seed in (1, 2)], runs.create(tiny(steps=LONG), YOU)
    after = restart(runs)
    after.visitors.came(ME, "192.0.2.1")
    for run in mine:
        wait(lambda run=run: after.get(run.id).status == "training")
    assert after.get(yours.id).status == "interrupted"
    after.visitors.came(YOU, "192.0.2.1")
    wait(lambda: after.get(yours.id).status == "training")


def test_a_class_that_is_there_has_its_runs_go_on(runs, restart):
    awaited, other = (runs.create(tiny(steps=LONG, seed=seed), ME) for seed in (1, 2))
    after = restart(runs)

    class Room(Rules):
        def awaited(self, run):
            return run.id == awaited.id

    after.rules = Room()
    after._look_after_rooms()
    wait(lambda: after.get(awaited.id).status == "training")
    assert after.get(other.id).status == "interrupted"


@pytest.mark.fault("a restart, and no place for a run that was cut off", "it goes on as soon as there is one")
def test_without_a_place_it_waits_until_there_is_one(runs, restart):
    cut = runs.create(tiny(steps=LONG), ME)
    after = restart(runs, limits(runs_unfinished=1))
    other = after.create(tiny(steps=LONG), YOU)
    after.seen(cut.id)
    back = after.get(cut.id)
    tries = []
    after._cut_off._go_on, go_on = lambda *given: (tries.append(1), go_on(*given)), after._cut_off._go_on
    wait(lambda: len(tries) > 2)
    assert back.status == "interrupted"
    after.delete(other.id, YOU)
    wait(lambda: back.status == "training")


@pytest.mark.fault("a run that takes the server down each time it goes on", "after three times it waits for a person")
def test_a_run_that_brings_the_server_down_does_not_do_so_for_ever(runs, restart):
    run = saved(runs, runs.create(tiny(steps=LONG), ME))
    step = run.checkpoint_step
    after = restart(runs)
    for tries in range(1, cut_off.TRIES + 1):
        back = after.get(run.id)
        assert back.message.key == "runs.interrupted"
        after.seen(run.id)
        wait(lambda: back.status == "training")  # noqa: B023
        assert card(after, run)["message"] == {"key": "runs.went_on", "values": {"step": step, "tries": tries}}
        after = restart(after)  # no save has come since
    back = after.get(run.id)
    assert (back.status, back.message.key) == ("interrupted", "runs.cut_off_often")
    assert str(cut_off.TRIES) in str(back.message)
    after.seen(run.id)
    after.visitors.came(ME, "192.0.2.1")
    assert not after._cut_off.all()
    after.resume(run.id, ME)
    at_step(back, step + 1)


def test_one_that_gets_on_is_tried_anew_each_time(runs, restart):
    run = saved(runs, runs.create(tiny(steps=LONG), ME))
    after = restart(runs)
    for _ in range(2):
        back = after.get(run.id)
        after.seen(run.id)
        wait(lambda: back.status == "training")  # noqa: B023
        assert back.message.values["tries"] == 1
        at_step(back, back.step + 1)
        after._workers.save(back)
        after = restart(after)


def test_one_that_a_person_resumed_was_at_work_though_no_save_has_come_since(runs, restart):
    run = at_step(runs.create(tiny(steps=LONG), ME), 1)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    runs.resume(run.id, ME)
    wait(lambda: run.status == "training")
    assert restart(runs).get(run.id).status == "interrupted"


@pytest.mark.parametrize(("order", "status"), [("pause", "paused"), ("stop", "stopped"), ("step", "paused"), ("train", "interrupted")])
def test_what_a_person_has_just_asked_for_holds_when_the_server_ends(runs, order, status):
    run = at_step(runs.create(tiny(steps=LONG), ME), 1)
    for scheduler in runs._workers._schedulers.values():
        scheduler.close()
    assert runs._workers.ask(run, order)
    runs.close()
    assert card(runs, run)["status"] == run.status == status


def test_the_copy_of_one_is_no_run_that_was_cut_off(runs, serve):
    run = at_step(runs.create(tiny(steps=LONG), ME), 1)
    runs.close()
    copy = serve().copy(run.id, YOU)
    assert (copy.status, copy.message) == ("stopped", None)


def test_one_that_hung_waits_for_a_person(runs, serve):
    run = at_step(runs.create(tiny(steps=LONG), ME), 1)
    runs.close()
    run.say("interrupted", Refusal("runs.step_hung", step=2, seconds="60", saved=1))
    runs.store.note(run)
    assert not serve()._cut_off.all()
