"""The health of a run is what training said, and where training said nothing, what one backward pass over the kept parameters says."""

from dataclasses import replace

import pytest
import torch

from playground.data.batches import collate
from playground.data.corpus import Item
from playground.inspection.counting import counted_flops, counted_parameters
from playground.model.transformer import Transformer
from playground.queries import diagnostics
from playground.runs.history import History
from playground.training.loss import cross_entropy
from tests.runs.tiny import alone, tiny


@pytest.fixture(scope="module")
def run():
    return alone(tiny(steps=30, dropout=0.0))[0]


@pytest.fixture
def untold(run):
    """The same run as if it had been trained before health was noted down."""
    stored, run.parts["history"] = run.history, History()
    yield run
    run.parts["history"] = stored


def test_what_training_said_last_is_shown_at_every_step_of_the_replay(reader, run):
    steps = run.history.diagnostics.column("step")
    assert {1, 10, 20, 30} <= set(steps)  # the replay's beginning and end, and the validations
    for step in set(run.replay.steps) - {0}:
        assert diagnostics.diagnostics(reader, run, step).step == max(reported for reported in steps if reported <= step)
    for at, step in enumerate(steps):
        result = diagnostics.diagnostics(reader, run, int(step))
        assert (result.step, result.sentences) == (step, None)
        assert {"step": step} | result.numbers == {name: column[at] for name, column in run.history.diagnostics.rows().items()}
    assert diagnostics.diagnostics(reader, run, None).step == 30
    assert diagnostics.diagnostics(reader, run, 10**6).step == 30


def test_before_the_first_step_it_is_worked_out(reader, run):
    result = diagnostics.diagnostics(reader, run, 0)
    assert (result.step, result.sentences) == (0, 10)
    assert not any(name.endswith("/update") for name in result.numbers)
    reported = {name for name in run.history.diagnostics.names if not name.endswith("/update")} - {"step"}
    assert reported | {"loss"} == result.numbers.keys()


@pytest.mark.trust
def test_worked_out_it_is_one_backward_pass_over_heldout_sentences(reader, untold):
    """By hand: the same sentences, the same parameters, torch's own gradients."""
    result = diagnostics.diagnostics(reader, untold, None)
    model, step = reader.model_at(untold, None)
    src, tgt = untold.tokenizers
    pairs = reader.examples(untold, "heldout", result.sentences)
    batch = collate([Item(a, b, tuple(src.encode(a)), tuple(tgt.encode(b))) for a, b in pairs])
    fresh = type(model)(model.config, model.src_vocab, model.tgt_vocab).eval()
    fresh.load_state_dict(model.state_dict())
    loss = cross_entropy(fresh(batch.src, batch.tgt_in).logits, batch.tgt_out)
    loss.backward()
    assert result.step == step == 30
    assert result.numbers["loss"] == pytest.approx(loss.item(), rel=1e-5)
    for route, module in (("encoder.0.feed_forward", fresh.encoder[0].feed_forward), ("projection", fresh.projection)):
        grads = [p.grad for p in module.parameters()]
        if route != "projection":
            grads += [p.grad for p in fresh.encoder[0].norm_2.parameters()]
        expected = torch.stack([grad.norm() for grad in grads]).norm().item()
        assert result.numbers[f"{route}/gradient"] == pytest.approx(expected, rel=1e-4)
    assert not any(p.requires_grad or p.grad is not None for p in model.parameters())  # others look at it too
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.trust
def test_cut_the_encoder_gets_exactly_0(reader, untold):
    kinds = diagnostics.recompute(reader, untold, None)
    assert kinds["cut"].numbers["memory/gradient"] == kinds["cut"].numbers["encoder/gradient"] == 0.0
    assert kinds["cut"].numbers["src_embedding/gradient"] == 0.0
    assert kinds["cut"].numbers["decoder/gradient"] > 0
    for memory in ("whole", "mean"):
        assert min(kinds[memory].numbers[f"{name}/gradient"] for name in ("memory", "encoder", "decoder")) > 0
    assert kinds["whole"].numbers == diagnostics.diagnostics(reader, untold, None).numbers


def test_a_run_whose_memory_was_cut_is_shown_as_it_was(reader, untold):
    untold.history.events.append((10, "memory_mode", "cut"))
    assert diagnostics.diagnostics(reader, untold, None).numbers["encoder/gradient"] == 0.0
    first = next(step for step in untold.replay.parameter_steps if 0 < step < 10)  # at step 0 the decoder asks the memory nothing yet
    assert diagnostics.diagnostics(reader, untold, first).numbers["encoder/gradient"] > 0


def test_another_number_of_heads_costs_what_a_model_with_so_many_does(reader, run):
    """Counted of models that have them: the same each time, as long as their width is d_model / H, and more with a d_k of its own."""
    result = diagnostics.costs(reader, run, 5, 9).by_heads
    config, model = run.experiment.model, reader.model_at(run, None)[0]
    assert list(result) == [1, 2, 4, 8]
    for heads, sums in result.items():
        other = Transformer(replace(config, n_heads=heads), model.src_vocab, model.tgt_vocab)
        flops = counted_flops(other, torch.ones(1, 5, dtype=torch.long), torch.ones(1, 9, dtype=torch.long))
        assert sums == (sum(counted_parameters(other).values()), sum(flops.values()))
    assert len(set(result.values())) == 1
    own = Transformer(replace(config, d_k=4), model.src_vocab, model.tgt_vocab)
    assert len({diagnostics._sums(own, heads, 5, 9) for heads in result}) == len(result)
