"""The shipped runs: made by one command from fixed seeds, small, and readable by nobody's grace."""

import pytest

from playground.runs.disk import checkpoints
from playground.runs.disk.checkpoints import ALTOGETHER, CHECKPOINTS, experiment, make, size
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import read_shipped
from playground.runs.queue import train_inline
from playground.runs.registry import SHIPPED
from playground.runs.replay import MIN_FRAMES, replay_steps
from tests.runs.tiny import CORPORA, TINY, tiny

STEPS = 5


def test_they_are_made_into_a_folder_and_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "CHECKPOINTS", {"sort": {**TINY, "task": "sort", "steps": 3}})
    for _ in range(2):  # the second takes the place of the first
        (run,) = make(tmp_path, ("sort",))
    (back,) = read_shipped(tmp_path)
    assert (run.step, back.id, back.name, back.step, back.shipped) == (3, "sort", "sort", 3, True)
    assert back.experiment == tiny(task="sort", steps=3)
    assert [path.name for path in tmp_path.iterdir()] == ["sort"]
    assert size(tmp_path) == sum(file.stat().st_size for file in (tmp_path / "sort").iterdir())


@pytest.mark.skipif(not any(SHIPPED.glob("*/run.json")), reason="no checkpoints are here: python -m playground checkpoints")
class TestShipped:
    def test_all_are_there_and_small(self):
        assert {run.id for run in read_shipped(SHIPPED)} >= set(CHECKPOINTS)
        assert size(SHIPPED) <= ALTOGETHER

    @pytest.mark.parametrize("name", CHECKPOINTS)
    def test_each_is_whole_and_every_frame_has_its_parameters(self, name):
        run = Folder(SHIPPED / name).run
        assert (run.experiment, run.status) == (experiment(name), "done")
        assert run.exact_match >= 0.95
        assert run.replay.steps[-1] == run.snapshot.step == run.step
        assert run.replay.parameter_steps == run.replay.steps == replay_steps(run.steps, MIN_FRAMES)

    @pytest.mark.parametrize("name", ["reverse", "german_english"])
    def test_trained_again_for_a_few_steps_it_goes_the_same_way(self, name):
        """Not bit for bit: another machine adds in another order."""
        kept = Folder(SHIPPED / name).run
        again = train_inline.new_run(experiment(name))
        for step in train_inline.train(again, CORPORA, 0):
            if step == STEPS:
                break
        assert again.history.steps.column("loss") == pytest.approx(kept.history.steps.column("loss", 0, STEPS), rel=1e-3)
