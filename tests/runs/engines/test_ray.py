"""Runs on a Ray cluster of two nodes, while a process, a node, or the way there is lost."""

import os
import signal

import pytest

from playground.ray import cluster
from tests.runs.tiny import ME, at_step, done, ended_as_if_alone, limits, tiny, wait

pytestmark = pytest.mark.night


@pytest.fixture
def runs(serve, ray_cluster):
    runs = serve(limits(cluster=ray_cluster.address, save_seconds=0.5, turn_seconds=0.05))
    wait(lambda: runs._workers.cluster["processes"] == 2, 120)
    assert runs._workers.cluster == {"state": "connected", "machines": 2, "processes": 2}
    return runs


def slot_of(runs, run):
    return runs._workers._jobs[run.id].lane


@pytest.mark.fault(
    "a node of a Ray cluster killed in the middle of a training",
    "no more is lost than since the last save; the same weights",
)
def test_with_its_node_a_run_loses_no_more_than_it_did_since_its_last_save(runs, ray_cluster):
    experiments = [tiny(steps=600, seed=seed, eval_every=200) for seed in (1, 2)]
    made = [runs.create(experiment, ME) for experiment in experiments]
    for run in made:
        at_step(run, 100)
    wait(lambda: made[0].checkpoint_step)
    lost = next(node for node in ray_cluster.list_all_nodes() if node.node_id == slot_of(runs, made[0]).node)
    assert {slot_of(runs, run).node for run in made} == set(runs._workers._engines.cluster.memory)
    saved = made[0].checkpoint_step
    ray_cluster.remove_node(lost, allow_graceful=False)
    wait(lambda: made[0].message)
    assert made[0].message.key == "runs.process_ended"
    assert made[0].message.values["step"] >= saved > 0
    for run, experiment in zip(map(done, made), experiments, strict=True):
        ended_as_if_alone(run, experiment)
    ray_cluster.add_node(num_cpus=1)
    wait(lambda: runs._workers.cluster["processes"] == 2, 120)


@pytest.mark.fault("the way to a Ray cluster cut", "runs go on on this machine, and there again later")
def test_without_the_way_there_runs_go_on_here_until_there_is_one_again(runs, monkeypatch):
    """Ray ends the process that speaks with it when the head of the cluster has been gone for a minute."""
    monkeypatch.setattr(cluster, "RETRY_S", 0.5)
    run = at_step(runs.create(tiny(steps=100_000), ME), 20)
    assert set(run.where) == {"node"}
    manager = runs._workers._engines.cluster._driver._manager
    os.kill(manager._process.pid, signal.SIGKILL)
    wait(lambda: not run.where)
    at_step(run, run.step + 5)
    wait(lambda: run.where, 120)
    at_step(run, run.step + 5)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    assert run.history.steps.column("step") == list(range(1, run.step + 1))
