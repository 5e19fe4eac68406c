"""A training's process, machine or line gone: the run goes on from its last save or ends with a sentence; no other is touched."""

import logging
import os
import signal

import pytest

from playground import ray as cluster
from playground.runs.engines import Lost
from playground.runs.engines.host import Host
from playground.runs.queue import saving
from playground.ui.operator import health
from tests.runs.engines.links import Dying, Machines, Near
from tests.runs.tiny import ME, YOU, alone, at_step, begun, curve, done, ended_as_if_alone, limits, tiny, wait


@pytest.fixture
def trained_by(world, monkeypatch):
    """trained_by(links) -> the world, whose runs are trained over these, and saved only when they are told to, or as often as is said."""
    monkeypatch.setattr(saving, "SAVE_SHARE", 1e9)

    def start(*links, **values):
        world.restart(**values)
        world.runs._workers.engines.ready[:] = links
        return world

    return start


def saved(world, run):
    world.runs._workers.save(run)
    return run.checkpoint_step


@pytest.mark.fault("the process that trains a run dies, again and again, whatever it is doing",
                   "the run goes on from its last save and becomes what it would have become")  # fmt: skip
def test_whenever_its_process_dies_a_run_is_its_solitary_twin(trained_by):
    links = Dying(1, (6, 12)), Dying(2, (6, 12))
    world = trained_by(*links, save_seconds=0.0)
    experiments = [tiny(seed=seed, steps=6, eval_every=3) for seed in (1, 2)]
    made = [world.runs.create(experiment, ME) for experiment in experiments]
    world.until(lambda: not any(run.working for run in made))
    for run, experiment in zip(made, experiments, strict=True):
        ended_as_if_alone(run, experiment)
        assert world.runs.store.open(run).run.step == 6
    assert min(link.deaths for link in links) > 0


class Fatal(Near):
    """Dies at every step of the run that came first."""

    def __init__(self):
        super().__init__()
        self.victim, self.deaths = None, 0

    def ask(self, id, name, *rest):
        self.victim = self.victim or id
        if (id, name) != (self.victim, "advance"):
            return super().ask(id, name, *rest)
        self.deaths += 1
        raise Lost(guilty=True)


@pytest.mark.fault("a run that ends every process which trains it, as one that has not enough memory",
                   "after three of them it fails with a sentence; others train on")  # fmt: skip
def test_a_run_that_ends_every_process_ends_with_a_sentence(trained_by):
    link = Fatal()
    world = trained_by(link)
    run, other = world.runs.create(tiny(), ME), world.runs.create(tiny(seed=5), YOU)
    world.until(lambda: not (run.working or other.working))
    assert (run.status, run.message.key, run.step, link.deaths) == ("failed", "runs.process_lost", 0, 3)
    ended_as_if_alone(other, tiny(seed=5))
    assert not world.runs._workers.busy(run)


def test_a_run_that_goes_on_says_from_where_until_it_is_saved(trained_by):
    link = Near()
    world = trained_by(link)
    run = begun(world)
    step = saved(world, run)
    world.until(lambda: run.step >= step + 5)
    link.host = Host()
    world.until(lambda: run.message)
    assert (run.message.key, run.message.values) == ("runs.process_ended", {"step": step})
    world.until(lambda: run.step > step)
    assert run.checkpoint_step == step
    saved(world, run)
    assert run.message is None


@pytest.mark.night
def test_runs_spread_over_the_processes_and_move_to_one_that_is_free(trained_by):
    links = Near(), Near()
    world = trained_by(*links)
    made = [world.runs.create(tiny(steps=100, seed=seed), ME) for seed in range(4)]  # more than the first has when all have three
    lane = lambda run: world.runs._workers._jobs[run.id].lane  # noqa: E731
    assert [lane(run) for run in made] == [*links, *links]
    world.until(lambda: all(run.step >= 3 for run in made))
    for run in (made[1], made[3]):
        world.runs.delete(run.id, ME)
    left = made[0], made[2]
    world.until(lambda: {lane(run) for run in left} == {*links})
    world.until(lambda: all(run.step > 10 for run in left))
    assert curve(made[2]) == [column[: made[2].step] for column in curve(alone(tiny(steps=100, seed=2))[0])]


