"""Machines beside this one: who trains there, what happens when one is lost, or all, and what is said of it."""

import logging

import pytest

from playground.runs.engines import choice, cluster
from playground.runs.health import health
from playground.runs.queue import saving
from tests.runs.engines.links import Machines
from tests.runs.tiny import ME, alone, at_step, curve, done, limits, needed, tiny, wait


@pytest.fixture
def trained_by(serve, monkeypatch):
    """trained_by(machines) -> Runs that train there; None: they can't be reached."""
    monkeypatch.setattr(cluster, "LOOK_S", 0.005)
    monkeypatch.setattr(cluster, "AGAIN_S", 0.01)
    monkeypatch.setattr(saving, "SAVE_SHARE", 1e9)

    def start(machines, **values):
        def begin(context, address):
            if machines is None:
                raise ConnectionRefusedError
            return machines

        monkeypatch.setattr(choice, "begin", begin)
        runs = serve(limits(cluster="there", **values))
        wait(lambda: runs._workers.cluster["processes"] == (len(machines.alive) if machines else 0))
        return runs

    return start


def test_a_run_goes_where_there_is_a_machine_and_says_where(trained_by):
    machines = Machines("1", "2")
    runs = trained_by(machines)
    one, two = (at_step(runs.create(tiny(steps=100_000, seed=seed), ME), 3) for seed in (1, 2))
    assert {one.where["node"], two.where["node"]} == {"10.0.0.1", "10.0.0.2"}
    assert b'"where":{"node":"10.0.0.' in runs.update(one)[0]
    assert health(runs)["cluster"] == {"state": "connected", "machines": 2, "processes": 2}
    runs._workers.save(one)
    saved = one.checkpoint_step
    machines.lose(one.where["node"][-1])
    wait(lambda: one.where == two.where)
    at_step(one, saved + 3)
    machines.lose(two.where["node"][-1])
    wait(lambda: not (one.where or two.where))
    at_step(two, two.step + 3)
    assert len({runs._workers._jobs[run.id].lane for run in (one, two)} - {None}) == 0, "at home, then"
    machines.alive.append("3")
    wait(lambda: one.where == two.where == {"node": "10.0.0.3"})
    runs.pause(one.id, ME)
    wait(lambda: one.status == "paused")
    began = [column[:60] for column in curve(one)]
    assert began == [column[: one.step] for column in curve(alone(tiny(steps=60, seed=1))[0])]


def test_the_memory_of_a_machine_counts_there_and_not_here(trained_by):
    one = needed(tiny())
    runs = trained_by(Machines("1", "2", memory=1.5 * one), memory=one // 2)
    made = [runs.create(tiny(steps=100_000, seed=seed), ME) for seed in (1, 2, 3)]
    for run in made[:2]:
        at_step(run, 1)
    assert [run.place for run in made] == [0, 0, 1]
    assert runs.memory.by_share()["trainings"] == 0


def test_a_cluster_that_cannot_be_reached_leaves_the_training_here(trained_by, caplog):
    with caplog.at_level(logging.WARNING, "playground"):
        runs = trained_by(None)
        wait(lambda: runs._workers.cluster["state"] == "unreachable")
        said = health(runs)
        run = done(runs.create(tiny(steps=12), ME))
    sentence = "The Ray cluster can’t be reached: runs are trained on this machine."
    assert [record.getMessage() for record in caplog.records if "Ray" in record.getMessage()] == [f"{sentence} (ConnectionRefusedError: )"]
    assert (said["status"], said["reasons"], said["cluster"]["note"]) == ("ok", ["cluster_unreachable"], sentence)
    assert (run.status, run.where) == ("done", {})
    assert curve(run) == curve(alone(tiny(steps=12))[0])
