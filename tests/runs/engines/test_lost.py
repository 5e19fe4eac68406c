"""When the process that trains a run is gone, the run goes on from its last save, or ends with a sentence; no other is touched."""

import errno

import pytest

from playground.runs.engines.host import Host
from playground.runs.engines.trainer import Lost
from playground.runs.queue import saving
from tests.runs.engines.links import Dying, Near
from tests.runs.tiny import ME, YOU, alone, at_step, curve, done, ended_as_if_alone, limits, tiny, wait


@pytest.fixture
def trained_by(serve, monkeypatch):
    """trained_by(links) -> Runs whose runs are trained over these, and saved only when they are told to, or as often as is said."""
    monkeypatch.setattr(saving, "SAVE_SHARE", 1e9)

    def start(*links, **values):
        runs = serve(limits(engine="processes", **{"save_seconds": 1e9} | values))
        runs._workers._engines.ready[:] = links
        return runs

    monkeypatch.setattr("playground.runs.engines.choice.Engines._start", lambda self: None)
    return start


@pytest.mark.fault(
    "the process that trains a run dies, again and again, whatever it is doing",
    "the run goes on from its last save and becomes what it would have become",
)
def test_whenever_its_process_dies_a_run_is_its_solitary_twin(trained_by):
    links = Dying(1), Dying(2)
    runs = trained_by(*links, save_seconds=0.02)
    experiments = [tiny(seed=seed, steps=20) for seed in (1, 2)]
    made = [runs.create(experiment, ME) for experiment in experiments]
    for run, experiment in zip(map(done, made), experiments, strict=True):
        ended_as_if_alone(run, experiment)
        assert runs.store.open(run).run.step == 20
    assert min(link.deaths for link in links) > 0


class Fatal(Near):
    """Dies at every step, or whatever is called `what`, of the run that came first."""

    def __init__(self, what="advance"):
        super().__init__()
        self.what, self.victim, self.deaths = what, None, 0

    def ask(self, id, name, *rest):
        self.victim = self.victim or id
        if (id, name) != (self.victim, self.what):
            return super().ask(id, name, *rest)
        self.deaths += 1
        raise Lost(guilty=True)


@pytest.mark.fault(
    "a run that ends every process which trains it, as one that has not enough memory",
    "after three of them it fails with a sentence; others train on",
)
def test_a_run_that_ends_every_process_ends_with_a_sentence(trained_by):
    """As one that takes more memory than there is. Another in the same process goes on."""
    link = Fatal()
    runs = trained_by(link)
    run, other = runs.create(tiny(), ME), runs.create(tiny(seed=5), YOU)
    assert done(run).status == "failed"
    assert (run.message.key, run.step, link.deaths) == ("runs.process_lost", 0, 3)
    assert "smaller" in run.message.say("en")
    assert done(other).status == "done"
    assert curve(other) == curve(alone(tiny(seed=5))[0])
    assert not runs._workers.busy(run)


def test_a_run_that_goes_on_says_from_where_until_it_is_saved(trained_by):
    link = Near()
    runs = trained_by(link)
    run = at_step(runs.create(tiny(steps=100_000), ME), 30)
    runs._workers.save(run)
    saved = run.checkpoint_step
    at_step(run, saved + 5)
    link.host = Host()
    wait(lambda: run.message)
    assert (run.message.key, run.message.values) == ("runs.process_ended", {"step": saved})
    at_step(run, saved + 1)
    assert run.checkpoint_step == saved
    runs._workers.save(run)
    wait(lambda: run.message is None)


@pytest.mark.parametrize("order", ["pause", "stop", "drop"])
def test_an_order_is_obeyed_though_the_process_is_gone(trained_by, order):
    link = Near()
    runs = trained_by(link)
    run = at_step(runs.create(tiny(steps=100_000), ME), 10)
    runs._workers.save(run)
    link.ask = lost
    if order == "drop":
        runs.delete(run.id, ME)
        assert runs.find(run.id) is None
        return
    getattr(runs, order)(run.id, ME)
    wait(lambda: not run.working and not runs._workers.busy(run))
    assert run.step == run.checkpoint_step == len(run.history.steps) >= 10
    del link.ask
    assert run.status == {"pause": "paused", "stop": "stopped"}[order]
    runs.resume(run.id, ME)
    at_step(run, run.step + 1)


def lost(*asked):
    raise Lost


def test_a_server_that_ends_saves_what_it_can_though_a_process_is_gone(trained_by, serve):
    link = Near()
    runs = trained_by(link)
    run = at_step(runs.create(tiny(steps=100_000), ME), 10)
    runs._workers.save(run)
    saved = run.checkpoint_step
    real = runs._workers._schedulers["cpu"].close
    runs._workers._schedulers["cpu"].close = lambda seconds: (real(seconds), setattr(link, "ask", lost))[0]
    runs.close()
    assert (run.status, run.step) == ("interrupted", saved)
    back = serve().get(run.id)
    assert (back.status, back.step, len(back.history.steps)) == ("interrupted", saved, saved)


def test_runs_spread_over_the_processes_and_move_to_one_that_is_free(trained_by):
    links = Near(), Near()
    runs = trained_by(*links)
    made = [runs.create(tiny(steps=100_000, seed=seed), ME) for seed in range(4)]
    lanes = [runs._workers._jobs[run.id].lane for run in made]
    assert lanes == [*links, *links]
    for run in made:
        at_step(run, 3)
    for run in (made[1], made[3]):
        runs.delete(run.id, ME)
    wait(lambda: {runs._workers._jobs[run.id].lane for run in (made[0], made[2])} == set(links))
    for run in (made[0], made[2]):
        at_step(run, run.step + 3)
        runs.pause(run.id, ME)
        wait(lambda run=run: run.status == "paused")
        assert curve(run) == [column[: run.step] for column in curve(alone(tiny(steps=run.step, seed=run.experiment.training.seed))[0])]


def test_who_began_in_the_page_goes_on_beside_it_once_there_is_a_process(trained_by):
    """As after a start of the server, when runs go on before there is one."""
    link = Near()
    runs = trained_by()
    run = at_step(runs.create(tiny(steps=100_000), ME), 3)
    runs._workers._engines.ready.append(link)
    wait(lambda: link.host._trainings)
    at_step(run, run.step + 3)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    assert curve(run) == curve(alone(tiny(steps=run.step))[0])


def test_a_full_disk_is_not_asked_at_every_turn_to_let_a_run_move(trained_by, monkeypatch):
    runs, asked = trained_by(), []
    run = at_step(runs.create(tiny(steps=100_000), ME), 3)

    def full(*_):
        asked.append(run.step)
        raise OSError(errno.ENOSPC, "")

    with monkeypatch.context() as patch:
        patch.setattr(runs.store, "save", full)
        runs._workers._engines.ready.append(Near())
        wait(lambda: asked)
        at_step(run, asked[0] + 20)
    assert len(asked) == 1
    assert run.status == "training"
