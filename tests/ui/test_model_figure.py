"""The paper's figure as a run's model is configured: exactly the parts that it has, and each leads to where it is shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from playground.config import Experiment, ModelConfig, limits
from playground.cursor import check
from playground.inspection.activations import record
from playground.model.transformer import Transformer
from playground.ui.model_figure import PAPER, ModelFigure, Part, model_figure
from playground.ui.panels import BY_FORMULA, PLACES
from playground.words import LANGUAGES, known
from tests.ui.test_routes import SHIPPED

POST = ["mask_padding", "self_attention", "add_norm", "feed_forward", "add_norm"]


def figure(secret: bool = False, language: str = "en", **knobs) -> ModelFigure:
    return model_figure(SimpleNamespace(experiment=Experiment().with_(**knobs), secret=secret), language)


def parts(found: ModelFigure) -> list[Part]:
    stacks = [found["encoder"], found["decoder"]]
    inside = [
        [*stack["input"], *(part for sublayer in stack["sublayers"] for part in sublayer["parts"]), *stack["end"]] for stack in stacks
    ]
    return [*inside[0], found["memory"], *inside[1]]


def kinds(stack: dict) -> list[str]:
    return [part["kind"] for sublayer in stack["sublayers"] for part in sublayer["parts"]]


def test_the_papers_own_model():
    found = figure(share_embeddings="all", encoder_layers=6, decoder_layers=1)
    assert [part["kind"] for part in found["encoder"]["input"]] == ["tokens", "embedding", "positions"]
    assert kinds(found["encoder"]) == POST
    assert kinds(found["decoder"]) == ["mask_causal", "self_attention", "add_norm", "mask_padding", "cross_attention", "add_norm",
                                       "feed_forward", "add_norm"]  # fmt: skip
    assert [part["kind"] for part in found["decoder"]["end"]] == ["linear", "softmax"]
    assert found["encoder"]["end"] == []
    assert (found["encoder"]["layers"], found["decoder"]["layers"], found["shared"]) == (6, 1, "all")
    assert all(sublayer["residual"] for stack in ("encoder", "decoder") for sublayer in found[stack]["sublayers"])
    assert found["differences"] == "Every part is as in the paper."


@pytest.mark.parametrize(
    ("knobs", "encoder"),
    [
        ({"norm": "pre"}, ["norm", "mask_padding", "self_attention", "add", "norm", "feed_forward", "add"]),
        ({"residual": False}, ["mask_padding", "self_attention", "norm", "feed_forward", "norm"]),
        ({"norm": "pre", "residual": False}, ["norm", "mask_padding", "self_attention", "norm", "feed_forward"]),
        ({"positions": "rotary"}, ["rotary", *POST]),
        ({"variant": "no_feed_forward"}, ["mask_padding", "self_attention", "add_norm", "norm"]),
        ({"variant": "no_feed_forward", "norm": "pre"}, ["norm", "mask_padding", "self_attention", "add"]),
        ({"variant": "no_source_mask"}, POST[1:]),
    ],
)
def test_exactly_the_parts_of_a_layer_that_the_model_has(knobs, encoder):
    found = figure(**knobs)
    assert kinds(found["encoder"]) == encoder
    last = {"pre": ["norm"], "post": []}[knobs.get("norm", "post")]
    assert [part["kind"] for part in found["encoder"]["end"]] == last
    assert [part["kind"] for part in found["decoder"]["end"]] == [*last, "linear", "softmax"]


@pytest.mark.parametrize(("positions", "text"), [("sinusoidal", "+ sinusoids"), ("learned", "+ learned"), ("both", "+ sinusoids")])
def test_positions_that_are_added_are_named(positions, text):
    for stack in ("encoder", "decoder"):
        assert figure(positions=positions)[stack]["input"][-1]["text"] == text


@pytest.mark.parametrize("positions", ["none", "rotary"])
def test_where_no_positions_are_added_none_are_drawn(positions):
    for stack in ("encoder", "decoder"):
        assert [part["kind"] for part in figure(positions=positions)[stack]["input"]] == ["tokens", "embedding"]


def test_without_a_causal_mask_the_decoders_mask_is_of_padding():
    assert "mask_causal" not in kinds(figure(variant="no_causal_mask")["decoder"])


def test_what_is_otherwise_than_in_the_paper_is_named():
    said = figure(norm="pre", positions="none", variant="no_feed_forward")["differences"]
    assert said == (
        "Unlike the paper: no positional encoding; layer norm before each sublayer (pre-norm); embeddings not shared; "
        "model variant “without feed-forward network”."
    )


@pytest.mark.parametrize(("d_k", "said"), [(2, True), (4, False), (0, False)])
def test_a_d_k_is_a_difference_where_it_is_not_the_papers(d_k, said):
    assert ("d_k = 2 in place of d_model / heads" in figure(d_model=8, n_heads=2, d_k=d_k)["differences"]) == said


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_difference_has_words_of_its_own(language):
    """No knob's name and value, which only somebody who knows the settings could read."""
    worded = {name: own for name, own in PAPER.items() if name not in ("variant", "d_k")}
    others = {name: [value for value in limits(name).choices if value != own] for name, own in worded.items()}
    for name, values in others.items():
        for value in values:
            assert known(language, f"model_figure.other.{name}.{'off' if value is False else value}"), (name, value)


