"""The vectors of a run are the model's own, point for point, and its replay is seen along one pair of axes."""

from copy import copy
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.config import EOS, SPECIAL_TOKENS
from playground.features.embeddings.query import STATES, TABLES, _frequent_ids, states, vectors
from playground.inspection.vectors import principal_axes
from playground.model.copies import shadow_copy
from tests.runs.tiny import CORPORA

KNOBS = {"task": "copy", "steps": 60, "dropout": 0.0, "d_model": 16, "learning_rate": 0.02}
PAIR = ((5, 9, 6), (5, 9, 6, EOS))


@pytest.mark.trust
def test_embeddings_are_the_rows_of_the_table_and_states_what_the_layers_pass_on(reader, run, model):
    item = CORPORA.get(run.experiment).heldout[0]
    pairs = [(item.src_ids, (*item.tgt_ids, EOS)), PAIR]
    recorded = {}
    twin = shadow_copy(model)
    twin.projection.register_forward_hook(lambda module, inputs, out: recorded.update(decoder=inputs[0][0].numpy()))
    expected = {"memory": [], "decoder": []}
    with torch.inference_mode():
        for src, written in pairs:
            memory, _ = twin.encode(torch.tensor([[*src, EOS]]))
            twin(torch.tensor([[*src, EOS]]), torch.tensor([[1, *written[:-1]]]))
            expected["memory"].append(memory[0].numpy())
            expected["decoder"].append(recorded["decoder"])
    for kind in STATES:
        np.testing.assert_allclose(states(model, kind, pairs), np.concatenate(expected[kind]), atol=1e-5)
        result = vectors(reader, CORPORA, run, None, kind, PAIR)
        assert (result.own, result.ids[-4:], result.places[-4:]) == (4, PAIR[1], (1, 2, 3, 4))
        np.testing.assert_allclose(result.vectors[-4:], expected[kind][1], atol=1e-5)
        assert result.names == tuple(map(run.tokenizers[kind == "decoder"].piece, result.ids))
        assert len(result.ids) <= 240 + 4 + 26
    for side in TABLES:
        result = vectors(reader, CORPORA, run, None, side, PAIR)
        assert np.array_equal(result.vectors, getattr(model, f"{side}_embedding").weight[list(result.ids)].numpy())
        assert result.names == tuple(map(run.tokenizers[side == "tgt"].piece, result.ids))
        assert result.names[: len(SPECIAL_TOKENS)] == SPECIAL_TOKENS
        assert len(result.ids) == len(result.places) == len(result.xy)
        assert (result.step, result.own) == (run.step, 0)


@pytest.mark.trust
@pytest.mark.parametrize("kind", ["src", "decoder"])
def test_all_steps_are_seen_along_the_axes_of_the_last_one(reader, run, kind):
    frames = [vectors(reader, CORPORA, run, step, kind, PAIR) for step in run.replay.parameter_steps]
    last = frames[-1]
    cloud = last.vectors[: len(last.ids) - last.own]
    for own_axis, axis in zip(principal_axes(cloud, last.axes), last.axes, strict=True):
        assert own_axis @ axis == pytest.approx(1)
    assert len({frame.step for frame in frames}) == len(frames) > 3
    for frame in frames:
        assert (frame.axes is last.axes, frame.axes_step) == (True, last.step)
        assert (frame.ids, frame.names, frame.places) == (last.ids, last.names, last.places)  # the points stay who they are
        assert np.abs(frame.xy).max() <= frame.limit
        centre = frame.vectors[: len(frame.ids) - frame.own].mean(axis=0)
        np.testing.assert_allclose(frame.xy, (frame.vectors - centre) @ frame.axes.T, atol=1e-4)
    assert max(np.abs(frame.xy - last.xy).max() for frame in frames) > 0.01  # and they do move


def test_while_it_trains_each_picture_has_its_own_plane_and_of_a_large_table_the_most_frequent_tokens_count(reader, run):
    at_work = copy(run)
    at_work.status = "training"
    still, live = (vectors(reader, CORPORA, each, None, "src", PAIR) for each in (run, at_work))
    np.testing.assert_allclose(live.axes.T @ live.axes, still.axes.T @ still.axes, atol=1e-9)  # the same plane here
    steps = live.axes_step, vectors(reader, CORPORA, at_work, 0, "src", PAIR).axes_step
    assert steps == (None, run.replay.parameter_steps[-1])
    item, large = SimpleNamespace(src_ids=(5, 6, 6), tgt_ids=(8, 9, 9)), SimpleNamespace(size=9999)
    corpus = SimpleNamespace(train=[item], src_tokenizer=large, tgt_tokenizer=large)
    assert [_frequent_ids(corpus, space) for space in ("src", "tgt")] == [(*range(4), 6, 5), (*range(4), 9, 8)]
