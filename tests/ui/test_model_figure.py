"""The paper's figure as a run's model is configured: exactly the parts that it has, and each leads to where it is shown."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import Experiment, ModelConfig, limits
from playground.cursor import check
from playground.features.map.architecture import ModelFigure, Part, model_figure
from playground.features.registry import PLACES
from playground.inspection.activations import record
from playground.model.transformer import Transformer
from playground.words import say

POST = ["mask_padding", "self_attention", "add_norm", "feed_forward", "add_norm"]


def figure(secret: bool = False, language: str = "en", **knobs) -> ModelFigure:
    return model_figure(SimpleNamespace(experiment=Experiment().with_(**knobs), secret=secret), language)


def parts(drawing: ModelFigure) -> list[Part]:
    def inside(stack: dict) -> list[Part]:
        return [*stack["input"], *(part for sublayer in stack["sublayers"] for part in sublayer["parts"]), *stack["end"]]

    return [*inside(drawing["encoder"]), drawing["memory"], *inside(drawing["decoder"])]


def kinds(stack: dict, where: str = "sublayers") -> list[str]:
    drawn = stack[where] if where != "sublayers" else [part for sublayer in stack["sublayers"] for part in sublayer["parts"]]
    return [part["kind"] for part in drawn]


@pytest.mark.parametrize(
    ("knobs", "encoder"),
    [
        ({"encoder_layers": 6, "decoder_layers": 1}, POST),
        ({"norm": "pre", "residual": False}, ["norm", "mask_padding", "self_attention", "norm", "feed_forward"]),
        ({"positions": "rotary"}, ["rotary", *POST]),
        ({"variant": "no_feed_forward"}, ["mask_padding", "self_attention", "add_norm", "norm"]),
        ({"variant": "no_source_mask"}, POST[1:]),
    ],
)
def test_exactly_the_parts_of_a_layer_that_the_model_has(knobs, encoder):
    drawing = figure(**knobs)
    assert kinds(drawing["encoder"]) == encoder
    last = ["norm"] if knobs.get("norm") == "pre" else []
    assert (kinds(drawing["encoder"], "end"), kinds(drawing["decoder"], "end")) == (last, [*last, "linear", "softmax"])
    for stack in ("encoder", "decoder"):
        assert kinds(drawing[stack], "input") == ["tokens", "embedding", *["positions"] * ("positions" not in knobs)]
        assert drawing[stack]["layers"] == knobs.get(f"{stack}_layers", 2)


def test_the_decoder_has_cross_attention_and_a_stack_of_grus_is_one_unit():
    attends = ["mask_causal", "self_attention", "add_norm", "mask_padding", "cross_attention", "add_norm", "feed_forward", "add_norm"]
    assert kinds(figure()["decoder"]) == attends
    assert kinds(figure(variant="no_causal_mask")["decoder"]) == ["mask_padding", *attends[1:]]
    for variant, attention in (("gru", []), ("gru_attention", ["additive_attention"])):
        drawing = figure(variant=variant, norm="pre")
        assert [kinds(drawing[stack]) for stack in ("encoder", "decoder")] == [["gru"], [*attention, "gru"]]
        assert [kinds(drawing[stack], "input") for stack in ("encoder", "decoder")] == [["tokens", "embedding"]] * 2
        assert [kinds(drawing[stack], "end") for stack in ("encoder", "decoder")] == [[], ["linear", "softmax"]]


def test_what_is_otherwise_than_in_the_paper_is_named_in_words_and_a_mystery_stays_one():
    assert figure(share_embeddings="all", encoder_layers=6)["differences"] == say("en", "model_figure.as_the_paper")
    text = figure(norm="pre", positions="none")["differences"]
    assert all(say("en", f"model_figure.other.{other}") in text for other in ("positions.none", "norm.pre", "share_embeddings.none"))
    differing = ["d_k" in figure(d_model=8, n_heads=2, d_k=d_k)["differences"] for d_k in (2, 4, 0)]
    assert differing == [True, False, False]
    for secret in (False, True):
        drawing = figure(secret=secret, variant="no_feed_forward")
        assert {place["tab"] for part in parts(drawing) for place in part["shows"]} == {"attention"}, "what asks the model itself"
        assert ("feed_forward" in kinds(drawing["encoder"])) == ("“without feed-forward network”" not in drawing["differences"]) == secret


MODELS = st.fixed_dictionaries(
    {name: st.sampled_from(limits(name).choices) for name in ("norm", "positions", "residual")}
    | {"decoder_layers": st.integers(1, 3), "encoder_layers": st.integers(1, 3)}
)


@settings(max_examples=10)
@given(knobs=MODELS)
def test_every_stage_of_the_map_belongs_to_one_part_and_every_part_leads_to_a_place_there_is(knobs):
    config = ModelConfig(**{"d_model": 8, "n_heads": 2, "d_ff": 8} | knobs)
    stages = record(Transformer(config, 7, 7, torch.Generator().manual_seed(1)).eval(), [4, 5], [5, 2])
    drawing = parts(figure(**knobs))
    for address in stages:
        pieces = address.split(".")
        name = ".".join(pieces[:1] + pieces[2:] if len(pieces) > 2 else pieces)
        lengths = [max([len(stage) for stage in part["stages"] if f"{name}.".startswith(f"{stage}.")], default=0) for part in drawing]
        assert max(lengths) > 0, address
        assert lengths.count(max(lengths)) == 1, address
    assert len({part["name"] for part in drawing}) == len(drawing)
    places = {".".join(address.split(".")[:1] + address.split(".")[2:]) if address.count(".") > 1 else address for address in stages}
    assert all(any(f"{place}.".startswith(f"{stage}.") for place in places) for part in drawing for stage in part["stages"])
    shows = [place for part in drawing for place in part["shows"]]
    linked = {place["stage"] for place in shows if "stage" in place}
    assert linked
    assert linked <= stages.keys()
    for place in shows:
        assert place["tab"] in PLACES["inside"]
        for name, value in place.items():
            check(name, value, {"tabs": PLACES["inside"], "embeddings": ("src", "tgt", "memory", "decoder")})
