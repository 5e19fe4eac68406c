"""The attention panel: every view of every kind shows the model's numbers under the right names."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest

from playground.inspection import rollout
from playground.queries import heads
from playground.queries.activations import activations
from playground.ui.miniature import MASKED, STRONGEST
from playground.words import say
from tests.ui.panels.looking import block, find

PARTS = ("encoder", "decoder", "cross")
ABBA = {"run": "reverse", "text": "abba"}  # tokens that repeat
HEAD = {"layer": "2", "head": "3"}
SOURCE, FED = [*"abba", "<eos>"], ["<bos>", *"abba"]
ROWS = ["<bos> → a", "a → b", "b → b", "b → a", "a → <eos>"]
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
    stacks = (look.encoder, look.decoder, look.cross)
    flow = rollout.cross(*stacks)[0] if part == "cross" else rollout.rollout(getattr(look, part))
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


def test_a_masked_pair_has_a_score_and_no_weight_and_a_pair_stays_inside_a_shorter_sentence(site):
    panel = site.panel("attention", **ABBA, part="decoder", view="product", q=1, k=3)
    assert say("en", "page.cell_masked") in block(panel, "product-sum")["text"]
    short = site.panel("attention", run="reverse", text="a", view="product", q=7, k=7, layer=9, head=9)
    assert [block(short, name)["value"] for name in ("query", "key")] <= [1, 1]
    assert "layer 2, head 4" in block(short, "product")["title"]


def numbers(mini: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(mini["data"]), dtype=np.int8).reshape(mini["rows"], mini["columns"]).astype(int)


def test_every_small_matrix_holds_its_own_heads_weights(site, look):
    """At the newest step and at one of the replay; the head that is shown large is marked."""
    run = site.runs.get("reverse")
    for step, more, chosen in ((None, {}, None), (run.replay.steps[0], {"part": "decoder", **HEAD}, [1, 2])):
        expected = look if step is None else site.reader.look(run, step, "abba", "reference")
        panel = site.panel("attention", **ABBA, view="all", target="reference", **more, **({} if step is None else {"step": str(step)}))
        grids = block(panel, "model-view")["grids"]
        assert (panel["step"], find(panel, "attention")) == (expected.step, None)
        assert chosen is None or [grid["chosen"] for grid in grids] == [None, chosen, None]
        for name, grid in zip(heads.KINDS, grids, strict=True):
            weights, scored = getattr(expected, name), heads.named(site.reader, run, step, expected.step, name)
            assert (grid["part"], len(grid["heads"]), len(grid["heads"][0])) == (name, *weights.shape[:2])
            for layer, head in np.ndindex(*weights.shape[:2]):
                one, number = grid["heads"][layer][head], scored.heads[layer][head].number
                drawn = numbers(one["mini"])
                seen = drawn != MASKED
                np.testing.assert_allclose(drawn[seen] / STRONGEST, weights[layer, head][seen], atol=0.5 / STRONGEST + 1e-6)
                assert np.array_equal(seen, np.tri(*seen.shape, dtype=bool) if name == "decoder" else np.ones_like(seen))
                assert f"{layer + 1}, head {head + 1}" in one["label"]
                assert number is None or one["label"].endswith(f"{number:.2f}")
