"""All heads at once, through the page's own route: the model's own weights under the right names."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from playground.inspection import attention
from playground.queries import heads
from playground.queries.heads import KINDS
from playground.ui.miniature import MASKED, STRONGEST, miniature
from playground.words import LANGUAGES, say
from tests.ui.panels.test_attention import block

ABBA = {"run": "reverse", "text": "abba", "view": "all"}


def numbers(mini: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(mini["data"]), dtype=np.int8).reshape(mini["rows"], mini["columns"]).astype(int)


@pytest.fixture(scope="module")
def look(site):
    return site.reader.look(site.runs.get("reverse"), None, "abba", "reference")


def test_every_small_matrix_holds_its_own_heads_weights(site, look):
    grids = block(site.panel("attention", **ABBA, target="reference"), "model-view")["grids"]
    assert [grid["part"] for grid in grids] == list(KINDS)
    for grid in grids:
        weights = getattr(look, grid["part"])
        assert [len(row) for row in grid["heads"]] == [weights.shape[1]] * weights.shape[0]
        scored = heads.named(site.reader, site.runs.get("reverse"), None, look.step, grid["part"])
        for layer, row in enumerate(grid["heads"]):
            for head, one in enumerate(row):
                shown, seen = numbers(one["mini"]), numbers(one["mini"]) != MASKED
                np.testing.assert_allclose(shown[seen] / STRONGEST, weights[layer, head][seen], atol=0.5 / STRONGEST + 1e-6)
                assert np.array_equal(seen, np.tri(*seen.shape, dtype=bool) if grid["part"] == "decoder" else np.ones_like(seen))
                told = scored.heads[layer][head].number
                assert f"{layer + 1}, head {head + 1}" in one["label"]
                assert told is None or one["label"].endswith(f"{told:.2f}")
                assert f"Head {head + 1} of layer {layer + 1}" in one["said"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_caption_names_the_head_whose_weights_are_sharpest(site, look, language):
    panel = site.panel("attention", **ABBA, target="reference", lang=language)
    counts = {}
    for kind in KINDS:
        rows = getattr(look, kind)[:, :, 1:] if kind == "decoder" else getattr(look, kind)
        for (layer, head), effective in np.ndenumerate(np.mean(2 ** attention.entropy(rows), axis=-1)):
            part = say(language, f"page.part_{kind}")
            counts[say(language, "heads.model_head", part=part, layer=layer + 1, head=head + 1)] = effective
    few, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    values = {"sharpest": few, "fewest": f"{counts[few]:.1f}", "widest": most, "most": f"{counts[most]:.1f}"}
    assert say(language, "heads.model_sharpest", **values) in block(panel, "model-view")["caption"]


def test_it_obeys_step_and_sentence_and_marks_the_head_that_is_shown_large(site):
    frames = site.runs.get("reverse").replay.steps
    for step, text in ((frames[0], "abba"), (frames[-1], "cab")):
        asked = {**ABBA, "text": text, "step": str(step), "part": "decoder", "layer": "2", "head": "3"}
        panel = site.panel("attention", **asked)
        look = site.reader.look(site.runs.get("reverse"), step, text)
        view = block(panel, "model-view")
        assert panel["step"] == look.step
        assert str(look.step) in view["caption"]
        assert [grid["chosen"] for grid in view["grids"]] == [None, [1, 2], None]
        shown = numbers(view["grids"][0]["heads"][0][0]["mini"])
        np.testing.assert_allclose(shown / STRONGEST, look.encoder[0, 0], atol=0.5 / STRONGEST + 1e-6)


def test_a_long_sentence_is_drawn_from_the_largest_weight_of_each_block():
    weights = np.zeros((60, 60))
    weights[7, 59] = 0.5
    small = miniature(weights, None, "probability", square=True)
    assert (small["rows"], small["columns"], small["blocks"]) == (20, 20, [3, 3])
    assert numbers(small)[2, 19] == round(0.5 * STRONGEST) == numbers(small).sum()
