"""The map: every stage opens, its numbers are the model's, and every calculation can be redone from what is shown."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest

from playground.features.shared.queries.activations import activations
from playground.inspection.derivation import explain
from tests.inspection.pocket import calculate, parts
from tests.runs.tiny import done
from tests.ui.looking import TINY, block, find

MINE = "m" * 32
RUN, TEXT = "german_english", "die Frau sieht die Frau"
WEIGHTS, HIDDEN = "decoder.0.cross_attention.weights", "encoder.0.feed_forward.hidden"
UNASKED = {"ids", "embedding", "concat", "memory", "output"}  # looked up or copied: nothing to calculate


@pytest.fixture(scope="module")
def recorded(site):
    return activations(site.reader, site.runs.get(RUN), None, TEXT)[0]


def ask(site, **parameters) -> dict:
    panel = site.panel("map", **{"run": RUN, "text": TEXT, "layer": 1, "head": 1} | parameters)
    assert "error" not in panel, panel
    return panel


def tiles_of(panel: dict) -> dict[str, dict]:
    drawing = block(panel, "map")
    lines = [*drawing["encoder"], drawing["memory"], *drawing["decoder"]]
    return {tile["address"]: tile for line in lines for tile in line.get("tiles", ())}


def values_of(stage, head: int = 0) -> np.ndarray:
    values = stage.values[head] if stage.axes[0] == "H" else stage.values
    return values[:, None] if values.ndim == 1 else values


def seen_of(stage, values: np.ndarray, head: int = 0) -> np.ndarray:
    return np.ones(values.shape, bool) if stage.mask is None else np.broadcast_to(stage.mask, stage.values.shape)[head]


def place(index: tuple[int, ...]) -> dict[str, int]:
    """What the cursor says of a cell."""
    *head, row, column = index if len(index) > 1 else (*index, 0)
    return {"row": row, "col": column, "head": head[0] + 1 if head else 1}


@pytest.mark.trust
def test_every_small_picture_is_the_tensor_itself(site, recorded):
    tiles, draw = tiles_of(ask(site, head=2)), np.random.default_rng(2)
    for address, stage in recorded.stages.items():
        mini, values = tiles[address]["mini"], values_of(stage, 1).astype(np.float64)
        drawn = np.frombuffer(base64.b64decode(mini["data"]), np.int8).reshape(mini["rows"], mini["columns"])
        seen = seen_of(stage, values, 1)
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


@pytest.mark.trust
def test_the_sheet_gives_the_number_in_the_picture_and_each_label_leads_to_the_number_beside_it(site, recorded):
    """Of a cell of every stage. Each line is worked out again from the sheet alone. With the answer hidden, it stands nowhere."""
    draw, model = np.random.default_rng(5), site.reader.model_at(site.runs.get(RUN), None)[0]
    for address, stage in recorded.stages.items():
        index = tuple(int(draw.integers(size)) for size in stage.values.shape)
        at, derived, cell = place(index), explain(model, recorded.stages, address, index), float(stage.values[index])
        panel = ask(site, stage=address, **at)
        sheet, figure = block(panel, "sheet"), block(panel, "stage")["figure"]
        assert [(term["left_value"], term["right_value"], term["part"]) for term in sheet["terms"]] == [
            (term.left_value, term.right_value, term.part) for term in derived.terms
        ]
        assert [lead["value"] for lead in sheet["leads"]] == [lead.value for lead in derived.leads]
        assert [step["result"] for step in sheet["steps"]] == [step.result for step in derived.steps]
        assert derived.recorded.replace("-", "−") in sheet["equals"]
        alone = SimpleNamespace(operation=derived.operation, terms=[SimpleNamespace(**term) for term in sheet["terms"]])
        assert [float(term["part"]) for term in sheet["terms"]] == pytest.approx(parts(alone), rel=1e-6, abs=1e-6)
        for step in sheet["steps"]:
            text = step["text"]
            if sheet["head"]:
                left, _, part = sheet["head"]
                text = text.replace(f"Σ {left}", "Σ left").replace(f"max {left}", "max left").replace(f"Σ {part}", "Σ")
            assert calculate(text, alone) == pytest.approx(float(step["result"]), rel=1e-6, abs=1e-6)
        assert float(sheet["steps"][-1]["result"]) == pytest.approx(cell, rel=1e-5, abs=1e-5)
        columns = figure["layout"]["meta"]["at"]
        column = columns.index(at["col"])
        values, drawn = values_of(stage, at["head"] - 1)[:, columns], np.array(figure["data"][0]["z"], dtype=float)
        seen = seen_of(stage, values, at["head"] - 1)
        assert np.array_equal(np.isnan(drawn), ~seen)
        np.testing.assert_allclose(drawn[seen], values[seen], atol=1e-5)
        assert f"({', '.join(stage.axes)}) = ({', '.join(map(str, stage.values.shape))})" in block(panel, "shape")["text"]
        labelled = [(term[side], term[f"{side}_value"]) for term in sheet["terms"] for side in ("left", "right")]
        labelled += [(lead["label"], lead["value"]) for lead in sheet["leads"]]
        ways = [(name["to"], value) for name, value in labelled if name and "to" in name]
        for to, value in ways:
            there = values_of(recorded.stages[to["stage"]], int(to.get("head", 1)) - 1)[to["row"], to["col"]]
            assert float(value) == pytest.approx(float(there), rel=1e-6, abs=1e-6)
        assert {to["stage"] for to, _ in ways} <= set(stage.inputs)
        assert ways or not stage.inputs or stage.name == "embedding"
        hidden = ask(site, stage=address, hide="on", **at)
        secret, figure = block(hidden, "sheet"), block(hidden, "stage")["figure"]
        is_copied = stage.name in UNASKED or len(sheet["terms"]) == 1  # a sum of one term is that term
        assert secret["asks"] == secret["secret"] == (not is_copied)
        if secret["secret"]:
            assert (secret["equals"], secret["steps"][-1]["text"], secret["steps"][-1]["result"]) == ("", "", "?")
            assert (figure["data"][0]["z"][at["row"]][column], figure["data"][3]["text"][at["row"]][column]) == (None, "?")
            assert figure["layout"]["meta"]["secret"] == [at["row"], column]
            assert secret["answer"] == pytest.approx(float(sheet["steps"][-1]["result"]), rel=1e-5, abs=1e-5)


def test_many_layers_are_folded_but_for_the_one_that_is_asked_for(site):
    run = done(site.train(MINE, TINY | {"encoder_layers": 3, "norm": "pre", "positions": "rotary", "activation": "gelu"}))
    for stage, folded in (("", ["encoder.1", "encoder.2"]), ("encoder.2", ["encoder.0", "encoder.1"])):
        drawing = block(ask(site, run=run.id, text="ab", stage=stage), "map")
        assert [line["stage"] for line in drawing["encoder"] if line["kind"] == "fold"] == folded
    for address, stage in activations(site.reader, run, None, "ab")[0].stages.items():
        panel = ask(site, run=run.id, text="ab", stage=address, row=0, col=0)
        deep = address.startswith("encoder") and stage.layer  # where one is led back to, for the layer to stay unfolded
        assert (block(panel, "map")["open"], block(panel, "map")["close"]) == (address, f"encoder.{stage.layer}" if deep else "")
        assert address in tiles_of(panel)
        assert find(panel, "sheet")
    site.runs.delete(run.id, MINE)


def test_of_a_wide_matrix_a_window_is_shown_that_has_the_cell_and_of_a_large_vocabulary_the_likeliest(site, recorded):
    def columns(**asked) -> list[int]:
        return block(ask(site, **asked), "stage")["figure"]["layout"]["meta"]["at"]

    at = columns(stage=HIDDEN, digits="on", row=1, col=100, width=390)
    assert (100 in at, len(at) < 10) == (True, True)
    for window, head in (("999999", "99"), ("x", "-3")):
        at = columns(stage=HIDDEN, row=1, col=100, window=window, head=head)
        assert 0 <= at[0] <= at[-1] < recorded.stages[HIDDEN].values.shape[1]
    best = np.argsort(-recorded.stages["logits"].values.max(axis=0), kind="stable")
    for chosen in (best[0], best[-1]):
        assert set(columns(stage="logits", row=0, col=int(chosen))) == {*best[:40].tolist(), int(chosen)}
