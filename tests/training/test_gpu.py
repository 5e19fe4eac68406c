"""Training on a GPU: the CPU's numbers, whether steps are replayed as CUDA graphs or made call by call. Skipped without one."""

from itertools import islice

import pytest
import torch

from playground.choices import VARIANTS
from playground.training.fast_step import CapturedSteps
from playground.training.loop import Training
from tests.runs.tiny import same_parameters
from tests.training.test_replicas import RULES, VARIATIONS, Recorder, is_taken_back
from tests.variants.varied import training_of

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
MORE = [{"label_smoothing": 0.1}, {"batch_unit": "tokens", "batch_size": 200}]
KNOBS = [*VARIATIONS, *RULES, *MORE, *({"variant": name} for name in VARIANTS if name != "none")]


def on_gpu(**knobs) -> Training:
    return training_of("cuda", **{"steps": 30, "threads": 1, **knobs})


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
    assert (there.loss, there.grad_norm) == (pytest.approx(here.loss, rel=1e-4), pytest.approx(here.grad_norm, rel=1e-3))
    here, there = cpu.validate(), gpu.validate()
    assert (there.pairs, there.loss) == (here.pairs, pytest.approx(here.loss, rel=1e-2))


@pytest.mark.trust
@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_a_graph_computes_what_its_calls_do(knobs, caplog):
    """Dropout's masks too."""
    calls, graphs = on_gpu(**knobs), on_gpu(**knobs)
    calls.captured_steps = CapturedSteps(Recorder())  # of the same shapes, call by call
    for call, graph in zip(calls.steps(), graphs.steps(), strict=True):
        assert graph.loss == pytest.approx(call.loss, rel=2e-3, abs=1e-4)
    assert graphs.captured_steps._graphs
    assert not caplog.records  # nothing failed


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [*RULES[:2], {"positions": "learned", "share_embeddings": "all"}, {"packing": False}], ids=str)
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
    """A NaN there would spoil all others: cuDNN's attention in bfloat16 returns one at these sizes, so it stays off."""
    training = on_gpu()
    shape = (16, 8, 64, 16)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    mask = torch.ones(64, 64, dtype=torch.bool, device="cuda").tril().repeat(16, 1, 1, 1)
    mask[12:, :, 1:] = False
    attend = training.replicas[0].encoder[0].self_attention.attend_heads
    out, _ = attend(q, k, v, mask)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(out.float().sum(), (q, k, v)))
    assert not torch.backends.cuda.cudnn_sdp_enabled()
