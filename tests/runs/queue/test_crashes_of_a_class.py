"""A server that goes down in the middle of a lesson: each run has been saved by then, and the innocent go on."""

from playground.runs import cut_off
from tests.runs.by_hand import LONG
from tests.runs.tiny import tiny


def cut(world, runs) -> list:
    """The runs after a crash, at work again."""
    back = [world.restart().get(run.id) if run is runs[0] else world.runs.get(run.id) for run in runs]
    for run in back:
        if run.message.key != "runs.cut_off_often":
            world.runs.seen(run.id)
            world.until(lambda run=run: run.status == "training")
    return back


def test_the_first_save_comes_by_the_clock(world):
    """Of thirty runs each has trained for half a second when fifteen are over."""
    world.restart(save_seconds=15.0)
    runs = [world.runs.create(tiny(steps=LONG), owner * 32) for owner in "ab"]
    world.until(lambda: min(run.step for run in runs) > 2)
    assert [run.checkpoint_step for run in runs] == [None, None]
    world.clock.passed += 16
    world.until(lambda: all(run.checkpoint_step for run in runs))
    saved = [run.checkpoint_step for run in runs]
    world.clock.passed += 16
    world.until(lambda: min(run.step for run in runs) > max(saved) + 3)
    assert [run.checkpoint_step for run in runs] == saved  # the next ones go by what is trained


def test_a_run_among_others_is_tried_more_often_than_one_that_was_alone(world):
    world.restart(save_seconds=1e9)
    runs = [world.runs.create(tiny(steps=LONG), owner * 32) for owner in "ab"]
    world.until(lambda: min(run.step for run in runs) > 0)
    for _ in range(cut_off.TRIES_TOGETHER):
        runs = cut(world, runs)
    assert {run.status for run in runs} == {"training"}
    assert {run.message.key for run in cut(world, runs)} == {"runs.cut_off_often"}