CONFIGS = [{}, {"norm": "pre", "positions": "both"}, {"positions": "rotary", "residual": False}, {"positions": "none", "decoder_layers": 3}]


@pytest.mark.parametrize("knobs", CONFIGS, ids=str)
def test_every_stage_of_the_map_belongs_to_one_part_and_every_part_leads_to_a_stage_there_is(knobs):
    config = ModelConfig(**{"d_model": 8, "n_heads": 2, "d_ff": 8} | knobs)
    stages = record(Transformer(config, 7, 7, torch.Generator().manual_seed(1)).eval(), [4, 5], [5, 2])
    found = parts(figure(**knobs))
    for address in stages:
        pieces = address.split(".")
        name = ".".join(pieces[:1] + pieces[2:] if len(pieces) > 2 else pieces)
        lengths = [max([len(stage) for stage in part["stages"] if f"{name}.".startswith(f"{stage}.")], default=0) for part in found]
        assert max(lengths) > 0, address
        assert lengths.count(max(lengths)) == 1, address
    asked = [shown["stage"] for part in found for shown in part["shows"] if "stage" in shown]
    assert asked
    assert set(asked) <= stages.keys()


@pytest.mark.parametrize("knobs", [*CONFIGS, {"positions": "learned", "variant": "no_feed_forward"}], ids=str)
def test_every_part_leads_to_a_tab_of_the_place_with_a_cursor_that_can_be(knobs):
    found = parts(figure(**knobs))
    assert len({part["name"] for part in found}) == len(found)
    for part in found:
        for shown in part["shows"]:
            assert shown["tab"] in PLACES["inside"]
            for name, value in shown.items():
                check(name, value, {"tabs": PLACES["inside"], "embeddings": ("src", "tgt", "memory", "decoder")})


@pytest.mark.parametrize("secret", [False, True])
def test_a_changed_model_offers_only_what_asks_the_model_itself(secret):
    found = parts(figure(secret=secret, variant="no_feed_forward"))
    assert {shown["tab"] for part in found for shown in part["shows"]} == {"attention"}
    assert not {"attention"} & set(BY_FORMULA)


def test_a_mystery_stays_one():
    assert "feed_forward" in kinds(figure(secret=True, variant="no_feed_forward")["encoder"])
    assert "variant" not in figure(secret=True, variant="no_feed_forward")["differences"]


@pytest.mark.sample
@pytest.mark.parametrize("run", SHIPPED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_of_a_shipped_run_opens(site, run, language):
    card = site.get(f"run/{run}", lang=language).json()
    for part in parts(card["figure"]):
        answer = site.panel(part["shows"][0]["tab"], run=run, **{k: v for k, v in part["shows"][0].items() if k != "tab"})
        assert "error" not in answer, part["name"]
