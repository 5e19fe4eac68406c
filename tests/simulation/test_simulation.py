"""Stories of a whole server, each from a seed: what is acknowledged is kept, a run is the run it would have been, all comes back."""

import gc

import pytest

from tests.simulation.__main__ import RULES, tell

GATE = (9, 10, 76)  # 9, 10: a flipped bit lost the run; 76: a pause on a full disk what was in no memory
NIGHT = range(200)  # `python -m tests.simulation --minutes 120` tells others, see nightly.yml


@pytest.fixture(scope="module", autouse=True)
def _only_its_own_garbage() -> None:
    """Exempts what earlier tests left from the collection at the end of each story."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("seeds", [GATE, *(pytest.param(NIGHT[at::8], marks=pytest.mark.night, id=f"all_night {at}") for at in range(8))])
def test_a_server_keeps_what_it_promised(seeds):
    for seed in seeds:
        tell(seed, RULES if seeds is GATE else 2 * RULES)
