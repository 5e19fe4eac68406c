"""Every panel, in all languages, widths and steps, is complete and can be drawn; a number is the same everywhere, labels the model's."""

import json
import random
import re
from collections.abc import Collection, Iterator

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st

from playground import freeze as freezing
from playground.choices import ARCHITECTURES, VARIANTS
from playground.cli import main
from playground.config import BOS, EOS, PAD, Refusal, default
from playground.cursor import FIELDS, choices
from playground.features.attention.query import rollout
from playground.features.diagnostics.panel import QUANTITIES
from playground.features.registry import BY_ATTENTION, BY_FORMULA, PANELS
from playground.features.shared.blocks import KINDS
from playground.features.shared.figures import theme
from playground.features.shared.naming import shown_value
from playground.features.shared.queries.activations import activations
from playground.features.shared.queries.reader import REFERENCE
from playground.freeze.plan import Choice
from playground.lessons.course import COURSE
from playground.lessons.labs import LABS
from playground.lessons.tour import STOPS
from playground.runs.disk import store
from playground.ui.assets import list_modules, read_raw_asset
from playground.words import LANGUAGES, say
from tests.runs.tiny import done
from tests.ui.looking import TINY, all_blocks, block, complete, faults, find, ids

TOKEN = "c" * 32
SHIPPED = ("reverse", "german_english", "numbers_zh", "sort", "numbers_de")
SIZES = ({}, {"width": "344", "dark": "1"}, {"width": "1133", "height": "900"}, {"width": "880", "present": "1"})
STEPS = ("", "0", "60")
CELL = {"row": "1", "col": "1"}
PAIR = {"q": "1", "k": "0"}
TERM = {"line": "0", "place": "1", "logit": "5", "module": "0", "grad_row": "4", "grad_col": "2"}
EDIT = {"change": "row", "cells": "c1.1_q1_k1-0.5", "q": "3"}
SEEN = [{"part": "encoder"}, {"part": "cross", **PAIR}, {"part": "decoder"}]
OPENED = ("decoder.0.cross_attention.weights", "logits", "src.ids")
VECTORS = ("src", "tgt", "memory", "decoder")
STATES: dict[str, list[dict[str, str]]] = {  # of panels whose blocks depend on more than the run
    "attention": [{"view": view, **part} for view in choices("view") for part in SEEN],
    "translate": [{}, {"method": "beam", "must": "z"}, {"method": "sample", "draws": "20"}, {"prefix": "a"}, {"cache": "off"}],
    "map": [{}, *({"stage": stage, "hide": "on", **CELL} for stage in OPENED), *({"stop": stop} for stop in STOPS)],
    "masks": [{"mask": kind} for kind in choices("mask")],
    "teacher_forcing": [{}, {"fix": "1:7"}, {"force": "a b"}, {"q": "99"}, {"target": "reference"}],
    "interventions": [{}, {"off": "c1.1"}, {"change": "row", **PAIR}, {"change": "patch"}, EDIT, {"squeeze": "mean"}, {"squeeze": "cut"}],
    "positions": [{"pos": kind} for kind in choices("pos")],
    "embeddings": [{"what": what, "by": by} for what in VECTORS for by in choices("by")],
    "diagnostics": [{"gauge": gauge} for gauge in QUANTITIES] + [{"route": "99"}],
    "step": [{"moment": moment, **more} for moment in choices("moment") for more in ({}, TERM)],
    "data": [{"split": split} for split in choices("split")], "evaluation": [{}, {"split": "harder"}, {"method": "beam", "beam": "2"}],
    "reach": [{}, {"compare": "sort,reverse"}], "runs": [{}, {"runs": "reverse,sort"}, {"runs": "reverse", "over": "tokens"}],
    "same_sentence": [{"runs": "reverse,sort,numbers_de"}], "disagreements": [{"runs": "reverse,sort"}],
    "labs": [{}, *({"lab": name, "guess": lab.guesses[0], "sure": "75"} for name, lab in LABS.items())],
    "course": [{}, {"notes": "on"}, *({"lesson": name, "predicted": "unknown"} for name in COURSE)],
    "checks": [{"lesson": name} for name in COURSE], "score": [{}, {"off": "c1.1"}],
}  # fmt: skip
TWO = ("numbers_de", "reverse")
RUNS = {"importance": TWO[:1], "score": TWO[:1], "reach": TWO, "evaluation": TWO}  # what is slow
ENGLISH = re.compile(r"^(?!.*\w\(\w)[^\u4e00-\u9fff]*[A-Za-z’']{3,} [A-Za-z’']{2,}[^\u4e00-\u9fff]*$")  # a call is code
UNTITLED = ("teacher_forcing", "step", "checks")  # what stands above is their title
TWISTS = [name for name, alteration in VARIANTS.items() if name != default("variant") and not alteration.recurrent]
RECURRENT = [name for name, alteration in VARIANTS.items() if alteration.recurrent]
SEES_THE_FUTURE = ("no_causal_mask", "inverted_mask", "tiny_fill", "no_mask_at_inference")
BUILT = [
    {"positions": "rotary", "norm": "pre", "bias": False, "zero_init": True, "share_embeddings": "all"},
    {"task": "german_english", "tokenizer": "bpe", "vocab_size": 96, "share_embeddings": "output"},
    {"positions": "learned", "activation": "gelu", "task": "one_to_many", "optimiser": "adam", "schedule": "paper"},
    {"positions": "both", "norm": "none", "activation": "none", "attention_scale": 0.0, "embedding_std": 0.5, "optimiser": "adamw"},
    {"positions": "none", "residual": False, "attention_scale": 1.0, "embedding_scale": False, "task": "beer", "batch_size": 1},
    {"n_heads": 8, "encoder_layers": 6, "decoder_layers": 2},
]
AT_NIGHT = {"marks": pytest.mark.night}
NAMES = ["reverse", *(pytest.param(name, marks=pytest.mark.night) for name in ("numbers_de", "german_english"))]
SENTENCES = {  # repeated words, repeated letters; the second of each only fills the batch, and leaves padding after the first
    "german_english": ("die Frau findet die Frau", "wir glauben , dass die Ärztin die Frau findet"),
    "reverse": ("abbaab", "vcuzhkcbbrgi"),
}


