"""What a job may rely on, whichever engine trains: the same numbers, and everything in the run when a call returns."""

import pickle
from contextlib import ExitStack
from functools import partial
from importlib import import_module

import pytest

from playground.config import Refusal
from playground.runs.disk.folder import pack_run
from playground.runs.disk.replay_file import to_safetensors
from playground.runs.disk.store import OWN_DATA
from playground.runs.engines import InProcess
from playground.runs.engines.choice import CLUSTER, Remote
from playground.runs.runtime import REAL
from playground.runs.starter import fork_run, new_run
from tests.runs.engines.links import Near, processes
from tests.runs.tiny import CORPORA, LIMITS, ME, PAIRS, alone, curve, limits, same_parameters, same_replay, tiny, wait

TURN = 0.02  # seconds


@pytest.fixture(scope="module", params=["host", *(pytest.param(name, marks=pytest.mark.night) for name in ("here", "process", "ray"))])
def engine(request):
    """engine(run) -> a Trainer of it."""
    with ExitStack() as stack:
        if request.param == "here":
            yield lambda run: InProcess(run, CORPORA, LIMITS.replay_bytes)
        elif request.param == "ray":
            address = request.getfixturevalue("ray_cluster").address
            cluster = import_module(CLUSTER).connect(limits(cluster=address), lambda count: None, REAL)
            stack.callback(cluster.close)
            wait(lambda: cluster.ready, 120)
            yield lambda run: Remote(run, cluster.ready[0], LIMITS.replay_bytes)
        else:
            link = Near() if request.param == "host" else stack.enter_context(processes(1))[0]
            yield lambda run: Remote(run, link, LIMITS.replay_bytes)


@pytest.fixture
def begin(store, engine):
    """begin(experiment) -> (a new run that nobody watches, its trainer, prepared)."""
    trainers = []

    def start(experiment, **values):
        run = created(store, experiment, **values)
        return run, again(run)

    def again(run):
        """Another trainer, which goes on from the last save."""
        trainers.append(engine(run))
        trainers[-1].prepare(partial(store.read, run))
        return trainers[-1]

    start.again = again
    yield start
    for trainer in trainers:
        trainer.close()


def created(store, experiment, **values):
    """A new run that nobody watches."""
    run = new_run(experiment, ME, **values)
    run.device, run.threads = "cpu", experiment.training.threads
    store.create(run)
    run.seen_at = float("-inf")
    return run


def save(store, run, trainer):
    parameters, state = trainer.parameters(), trainer.state()  # which an engine that dies does not give
    run.checkpoint_step = run.step
    store.save(run, pack_run(run, parameters) | {"state.safetensors": state}, OWN_DATA, ("paused", None))


def to_the_end(*trainers):
    """In turns; the run of each has ended then."""
    left = list(trainers)
    while left:
        left = [trainer for trainer in left if trainer.advance(TURN, False)]
    for trainer in trainers:
        trainer.finish()


def assert_is_its_twin(run, experiment):
    twin, training = alone(experiment)
    assert (run.step, curve(run), run.history.validations.rows()) == (twin.step, curve(twin), twin.history.validations.rows())
    assert (run.history.diagnostics.rows(), run.history.events) == (twin.history.diagnostics.rows(), twin.history.events)
    assert (run.probes, run.snapshot.step, run.message) == (twin.probes, twin.snapshot.step, twin.message)
    assert same_parameters(run.snapshot.parameters, dict(training.model.named_parameters()))
    assert same_replay(run, twin)


def test_alone_beside_others_or_moved_by_a_save_a_run_is_its_solitary_twin(begin, store):
    experiments = [tiny(seed=seed, task=task) for seed, task in ((1, "reverse"), (2, "copy"))]
    runs, trainers = zip(*map(begin, experiments), strict=True)
    to_the_end(*trainers)
    for run, experiment in zip(runs, experiments, strict=True):
        assert_is_its_twin(run, experiment)
    run, trainer = begin(tiny())
    for step in (1, 6, 8):
        while run.step < step:
            before = run.step
            assert trainer.advance(1.0, True)
            assert run.step == before + 1, "one step is one, however much time there is"
        save(store, run, trainer)
        for _ in range(step % 4):
            trainer.advance(TURN, True)
        trainer.close()
        trainer = begin.again(run)
        assert run.step == len(run.history.steps) == step
    to_the_end(trainer)
    assert_is_its_twin(run, tiny())


