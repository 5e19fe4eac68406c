"""The panels of attention and of vectors show the model's numbers under the right names; heads are named by the step that is shown."""

import re
from copy import deepcopy

import numpy as np
import pytest
import torch

from playground.config import EOS
from playground.data.corpus import build_corpus
from playground.decoding import trace
from playground.features.attention import query
from playground.features.attention.induction import measure_induction
from playground.features.embeddings.panel import RINGED
from playground.features.shared.queries import results
from playground.features.shared.queries.activations import activations
from playground.inspection import attention
from playground.inspection.interventions import HeadId, silence
from playground.inspection.vectors import cosines, nearest
from playground.model.copies import shadow_copy
from tests.runs.tiny import alone, tiny
from tests.ui.looking import block

PARTS = ("encoder", "decoder", "cross")
ABBA = {"run": "reverse", "text": "abba"}  # tokens that repeat
HEAD = {"layer": "2", "head": "3"}
SOURCE, FED = [*"abba", "<eos>"], ["<bos>", *"abba"]
ROWS = ["<bos>→a", "a→b", "b→b", "b→a", "a→<eos>"]
AXES = {"encoder": (SOURCE, SOURCE), "decoder": (ROWS, FED), "cross": (ROWS, SOURCE)}
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.fixture(scope="module")
def look(site):
    return site.reader.look(site.runs.get("reverse"), None, "abba", "reference")


@pytest.mark.parametrize("part", PARTS)
def test_matrix_lines_and_rollout_hold_the_models_numbers_under_their_tokens(site, look, part):
    asked = ABBA | HEAD | {"part": part, "target": "reference"}
    weights = getattr(look, part)[1, 2]
    future = np.triu(np.ones_like(weights, dtype=bool), 1) if part == "decoder" else np.zeros_like(weights, dtype=bool)
    lines = block(site.panel("attention", **asked, view="lines"), "lines")
    assert (lines["rows"], lines["columns"]) == AXES[part]
    np.testing.assert_allclose(lines["weights"], weights, atol=1e-4)
    assert np.array_equal(np.array(lines["mask"]) == 0, future)
    panel = site.panel("attention", **asked, view="rollout")
    assert [len(block(site.panel("attention", run="reverse", text=text), "feed")["options"]) for text in ("abba", "a b")] == [2, 1]
    flow = query.cross(look.encoder, look.decoder, look.cross)[0] if part == "cross" else query.rollout(getattr(look, part))
    for name, expected in (("attention", weights), ("rollout", flow)):
        picture = block(panel, name)["figure"]
        assert (picture["layout"]["meta"]["rows"], picture["layout"]["meta"]["columns"]) == AXES[part]
        drawn = np.array(picture["data"][0]["z"], dtype=float)  # what is masked has no number
        assert np.array_equal(np.isnan(drawn), future)
        np.testing.assert_allclose(drawn[~future], expected[~future], atol=1e-4)


@pytest.mark.parametrize("part", PARTS)
def test_the_products_add_up_to_the_score_and_the_score_to_the_weight(site, look, part):
    panel = site.panel("attention", **ABBA, **HEAD, part=part, target="reference", view="product", q=3, k=2)
    stages = activations(site.reader, site.runs.get("reverse"), None, "abba", reference=True)[0].stages
    score = stages[f"{'encoder' if part == 'encoder' else 'decoder'}.1.{'cross' if part == 'cross' else 'self'}_attention.scores"]
    query, key, products = (trace["y"] for trace in block(panel, "product")["figure"]["data"])
    assert products == pytest.approx([q * k for q, k in zip(query, key, strict=True)], abs=1e-3)
    assert sum(products) == pytest.approx(score.values[2, 3, 2], abs=1e-3)
    text = block(panel, "product-sum")["text"].replace("−", "-").replace("\u00a0×\u00a010", "e").translate(RAISED)
    total, dims, scaled, weight = map(float, re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text))
    assert (total, dims) == (pytest.approx(score.values[2, 3, 2], abs=1e-4), len(products))
    assert scaled == pytest.approx(total / dims**0.5, abs=1e-4)
    assert weight == pytest.approx(getattr(look, part)[1, 2, 3, 2], abs=1e-4)
    sliders = [block(panel, name) for name in ("query", "key")]
    assert [(slider["value"], slider["high"]) for slider in sliders] == [(3, 4), (2, 4)]
    assert [f"“{axis[at]}”" in slider["label"] for axis, at, slider in zip(AXES[part], (3, 2), sliders, strict=True)] == [True, True]


HELLO = {"run": "reverse", "text": "hello"}


def points(panel: dict) -> dict:
    return block(panel, "plane")["figure"]["data"][1]


def labels(panel: dict) -> list[str]:
    return [option["label"] for option in block(panel, "token")["options"]]