def strays(block: object, key: str = "") -> Iterator[str]:
    """What a person reads of an answer in Chinese and is English prose."""
    for name, value in block.items() if isinstance(block, dict) else [(key, one) for one in block] if isinstance(block, list) else ():
        if isinstance(value, str) and name in ("text", "caption", "title", "label", "hint", "placeholder"):
            yield from ENGLISH.findall(re.sub(r"<[^>]*>", "", value))
        yield from strays(value, name)


def conforming(site, name: str, **asked: str) -> dict:
    panel = complete(site, name, **asked)
    if asked.get("lang") == "zh" and asked["run"] != "german_english":
        assert list(strays(panel)) == [], (name, asked)
    assert "error" not in panel, (name, asked, panel)
    for one in panel.get("blocks", []):
        assert not list(faults(one)), (name, asked)
    every = list(all_blocks(panel.get("blocks", [])))
    assert len({(one["kind"], one["id"]) for one in every}) == len(every), (name, asked)
    json.dumps(panel, allow_nan=False)
    for one in every:
        if one["kind"] in ("figure", "lines"):
            go.Figure(one.get("figure"))  # Plotly checks every property
            color = one["figure"]["layout"]["font"]["color"] if one.get("figure") else ""
            assert color in ("", theme.colors("dark" in asked)["text"]), (name, asked, one["id"])
            assert one["title"] or name in UNTITLED, (name, asked, one["id"])
            assert one["caption"] or "stop" in asked or one["id"].startswith(("picture-", "step-stream")), (name, asked, one["id"])
            assert "{" not in one["caption"] + one["title"], (name, asked, one["id"])
    return panel


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.night)])
@pytest.mark.parametrize("name", PANELS)
def test_every_panel_of_every_shipped_run_conforms(site, name, all_of_them):
    """By day in both languages, of two of its states and runs, which are drawn; at night each state once and each run once."""
    states, runs = STATES.get(name, [{}]), RUNS.get(name, SHIPPED)
    count = max(len(states), len(runs), len(LANGUAGES))
    first = random.Random(name).randrange(count)
    for at in range(first, first + (count if all_of_them else 2)):
        asked = states[at % len(states)] | SIZES[at % len(SIZES)] | {"step": STEPS[at % len(STEPS)], "lang": LANGUAGES[at % len(LANGUAGES)]}
        conforming(site, name, run=runs[at % len(runs)], **asked)


