"""Who may change what, and how much of it: the limits hold, and nobody waits for another visitor's disk."""

import re

import pytest

from playground.config import Refusal
from playground.runs import starter
from playground.runs.disk import files
from playground.runs.identity import ADJECTIVES, ANIMALS, new_id, new_name, owner_of, owns
from tests.runs.tiny import LONG, ME, YOU, at_rest, begun, ended, ordered, refused, tiny

CHANGES = {
    "pause": (), "resume": (), "step_once": (), "stop": (), "delete": (), "rename": ("mine now",), "set_live": ("max_grad_norm", 1.0),
    "share_sentences": (True,),
}  # fmt: skip
FULL = OSError(28, "No space left on device")


def test_only_its_owner_may_change_a_run_and_no_one_a_shipped_one(world, serve, tmp_path):
    run = ended(world, steps=1)
    before = run.version
    (tmp_path / "checkpoints").mkdir()
    world.runs.store.path(world.runs.copy(run.id, ME)).rename(tmp_path / "checkpoints" / "reverse")
    others = serve(folder=tmp_path / "other", shipped=tmp_path / "checkpoints")
    shipped = others.get("reverse")
    assert (shipped.shipped, others.shipped(), others.list_owned(ME)) == (True, [shipped], [])
    strangers = [(world.runs, run, token) for token in (YOU, "", run.owner, "\ud800")]
    for name, values in CHANGES.items():
        for runs, one, token in [*strangers, *((others, shipped, token) for token in (ME, "", shipped.owner))]:
            with refused("runs.not_yours"):
                getattr(runs, name)(one.id, token, *values)
    assert world.runs.get(run.id) is run
    assert (run.label, run.version) == ("", before)


def test_mine_is_mine_newest_first(world):
    with refused("runs.no_token"):
        world.runs.create(tiny(), "")
    first, second, other = (world.runs.create(tiny(), owner) for owner in (ME, ME, YOU))
    assert [world.runs.list_owned(token) for token in (ME, YOU, "")] == [[second, first], [other], []]
    assert [world.runs.owns(first.id, token) for token in (ME, YOU)] == [True, False]
    assert len({run.name for run in (first, second, other)}) == 3


def test_one_owner_has_a_share_and_the_server_an_end(world):
    world.restart(runs_each=2, runs_unfinished=3)
    mine = [begun(world) for _ in range(2)]
    with refused("runs.too_many_yours") as refusal:
        world.runs.create(tiny(), ME)
    assert mine[0].name in str(refusal.value)
    world.runs.create(tiny(steps=LONG), YOU)
    with refused("runs.too_many"):
        world.runs.create(tiny(), "third")
    ordered(world, mine[0], "stop")
    world.runs.create(tiny(steps=LONG), ME)
    with refused("runs.too_many_yours"):
        world.runs.resume(mine[0].id, ME)


def test_names_are_two_words_never_taken_ids_not_to_be_guessed_and_a_token_owns_what_was_made_with_it():
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", id) for id in ids)
    every = {f"{adjective}-{animal}" for adjective in ADJECTIVES for animal in ANIMALS}
    taken = {*sorted(every)[::2]}
    assert {new_name(taken) for _ in range(100)} <= every - taken
    assert (new_name(every)[-2:], new_name(every | {f"{name}-2" for name in every})[-2:]) == ("-2", "-3")
    owner = owner_of("secret")
    assert re.fullmatch(r"[0-9a-f]{64}", owner)
    for token in ("secret", "Secret", "", owner, "secret\0", "\ud800", "密"):
        assert owns(owner, token) == (token == "secret")
        assert not owns("", token)


def test_runs_that_are_handed_over_are_the_others_also_after_a_restart_and_labels_are_text(world):
    run, other = ended(world, steps=1), ended(world, "a third token", steps=1)
    world.runs.hand_over(ME, YOU)
    assert (world.runs.list_owned(ME), world.runs.list_owned(YOU)) == ([], [run])
    assert not world.runs.owns(other.id, YOU)
    world.runs.rename(run.id, YOU, "ours")
    again = world.restart()
    assert ([run.label for run in again.list_owned(YOU)], again.list_owned(ME)) == (["ours"], [])
    run = ended(world, steps=1)
    world.runs.rename(run.id, ME, "../<script>\x00\n" + "x" * 500 + "\ud800")
    assert run.label.startswith("../<script>  xxx")
    assert len(run.label) == 80


@pytest.fixture
def meanwhile(monkeypatch):
    """meanwhile(thing, name, act): what happens while this function of it runs."""

    def during(thing, name, act):
        real, inside = getattr(thing, name), []

        def call(*arguments, **options):
            if not inside:
                inside.append(1)
                act()
                inside.clear()
            return real(*arguments, **options)

        monkeypatch.setattr(thing, name, call)

    return during


