"""Stories of a whole server, each from a seed: what is acknowledged is kept, a run is the run it would have been, all comes back."""

import gc

import pytest

from tests.simulation.__main__ import RULES, tell

GATE = (9, 10, 76)  # 9, 10: a flipped bit lost the run; 76: a pause on a full disk what was in no memory
NIGHT = range(500)  # `python -m tests.simulation --minutes 120` tells others, see nightly.yml


@pytest.fixture(scope="module", autouse=True)
def _only_its_own_garbage() -> None:
    """Exempts what earlier tests left from the collection at the end of each story."""
    gc.collect()
    gc.freeze()


def test_a_server_keeps_what_it_promised():
    for seed in GATE:
        tell(seed)


@pytest.mark.night
@pytest.mark.parametrize("seeds", [NIGHT[at::20] for at in range(20)], ids="part {}".format)
def test_a_server_keeps_what_it_promised_all_night(seeds):
    for seed in seeds:
        tell(seed, 2 * RULES)
