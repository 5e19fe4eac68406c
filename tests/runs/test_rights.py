"""Who may change what, and how much of it."""

import json

import pytest

from playground.config import Refusal
from playground.runs.engines import in_process
from tests.runs.tiny import ME, YOU, at_step, done, limits, needed, tiny, wait

CHANGES = {
    "pause": lambda runs, id, token: runs.pause(id, token),
    "resume": lambda runs, id, token: runs.resume(id, token),
    "step": lambda runs, id, token: runs.step_once(id, token),
    "stop": lambda runs, id, token: runs.stop(id, token),
    "delete": lambda runs, id, token: runs.delete(id, token),
    "rename": lambda runs, id, token: runs.rename(id, token, "mine now"),
    "live": lambda runs, id, token: runs.set_live(id, token, "clip", 1.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_only_its_owner_may_change_a_run(runs, change):
    run = done(runs.create(tiny(steps=1), ME))
    for token in (YOU, "", run.owner, "\ud800"):
        with pytest.raises(Refusal) as refusal:
            CHANGES[change](runs, run.id, token)
        assert refusal.value.key == "runs.not_yours"
    assert runs.get(run.id) is run
    assert run.label == ""


@pytest.mark.parametrize("change", CHANGES)
def test_nobody_changes_a_shipped_run(serve, tmp_path, change):
    first = serve()
    run = done(first.create(tiny(steps=3), ME))
    (tmp_path / "checkpoints").mkdir()
    first.store.path(run).rename(tmp_path / "checkpoints" / "reverse")
    second = serve(folder=tmp_path / "other", shipped=tmp_path / "checkpoints")
    shipped = second.get("reverse")
    assert shipped.shipped
    assert second.shipped() == [shipped]
    assert second.mine(ME) == []
    for token in (ME, "", shipped.owner):
        with pytest.raises(Refusal, match="someone else"):
            CHANGES[change](second, "reverse", token)


@pytest.mark.parametrize("id", ["", "../../etc/passwd", "nobody", "x" * 10_000, "\ud800", "%00"])
def test_an_unknown_id_is_only_looked_up(runs, id):
    with pytest.raises(Refusal, match="no such run"):
        runs.get(id)
    with pytest.raises(Refusal, match="no such run"):
        runs.delete(id, ME)


def test_a_run_needs_an_owner(runs):
    with pytest.raises(Refusal, match="not have a key"):
        runs.create(tiny(), "")


def test_mine_is_mine_newest_first(runs):
    first, second = runs.create(tiny(steps=1), ME), runs.create(tiny(steps=1), ME)
    other = runs.create(tiny(steps=1), YOU)
    assert runs.mine(ME) == [second, first]
    assert runs.mine(YOU) == [other]
    assert runs.mine("") == []
    assert runs.owns(first.id, ME)
    assert not runs.owns(first.id, YOU)
    assert len({run.name for run in (first, second, other)}) == 3


def test_one_owner_has_a_share_and_the_server_an_end(serve):
    runs = serve(limits(runs_each=2, runs_unfinished=3))
    mine = [runs.create(tiny(steps=100_000), ME) for _ in range(2)]
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), ME)
    assert refusal.value.key == "runs.too_many_yours"
    assert mine[0].name in str(refusal.value)
    runs.create(tiny(steps=100_000), YOU)
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(), "third")
    assert refusal.value.key == "runs.too_many"
    runs.stop(mine[0].id, ME)
    done(mine[0])
    again = runs.create(tiny(steps=1), ME)
    with pytest.raises(Refusal, match="unfinished"):
        runs.resume(mine[0].id, ME)
    done(again)


def test_an_experiment_gets_all_its_runs_or_none(serve):
    runs = serve(limits(runs_each=3, runs_unfinished=5))
    arms = [tiny(steps=1), tiny(steps=1, seed=2)]
    made = runs.create_all(arms, ME, ["one", "two"])
    assert [(run.experiment, run.label) for run in made] == list(zip(arms, ["one", "two"], strict=True))
    for run in made:
        done(run)
    runs.create(tiny(steps=100_000), ME)
    for count, key in ((3, "runs.too_many_yours"), (2, "")):
        before = len(runs.mine(ME))
        if key:
            with pytest.raises(Refusal) as refusal:
                runs.create_all([tiny()] * count, ME, [""] * count)
            assert refusal.value.key == key
            assert len(runs.mine(ME)) == before
        else:
            assert len(runs.create_all([tiny(steps=1)] * count, ME, [""] * count)) == count


def test_a_model_too_large_is_refused_before_anything_is_made(runs, monkeypatch):
    monkeypatch.setattr(in_process, "Training", None)
    with pytest.raises(Refusal, match="MB"):
        runs.create(tiny(d_model=512, d_ff=2048, encoder_layers=6, decoder_layers=6, n_heads=8, batch_size=16_384), ME)
    assert runs.mine(ME) == []


def test_runs_that_need_all_the_memory_wait_for_each_other(serve):
    small = serve(limits(memory=int(needed(tiny()) * 1.5)))
    first, second = small.create(tiny(steps=100), ME), small.create(tiny(steps=2), YOU)
    wait(lambda: first.step > 0)
    assert (first.place, second.place, second.status) == (0, 1, "queued")
    small.stop(first.id, ME)
    assert done(second).status == "done"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, "much", None, True])
def test_live_values_are_checked(runs, value):
    run = runs.create(tiny(steps=100_000), ME)
    with pytest.raises(Refusal, match="learning_rate"):
        runs.set_live(run.id, ME, "learning_rate", value)


def test_labels_are_text(runs):
    run = done(runs.create(tiny(steps=1), ME))
    runs.rename(run.id, ME, "../<script>\x00\n" + "x" * 500 + "\ud800")
    assert run.label.startswith("../<script>  xxx")
    assert len(run.label) == 80
    assert json.loads(runs.update(run)[0])["label"] == run.label


def test_runs_that_are_handed_over_are_the_others_also_after_a_restart(serve):
    first = serve()
    run, other = done(first.create(tiny(steps=1), ME)), done(first.create(tiny(steps=1), "somebody else's token"))
    first.hand_over(ME, YOU)
    assert first.mine(ME) == []
    assert first.mine(YOU) == [run]
    assert not first.owns(other.id, YOU)
    first.rename(run.id, YOU, "ours")
    first.close()
    again = serve()
    assert [run.label for run in again.mine(YOU)] == ["ours"]
    assert again.mine(ME) == []


def test_a_deleted_run_is_gone(runs):
    run = at_step(runs.create(tiny(steps=100_000), ME), 2)
    path = runs.store.path(run)
    assert path.exists()
    runs.delete(run.id, ME)
    assert not path.exists()
    assert runs.mine(ME) == []
    with pytest.raises(Refusal, match="no such run"):
        runs.get(run.id)
    assert runs._workers._jobs == {}


def test_the_oldest_unseen_run_makes_room(serve):
    runs = serve(limits(runs_kept=3, recent_hours=1e-9))
    old = [done(runs.create(tiny(steps=1), ME)) for _ in range(3)]
    old[0].seen()
    newest = done(runs.create(tiny(steps=1), ME))
    assert [run.id for run in runs.mine(ME)] == [newest.id, old[2].id, old[0].id]
    assert not runs.store.path(old[1]).exists()
