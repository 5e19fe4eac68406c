"""The page of a run that was changed on purpose: what asks the model is drawn, what follows the formulas steps aside."""

from __future__ import annotations

import math
import time

import pytest

from playground.choices import VARIANTS
from playground.config import Refusal, default
from playground.cursor import choices
from playground.freeze.folder import freeze
from playground.queries.activations import activations
from playground.ui.controls import shown_value
from playground.ui.panels import BY_ATTENTION, BY_FORMULA, PANELS
from playground.words import LANGUAGES, say
from tests.ui.test_routes import blocks_of, numbers_of

TOKEN = "d" * 32
TINY = {
    "train_size": 100,
    "validation_size": 10,
    "d_model": 8,
    "n_heads": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "d_ff": 8,
    "steps": 2,
    "batch_size": 8,
    "dropout": 0.1,
}
TWISTS = [name for name, alteration in VARIANTS.items() if name != default("variant") and not alteration.recurrent]
RECURRENT = [name for name, alteration in VARIANTS.items() if alteration.recurrent]
ASKING = [name for name in PANELS if name not in BY_FORMULA]


@pytest.fixture(scope="module", params=TWISTS)
def changed(site, request):
    """(the variant, a run of it that has ended)."""
    run = trained(site, request.param)
    yield request.param, run
    site.runs.delete(run.id, TOKEN)


def trained(site, variant: str):
    run = site.train(TOKEN, TINY | {"variant": variant})
    end = time.monotonic() + 60
    while run.working:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert run.status == "done", run.message
    return run


def refusal(variant: str, language: str, key: str = "page.has_variant") -> dict:
    name = shown_value("variant", variant, language)
    assert name != variant
    return {"error": say(language, key, variant=name), "key": key}


@pytest.mark.night
@pytest.mark.parametrize("variant", RECURRENT)
def test_a_recurrent_model_is_shown_where_it_has_something_to_show(site, variant, tmp_path):
    """Every panel, now and at a step of the replay: what it has is drawn, what it hasn't got is said. It can be frozen."""
    run = trained(site, variant)
    for step, method, language in (("", "beam", "en"), ("1", "greedy", "zh")):
        for name in PANELS:
            asked = {"run": run.id, "lang": language, "step": step, "method": method, "q": "1", "lesson": "attention", "predicted": "last"}
            if name in BY_FORMULA + BY_ATTENTION:
                assert site.get(f"panel/{name}", **asked).json() == refusal(variant, language, "page.is_recurrent"), name
            else:
                panel = site.panel(name, **asked)
                assert "error" not in panel, f"{name}: {panel}"
                assert all(math.isfinite(number) for number in numbers_of(panel)), name
    assert next(freeze(site.runs, site.reader, run, 1, tmp_path / "frozen"))[:1] == (0,)
    with pytest.raises(Refusal, match="no attention weights"):
        activations(site.reader, run, None, "abc")
    site.runs.delete(run.id, TOKEN)


@pytest.mark.sample(6)
def test_exactly_what_follows_the_formulas_steps_aside(site, changed):
    variant, run = changed
    language = LANGUAGES[TWISTS.index(variant) % len(LANGUAGES)]
    for name in BY_FORMULA:
        assert site.get(f"panel/{name}", run=run.id, lang=language).json() == refusal(variant, language), name
    touring = site.get("panel/map", run=run.id, lang=language, stop="scores").json()
    assert touring == refusal(variant, language, "tour.has_variant")  # whoever is on the tour is told where it goes on
    for name in ASKING:
        panel = site.panel(name, run=run.id, lang=language, lesson="attention")
        assert "error" not in panel, f"{name}: {panel}"
        assert all(math.isfinite(number) for number in numbers_of(panel)), name


@pytest.mark.sample(6)
def test_of_attention_only_the_products_step_aside(site, changed):
    variant, run = changed
    for view in choices("view"):
        panel = site.get("panel/attention", run=run.id, part="decoder", view=view, step="1", q="1").json()
        found = {block["id"]: block for block in blocks_of(panel["blocks"])}
        assert found["view"]["value"] == view
        assert ("variant" in found) == (view == "product")
        assert view != "product" or found["variant"]["text"] == refusal(variant, "en")["error"]


@pytest.mark.sample(6)
def test_it_translates_with_a_beam_too(site, changed):
    assert "error" not in site.panel("translate", run=changed[1].id, method="beam")


@pytest.mark.sample(6)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_twist_stands_in_the_line_of_differences(site, changed, language):
    variant, run = changed
    names = [shown_value("variant", value, language) for value in (default("variant"), variant)]
    card = site.get(f"run/{run.id}", lang=language).json()
    assert f"{say(language, 'knobs.variant.label')} {names[0]} → {names[1]}" in card["line"]
    assert card["settings"]["variant"] == variant


@pytest.mark.sample(6)
def test_what_a_model_with_a_bug_sees_is_shown_and_not_what_it_should_see(site, changed):
    """Of the future, a model without a causal mask has weights; whose mask is the paper's has none."""
    variant, run = changed
    if variant == "view_for_transpose":
        pytest.skip("its masks are the paper's, and stand at other tokens")
    panel = site.panel("attention", run=run.id, part="decoder", view="lines", target="reference")
    lines = next(block for block in blocks_of(panel["blocks"]) if block["kind"] == "lines")
    future = [weight for q, row in enumerate(lines["weights"]) for k, weight in enumerate(row) if k > q]
    assert len(future) > 1
    assert any(future) == (variant in ("no_causal_mask", "inverted_mask", "tiny_fill", "no_mask_at_inference"))