def test_what_takes_long_is_done_without_the_lock(world, meanwhile):
    runs, done = world.runs, set()
    long = dict.fromkeys(("create", "save", "write_card", "delete"), runs.store)
    long |= {"bytes_needed": starter, "wait": runs._workers}
    for name, thing in long.items():
        meanwhile(thing, name, lambda name=name: done.add((name, runs._admission.lock.locked())))
    run = begun(world, order="stop")
    ordered(world, run, "step_once")
    runs.create_all([tiny(steps=1), tiny(steps=2)], YOU, ["arm 1", "arm 2"])
    for make in (runs.copy(run.id, YOU), runs.fork(run.id, None, YOU)):
        runs.rename(make.id, YOU, "mine")
        runs.delete(make.id, YOU)
    runs.stop(run.id, ME)
    assert done == {(name, False) for name in long}


def test_places_are_reserved_while_runs_are_written(world, meanwhile):
    """What is being written counts already, for its owner and for all, and is there for no one."""
    runs, seen = world.restart(runs_each=3, runs_unfinished=4), []

    def ask():
        seen.append(runs.list_owned(ME))
        for owner, count, key in ((ME, 2, "runs.too_many_yours"), (YOU, 3, "runs.too_many")):
            with refused(key):
                runs.create_all([tiny()] * count, owner, [""] * count)

    meanwhile(runs.store, "create", ask)
    arms = [tiny(steps=LONG), tiny(steps=LONG, seed=2)]
    made = runs.create_all(arms, ME, ["one", "two"])
    assert [(run.experiment, run.label) for run in made] == list(zip(arms, ["one", "two"], strict=True))
    assert (seen, runs.list_owned(ME)) == ([[], []], made[::-1])


@pytest.mark.parametrize(("error", "name"), [(FULL, "create"), (FULL, "_write_new"), (ZeroDivisionError(), "create")])
def test_an_experiment_that_cannot_be_written_leaves_nothing_and_frees_its_places(world, monkeypatch, error, name):
    runs, begins = world.restart(runs_each=3, runs_unfinished=3), []
    thing = files if name == "_write_new" else runs.store
    real = getattr(thing, name)

    def write(*arguments):
        if len(begins) == 2:
            raise error
        begins.append(1)
        return real(*arguments)

    monkeypatch.setattr(thing, name, write)
    with pytest.raises(Refusal if error is FULL else ZeroDivisionError):
        runs.create_all([tiny(steps=LONG)] * 3, ME, [""] * 3)
    monkeypatch.undo()
    assert (len(begins), runs.list_owned(ME), list(runs.store.root.iterdir()), runs._workers._jobs) == (2, [], [], {})
    made = runs.create_all([tiny(steps=1)] * 3, ME, [""] * 3)
    assert [at_rest(world, run).status for run in made] == ["done"] * 3


def test_two_who_resume_the_same_run_start_it_once_and_one_that_is_deleted_meanwhile_is_gone(world, meanwhile):
    run, gone, started = begun(world, order="stop"), begun(world, order="stop"), []
    meanwhile(starter, "bytes_needed", lambda: world.runs.resume(run.id, ME))
    meanwhile(world.runs._workers, "start", lambda: started.append(1))
    world.runs.resume(run.id, ME)
    assert started == [1]
    meanwhile(starter, "bytes_needed", lambda: world.runs.delete(gone.id, ME))
    with refused("runs.unknown"):
        world.runs.resume(gone.id, ME)
    assert [*world.runs._workers._jobs] == [run.id]
    assert not world.runs.store.path(gone).exists()


def test_an_order_that_meets_a_run_as_it_is_resumed_goes_to_its_job(world, monkeypatch):
    run, order, left = begun(world, order="pause"), world.runs._workers.order, [world.runs.resume]

    def resume_after(*arguments):
        answer = order(*arguments)
        if left:
            left.pop()(run.id, ME)
        return answer

    monkeypatch.setattr(world.runs._workers, "order", resume_after)
    world.runs.stop(run.id, ME)
    assert run.working
    assert at_rest(world, run).status == "stopped"


def test_runs_whose_jobs_can_not_be_made_take_no_place_and_can_be_resumed(world, monkeypatch):
    run = begun(world, order="stop")
    monkeypatch.setattr(world.runs._workers.engines, "trainer", lambda *_: 1 / 0)
    for start in (lambda: world.runs.resume(run.id, ME), lambda: world.runs.create_all([tiny(steps=2)] * 2, ME, [""] * 2)):
        with pytest.raises(ZeroDivisionError):
            start()
    monkeypatch.undo()
    runs = world.runs.list_owned(ME)
    assert [(run.status, run.message.key) for run in runs] == [("interrupted", "runs.failed")] * 3
    assert (world.runs._workers._jobs, world.runs._admission._reserved) == ({}, {})
    for run in runs:
        world.runs.resume(run.id, ME)
        world.runs.stop(run.id, ME)
    assert [at_rest(world, run).status for run in runs] == ["stopped"] * 3