def test_the_nearest_tokens_and_all_cosines_are_the_tables_own(site):
    run = site.runs.get("reverse")
    table, piece = site.reader.model_at(run, None)[0].src_embedding.weight.numpy(), run.tokenizers[0].piece
    at = run.tokenizers[0].encode("h")[0]
    panel = site.panel("embeddings", **HELLO, token=at)
    assert all(f"“{piece(other)}” ({cosine:.2f})" in block(panel, "plane")["caption"] for other, cosine in nearest(table, at, RINGED))
    drawn = block(panel, "cosines")["figure"]
    np.testing.assert_allclose(drawn["data"][0]["z"], cosines(table), atol=1e-3)
    assert drawn["layout"]["meta"]["rows"] == [piece(id) for id in range(len(table))]
    assert (labels(panel), block(panel, "token")["value"]) == (["h", "e", "l", "o", "<eos>"], str(at))
    ring, place = block(panel, "plane")["figure"]["data"][3], points(panel)["customdata"].index(at)
    assert (ring["x"], ring["y"]) == ([points(panel)["x"][place]], [points(panel)["y"][place]])
    states = site.panel("embeddings", **HELLO, what="memory")  # of which each is chosen by its place in the sentence
    options = block(states, "token")["options"]
    assert (labels(states), block(states, "token")["value"]) == (["h", "e", "l", "l", "o", "<eos>"], options[0]["value"])
    second = site.panel("embeddings", **HELLO, what="memory", token=options[3]["value"])
    assert block(second, "plane")["caption"].startswith("Nearest to “l (position 4)”")


KNOBS = {"task": "copy", "steps": 20, "dropout": 0.0}


@pytest.mark.trust
@pytest.mark.parametrize("step", [None, 0])
def test_scores_are_those_of_the_parameters_shown(reader, run, step):
    (model, actual), (src, tgt) = reader.model_at(run, step), run.tokenizers
    result, pairs = query.name_heads(reader, run, step, actual, "cross"), reader.examples(run, "heldout", query.SENTENCES)
    total, rows = 0.0, 0
    for source, target in pairs:
        written = (*tgt.encode(target), EOS)
        place = attention.aligned(len(written), len(src.encode(source)) + 1, results.alignment(run, source, target, len(written)))
        total, rows = total + (trace(model, src.encode(source), written).cross * place).sum(axis=(-2, -1)), rows + place.any(axis=1).sum()
    assert result.sentences == len(pairs) == query.SENTENCES
    np.testing.assert_allclose([[head.aligned for head in layer] for layer in result.heads], total / rows, atol=1e-6)
    assert all(head.padding == 0.0 for layer in result.heads for head in layer)  # sentences of many lengths, read in padded batches


def test_curves_are_the_replays_numbers_and_its_own_sentences_count_where_parameters_were_not_kept(reader, run):
    result = query.measure_curves(reader, run, "cross")
    assert (result.steps, result.sentences) == (run.replay.steps, len(run.replay.plan.probes))
    total, rows = 0.0, 0
    for (source, _), done in zip(run.replay.plan.probes, run.replay.frames[-1].completions, strict=True):
        for q in range(min(len(done.ids), len(source))):  # in copying, row q looks at column q
            total, rows = total + done.cross[:, :, q, q].astype(float), rows + 1
    np.testing.assert_allclose(result.aligned[:, :, -1], total / rows, atol=1e-6)
    for kind in ("encoder", "decoder"):  # self-attention has curves of entropy alone; the first row of the decoder has no choice
        result = query.measure_curves(reader, run, kind)
        assert result.aligned is None
        stacks = [getattr(done, kind)[:, :, kind == "decoder" :] for done in run.replay.frames[0].completions]
        expected = sum(attention.entropy(stack).sum(axis=-1) for stack in stacks) / sum(stack.shape[2] for stack in stacks)
        np.testing.assert_allclose(result.entropy[:, :, 0], expected, atol=1e-3)
    run = alone(tiny(**KNOBS, seed=2))[0]
    run.replay.parameters_by_step.clear()  # as of one whose byte budget had no room
    step = run.replay.steps[3]
    result = query.name_heads(reader, run, step, step, "cross")
    frame = run.replay.frame(step)
    assert result.sentences == sum(done.cross is not None for done in frame.completions)
    assert all(head.padding is None for layer in result.heads for head in layer)  # pictures are cut to the sentence
    bits = [attention.entropy(done.cross).sum(axis=-1) for done in frame.completions]
    rows = sum(done.cross.shape[2] for done in frame.completions)
    np.testing.assert_allclose([[head.entropy for head in layer] for layer in result.heads], sum(bits) / rows, atol=1e-3)
    run.replay.frames = ()
    assert query.measure_curves(reader, run, "cross") is None


@pytest.mark.trust
def test_induction_is_what_followed_a_token_before_and_its_loss_that_of_zeroed_columns(reader):
    assert np.argwhere(attention.induction("abcab")).tolist() == [[3, 1], [4, 2]]
    assert np.argwhere(attention.induction(["ann=red", "ben=red", "?", "ben", "<eos>", "red"])).tolist() == [[3, 1]]
    run = alone(tiny(task="lookup", architecture="causal_decoder", validation_size=20))[0]
    (model, _), corpus, total, rows = reader.model_at(run, None), build_corpus(run.experiment.data), 0.0, 0
    result = measure_induction(model, run, corpus)
    for item in corpus.heldout:
        facts, names = (part.split() for part in item.src.split("?"))
        encoder = trace(model, item.src_ids, (*item.tgt_ids, EOS)).encoder
        for q, name in enumerate(names, len(facts) + 1):
            [k] = [k for k, fact in enumerate(facts) if fact.startswith(name)]
            total, rows = total + encoder[:, :, q, k], rows + 1
    np.testing.assert_allclose(result.weights, total / rows, atol=1e-6)
    zeroed, off, tokens = deepcopy(model), shadow_copy(model), torch.full((1, 4), EOS)
    zeroed.layers[1].self_attention.W_o.weight.data[:, : model.config.d_model // model.config.n_heads] = 0
    silence(off, [HeadId("decoder", 1, 0)])
    assert torch.equal(off(tokens, tokens).logits, zeroed(tokens, tokens).logits)