@pytest.mark.night
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_so_does_every_combination(site, data):
    name = data.draw(st.sampled_from(sorted(PANELS)))
    run, language = data.draw(st.sampled_from(SHIPPED)), data.draw(st.sampled_from(LANGUAGES))
    state, size, step = (data.draw(st.sampled_from(values)) for values in (STATES.get(name, [{}]), SIZES, STEPS))
    conforming(site, name, run=run, **state | size | {"step": step, "lang": language})


@pytest.mark.night
def test_an_odd_number_is_brought_into_range(site):
    numeric = [name for name, field in FIELDS.items() if hasattr(field, "low") and name not in ("step", "seed")]
    more = {"attention": {"view": "product"}, "translate": {"method": "beam"}, "interventions": {"change": "row"}}
    for value in ("-1", "999999999", "inf"):
        for name in ("attention", "translate", "map", "interventions", "positions", "step", "embeddings", "diagnostics"):
            panel = conforming(site, name, run="reverse", **dict.fromkeys(numeric, value), **more.get(name, {}))
            sliders = [one for one in all_blocks(panel["blocks"]) if one["kind"] == "slider"]
            assert all(one["low"] <= one["value"] <= one["high"] for one in sliders), (name, value)


@pytest.fixture
def trained(site):
    """trained(**knobs) -> a run of these, trained to its end."""

    def train(**knobs):
        run = done(site.train(TOKEN, TINY | {"dropout": 0.1} | knobs))
        assert run.status == "done", run.message
        return run

    return train


@pytest.mark.parametrize("knobs", [BUILT[0], *(pytest.param(knobs, **AT_NIGHT) for knobs in BUILT[1:])], ids=str)
def test_every_panel_of_a_run_that_is_built_differently_conforms(site, trained, knobs):
    run = trained(**knobs)
    for at, name in enumerate(PANELS):
        conforming(site, name, run=run.id, step=("", "2")[at % 2], pos="learned", method="beam")


def test_a_table_of_positions_that_was_learnt_is_shown_and_the_page_draws_exactly_the_kinds(site, trained):
    run = trained(positions="learned")
    panel = conforming(site, "positions", run=run.id, pos="learned")
    table, _ = site.reader.position_table(run, None)
    assert block(panel, "pos-learnt")["figure"]["data"][0]["z"][3] == pytest.approx(table[3].tolist(), abs=1e-2)
    assert "pos-beside" in ids(panel)
    scripts = "".join(read_raw_asset(name).decode() for name in list_modules())
    assert sorted(re.findall(r'^register\("(\w+)"', scripts, re.MULTILINE)) == sorted(KINDS)


def refusal(variant: str, language: str, key: str) -> dict:
    name = shown_value("architecture" if variant in ARCHITECTURES else "variant", variant, language)
    assert name != variant
    return {"error": say(language, key, variant=name), "key": key}


def check_all(site, aside: Collection[str], refused: dict, **asked: str) -> None:
    """Checks that every panel conforms, but for those that step aside in these words."""
    for name in PANELS:
        if name in aside:
            assert site.get(f"panel/{name}", **asked).json() == refused, name
        else:
            conforming(site, name, **asked)


@pytest.mark.parametrize("variant", [*TWISTS[:2], *(pytest.param(name, **AT_NIGHT) for name in TWISTS[2:])])
def test_of_a_changed_model_exactly_what_follows_the_formulas_steps_aside(site, trained, variant):
    """And what a model with a bug sees is shown, not what it should see: of the future, without a causal mask."""
    run, language = trained(variant=variant), LANGUAGES[TWISTS.index(variant) % len(LANGUAGES)]
    refused = refusal(variant, language, "page.has_variant")
    check_all(site, BY_FORMULA, refused, run=run.id, lang=language, lesson="attention", method="beam")
    assert site.get("panel/map", run=run.id, stop="scores").json() == refusal(variant, "en", "tour.has_variant")
    for view in choices("view"):
        aside = find(site.panel("attention", run=run.id, part="decoder", view=view, q="1"), "variant")
        assert (aside and aside["text"]) == (refusal(variant, "en", "page.has_variant")["error"] if view == "product" else None)
    weights = block(site.panel("attention", run=run.id, part="decoder", view="lines", target="reference"), "lines")["weights"]
    future = [weight for q, row in enumerate(weights) for k, weight in enumerate(row) if k > q]
    if variant != "view_for_transpose":  # whose masks stand at other tokens
        assert len(future) > 1
        assert any(future) == (variant in SEES_THE_FUTURE)


