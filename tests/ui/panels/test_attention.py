"""The attention panel through the page's own route: every view of every kind shows the model's numbers under the right names."""

from __future__ import annotations

import re

import numpy as np
import pytest

from playground.cursor import choices
from playground.inspection import rollout
from playground.queries import heads
from playground.queries.activations import activations
from playground.words import LANGUAGES, entries, say
from tests.ui.test_routes import SHIPPED, blocks_of

PARTS = ("encoder", "decoder", "cross")
ABBA = {"run": "reverse", "text": "abba"}  # tokens that repeat
HEAD = {"layer": "2", "head": "3"}
SOURCE, ASKED, FED = [*"abba", "<eos>"], [*"abba", "<eos>"], ["<bos>", *"abba"]
ROWS = ["<bos> → a", "a → b", "b → b", "b → a", "a → <eos>"]
AXES = {"encoder": (SOURCE, SOURCE), "decoder": (ROWS, FED), "cross": (ROWS, SOURCE)}


def block(panel: dict, id: str) -> dict:
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == id and block["kind"] != "row")


def ids(panel: dict) -> set[str]:
    return {block["id"] for block in blocks_of(panel["blocks"])}


def ringed(panel: dict) -> bool:
    """Whether the picture says where the task looks."""
    rings, legend = block(panel, "attention")["figure"]["data"][3:5]
    assert rings["visible"] == legend["visible"]
    return rings["visible"]


@pytest.fixture(scope="module")
def look(site):
    found = site.reader.look(site.runs.get("reverse"), None, "abba", "reference")
    assert [piece.text for piece in found.fed] == FED
    return found


@pytest.mark.parametrize("part", PARTS)
def test_matrix_and_lines_hold_the_same_numbers_under_the_same_tokens(site, look, part):
    asked = ABBA | HEAD | {"part": part, "target": "reference"}
    weights = getattr(look, part)[1, 2]
    picture = block(site.panel("attention", **asked), "attention")["figure"]
    meta = picture["layout"]["meta"]
    assert (meta["rows"], meta["columns"]) == AXES[part]
    lines = block(site.panel("attention", **asked, view="lines"), "lines")
    assert (lines["rows"], lines["columns"]) == AXES[part]
    np.testing.assert_allclose(lines["weights"], weights, atol=1e-4)
    future = np.triu(np.ones_like(weights, dtype=bool), 1) if part == "decoder" else np.zeros_like(weights, dtype=bool)
    assert np.array_equal(np.array(lines["mask"]) == 0, future)
    shown = np.array(picture["data"][0]["z"], dtype=float)  # what is masked has no number
    assert np.array_equal(np.isnan(shown), future)
    np.testing.assert_allclose(shown[~future], weights[~future], atol=1e-4)
    assert [lines["words"][name] for name in ("query", "key")] == [say("en", f"figures.{name}_{part}") for name in ("rows", "columns")]


