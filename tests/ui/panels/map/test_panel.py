"""The map through its own route: every stage opens, its numbers are the model's, and every calculation can be redone from what is shown."""

from __future__ import annotations

import base64
from types import SimpleNamespace

import numpy as np
import pytest

from playground.config import Experiment
from playground.inspection import tensors
from playground.inspection.derivation import explain
from playground.queries.activations import activations
from playground.ui.panels.map.worksheet import KINDS
from playground.words import say
from tests.inspection.pocket import calculate, parts
from tests.thoroughness import every_case
from tests.ui.test_actions import MINE, TINY, wait
from tests.ui.test_routes import blocks_of

RUN, TEXT = "german_english", "die Frau sieht die Frau"
WEIGHTS = "decoder.0.cross_attention.weights"
UNASKED = {"ids", "embedding", "concat", "memory", "output"}  # looked up or copied: nothing to calculate


@pytest.fixture(scope="module")
def found(site):
    return activations(site.reader, site.runs.get(RUN), None, TEXT)[0]


def ask(site, **parameters) -> dict:
    panel = site.panel("map", **{"run": RUN, "text": TEXT, "layer": 1, "head": 1} | parameters)
    assert "error" not in panel, panel
    return panel


def block(panel: dict, id: str) -> dict | None:
    return next((block for block in blocks_of(panel["blocks"]) if block["id"] == id), None)


def tiles_of(panel: dict) -> dict[str, dict]:
    drawing = block(panel, "map")
    lines = [*drawing["encoder"], drawing["memory"], *drawing["decoder"]]
    return {tile["address"]: tile for line in lines for tile in line.get("tiles", ())}


def shown_of(stage, head: int = 0) -> np.ndarray:
    values = stage.values[head] if stage.axes[0] == "H" else stage.values
    return values[:, None] if values.ndim == 1 else values


def a_cell(stage, draw) -> tuple[int, ...]:
    return tuple(int(draw.integers(size)) for size in stage.values.shape)


def place(index: tuple[int, ...]) -> dict[str, int]:
    """What the cursor says of a cell."""
    *head, row, column = index if len(index) > 1 else (*index, 0)
    return {"row": row, "col": column, "head": head[0] + 1 if head else 1}


def test_the_drawing_has_every_stage_once_in_the_order_of_computation(site, found):
    panel = ask(site)
    drawing, tiles = block(panel, "map"), tiles_of(panel)
    assert drawing["order"] == list(found.stages)
    assert tiles.keys() == found.stages.keys()
    assert drawing["open"] == ""
    assert drawing["blocks"] == []
    assert [piece["text"] for piece in drawing["here"]] == [say("en", "map.whole"), say("en", "map.at_step", step=f"{found.step:,}")]
    for address, stage in found.stages.items():
        assert tiles[address]["shape"] == "×".join(map(str, stage.values.shape))
        assert tiles[address]["inputs"] == list(stage.inputs)
    around = [line["end"] for line in drawing["lines"] if line["kind"] == "residual"]
    assert around == [address for address, stage in found.stages.items() if stage.name == "residual"]
    from_memory = {line["end"] for line in drawing["lines"] if line["kind"] == "memory"}
    assert from_memory == {f"decoder.0.cross_attention.{name}" for name in "kv"}
    lines = {line.get("side"): line for column in ("encoder", "decoder") for line in drawing[column]}
    for side, pieces in (("src", found.source), ("fed", found.fed), ("tgt", found.asked)):
        assert [token["text"] for token in lines[side]["tokens"]] == [piece.text for piece in pieces]


