"""The server went away while runs trained: they go on by themselves once their visitor is there, and become what they would have been."""

import json

import pytest

from playground.runs import cut_off
from tests.runs.by_hand import LONG, begun, ordered
from tests.runs.tiny import ME, YOU, alone, curve, same_parameters, same_replay, tiny

ADDRESS = "192.0.2.1"


def training(world, owner=ME, **knobs):
    """A run that has come so far, and is saved there."""
    run = begun(world, owner, **knobs)
    world.runs._workers.save(run)
    assert run.working
    return run


def card(world, run):
    return json.loads((world.runs.store.path(run) / "run.json").read_text())


@pytest.mark.fault(
    "kill -9 in the middle of a training",
    "it goes on by itself when somebody looks, and becomes what it would have become, bit for bit",
)
@pytest.mark.parametrize("killed", [True, False])
def test_whoever_looks_finds_it_going_on_and_it_becomes_what_it_would_have_become(world, killed):
    run = training(world, steps=30)
    back = world.restart(killed).get(run.id)
    step = back.step
    assert 3 <= step == back.checkpoint_step < 30
    world.runs.seen(run.id)
    world.until(lambda: back.status == "done")
    assert (back.message.key, back.message.values["step"]) == ("runs.went_on", step)
    twin, _ = alone(tiny())
    assert curve(back) == curve(twin)
    assert same_parameters(back.snapshot.parameters, twin.snapshot.parameters)
    assert same_replay(back, twin)


@pytest.mark.fault("kill -9 while runs are paused or stopped", "they stay so until a person resumes them")
def test_what_a_person_paused_or_stopped_stays_as_it_is(world):
    held = [ordered(world, training(world), order) for order in ("pause", "stop")]
    cut = training(world)
    after = world.restart()
    after.visitors.came(ME, ADDRESS)
    for run in (*held, cut):
        after.seen(run.id)
    world.until(lambda: after.get(cut.id).step > cut.checkpoint_step)
    assert [after.get(run.id).status for run in held] == ["paused", "stopped"]


def test_the_owner_comes_or_a_class_and_all_of_theirs_go_on_and_no_others(world, monkeypatch):
    mine, yours, awaited = [training(world, seed=seed) for seed in (1, 2)], training(world, YOU), training(world, "a third")
    after = world.restart()
    status = lambda *runs: {after.get(run.id).status for run in runs}  # noqa: E731
    after.visitors.came(ME, ADDRESS)
    world.until(lambda: status(*mine) == {"training"})
    assert status(yours, awaited) == {"interrupted"}
    monkeypatch.setattr(after.rules, "awaited", lambda run: run.id == awaited.id)
    world.round()
    world.until(lambda: status(awaited) == {"training"})
    assert status(yours) == {"interrupted"}


@pytest.mark.fault("a restart, and no place for a run that was cut off", "it goes on as soon as there is one")
@pytest.mark.parametrize("away", [0.0, 601.0])
def test_without_a_place_it_waits_until_there_is_one(world, away):
    """As long as a visitor may be away."""
    cut = training(world)
    after = world.restart(runs_unfinished=1)
    other = after.create(tiny(steps=LONG), YOU)
    after.seen(cut.id)
    back = after.get(cut.id)
    for _ in range(3):
        world.round()
        assert back.status == "interrupted"
    world.clock.passed += away
    other.seen()
    world.round()
    after.delete(other.id, YOU)
    for _ in range(3):
        world.round()
    assert (back.status == "interrupted") == (away > world.limits.idle_seconds)


@pytest.mark.fault("a run that takes the server down each time it goes on", "after three times it waits for a person")
def test_a_run_that_brings_the_server_down_does_not_do_so_for_ever(world):
    run = training(world)
    step = run.checkpoint_step
    for tries in range(1, cut_off.TRIES + 1):
        back = world.restart().get(run.id)  # no save has come since
        assert back.message.key == "runs.interrupted"
        world.runs.seen(run.id)
        world.until(lambda: back.status == "training")  # noqa: B023
        assert card(world, run)["message"] == {"key": "runs.went_on", "values": {"step": step, "tries": tries}}
    back = world.restart().get(run.id)
    assert (back.status, back.message.key, back.message.values["tries"]) == ("interrupted", "runs.cut_off_often", cut_off.TRIES)
    world.runs.seen(run.id)
    world.runs.visitors.came(ME, ADDRESS)
    world.round()
    assert back.status == "interrupted"
    world.runs.resume(run.id, ME)
    world.until(lambda: back.step > step)


def test_one_that_gets_on_is_tried_anew_each_time(world):
    run = training(world)
    for _ in range(cut_off.TRIES + 1):
        back = world.restart().get(run.id)
        world.runs.seen(run.id)
        world.until(lambda: back.status == "training")  # noqa: B023
        assert back.message.values["tries"] == 1
        world.until(lambda step=back.step: back.step > step)  # noqa: B023
        world.runs._workers.save(back)


@pytest.mark.parametrize(("order", "status"), [("pause", "paused"), ("stop", "stopped"), ("step", "paused"), ("train", "interrupted")])
def test_what_a_person_has_just_asked_for_holds_when_the_server_ends(world, order, status):
    run = training(world)
    assert world.runs._workers.ask(run, order)
    after = world.restart(killed=False)
    assert card(world, run)["status"] == after.get(run.id).status == status
    assert after.copy(run.id, YOU).status == ("stopped" if status == "interrupted" else status), "a copy was not cut off"
