"""The heads of a run: named by the parameters of the step that is shown, or by the replay's own pictures; and their curves."""

import numpy as np
import pytest

from playground.config import EOS
from playground.decoding import trace
from playground.features.attention import query as heads
from playground.features.shared.queries import results
from playground.inspection import attention
from tests.runs.tiny import alone, tiny

KNOBS = {"task": "copy", "steps": 20, "dropout": 0.0}


@pytest.mark.trust
@pytest.mark.parametrize("step", [None, 0])
def test_scores_are_those_of_the_parameters_shown(reader, run, step):
    (model, actual), (src, tgt) = reader.model_at(run, step), run.tokenizers
    result, pairs = heads.name_heads(reader, run, step, actual, "cross"), reader.examples(run, "heldout", heads.SENTENCES)
    total, rows = 0.0, 0
    for source, target in pairs:
        written = (*tgt.encode(target), EOS)
        place = attention.aligned(len(written), len(src.encode(source)) + 1, results.alignment(run, source, target, len(written)))
        total, rows = total + (trace(model, src.encode(source), written).cross * place).sum(axis=(-2, -1)), rows + place.any(axis=1).sum()
    assert result.sentences == len(pairs) == heads.SENTENCES
    np.testing.assert_allclose([[head.aligned for head in layer] for layer in result.heads], total / rows, atol=1e-6)
    assert all(head.padding == 0.0 for layer in result.heads for head in layer)  # sentences of many lengths, read in padded batches


def test_where_parameters_were_not_kept_the_replays_own_sentences_count(reader):
    run = alone(tiny(**KNOBS, seed=2))[0]
    run.replay.parameters_by_step.clear()  # as of one whose byte budget had no room
    step = run.replay.steps[3]
    result = heads.name_heads(reader, run, step, step, "cross")
    frame = run.replay.frame(step)
    assert result.sentences == sum(done.cross is not None for done in frame.completions)
    assert all(head.padding is None for layer in result.heads for head in layer)  # pictures are cut to the sentence
    bits = [attention.entropy(done.cross).sum(axis=-1) for done in frame.completions]
    rows = sum(done.cross.shape[2] for done in frame.completions)
    np.testing.assert_allclose([[head.entropy for head in layer] for layer in result.heads], sum(bits) / rows, atol=1e-3)
    run.replay.frames = ()
    assert heads.measure_curves(reader, run, "cross") is None


def test_curves_are_the_replays_numbers(reader, run):
    result = heads.measure_curves(reader, run, "cross")
    assert (result.steps, result.sentences) == (run.replay.steps, len(run.replay.plan.probes))
    total, rows = 0.0, 0
    for (source, _), done in zip(run.replay.plan.probes, run.replay.frames[-1].completions, strict=True):
        for q in range(min(len(done.ids), len(source))):  # in copying, row q looks at column q
            total, rows = total + done.cross[:, :, q, q].astype(float), rows + 1
    np.testing.assert_allclose(result.aligned[:, :, -1], total / rows, atol=1e-6)
    for kind in ("encoder", "decoder"):  # self-attention has curves of entropy alone; the first row of the decoder has no choice
        result = heads.measure_curves(reader, run, kind)
        assert result.aligned is None
        stacks = [getattr(done, kind)[:, :, kind == "decoder" :] for done in run.replay.frames[0].completions]
        expected = sum(attention.entropy(stack).sum(axis=-1) for stack in stacks) / sum(stack.shape[2] for stack in stacks)
        np.testing.assert_allclose(result.entropy[:, :, 0], expected, atol=1e-3)