@pytest.fixture
def on_machines(serve, monkeypatch):
    """on_machines(machines) -> Runs that train there; None: they can't be reached."""
    monkeypatch.setattr(cluster, "CHECK_PERIOD_S", 0.005)
    monkeypatch.setattr(cluster, "RETRY_S", 0.01)
    monkeypatch.setattr(saving, "SAVE_SHARE", 1e9)

    def start(machines, **values):
        def begin(context, address):
            if machines is None:
                raise ConnectionRefusedError
            return machines

        monkeypatch.setattr(cluster, "start_driver", begin)
        runs = serve(limits(cluster="there", **values))
        wait(lambda: runs._workers.engines.state["processes"] == (len(machines.alive) if machines else 0))
        return runs

    return start


def test_a_run_goes_where_there_is_a_machine_and_says_where(on_machines):
    machines = Machines("1", "2")
    runs = on_machines(machines)
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
    began = [column[:20] for column in curve(one)]
    assert began == [column[: one.step] for column in curve(alone(tiny(steps=20, seed=1))[0])]


def test_a_cluster_that_cannot_be_reached_leaves_the_training_here(on_machines, caplog):
    with caplog.at_level(logging.WARNING, "playground"):
        runs = on_machines(None)
        wait(lambda: runs._workers.engines.state["state"] == "unreachable")
        said = health(runs)
        run = done(runs.create(tiny(steps=12), ME))
    sentence = "Ray cluster unreachable: training locally."
    assert [record.getMessage() for record in caplog.records if "Ray" in record.getMessage()] == [f"{sentence} (ConnectionRefusedError: )"]
    assert (said["status"], said["reasons"], said["cluster"]["note"]) == ("ok", ["cluster_unreachable"], sentence)
    assert (run.status, run.where, curve(run)) == ("done", {}, curve(alone(tiny(steps=12))[0]))


@pytest.fixture
def runs(serve, ray_cluster):
    runs = serve(limits(cluster=ray_cluster.address, save_seconds=0.5, turn_seconds=0.05))
    wait(lambda: runs._workers.engines.state["processes"] == 2, 120)
    assert runs._workers.engines.state == {"state": "connected", "machines": 2, "processes": 2}
    return runs


def slot_of(runs, run):
    return runs._workers._jobs[run.id].lane


@pytest.mark.night
@pytest.mark.fault("a node of a Ray cluster killed in the middle of a training",
                   "no more is lost than since the last save; the same weights")  # fmt: skip
def test_with_its_node_a_run_loses_no_more_than_it_did_since_its_last_save(runs, ray_cluster):
    experiments = [tiny(steps=600, seed=seed, eval_every=200) for seed in (1, 2)]
    made = [runs.create(experiment, ME) for experiment in experiments]
    for run in made:
        at_step(run, 100)
    wait(lambda: made[0].checkpoint_step)
    lost = next(node for node in ray_cluster.list_all_nodes() if node.node_id == slot_of(runs, made[0]).node)
    assert {slot_of(runs, run).node for run in made} == set(runs._workers.engines.cluster.memory)
    saved = made[0].checkpoint_step
    ray_cluster.remove_node(lost, allow_graceful=False)
    wait(lambda: made[0].message)
    assert made[0].message.key == "runs.process_ended"
    assert made[0].message.values["step"] >= saved > 0
    for run, experiment in zip(map(done, made), experiments, strict=True):
        ended_as_if_alone(run, experiment)
    ray_cluster.add_node(num_cpus=1)
    wait(lambda: runs._workers.engines.state["processes"] == 2, 120)


@pytest.mark.night
@pytest.mark.fault("the way to a Ray cluster cut", "runs go on on this machine, and there again later")
def test_without_the_way_there_runs_go_on_here_until_there_is_one_again(runs, monkeypatch):
    """Ray ends the process that speaks with it when the head of the cluster has been gone for a minute."""
    monkeypatch.setattr(cluster, "RETRY_S", 0.5)
    run = at_step(runs.create(tiny(steps=100_000), ME), 20)
    assert set(run.where) == {"node"}
    manager = runs._workers.engines.cluster._driver._manager
    os.kill(manager._process.pid, signal.SIGKILL)
    wait(lambda: not run.where)
    at_step(run, run.step + 5)
    wait(lambda: run.where, 120)
    at_step(run, run.step + 5)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    assert run.history.steps.column("step") == list(range(1, run.step + 1))