@pytest.mark.trust
def test_every_small_picture_is_the_tensor_itself(site, found):
    tiles, draw = tiles_of(ask(site, head=2)), np.random.default_rng(2)
    for address, stage in found.stages.items():
        mini, values = tiles[address]["mini"], shown_of(stage, 1).astype(np.float64)
        drawn = np.frombuffer(base64.b64decode(mini["data"]), np.int8).reshape(mini["rows"], mini["columns"])
        seen = np.ones(values.shape, bool) if stage.mask is None else np.broadcast_to(stage.mask, stage.values.shape)[1]
        down, across = mini["blocks"]
        assert (-(-values.shape[0] // down), -(-values.shape[1] // across)) == drawn.shape
        most = 1.0 if mini["scale"] == "probability" else np.abs(values[seen]).max()
        for row, column in draw.integers(drawn.shape, size=(60, 2)).tolist():
            byte, cut = drawn[row, column], np.s_[row * down : (row + 1) * down, column * across : (column + 1) * across]
            if not seen[cut].any():
                assert byte == -128
                continue
            open_cells = np.where(seen[cut], values[cut], 0)
            together = open_cells.max() if mini["scale"] == "probability" else open_cells.mean()
            assert byte == pytest.approx(127 * together / most, abs=0.51)


@pytest.mark.parametrize(("language", "more"), [("en", {"width": 1000}), ("zh", {"width": 390, "dark": 1})])
def test_every_stage_opens(site, found, language, more):
    for address, stage in found.stages.items():
        panel = ask(site, stage=address, lang=language, **more)
        drawing, picture = block(panel, "map"), block(panel, "stage")
        assert drawing["open"] == address
        assert drawing["here"][0]["text"] == say(language, "map.whole")
        assert picture["caption"]
        assert picture["title"]
        trace, meta = picture["figure"]["data"][0], picture["figure"]["layout"]["meta"]
        values = shown_of(stage)[:, meta["at"]]
        drawn = np.array([[np.nan if value is None else value for value in row] for row in trace["z"]])
        hidden = np.isnan(drawn)
        seen = np.ones(values.shape, bool) if stage.mask is None else np.broadcast_to(stage.mask, stage.values.shape)[0]
        assert np.array_equal(hidden, ~seen)
        np.testing.assert_allclose(drawn[seen], values[seen], atol=1e-5)
        letters, sizes = ", ".join(stage.axes), ", ".join(map(str, stage.values.shape))
        assert f"({letters}) = ({sizes})" in block(panel, "shape")["text"]
        assert block(panel, "formula")["text"]
        code = block(panel, "source")
        assert code["lit"]
        assert max(code["lit"]) <= len(code["source"].splitlines())
        assert block(panel, "invite")
        assert not block(panel, "sheet")


@pytest.mark.trust
def test_the_panel_shows_the_derivations_own_numbers(site, found):
    """Every line of the sheet is what was derived; worked out again from the sheet alone, it gives the number in the picture."""
    draw, model = np.random.default_rng(3), site.reader.model_at(site.runs.get(RUN), None)[0]
    for address, stage in found.stages.items():
        index = a_cell(stage, draw)
        derived = explain(model, found.stages, address, index)
        panel = ask(site, stage=address, **place(index))
        sheet, meta = block(panel, "sheet"), block(panel, "stage")["figure"]["layout"]["meta"]
        assert [(term["left_value"], term["right_value"], term["part"]) for term in sheet["terms"]] == [
            (term.left_value, term.right_value, term.part) for term in derived.terms
        ]
        assert [lead["value"] for lead in sheet["leads"]] == [lead.value for lead in derived.leads]
        assert [step["result"] for step in sheet["steps"]] == [step.result for step in derived.steps]
        assert derived.shown.replace("-", "−") in sheet["equals"]

        alone = SimpleNamespace(operation=derived.operation, terms=[SimpleNamespace(**term) for term in sheet["terms"]])
        assert [float(term["part"]) for term in sheet["terms"]] == pytest.approx(parts(alone), rel=1e-6, abs=1e-6)
        for step in sheet["steps"]:
            text = step["text"]
            if sheet["head"]:
                left, _, part = sheet["head"]
                text = text.replace(f"Σ {left}", "Σ left").replace(f"max {left}", "max left").replace(f"Σ {part}", "Σ")
            assert calculate(text, alone) == pytest.approx(float(step["result"]), rel=1e-6, abs=1e-6)
        made, cell = float(sheet["steps"][-1]["result"]), float(stage.values[index])
        assert made == pytest.approx(cell, rel=1e-5, abs=1e-5)
        drawn = block(panel, "stage")["figure"]["data"][0]["z"][place(index)["row"]][meta["at"].index(place(index)["col"])]
        assert drawn is None or drawn == pytest.approx(cell, rel=1e-5, abs=1e-5)


@pytest.mark.trust
def test_every_label_leads_to_the_number_beside_it(site, found):
    draw = np.random.default_rng(4)
    for address, stage in found.stages.items():
        sheet = block(ask(site, stage=address, **place(a_cell(stage, draw))), "sheet")
        named = [(term[side], term[f"{side}_value"]) for term in sheet["terms"] for side in ("left", "right")]
        named += [(lead["label"], lead["value"]) for lead in sheet["leads"]]
        ways = [(name["to"], value) for name, value in named if name and "to" in name]
        for to, value in ways:
            there = shown_of(found.stages[to["stage"]], int(to.get("head", 1)) - 1)[to["row"], to["col"]]
            assert float(value) == pytest.approx(float(there), rel=1e-6, abs=1e-6)
        assert {to["stage"] for to, _ in ways} <= set(stage.inputs)
        if stage.inputs and stage.name != "embedding":
            assert ways


def test_a_hidden_answer_stands_nowhere(site, found):
    draw = np.random.default_rng(5)
    for address, stage in found.stages.items():
        at = place(a_cell(stage, draw))
        panel = ask(site, stage=address, hide="on", **at)
        sheet, figure = block(panel, "sheet"), block(panel, "stage")["figure"]
        assert sheet["asks"] == sheet["secret"] == (stage.name not in UNASKED)
        if not sheet["secret"]:
            assert sheet["equals"]
            continue
        assert (sheet["equals"], sheet["steps"][-1]["text"], sheet["steps"][-1]["result"]) == ("", "", "?")
        column = figure["layout"]["meta"]["at"].index(at["col"])
        assert figure["data"][0]["z"][at["row"]][column] is None
        assert figure["data"][3]["text"][at["row"]][column] == "?"
        assert figure["layout"]["meta"]["secret"] == [at["row"], column]
        assert block(panel, "stage")["caption"].startswith(say("en", "map.caption_hidden"))
        open_sheet = block(ask(site, stage=address, **at), "sheet")
        assert sheet["answer"] == pytest.approx(float(open_sheet["steps"][-1]["result"]), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    "asked",
    [
        {"stage": "nothing.here"}, {"stage": "<script>", "row": "1", "col": "1"}, {"stage": "x" * 5000}, {"stage": "decoder.99"},
        {"stage": "decoder.-1.q"}, {"stage": "encoder"}, {"stage": "encoder.０"},
    ],
)  # fmt: skip
def test_a_stage_that_is_not_there_is_the_whole_model(site, asked):
    panel = ask(site, **asked)
    assert block(panel, "map")["open"] == ""
    assert not block(panel, "sheet")
    assert len(asked["stage"]) < 10 or asked["stage"] not in str(panel["blocks"])


@every_case("bad", ["-1", "99999", "nan", "1.5", "", "１", "<b>", "9" * 40])
@every_case("name", ["row", "col"])
def test_a_cell_that_is_not_there_is_none(site, name, bad):
    panel = ask(site, stage=WEIGHTS, **{"row": "1", "col": "1"} | {name: bad})
    assert block(panel, "map")["open"] == WEIGHTS
    assert block(panel, "invite")
    assert not block(panel, "sheet")


@pytest.mark.parametrize("more", [{"head": "99"}, {"head": "-3"}, {"window": "999999"}, {"window": "x", "digits": "<b>"}, {"hide": "<b>"}])
def test_other_odd_parameters_are_brought_into_range(site, found, more):
    panel = ask(site, stage="encoder.0.feed_forward.hidden", row=1, col=100, **more)
    assert block(panel, "sheet")
    at = block(panel, "stage")["figure"]["layout"]["meta"]["at"]
    assert 0 <= at[0] <= at[-1] < found.stages["encoder.0.feed_forward.hidden"].values.shape[1]
    chosen = next(b for b in panel["blocks"][1]["blocks"] if b["id"] == "head")["value"]
    assert chosen in {"1", "2", "3", "4"}


@pytest.mark.parametrize(
    "asked",
    [{"layer": "1", "head": "3"}, {"held": "cross.1.4"}, {"part": "encoder", "held": "encoder.1.2"}, {"follow": "on"}, {}],
    ids=["chosen", "held", "held of the encoder", "followed", "nobody's choice"],
)
def test_its_head_is_the_one_that_the_whole_page_shows(site, asked):
    """Also before anybody chose one; and who chooses another keeps the layer."""
    shown = site.panel("attention", run=RUN, text=TEXT, **asked)["held"]
    panel = site.panel("map", run=RUN, text=TEXT, stage=WEIGHTS, **asked)
    _, layer, head = shown.split(".")
    choice = next(one for one in blocks_of(panel["blocks"]) if one["id"] == "head")
    assert (panel["held"], choice["value"]) == (shown, head)
    assert choice["resets"] == {"layer": int(layer), "follow": "off"}
    assert say("en", "map.head_of", head=head, heads=4) in block(panel, "stage")["title"]


def test_numbers_are_written_in_a_window_that_follows_the_cell(site):
    panel = ask(site, stage="encoder.0.feed_forward.hidden", digits="on", row=1, col=100, width=390)
    figure = block(panel, "stage")["figure"]
    assert "texttemplate" in figure["data"][0]
    at = figure["layout"]["meta"]["at"]
    assert 100 in at
    assert len(at) < 10
    assert len(block(panel, "pick")["columns"]) == 128  # any of them can be chosen


@pytest.mark.parametrize("width", [829, 1133])
def test_a_wide_matrix_is_a_strip_beside_its_arithmetic(site, width):
    """With a lesson at the side, and without; a strip is scrolled by what stands first under it."""
    panel = ask(site, stage="encoder.0.feed_forward.hidden", width=width, height=900)
    assert [column["id"] for column in block(panel, "sides")["blocks"]] == ["picture", "arithmetic"]
    assert len(block(panel, "stage")["figure"]["layout"]["meta"]["columns"]) == 64
    assert block(panel, "cells")["blocks"][0]["id"] == "window"


def test_of_a_large_vocabulary_the_likeliest_are_shown_and_the_chosen(site, found):
    total, best = found.stages["logits"].values.shape[1], np.argsort(-found.stages["logits"].values.max(axis=0), kind="stable")
    for chosen, key in ((best[0], "only_likeliest"), (best[-1], "only_likeliest_and")):
        panel = ask(site, stage="logits", row=0, col=int(chosen))
        at = block(panel, "stage")["figure"]["layout"]["meta"]["at"]
        assert set(at) == {*best[:40].tolist(), int(chosen)}
        assert block(panel, "left-out")["text"] == say("en", f"map.{key}", shown=40, total=total)


def test_tokens_are_only_text(site):
    """Each letter of it is a token of the model that reverses, and in the picture it is escaped."""
    panel = ask(site, run="reverse", text="<b>&", stage="encoder.0.self_attention.weights", row=0, col=0)
    layout = block(panel, "stage")["figure"]["layout"]
    assert layout["xaxis"]["ticktext"] == ["&lt;", "b", "&gt;", "&amp;", "&lt;eos&gt;"]
    assert layout["meta"]["rows"] == ["<", "b", ">", "&", "<eos>"]
    assert block(panel, "pick")["rows"][0] == "1 · <"  # the page's script makes text of it, never markup
    assert [token["text"] for token in block(panel, "map")["encoder"][0]["tokens"]] == ["<", "b", ">", "&", "<eos>"]


def test_the_decoder_may_be_fed_the_right_answer(site):
    word = "abcdefghijklmnopqrst"  # too long for the model
    own, right = (ask(site, run="reverse", text=word, target=target) for target in ("output", "reference"))
    fed = [[token["text"] for token in block(panel, "map")["decoder"][0]["tokens"]] for panel in (own, right)]
    assert fed[1] == ["<bos>", *reversed(word)]
    assert fed[0] != fed[1]
    assert "error" not in site.panel("map", run="reverse", text="Ä")  # nobody knows a right answer


def test_a_step_of_the_replay_has_its_own_numbers(site):
    first = site.runs.get(RUN).replay.parameter_steps[0]
    early, late = (ask(site, stage=WEIGHTS, row=1, col=1, **step) for step in ({"step": first}, {}))
    assert (early["step"], late["step"]) == (first, site.runs.get(RUN).step)
    assert block(early, "sheet")["answer"] != block(late, "sheet")["answer"]


def test_the_worksheet_is_of_the_attention_that_is_open(site):
    assert block(ask(site), "worksheet")["value"] == "encoder"
    sheet = block(ask(site, stage=WEIGHTS, lang="zh"), "worksheet")
    assert sheet["value"] == "cross"
    assert [kind["value"] for kind in sheet["kinds"]] == list(KINDS)
    assert sheet["kinds"][2]["label"] == say("zh", "map.worksheet_kind_cross")


def test_many_layers_are_folded_but_for_the_one_that_is_asked_for(site):
    """Another kind of model, too: the norm before its sublayers, turned queries and keys, GELU."""
    knobs = TINY | {"steps": 1, "encoder_layers": 3, "norm": "pre", "positions": "rotary", "activation": "gelu"}
    run = site.runs.create(Experiment().with_(**knobs), MINE)
    try:
        wait(run, "done")
        found = activations(site.reader, run, None, "ab")[0]
        whole = block(ask(site, run=run.id, text="ab"), "map")
        folds = [line["stage"] for line in whole["encoder"] if line["kind"] == "fold"]
        assert folds == ["encoder.1", "encoder.2"]
        assert not [line for line in whole["decoder"] if line["kind"] == "fold"]
        unfolded = ask(site, run=run.id, text="ab", stage="encoder.2")
        assert [line["stage"] for line in block(unfolded, "map")["encoder"] if line["kind"] == "fold"] == ["encoder.0", "encoder.1"]
        for address, stage in found.stages.items():
            panel = ask(site, run=run.id, text="ab", stage=address, row=0, col=0)
            drawing = block(panel, "map")
            assert address in tiles_of(panel)
            assert drawing["open"] == address
            deep = address.startswith("encoder") and stage.layer  # where one is led back to, for the layer to stay unfolded
            assert drawing["close"] == (f"encoder.{stage.layer}" if deep else "")
            assert block(panel, "sheet")
    finally:
        site.runs.delete(run.id, MINE)


def test_a_sentence_takes_the_first_rows_of_the_table_of_positions(site):
    """Said of sinusoids: what the model holds, and as many rows as there are tokens, <eos> among them."""
    panel = site.panel("map", run="reverse", text="hello", stage="src.positions")
    table = say("en", "map.fact_position_table", most=256, rows=6, long="5,000", apart=tensors.number(tensors._apart(6, 64)))
    assert any(table in block.get("caption", "") for block in blocks_of(panel["blocks"]))
