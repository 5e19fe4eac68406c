"""Stories of a whole server, each from a seed: what is acknowledged is kept, a run is the run it would have been, all comes back."""

import pytest

from tests.simulation.__main__ import RULES, tell
from tests.simulation.story import Story
from tests.simulation.world import Killed

GATE = (*range(39), 76)  # 7, 9, 10: a flipped bit of state.safetensors lost the run; 76: a pause on a full disk lost what was in no memory
NIGHT = range(39, 3000)


@pytest.mark.parametrize("seeds", [GATE[at::4] for at in range(4)], ids="part {}".format)
def test_a_server_keeps_what_it_promised(seeds):
    for seed in seeds:
        tell(seed)


@pytest.mark.night
@pytest.mark.parametrize("seeds", [NIGHT[at::49] for at in range(49)], ids="part {}".format)
def test_a_server_keeps_what_it_promised_all_night(seeds):
    for seed in seeds:
        tell(seed, 2 * RULES)


def test_a_failing_story_says_its_seed_and_all_that_happened(tmp_path, monkeypatch):
    monkeypatch.setattr(Story, "check", lambda story: (_ for _ in ()).throw(AssertionError("a broken promise")))
    with pytest.raises(AssertionError, match=r"a broken promise\nseed 3:\n  \w+"):
        Story(tmp_path, 3).tell(RULES)


def test_the_simulated_disk_tears_and_refuses(tmp_path):
    story = Story(tmp_path, 1)
    with story.disk as disk:
        run = story.world.runs.get(story.create())
        disk.refusals = 1
        with pytest.raises(OSError, match="No space"):
            story.world.runs.store.note(run)
        disk.heal()
        disk.kill_in = 0
        with pytest.raises(Killed):
            story.create()
    story.world.end(killed=True)
