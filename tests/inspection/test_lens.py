"""The lens: its last row is the model's own answer, its other rows are what the paper's last two steps make of an earlier state."""

import numpy as np
import pytest
import torch

from playground.decoding import trace
from playground.inspection.logits import decided, lens_fact, logit_lens
from tests.inspection.test_activations import build

SOURCE, TARGET = [5, 6, 7, 4, 9], [7, 4, 4, 8, 2]


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [{}, {"norm": "pre"}, {"positions": "both", "bias": False}, {"share_embeddings": "output"}], ids=str)
def test_the_last_row_is_the_models_own_answer(knobs):
    model = build(vocab=12, decoder_layers=3, **knobs)
    answer = logit_lens(model, SOURCE, TARGET)
    assert answer.shape == (4, 5, 12)
    np.testing.assert_array_equal(answer[-1], trace(model, SOURCE, TARGET).probabilities)
    np.testing.assert_allclose(answer.sum(axis=-1), 1, atol=1e-5)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with pytest.raises(ValueError):
        logit_lens(model, SOURCE, [])


@torch.inference_mode()
def test_each_row_is_a_model_that_ends_there():
    model = build(vocab=12, decoder_layers=3, norm="pre")
    answer = logit_lens(model, SOURCE, TARGET)
    for layers in (3, 2, 1):
        model.decoder = model.decoder[:layers]
        np.testing.assert_allclose(trace(model, SOURCE, TARGET).probabilities, answer[layers], atol=1e-6)


@pytest.mark.parametrize(("lines", "places", "values"), [
    (("0120", "1122", "1120"), [1, 0, 0, 2], {"layer": 0, "steps": 2, "all": 4, "early": 2}),  # step 3 left and came back at the end
    (("33", "00", "00"), [1, 1], {"layer": 1, "steps": 2, "all": 2, "early": 0}),
])  # fmt: skip
def test_a_step_is_decided_where_the_final_token_comes_to_stay(lines, places, values):
    answer = 0.1 + 0.6 * np.eye(4)[[[int(token) for token in line] for line in lines]]
    assert (decided(answer).tolist(), lens_fact(answer).values) == (places, values)
