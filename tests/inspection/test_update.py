"""The way from a gradient to a parameter after the step, line by line, for every optimiser that there is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.choices import OPTIMISERS
from playground.inspection.update import explain_update
from playground.queries.training_step import entry
from playground.runs.run import Run
from playground.training.slow_step import slow_step
from tests.inspection.pocket import calculate
from tests.training.corpora import training_of

NAMES = ("encoder.0.feed_forward.W_1.weight", "tgt_embedding.weight", "decoder.0.norm_1.weight")  # tall, a table, and no matrix


@settings(max_examples=8)
@given(
    st.sampled_from(list(OPTIMISERS)),
    st.sampled_from(({}, {"weight_decay": 0.2, "max_grad_norm": 0.1}, {"max_grad_norm": 0.0, "beta1": 0.5})),
)
def test_a_sheet_leads_to_the_parameter_after_the_step(optimiser, knobs):
    training = training_of(optimiser=optimiser, **knobs)
    slow_step(training)  # so that there are moments
    taken, run = slow_step(training), Run("id", "name", training.experiment)
    for name in NAMES:
        gradient = taken.gradients[name]
        index = tuple(int(i) for i in (gradient == gradient.max()).nonzero()[0])
        sheet = explain_update(entry(taken, run, name, index), name, index)
        assert sheet.agrees, (name, sheet)
        for step in sheet.steps:
            assert calculate(step.text, sheet) == pytest.approx(float(step.result), rel=1e-5, abs=1e-12), step
        move = float(sheet.result) - float(taken.before[name][index])
        assert move == pytest.approx(float(taken.after[name][index] - taken.before[name][index]), rel=0.02)
