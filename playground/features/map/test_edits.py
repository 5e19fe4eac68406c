"""Numbers typed over on the map: the effect is told and lit, undone to the last bit, of no other link; and every bad edit has a way out."""

import numpy as np
import pytest

from playground.config import Refusal
from playground.features.map.test_map import RUN, TEXT, WEIGHTS, ask, tiles_of
from playground.features.shared.queries.activations import activations
from playground.ui.assets import PREFIX
from tests.runs.tiny import done
from tests.ui.looking import TINY, block, find

MINE = "m" * 32
OWN = "encoder.0.self_attention"


def drawn(panel: dict) -> tuple:
    return block(panel, "stage")["figure"]["data"], {address: tile["mini"] for address, tile in tiles_of(panel).items()}


def test_the_effect_is_told_and_lit_and_undone_to_the_last_bit(site):
    plain = ask(site, stage=WEIGHTS, row=1, col=2)
    assert not find(plain, "edits-typed")
    target = block(plain, "editor")["targets"][0]
    edits = f"{OWN}.W_q.weight:0,3=0.25,-1;{target['place']}=0.5"
    panel = ask(site, stage=WEIGHTS, row=1, col=2, edits=edits)
    text, tiles = block(panel, "edits-typed")["text"], tiles_of(panel)
    assert (f"{OWN}.W_q.weight[0, 3]" in text, "→ 0.25" in text, "→ 0.5" in text) == (True, True, True)
    assert [bool(tiles[address]["changed"]) for address in (f"{OWN}.v", f"{OWN}.q", WEIGHTS, "logits")] == [False, True, True, True]
    values = block(panel, "stage")["figure"]["data"]
    assert (values[0]["z"][1][2], values[0]["customdata"][1][2][:2], len(values)) == (0.5, "0.", 5)
    assert [line["name"] for line in block(panel, "compare")["lines"]][:2] == ["before", "after"]
    assert block(panel, "keep-edits")["values"] == {"step": panel["step"], "edits": edits.partition(";")[0]}
    assert "parameters only" in text
    assert not find(ask(site, edits=f"{target['place']}=0.5"), "keep-edits")
    assert block(panel, "undo-edit")["to"] == {"edits": edits.partition(";")[0]}
    assert (block(panel, "undo-edits")["to"], drawn(ask(site, stage=WEIGHTS, row=1, col=2))) == ({"edits": ""}, drawn(plain))
    learned = block(ask(site, stage=f"{OWN}.q", row=0, col=3, edits=edits), "editor")["targets"][1:]
    typed = next(target for target in learned if target["place"] == f"{OWN}.W_q.weight:3,0")
    stages = activations(site.reader, site.runs.get(RUN), None, TEXT)[0].stages
    weight = site.reader.model_at(site.runs.get(RUN), None)[0].get_parameter(typed["matrix"])[3, 0].item()
    assert (typed["label"], float(typed["value"])) == ("W_Q[1, 4]", pytest.approx(weight, abs=1e-6)), "the run keeps its numbers"
    attention = site.panel("attention", run=RUN, text=TEXT, layer=1, head=1, edits=edits)
    followed = np.array(block(attention, "attention")["figure"]["data"][0]["z"], dtype=float)
    assert (followed[1][2], block(attention, "undo-edits")["to"]) == (0.5, {"edits": ""})
    assert stages[WEIGHTS].values[0, 1, 2] != 0.5


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ("encoder.9.self_attention.W_q.weight:0,0=1", "no encoder.9"),
        ("memory:99,0=1", "no memory:99,0=1"),
        ("memory:0,0=1e7", "1,000,000"),
        ("src.ids:0=4", "Nothing to type over"),
    ],
)
def test_an_edit_that_does_not_fit_leaves_the_map_as_it_is_with_one_sentence_and_the_ways_out(site, edits, reason):
    for name in ("map", "attention"):
        panel = site.panel(name, run=RUN, text=TEXT, layer=1, head=1, edits=edits)
        assert reason in block(panel, "edits-refused" if name == "map" else "edits-typed")["text"]
        assert block(panel, "undo-edits")["to"] == {"edits": ""}
    for text in (edits, "memory:0,0=1", f"{OWN}.W_q.weight:0,0=nan", ";".join([f"{OWN}.W_q.weight:0,0=1"] * 17)):
        with pytest.raises(Refusal):
            site.act(MINE, "fork", RUN, edits=text)


def test_other_architectures_and_numbers_that_overflow_are_refused(site):
    run = done(site.train(MINE, TINY | {"norm": "none", "encoder_layers": 2, "decoder_layers": 2}))
    larger = ["W_1.weight:0,0=1e6", "W_1.weight:1,0=-1e6", "W_2.weight:0,0=1e6,1e6"]  # |x| times a million million
    huge = ";".join(f"{layer}.feed_forward.{edit}" for layer in ("encoder.0", "encoder.1", "decoder.0") for edit in larger)
    assert "overflow" in block(ask(site, run=run.id, text="ab", edits=huge), "edits-refused")["text"]
    variant, decoder_only = (done(site.train(MINE, TINY | knobs)) for knobs in ({"variant": "cosine"}, {"architecture": "causal_decoder"}))
    attention = site.panel("attention", run=variant.id, text="ab", edits="memory:0,0=1")
    with pytest.raises(Refusal, match="variant’s numbers"):
        site.act(MINE, "fork", variant.id, edits="memory:0,0=1")
    assert "variant’s numbers" in block(attention, "edits-typed")["text"]
    at = {"run": decoder_only.id, "text": "ab", "layer": 1, "head": 1, "edits": "layers.0.self_attention.weights:0,4,1=0.5"}
    assert "→ 0.5" in block(site.panel("map", **at), "edits-typed")["text"]
    whole = block(site.panel("attention", **at, view="whole"), "attention")["figure"]["data"][0]["z"]
    assert whole[4][1] == 0.5
    assert "no memory" in block(site.panel("map", **at | {"edits": "memory:0,0=1"}), "edits-refused")["text"]
    fork = site.act(MINE, "fork", decoder_only.id, edits="layers.0.feed_forward.W_1.weight:0,0=1")["run"]
    assert site.http.get(f"{PREFIX}/run/{fork}").json()["line"].startswith("1 edit on the Map")
