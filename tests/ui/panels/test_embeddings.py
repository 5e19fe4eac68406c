"""The tab of vectors draws the model's own vectors, names every point, and moves only the points along the replay."""

from __future__ import annotations

import numpy as np
import pytest

from playground.inspection.vectors import cosines, nearest
from playground.ui.panels.embeddings import NEAREST, TOGETHER
from playground.words import LANGUAGES
from tests.ui.test_routes import blocks_of

KINDS = ("src", "tgt", "memory", "decoder")


def block(panel: dict, id: str) -> dict:
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == id)


def points(panel: dict) -> dict:
    return block(panel, "plane")["figure"]["data"][1]


def test_the_nearest_tokens_and_all_cosines_are_the_tables_own(site):
    run = site.runs.get("reverse")
    table = site.reader.model_at(run, None)[0].src_embedding.weight.numpy()
    at = run.tokenizers[0].encode("h")[0]
    panel = site.panel("embeddings", run="reverse", text="hello", token=at)
    rows = block(panel, "nearest")["rows"]
    expected = [[run.tokenizers[0].piece(other), f"{cosine:.3f}"] for other, cosine in nearest(table, at, NEAREST)]
    assert rows == expected
    matrix = block(panel, "cosines")["figure"]["data"][0]["z"]
    np.testing.assert_allclose(matrix, cosines(table), atol=1e-3)
    assert block(panel, "cosines")["figure"]["layout"]["meta"]["rows"] == [run.tokenizers[0].piece(id) for id in range(len(table))]
    assert [option["label"] for option in block(panel, "token")["options"]] == ["h", "e", "l", "o", "<eos>"]
    assert block(panel, "token")["value"] == str(at)
    ring = block(panel, "plane")["figure"]["data"][3]
    place = points(panel)["customdata"].index(at)
    assert (ring["x"], ring["y"]) == ([points(panel)["x"][place]], [points(panel)["y"][place]])


@pytest.mark.sample
@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("run", ["reverse", "german_english"])
def test_the_replay_moves_the_points_and_neither_their_names_nor_the_frame(site, run, what):
    steps = site.runs.get(run).replay.parameter_steps
    text = site.reader.examples(site.runs.get(run))[0][0]
    first, middle, last = (site.panel("embeddings", run=run, what=what, text=text, step=step) for step in (steps[0], steps[-2], steps[-1]))
    assert [panel["step"] for panel in (first, middle, last)] == [steps[0], steps[-2], steps[-1]]
    clouds = []
    for panel in (first, middle, last):
        found, own = points(panel), len(block(panel, "plane")["figure"]["data"][0]["x"]) if what == "decoder" else 0
        count = len(found["x"]) - own  # what the model writes for the sentence is another at each step
        clouds.append((np.array([found["x"][:count], found["y"][:count]]), found["hovertext"][:count]))
    assert clouds[0][1] == clouds[1][1] == clouds[2][1]
    assert np.abs(clouds[0][0] - clouds[2][0]).max() > 0.01
    correlated = (clouds[1][0] * clouds[2][0]).sum(axis=1)
    assert (correlated > 0).all(), "an axis was flipped between two frames"
    assert f"{steps[-1]:,}" in block(first, "axes")["text"]


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("more", [{}, {"width": "390", "dark": "1", "step": "0", "by": "place"}])
def test_in_every_dress(site, language, what, more):
    panel = site.panel("embeddings", run="numbers_zh", what=what, lang=language, **more)
    assert block(panel, "what")["value"] == what
    for id in ("plane", "cosines"):
        assert block(panel, id)["caption"]
        assert block(panel, id)["title"]
    assert len(block(panel, "nearest")["rows"]) == NEAREST
    assert len(block(panel, "cosines")["figure"]["data"][0]["z"]) <= TOGETHER
    if what in ("memory", "decoder"):
        assert block(panel, "plane")["figure"]["data"][0]["visible"]  # the sentence, joined
        written = {text for text in points(panel)["text"] if text}
        assert (more.get("by") == "place") == all(text.isdigit() and len(text) < 3 for text in written)


def test_a_state_is_chosen_by_its_place_in_the_sentence(site):
    first = site.panel("embeddings", run="reverse", text="hello", what="memory")
    options = block(first, "token")["options"]
    assert [option["label"] for option in options] == ["h", "e", "l", "l", "o", "<eos>"]
    assert block(first, "token")["value"] == options[0]["value"]
    second = site.panel("embeddings", run="reverse", text="hello", what="memory", token=options[3]["value"])
    assert block(second, "token")["value"] == options[3]["value"]
    assert block(second, "nearest")["head"][0] == "Nearest to l (position 4)"
    assert block(first, "cosines")["figure"]["layout"]["meta"]["rows"] == [*"hello", "<eos>"]


@pytest.mark.sample
@pytest.mark.parametrize("value", ["<script>", "nan", "-1", "999999999", "１", "x" * 3000])
@pytest.mark.parametrize("what", ["src", "decoder"])
def test_a_broken_link_shows_the_sentences_first(site, what, value):
    base = site.panel("embeddings", run="reverse", text="hello", what=what)
    panel = site.panel("embeddings", run="reverse", text="hello", what=what, token=value, by=value)
    if (what, value) == ("decoder", "999999999"):
        assert block(panel, "token")["value"] == block(panel, "token")["options"][-1]["value"]  # the last there is
    else:
        assert panel == base
    assert site.panel("embeddings", run="reverse", text="hello", what=value)["blocks"][0]["blocks"][0]["value"] == "src"


OPENED = [("src", "german_english", ""), ("tgt", "german_english", ""), ("src", "reverse", "hello")]


@pytest.mark.parametrize(("what", "run", "text"), OPENED)
def test_it_opens_on_the_sentences_token_with_the_closest_neighbour_and_keeps_it_along_the_replay(site, what, run, text):
    model, found = site.reader.model_at(site.runs.get(run), None)[0], site.runs.get(run)
    table = getattr(model, f"{what}_embedding").weight.numpy()
    options, tokenizer = [], found.tokenizers[what == "tgt"]
    for step in (None, found.replay.parameter_steps[0]):
        panel = site.panel("embeddings", run=run, what=what, text=text, **({} if step is None else {"step": step}))
        options.append(block(panel, "token"))
        caption = block(panel, "plane")["caption"]
    assert options[0]["value"] == options[1]["value"]
    offered = [int(option["value"]) for option in options[0]["options"]]
    near = {id: max(cosine for other, cosine in nearest(table, id, 8) if other > 3) for id in offered if id > 3}
    assert near[int(options[0]["value"])] == pytest.approx(max(near.values()))
    assert f"“{tokenizer.piece(int(options[0]['value']))}”" in caption
