"""Parameters in a byte per number: what is read back is near the exact ones at every step, and the attention of the model with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from playground.config import EOS, Refusal
from playground.decoding import trace
from playground.runs.disk.checkpoints import REPLAY_BYTES, experiment, round_parameters
from playground.runs.disk.replay_file import pack_replay, shapes_of, unpack_replay
from playground.runs.disk.rounded import LARGEST, pack_rounded, rounded_shapes, unpack_rounded
from playground.runs.queue import train_inline
from playground.runs.replay import MIN_FRAMES, ROUNDING
from playground.variants import build
from tests.runs.tiny import CORPORA, same_parameters

SENTENCES = 10


def walk(steps: int, shape: tuple[int, ...], by: float = 0.05) -> dict[int, dict[str, torch.Tensor]]:
    """Parameters that change a little at each step, from a fixed seed."""
    random = torch.Generator().manual_seed(1)
    values, kept = torch.randn(shape, generator=random), {}
    for step in range(steps):
        kept[step] = {"a": values.clone()}
        values += by * torch.randn(shape, generator=random)
    return kept


@pytest.mark.parametrize("shape", [(5,), (4, 6), (2, 3, 4)])
def test_errors_do_not_add_up(shape):
    exact = walk(40, shape)
    back = unpack_rounded(sorted(exact), pack_rounded(exact), ["a"])
    for before, step in zip(range(39), range(1, 40), strict=True):
        change = (exact[step]["a"] - back[before]["a"]).abs().max()
        assert (back[step]["a"] - exact[step]["a"]).abs().max() <= change / LARGEST


def test_what_does_not_change_is_exact():
    still = {step: {"a": torch.tensor([[0.5, -2.0], [0.0, 0.0]])} for step in range(3)}
    back = unpack_rounded(range(3), pack_rounded(still), ["a"])
    assert all(torch.equal(back[step]["a"], still[step]["a"]) for step in range(3))


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_the_tensors_are_those_that_a_reader_expects(steps):
    kept, types = walk(steps, (4, 6)), {torch.float16: "F16", torch.int8: "I8", torch.bfloat16: "BF16"}
    packed = {name: (types[tensor.dtype], tuple(tensor.shape)) for name, tensor in pack_rounded(kept).items()}
    assert packed == rounded_shapes(steps, {"a": (4, 6)})


@pytest.fixture(scope="module")
def trained():
    """(a shipped run trained again and rounded, its exact parameters)"""
    run = train_inline.new_run(experiment("reverse"))
    for _ in train_inline.train(run, CORPORA, REPLAY_BYTES, MIN_FRAMES):
        pass
    exact = dict(run.replay.kept)
    round_parameters(run)
    return run, exact


@pytest.mark.night
def test_no_attention_weight_changes_by_more_than_the_page_says(trained):
    run, exact = trained
    heldout = CORPORA.get(run.experiment).heldout[:SENTENCES]
    model = build(run.experiment.model, *(tokenizer.size for tokenizer in run.tokenizers)).eval()

    def weights(parameters):
        model.load_state_dict(parameters, strict=False)
        found = [trace(model, item.src_ids, (*item.tgt_ids, EOS)) for item in heldout]
        return np.concatenate([stack.ravel() for each in found for stack in (each.encoder, each.decoder, each.cross)])

    assert len(exact) == MIN_FRAMES - 1
    assert max(np.abs(weights(exact[step]) - weights(run.replay.kept[step])).max() for step in exact) < ROUNDING


@pytest.mark.night
def test_they_are_read_back_as_they_were_and_can_be_written_again(trained):
    replay = trained[0].replay
    model, parameters = trained[0].experiment.model, trained[0].snapshot.parameters
    files = pack_replay(replay)
    back = unpack_replay(*files.values(), model, trained[0].tokenizers[1].size, shapes_of(parameters))
    assert list(back.kept) == list(replay.kept)
    assert all(same_parameters(back.kept[step], replay.kept[step]) for step in back.kept)
    assert pack_replay(back) == files


@pytest.mark.night
def test_a_file_that_lacks_some_is_refused(trained):
    said, numbers = pack_replay(trained[0].replay).values()
    shapes = shapes_of(trained[0].snapshot.parameters)
    vocabulary = trained[0].tokenizers[1].size
    for wrong in (said.replace(b'"rounded":true', b'"rounded":false'), said.replace(b'"kept":[0,', b'"kept":[')):
        with pytest.raises(Refusal):
            unpack_replay(wrong, numbers, trained[0].experiment.model, vocabulary, shapes)
    other = replace(trained[0].experiment.model, d_model=32)
    with pytest.raises(Refusal):
        unpack_replay(said, numbers, other, vocabulary, {name: (1, *shape) for name, shape in shapes.items()})