@pytest.mark.night
def test_without_a_whole_source_only_what_draws_one_sequence_steps_aside(site, trained):
    run = trained(architecture="prefix_decoder", memory_mode="mean", dropout=0.0)
    reason = {language: say(language, "map.no_sequence") for language in LANGUAGES}
    refused = {"error": reason["zh"], "key": "map.no_sequence"}
    check_all(site, ("map", "step"), refused, run=run.id, lang="zh", method="beam", view="whole")
    assert block(site.panel("attention", run=run.id, view="product", lang="zh"), "variant")["text"] == reason["zh"]


@pytest.mark.parametrize("architecture", ["causal_decoder", pytest.param("prefix_decoder", **AT_NIGHT)])
def test_a_decoder_only_model_is_shown_everywhere_but_on_the_tour(site, trained, architecture, tmp_path):
    run = trained(architecture=architecture, encoder_layers=2, decoder_layers=1, dropout=0.0)
    experiment, run.experiment = run.experiment, run.experiment.with_(dropout=0.1)
    assert site.get("panel/step", run=run.id).json()["key"] == "step.one_pass"
    run.experiment = experiment
    for name in PANELS:
        conforming(site, name, run=run.id, lang="zh", method="beam", part="encoder", layer="3", pos="learned")
    for name, state in (("step", {"moment": "stream"}), ("step", {"moment": "scores"}), ("interventions", {"change": "patch"})):
        conforming(site, name, run=run.id, **state)
    assert site.get("panel/map", run=run.id, stop="scores").json() == refusal(architecture, "en", "tour.has_variant")
    lines = block(site.panel("attention", run=run.id, part="encoder", view="lines"), "lines")
    weights, mask = np.array(lines["weights"]), np.array(lines["mask"])
    assert np.array_equal(weights == 0, mask == 0)
    assert np.array_equal(mask == 1, np.tri(len(mask), dtype=bool) if architecture == "causal_decoder" else np.ones_like(mask, dtype=bool))
    whole, s = block(site.panel("attention", run=run.id, view="whole"), "attention")["figure"], len(mask)
    cells = np.array(whole["data"][0]["z"], dtype=float)
    assert np.isnan(cells[:s, s:]).all()
    np.testing.assert_allclose(np.nansum(cells, axis=1), 1, atol=0.01)
    assert [shape["x0"] for shape in whole["layout"]["shapes"][-2:]] == [s - 0.5, -0.5], "the separator is marked"
    cursor = {"run": run.id, "text": "abba", "part": "decoder", "layer": "2", "head": "1", "target": "reference", "q": "1", "k": "0"}
    product, flow = (site.panel("attention", **cursor, view=view) for view in ("product", "rollout"))
    stages, s = activations(site.reader, run, None, "abba", reference=True)[0].stages, len("abba") + 1
    score = stages["layers.1.self_attention.scores"].values[0, s + 1, s]
    assert sum(block(product, "product")["figure"]["data"][2]["y"]) == pytest.approx(score, abs=1e-3)
    expected = rollout(np.stack([stages[f"layers.{layer}.self_attention.weights"].values for layer in range(3)]))[s:, s:]
    drawn = np.array(block(flow, "rollout")["figure"]["data"][0]["z"], dtype=float)
    np.testing.assert_allclose(np.nan_to_num(drawn), expected, atol=1e-3)
    joined = block(site.panel("masks", run=run.id), "mask-own")["figure"]["data"][0]["z"]
    assert {cell for row in joined for cell in row} == {0, 0.5, 1, None}
    assert len(joined) == len(joined[0]) > len(mask)
    assert next(freezing.freeze(freezing.Site(site.runs, site.reader, run), Choice(1), tmp_path / "frozen"))[:1] == (0,)