@pytest.mark.parametrize("part", PARTS)
def test_the_products_add_up_to_the_score_and_the_score_to_the_weight(site, look, part):
    panel = site.panel("attention", **ABBA, **HEAD, part=part, target="reference", view="product", q=3, k=2)
    stages = activations(site.reader, site.runs.get("reverse"), None, "abba", reference=True)[0].stages
    at = f"{'encoder' if part == 'encoder' else 'decoder'}.1.{'cross' if part == 'cross' else 'self'}_attention"
    query, key, products = (trace["y"] for trace in block(panel, "product")["figure"]["data"])
    assert products == pytest.approx([q * k for q, k in zip(query, key, strict=True)], abs=1e-3)
    score = stages[f"{at}.scores"].values[2, 3, 2]
    assert sum(products) == pytest.approx(score, abs=1e-3)
    said = (
        block(panel, "product-sum")["text"]
        .replace("−", "-")
        .replace("\u00a0×\u00a010", "e")
        .translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    )
    total, dims, scaled, weight = map(float, re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", said))
    assert (total, dims) == (pytest.approx(score, abs=1e-4), len(products))
    assert scaled == pytest.approx(total / dims**0.5, abs=1e-4)
    assert weight == pytest.approx(getattr(look, part)[1, 2, 3, 2], abs=1e-4)
    rows, columns = AXES[part]
    sliders = [block(panel, name) for name in ("query", "key")]
    assert [(slider["value"], slider["high"]) for slider in sliders] == [(3, 4), (2, 4)]
    assert f"“{rows[3]}”" in sliders[0]["label"]
    assert f"“{columns[2]}”" in sliders[1]["label"]


def test_a_masked_pair_has_a_score_and_no_weight(site):
    panel = site.panel("attention", **ABBA, part="decoder", view="product", q=1, k=3)
    assert say("en", "page.cell_masked") in block(panel, "product-sum")["text"]
    assert "masked" in block(panel, "product")["caption"]
    alone = site.panel("attention", **ABBA, part="decoder", view="product", q=0)
    assert "its weight is 1" in block(alone, "product")["caption"]


@pytest.mark.parametrize("part", PARTS)
def test_rollout_stands_beside_the_raw_head_and_both_are_told_apart(site, look, part):
    panel = site.panel("attention", **ABBA, **HEAD, part=part, target="reference", view="rollout")
    flow = np.array(block(panel, "rollout")["figure"]["data"][0]["z"], dtype=float)
    stacks = (look.encoder, look.decoder, look.cross)
    expected = rollout.cross(*stacks)[0] if part == "cross" else rollout.rollout(getattr(look, part))
    np.testing.assert_allclose(np.nan_to_num(flow), expected, atol=1e-4)
    raw = np.array(block(panel, "attention")["figure"]["data"][0]["z"], dtype=float)
    np.testing.assert_allclose(np.nan_to_num(raw), getattr(look, part)[1, 2], atol=1e-4)
    assert block(panel, "rollout-about")["text"] == say("en", "heads.rollout_about")
    assert block(panel, "rollout")["title"] != block(panel, "attention")["title"]


@pytest.mark.parametrize("run", SHIPPED)
def test_the_right_place_is_shown_in_cross_attention_only(site, run):
    """Every shipped task knows it: in the picture, the table and the curves."""
    for part in ("cross", "encoder"):
        knows, panel = part == "cross", site.panel("attention", run=run, part=part)
        assert ringed(panel) == knows
        curve = block(panel, "over-training")["figure"]["layout"]["yaxis"]["title"]["text"]
        assert curve == say("en", "figures.head_aligned" if knows else "figures.head_entropy")
        assert (say("en", "heads.table_right") in block(panel, "names")["head"]) == knows == ("measure" in ids(panel))
        assert ("task" in block(panel, "attention")["caption"]) == knows


@pytest.mark.parametrize("more", [{"run": "reverse", "text": "hello", "step": "0"}, {"run": "german_english", "text": "die die die"}])
def test_no_right_place_is_shown_where_what_is_written_is_no_right_answer(site, more):
    assert not ringed(site.panel("attention", **more, target="output"))
    assert block(site.panel("attention", **more, target="output", view="lines"), "lines")["alignment"] is None


@pytest.mark.parametrize("part", PARTS)
def test_every_name_comes_with_its_number(site, part):
    panel, run = site.panel("attention", run="reverse", part=part), site.runs.get("reverse")
    scored = heads.named(site.reader, run, None, run.step, part)
    table = block(panel, "names")
    lines = iter(table["rows"])
    for layer, row in zip(scored.heads, block(panel, "heads")["names"], strict=True):
        for head, (name, number) in zip(layer, row, strict=True):
            line = dict(zip(table["head"], next(lines), strict=True))
            assert line[say("en", "heads.table_name")] == f"{name} {number}".strip()
            assert line[say("en", "heads.table_entropy")] == f"{head.entropy:.2f}"
            assert (say("en", "heads.table_padding") in line) == (part != "decoder")
            assert (number == "") == (name == say("en", "heads.name_unclear")) == (head.number is None)
            assert number == "" or float(number) >= 0.5
    assert next(lines, None) is None
    if part == "cross":
        assert {name for layer in block(panel, "heads")["names"] for name, _ in layer} >= {"alignment", "unclear"}
    assert str(scored.sentences) in block(panel, "rule")["text"]


def test_curves_mark_the_replays_step_and_the_chosen_head(site):
    run = site.runs.get("reverse")
    step = run.replay.steps[-3]
    picture = block(site.panel("attention", run="reverse", step=step, **HEAD), "over-training")["figure"]
    assert picture["layout"]["shapes"][0]["x0"] == step
    chosen = picture["data"][-1]
    assert chosen["meta"] == {"x": "step", "layer": 1, "head": 2}
    assert chosen["x"] == list(run.replay.steps)
    assert chosen["y"] == pytest.approx(heads.curves(site.reader, run, "cross").aligned[1, 2].tolist(), abs=1e-4)


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", choices("view"))
@pytest.mark.parametrize(("part", "more"), [("encoder", {"dark": "1"}), ("decoder", {"width": "344"}), ("cross", {"dark": "1", "q": "1"})])
def test_in_every_dress(site, language, view, part, more):
    panel = site.panel("attention", run="german_english", lang=language, view=view, part=part, **more)
    assert "error" not in panel
    assert block(panel, "view")["value"] == view
    assert ("feed" in ids(panel)) == (part != "encoder" or view == "all")
    for found in blocks_of(panel["blocks"]):
        if found["kind"] in ("figure", "lines"):
            assert found["caption"]
            assert found["title"]
            assert "{" not in found["caption"] + found["title"]
    if view == "all":  # see test_model_view.py
        return
    names = {name for layer in block(panel, "heads")["names"] for name, _ in layer}
    assert names <= {text for key, text in entries(language).items() if key.startswith("heads.name_")}


@pytest.mark.parametrize("value", ["<script>", "-1", "999999999999", "１", "nan", "", "x" * 3000])
def test_a_broken_link_shows_the_first_view(site, value):
    asked = dict.fromkeys(("view", "measure", "part", "q", "k"), value)
    panel = site.panel("attention", **ABBA, **asked)
    assert block(panel, "view")["value"] == "matrix"
    assert block(panel, "attention")["figure"]["layout"]["meta"]["kind"] == "cross"
    assert "attention-cell" not in ids(panel)
    other = site.panel("attention", **ABBA, **asked | {"view": "product"})
    assert 0 <= block(other, "query")["value"] <= block(other, "query")["high"]


def test_the_pinned_pair_stays_inside_a_shorter_sentence(site):
    panel = site.panel("attention", run="reverse", text="a", view="product", q=7, k=7, layer=9, head=9)
    assert [block(panel, name)["value"] for name in ("query", "key")] <= [1, 1]
    assert "layer 2, head 4" in block(panel, "product")["title"]


@pytest.mark.sample
@pytest.mark.parametrize("view", choices("view"))
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("run", ["reverse", "german_english"])
def test_every_frame_of_the_replay_has_the_same_rows_and_one_size(site, run, part, view):
    def frame(text: str, **step: object) -> list:
        panel = site.panel("attention", run=run, part=part, view=view, text=text, **step)
        layouts = [each["figure"]["layout"] for each in blocks_of(panel["blocks"]) if each["kind"] == "figure"]
        sizes = [(layout["height"], layout["margin"], layout["meta"].get("rows")) for layout in layouts if "meta" in layout]
        return [panel["held"], sizes, [(each["rows"], each["columns"]) for each in blocks_of(panel["blocks"]) if each["kind"] == "lines"]]

    steps = site.runs.get(run).replay.steps
    for text in (site.reader.examples(site.runs.get(run))[0][0], "§ § §"):  # of the last nobody knows a reference
        now = frame(text)
        assert all(frame(text, step=step) == now for step in steps[::5])


def test_the_caption_says_what_the_decoder_is_fed_where_that_is_not_the_reference(site):
    def said(**query: str) -> str:
        return block(site.panel("attention", run="reverse", **query), "attention")["caption"]

    newest, own = (say("en", f"page.fed_{name}") for name in ("newest", "output"))
    assert newest not in said(text="abba")
    assert newest in said(text="Ä")
    assert own in said(text="abba", target="output")
    assert own not in said(text="abba", target="output", part="encoder")
