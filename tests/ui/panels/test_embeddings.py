"""The tab of vectors draws the model's own vectors, names every point, and moves only the points along the replay."""

from __future__ import annotations

import numpy as np
import pytest

from playground.inspection.vectors import cosines, nearest
from playground.ui.panels.embeddings import NEAREST
from tests.ui.panels.looking import block

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
    assert block(panel, "nearest")["rows"] == [[piece(other), f"{cosine:.3f}"] for other, cosine in nearest(table, at, NEAREST)]
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
    assert (block(second, "token")["value"], block(second, "nearest")["head"][0]) == (options[3]["value"], "Nearest to l (position 4)")


@pytest.mark.parametrize(("run", "what"), [("reverse", "src"), ("german_english", "decoder")])
def test_the_replay_moves_the_points_and_neither_their_names_nor_the_frame(site, run, what):
    steps, text = site.runs.get(run).replay.parameter_steps, site.reader.examples(site.runs.get(run))[0][0]
    panels = {step: site.panel("embeddings", run=run, what=what, text=text, step=step) for step in (steps[0], steps[-2], steps[-1])}
    clouds, names = [], []
    for step, panel in panels.items():
        assert panel["step"] == step
        own = len(block(panel, "plane")["figure"]["data"][0]["x"]) if what == "decoder" else 0
        count = len(points(panel)["x"]) - own  # what the model writes for the sentence is another at each step
        clouds.append(np.array([points(panel)["x"][:count], points(panel)["y"][:count]]))
        names.append(points(panel)["hovertext"][:count])
    assert names[0] == names[1] == names[2]
    assert np.abs(clouds[0] - clouds[2]).max() > 0.01
    assert ((clouds[1] * clouds[2]).sum(axis=1) > 0).all(), "an axis was flipped between two frames"
    assert f"{steps[-1]:,}" in block(panels[steps[0]], "axes")["text"]