@pytest.mark.night
@pytest.mark.parametrize("variant", RECURRENT)
def test_a_recurrent_model_is_shown_where_it_has_something_to_show(site, trained, variant, tmp_path):
    run = trained(variant=variant)
    asked = {"run": run.id, "lang": "zh", "method": "beam", "q": "1", "lesson": "attention", "predicted": "last"}
    check_all(site, BY_FORMULA + BY_ATTENTION, refusal(variant, "zh", "page.is_recurrent"), **asked)
    assert next(freezing.freeze(freezing.Site(site.runs, site.reader, run), Choice(1), tmp_path / "frozen"))[:1] == (0,)
    with pytest.raises(Refusal, match="no attention weights"):
        activations(site.reader, run, None, "abc")


def percents(text: str) -> list[str]:
    return re.findall(r"[\d.]+(?=\s?%)", text)


@pytest.mark.parametrize("name", NAMES)
def test_everybody_says_the_same_number(site, name, capsys):
    run = site.runs.get(name)
    update = json.loads(site.runs.update(run)[0])  # from this the page takes what the header and the first tab say
    newest = {name: values[-1] for name, values in update["validations"].items()}
    assert (newest["step"], newest["pairs"]) == (run.step, newest["all_pairs"]), "at the end all held-out sentences were asked"
    number = f"{100 * newest['exact_match']:.1f}"
    query = {"run": run.id}

    exact = block(complete(site, "evaluation", **query), "scores")["rows"][0]
    assert percents(exact[1]) == [number]
    for change in ({}, {"off": "c1.1"}):
        before = block(complete(site, "score", **query, **change), "score")["rows"][0][1]
        assert before == number
    assert percents(block(complete(site, "importance", **query), "importance-said")["text"])[-1] == number
    assert percents(block(site.panel("teacher_forcing", **query), "caption")["text"])[-1] == number

    assert main(["history", str(store.SHIPPED / name), "--validations"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    last = dict(zip(head.split(), rows[-1].split(), strict=True))
    assert (f"{100 * float(last['exact_match']):.1f}", last["pairs"]) == (number, last["all_pairs"])
    (row,) = site.runs.table([run]).to_dict("records")
    assert f"{100 * row['exact_match']:.1f}" == number


@pytest.mark.trust
@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("run", SENTENCES)
def test_labels_align_with_rows_and_columns_in_a_padded_batch(site, run, part):
    """The shown numbers are those of the same sentence in a batch with a longer one; there its padding has weight exactly 0."""
    text, longer = SENTENCES[run]
    panel = site.panel("attention", run=run, text=text, part=part, layer="1", head="2")
    picture = block(panel, "attention")["figure"]
    drawn, meta = np.array(picture["data"][0]["z"], dtype=float), picture["layout"]["meta"]

    model, _ = site.reader.model_at(site.runs.get(run), None)
    src_words, tgt_words = site.runs.get(run).tokenizers
    source = [*src_words.encode(text), EOS]
    other = [*src_words.encode(longer), EOS]
    fed = [BOS, *(piece.id for piece in site.reader.look(site.runs.get(run), None, text, REFERENCE).targets[:-1])]
    expected = [*fed[1:], EOS]
    src = torch.tensor([source + [PAD] * (len(other) - len(source)), other])
    tgt_in = torch.tensor([[*fed, PAD, PAD], [*fed, *fed[-1:], *fed[-1:]]])
    weights = getattr(model(src, tgt_in), part)[0][0, 1].numpy()  # (Q, K) of the padded sentence, layer 1, head 2

    if part == "encoder":
        queries = [src_words.piece(token) for token in source]
    else:  # the row of position i is made from the token fed at i, and predicts the next
        queries = [f"{tgt_words.piece(token)}→{tgt_words.piece(following)}" for token, following in zip(fed, expected, strict=True)]
    keys, words = (fed, tgt_words) if part == "decoder" else (source, src_words)
    assert (meta["rows"], meta["columns"]) == (queries, [words.piece(token) for token in keys])
    assert queries != [*queries[1:], queries[0]], "so that labels one row off would be seen"
    rows, columns = len(queries), len(keys)
    masked = np.isnan(drawn)
    np.testing.assert_allclose(np.where(masked, 0, drawn), weights[:rows, :columns], atol=1e-4)
    assert weights.shape[1] > columns
    assert not weights[:rows, columns:].any()
    assert len(set(keys)) < len(keys), "a word that stands twice has two columns, each with its own numbers"