def test_own_sentences_travel_and_not_where_they_are_and_those_that_cannot_be_prepared_are_refused(begin, store, tmp_path, monkeypatch):
    """What trains may be on another machine, with a disk of its own."""
    sent, ask = [], Near.ask
    monkeypatch.setattr(Near, "ask", lambda link, *question: (sent.append(pickle.dumps(question)), ask(link, *question))[1])
    run, trainer = begin(tiny(task="own", tokenizer="words", steps=12), data=PAIRS)
    assert run.longest_target == 3  # how much it may be asked to write
    trainer.advance(TURN, True)
    save(store, run, trainer)
    trainer.close()
    to_the_end(begin.again(run))
    assert (run.step, "again" in run.probes[0].src) == (12, True)
    assert not any(tmp_path.name.encode() in question for question in sent)
    with pytest.raises(Refusal) as refusal:
        begin(tiny(task="own", tokenizer="bpe", vocab_size=16), data=PAIRS)
    assert refusal.value.key.startswith("data.")
    assert refusal.value.values


def test_a_live_knob_holds_from_the_next_step_on_and_who_watches_gets_snapshots_and_hears_of_the_curve(begin):
    run, trainer = begin(tiny())
    for _ in range(5):
        trainer.advance(TURN, True)
    run.live = run.live | {"learning_rate": 0.002}
    trainer.advance(TURN, True)
    assert (run.history.steps.column("learning_rate"), run.history.events) == ([0.01] * 5 + [0.002], [(5, "learning_rate", 0.002)])
    trainer.show()
    assert run.snapshot.step == 6
    assert same_parameters(run.snapshot.parameters, trainer.parameters())
    run, trainer = begin(tiny(steps=100_000))
    trainer.advance(TURN, True)
    first = run.snapshot
    trainer.advance(0.5, False)
    assert run.snapshot is first, "nobody watches"
    run.mark_seen()
    version = run.version
    wait(lambda: trainer.advance(TURN, False) and run.snapshot is not first)
    assert 1 < run.snapshot.step <= run.step
    assert version < run.snapshot.version <= run.version
    assert max(mark.rows for mark in run.marks.values()) <= len(run.history.steps) == run.step


def test_the_steps_of_a_timed_run_are_planned_where_it_trains(begin, store):
    """And stay as they were planned when it goes on from a save."""
    run, trainer = begin(tiny(steps=100_000, minutes=0.5))
    while not run.history.events:
        trainer.advance(TURN, True)
    ((_, knob, planned),) = run.history.events
    assert (knob, run.steps) == ("steps", planned)
    assert planned < 100_000
    save(store, run, trainer)
    trainer.close()
    begin.again(run)
    assert run.steps == planned
    run, trainer = begin(tiny(steps=10_000, minutes=1e-5))  # less than a step takes: with more, the last step planned may be in time
    to_the_end(trainer)
    assert (run.step, run.message.key) == (1, "runs.minutes_over")


def test_the_lowest_validation_loss_is_kept_and_patience_ends_the_run(begin, store):
    """The best step's parameters are those of a run that ends there, also from a save, and a fork goes on from them."""
    knobs = {"eval_every": 1, "learning_rate": 0.1, "steps": 60}
    run, trainer = begin(tiny(**knobs, keep_best=True, patience=4))
    to_the_end(trainer)
    losses = run.history.validations.column("loss")
    best, parameters = run.replay.best
    assert losses[best - 1] == min(losses)
    assert (run.step, run.message.values["best"], run.message.key) == (best + 4, best, "runs.patience_over")
    assert same_parameters(parameters, alone(tiny(**knobs | {"steps": best}))[0].snapshot.parameters)
    save(store, run, trainer)
    forked, contents = store.read(run, lambda folder: fork_run(folder, best, ME))
    assert contents["weights.safetensors"] == to_safetensors(parameters)
    assert (forked.first_step, forked.replay.best, "state.safetensors" in contents) == (best, None, False)
    assert same_parameters(store.read(run, lambda folder: folder.run.replay.best[1]), parameters)
