"""Who may change what, and how much of it."""

import json
import re

from playground.runs.engines import in_process
from playground.runs.names import ADJECTIVES, ANIMALS, new_id, new_name, owner_of, owns
from tests.runs.by_hand import LONG, begun, ended, ordered, refused
from tests.runs.tiny import ME, YOU, tiny

CHANGES = {
    "pause": lambda runs, id, token: runs.pause(id, token),
    "resume": lambda runs, id, token: runs.resume(id, token),
    "step": lambda runs, id, token: runs.step_once(id, token),
    "stop": lambda runs, id, token: runs.stop(id, token),
    "delete": lambda runs, id, token: runs.delete(id, token),
    "rename": lambda runs, id, token: runs.rename(id, token, "mine now"),
    "live": lambda runs, id, token: runs.set_live(id, token, "max_grad_norm", 1.0),
    "share": lambda runs, id, token: runs.share_sentences(id, token, True),
}


def test_only_its_owner_may_change_a_run_and_no_one_a_shipped_one(world, serve, tmp_path):
    run = ended(world, steps=1)
    before = run.version
    (tmp_path / "checkpoints").mkdir()
    copy = world.runs.copy(run.id, ME)
    world.runs.store.path(copy).rename(tmp_path / "checkpoints" / "reverse")
    others = serve(folder=tmp_path / "other", shipped=tmp_path / "checkpoints")
    shipped = others.get("reverse")
    assert (shipped.shipped, others.shipped(), others.mine(ME)) == (True, [shipped], [])
    for change in CHANGES.values():
        for token in (YOU, "", run.owner, "\ud800"):
            with refused("runs.not_yours"):
                change(world.runs, run.id, token)
        for token in (ME, "", shipped.owner):
            with refused("runs.not_yours"):
                change(others, "reverse", token)
    assert world.runs.get(run.id) is run
    assert (run.label, run.version) == ("", before)


def test_an_unknown_id_is_only_looked_up(world):
    for id in ("", "../../etc/passwd", "nobody", "x" * 10_000, "\ud800", "%00"):
        with refused("runs.unknown"):
            world.runs.get(id)
        with refused("runs.not_yours"):
            world.runs.delete(id, ME)


def test_mine_is_mine_newest_first(world):
    with refused("runs.no_token"):
        world.runs.create(tiny(), "")
    first, second, other = (world.runs.create(tiny(), owner) for owner in (ME, ME, YOU))
    assert [world.runs.mine(token) for token in (ME, YOU, "")] == [[second, first], [other], []]
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


def test_names_are_two_words_and_never_taken_and_ids_not_to_be_guessed():
    ids, taken = {new_id() for _ in range(1000)}, set()
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", id) for id in ids)
    for _ in range(600):
        name = new_name(taken)
        assert name not in taken
        assert re.fullmatch(r"[a-z]+-[a-z]+", name)
        taken.add(name)
    every = {f"{adjective}-{animal}" for adjective in ADJECTIVES for animal in ANIMALS}
    assert new_name(every)[-2:] == "-2"
    assert new_name(every | {f"{name}-2" for name in every})[-2:] == "-3"


def test_a_token_owns_what_was_made_with_it():
    owner = owner_of("secret")
    assert re.fullmatch(r"[0-9a-f]{64}", owner)
    for token in ("secret", "Secret", "", owner, "secret\0", "\ud800", "密"):
        assert owns(owner, token) == (token == "secret")
        assert not owns("", token)


def test_a_model_too_large_is_refused_before_anything_is_made(world, monkeypatch):
    monkeypatch.setattr(in_process, "Training", None)
    with refused("model.too_large"):
        world.runs.create(tiny(d_model=512, d_ff=2048, encoder_layers=6, decoder_layers=6, n_heads=8, batch_size=16_384), ME)
    assert world.runs.mine(ME) == []


def test_labels_are_text(world):
    run = ended(world, steps=1)
    world.runs.rename(run.id, ME, "../<script>\x00\n" + "x" * 500 + "\ud800")
    assert run.label.startswith("../<script>  xxx")
    assert len(run.label) == 80
    assert json.loads(world.runs.update(run)[0])["label"] == run.label


def test_runs_that_are_handed_over_are_the_others_also_after_a_restart(world):
    run, other = ended(world, steps=1), ended(world, "a third token", steps=1)
    world.runs.hand_over(ME, YOU)
    assert (world.runs.mine(ME), world.runs.mine(YOU)) == ([], [run])
    assert not world.runs.owns(other.id, YOU)
    world.runs.rename(run.id, YOU, "ours")
    again = world.restart()
    assert [run.label for run in again.mine(YOU)] == ["ours"]
    assert again.mine(ME) == []
