"""Runs on a GPU: they share it, one that takes too much ends alone, and each goes on from its save. Skipped where there is none."""

import pytest
import torch

from tests.runs.tiny import ME, YOU, at_step, curve, done, limits, same_parameters, tiny

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
GPU = limits(devices=("cuda:0",))


@pytest.fixture
def runs(serve):
    return serve(GPU)


def test_two_share_it_and_one_that_was_stopped_goes_on_as_if_it_had_not(runs, serve, tmp_path):
    whole, other = runs.create(tiny(steps=200), ME), runs.create(tiny(steps=200, seed=2), YOU)
    assert (done(whole).status, done(other).status) == ("done", "done")
    run = at_step(runs.create(tiny(steps=200), ME), 20)
    runs.stop(run.id, ME)
    done(run)
    runs.close()
    reopened = serve(GPU, tmp_path / "data")
    reopened.resume(run.id, ME)
    again = done(reopened.get(run.id))
    assert (again.status, curve(again)) == ("done", curve(whole))
    assert same_parameters(again.snapshot.parameters, whole.snapshot.parameters)


def test_one_that_takes_too_much_ends_alone(runs):
    """For real: the GPU is full."""
    other = at_step(runs.create(tiny(steps=4000), YOU), 200)
    torch.cuda.empty_cache()
    everything = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 2**26) / everything)
    try:
        big = {"d_model": 512, "n_heads": 8, "d_ff": 2048, "batch_size": 512, "packing": False}
        run = done(runs.create(tiny(**big), ME))
        assert (run.status, run.message.key) == ("failed", "runs.out_of_memory")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert other.working or other.status == "done"
    assert (done(other).status, done(runs.create(tiny(), ME)).status) == ("done", "done")
