"""Training on a GPU: the CPU's numbers, whether steps are replayed as CUDA graphs or made call by call. Skipped without one."""

from itertools import islice

import pytest
import torch

from playground.choices import VARIANTS
from playground.training.fast_step import CapturedSteps
from playground.training.loop import Training
from tests.runs.tiny import ME, YOU, at_step, curve, done, limits, same_parameters, tiny
from tests.training.corpora import training_of
from tests.training.test_replicas import RULES, VARIATIONS, Recorder, is_taken_back

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
MORE = [{"label_smoothing": 0.1}, {"batch_unit": "tokens", "batch_size": 200}]
KNOBS = [*VARIATIONS, *RULES, *MORE, *({"variant": name} for name in VARIANTS if name != "none")]


def on_gpu(**knobs) -> Training:
    return training_of("cuda", **{"steps": 30, "threads": 1, **knobs})


def called(**knobs) -> Training:
    """The same, of the same shapes, computed call by call."""
    training = on_gpu(**knobs)
    training.captured_steps = CapturedSteps(Recorder())
    return training


def same_state(first: Training, second: Training) -> bool:
    (tensors, meta), (other_tensors, other_meta) = first.pack(), second.pack()
    return meta == other_meta and same_parameters(tensors, other_tensors)


@pytest.mark.trust
@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_a_step_is_that_of_a_cpu(knobs):
    """From the same parameters: on a GPU a seed draws others."""
    knobs = {"dropout": 0.0, "threads": 1} | knobs
    cpu, gpu = training_of(**knobs), on_gpu(**knobs)
    gpu.load_parameters(dict(cpu.model.named_parameters()))
    gpu.captured_steps = None
    here, there = next(cpu.steps()), next(gpu.steps())
    assert there.loss == pytest.approx(here.loss, rel=1e-4)
    assert there.grad_norm == pytest.approx(here.grad_norm, rel=1e-3)
    here, there = cpu.validate(), gpu.validate()
    assert (there.pairs, there.loss) == (here.pairs, pytest.approx(here.loss, rel=1e-2))


@pytest.mark.trust
@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_a_graph_computes_what_its_calls_do(knobs, caplog):
    """Dropout's masks too."""
    calls, graphs = called(**knobs), on_gpu(**knobs)
    for call, graph in zip(calls.steps(), graphs.steps(), strict=True):
        assert graph.loss == pytest.approx(call.loss, rel=2e-3, abs=1e-4)
    assert graphs.captured_steps._graphs
    assert not caplog.records  # nothing failed


@pytest.mark.trust
@pytest.mark.parametrize(
    "knobs", [{}, {"optimiser": "adam"}, {"positions": "learned", "share_embeddings": "all"}, {"packing": False}], ids=str
)
def test_the_same_seed_gives_the_same_weights(knobs):
    """Also of a training that was put away and goes on."""
    whole, other, first, second = (on_gpu(**knobs) for _ in range(4))
    expected = list(whole.steps())
    assert list(other.steps()) == expected
    assert same_state(whole, other)
    list(islice(first.steps(), 17))
    second.unpack(*first.pack())
    assert list(second.steps()) == expected[17:]
    assert same_state(second, whole)


def test_a_step_that_is_no_number_is_taken_back():
    is_taken_back(on_gpu(steps=40))


def test_a_row_in_which_all_is_masked_has_a_gradient():
    """Rows of padding have none to be asked for, but what is no number spoils all others. cuDNN's attention, which torch may prefer for
    bfloat16, gave them one at these very sizes: a training leaves it alone."""
    training = on_gpu()
    shape = (16, 8, 64, 16)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    mask = torch.ones(64, 64, dtype=torch.bool, device="cuda").tril().repeat(16, 1, 1, 1)
    mask[12:, :, 1:] = False
    attend = training.replicas[0].encoder[0].self_attention.attend_heads
    out, _ = attend(q, k, v, mask)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(out.float().sum(), (q, k, v)))
    assert not torch.backends.cuda.cudnn_sdp_enabled()


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
    assert again.status == "done"
    assert curve(again) == curve(whole)
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
    assert done(other).status == "done"
    assert done(runs.create(tiny(), ME)).status == "done"
