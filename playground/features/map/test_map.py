"""The map: its stages and calculations are the model's; its tour and printed sheet; numbers typed over are undone to the last bit."""

import base64
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import Experiment, ModelConfig, Refusal, limits
from playground.cursor import check
from playground.decoding import search
from playground.features.map import panel as tour
from playground.features.map.architecture import ModelFigure, Part, model_figure
from playground.features.map.worksheets import RUN_SHEETS, draw_sheet
from playground.features.registry import PLACES
from playground.features.shared.heads import find_best_head
from playground.features.shared.queries.activations import SentenceActivations, activations
from playground.features.shared.view import View
from playground.inspection.activations import record
from playground.inspection.derivation import explain
from playground.inspection.worksheet import KINDS as SHEETS, worksheet
from playground.lessons.labs.tokens import by_sentencepiece
from playground.lessons.tour import NOTES, STOPS, kind_of, list_notes
from playground.ui.assets import PREFIX
from playground.variants import build as build_variant
from playground.words import LANGUAGES, say
from tests.inspection.conftest import calculate, parts
from tests.inspection.test_activations import build
from tests.inspection.test_derivation import EMPTY
from tests.lessons.test_tour import KINDS, SRC, TGT, by_hand
from tests.runs.tiny import done
from tests.ui.looking import TINY, all_blocks, block, find

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


@pytest.mark.parametrize("run", [RUN, pytest.param("numbers_zh", marks=pytest.mark.night)])
def test_each_number_is_the_model_s_framed_and_its_calculation_stands_beside_it(site, run):
    record = site.runs.get(run)
    text, ids = site.reader.read(record, site.reader.examples(record, "heldout", 1)[0][0])
    look = site.reader.look(record, None, text)
    written, model = [piece.id for piece in look.targets], site.reader.model_at(record, None)[0]
    wanted = {part: by_hand(model, ids, written, find_best_head(look, part)) for part in ("cross", "encoder")}
    assert wanted["cross"].keys() == set(STOPS)
    for at, stop in enumerate(STOPS):
        query = {"stop": stop, "text": text, "target": "output", "lang": LANGUAGES[at % len(LANGUAGES)]}
        block, drawing = site.panel("map", run=run, layer=1, head=2, **query)["blocks"]  # whatever head is chosen
        assert block["answer"] == pytest.approx(wanted[kind_of(stop)][stop], abs=2e-5, rel=2e-5), stop
        blocks = {block["id"]: block for block in all_blocks(drawing["blocks"])}
        assert (blocks["stage"]["caption"], {"source", "formula"} & blocks.keys()) == ("", set())
        assert ("sheet" in blocks) == (stop not in ("mask", "loop"))  # where cells are counted
        if "sheet" in blocks:
            assert blocks["sheet"]["answer"] == pytest.approx(block["answer"], abs=2e-5)
            assert [blocks["sheet"][name] for name in ("asks", "still", "closed")] == [False, True, True]  # the page stays where it is


@pytest.mark.parametrize("query", [{"width": 390}, {"width": 1080, "text": " ".join(["die Frau sieht"] * 16)}], ids=["telephone", "long"])
def test_what_a_stop_asks_for_is_printed_on_a_cell_or_counted_in_cells(site, query):
    for stop in STOPS:
        panel = site.panel("map", run=RUN, stop=stop, **{"text": TEXT} | query)
        answer, pick, figure = block(panel, "tour")["answer"], block(panel, "pick"), block(panel, "stage")["figure"]
        cells, layout = figure["data"][0], figure["layout"]
        if stop in ("mask", "loop"):
            counted = len(cells["z"]) if stop == "loop" else sum(value is not None and value == value for value in cells["z"][2])
            assert counted == answer, stop
            continue
        printed = cells["z"][pick["row"]][layout["meta"]["at"].index(pick["col"])]
        assert ("texttemplate" in cells, round(printed, 2)) == (True, pytest.approx(answer, abs=0.0051)), stop
        assert layout["height"] > 13 * len(cells["z"]), "a row has room for a line"


OTHERS = [{"share_embeddings": "all"}, {"embedding_scale": False}, {"dropout": 0.1}, {"attention_scale": 1.0}]
PLAIN = ("normed", "rotated", "last_norm")  # notes without a number


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_model_has_words_at_every_stop_and_the_papers_needs_no_notes(language):
    pieces, noted = [SimpleNamespace(text=str(n)) for n in range(12)], set()
    for knobs in [*KINDS, *OTHERS]:
        model = build(**knobs)
        recorded = record(model, SRC, TGT)
        seen = SentenceActivations(0, tuple(pieces[: len(SRC) + 1]), tuple(pieces[: len(TGT)]), tuple(pieces[: len(TGT)]), recorded)
        run = SimpleNamespace(experiment=SimpleNamespace(model=model.config), tokenizers=[SimpleNamespace(piece=str)] * 2)
        for stop in STOPS:
            block = tour.build_stop(SimpleNamespace(run=run, say=partial(say, language), language=language), seen, stop, (0, 0))
            assert all(block[name] and "{" not in block[name] for name in ("text", "formula", "ask"))
            assert all(say(language, f"tour.note_{name}") in block["text"] for name in list_notes(model.config, stop) if name in PLAIN)
            noted |= {(stop, name) for name in list_notes(model.config, stop)}
    assert noted == {(stop, name) for stop, names in NOTES.items() for name in names}
    assert not [stop for stop in STOPS if list_notes(build().config, stop)]


def boxes(text: str) -> list[str]:
    return re.findall(r"<output>(.*?)</output>", text)


def test_it_shows_what_is_given_and_keeps_the_answers_until_the_key_fills_every_box(site):
    sheet, plain = worksheet(7, "decoder"), site.get("worksheet", seed=7, kind="decoder").text
    given = [number.replace("-", "−") for table in sheet.tables for row in table.rows for number in row]
    assert re.findall(r"<td>(.*?)</td>", plain) == given
    answers = [box.answer.replace("-1e30", "−10³⁰").replace("-", "−") for task in sheet.tasks for box in (*task.way, *task.boxes)]
    assert boxes(plain) == [""] * len(answers)
    assert 'class="key"' not in plain
    assert boxes(site.get("worksheet", seed=7, kind="decoder", key=1).text) == answers
    texts = [site.get("worksheet", seed=seed, kind=kind).text for seed in (1, 2, 1) for kind in SHEETS]
    assert (texts[:3], len(set(texts))) == (texts[6:], 6), "each seed is another sheet, the same seed the same"


def test_every_kind_is_in_both_languages_with_nothing_foreign_and_no_script(site):
    for language in LANGUAGES:
        for kind in (*SHEETS, *RUN_SHEETS):
            answer = site.get("worksheet", seed=3, kind=kind, lang=language, key=1, run=RUN)
            assert (
                set(boxes(site.get("worksheet", seed=3, kind=kind, lang=language, run=RUN).text)) == {""} < set(boxes(answer.text)) | {""}
            )
            assert f'<html lang="{language}">' in answer.text
            assert bool(re.search(r"[\u4e00-\u9fff]", answer.text)) == (language == "zh")
            assert f'value="{kind}" selected' in answer.text
            assert not re.search(r"\{|https?://|<script|\son\w+=", answer.text)
            assert "default-src 'none'" in answer.headers["content-security-policy"]
    cross = site.get("worksheet", kind="cross").text
    assert ("&lt;bos&gt;" in cross, "<bos>" in cross) == (True, False)
    usual, markup = site.get("worksheet", seed=1).text, {"kind": '"><img src=x>', "lang": "<b>", "key": "<i>"}
    for parameters in ({"seed": "<script>alert(1)</script>", **markup}, {}, {"seed": "-1"}, {"seed": "9" * 20}, {"seed": "１２"}):
        assert site.get("worksheet", **parameters).text == usual, "no parameter breaks it or is repeated"


@pytest.mark.parametrize("kind", RUN_SHEETS)
def test_a_sheet_of_the_run_on_screen_has_the_numbers_of_its_model(site, kind):
    place = {"run": RUN, "text": TEXT, "kind": kind}
    view = View(site.runs, site.reader, place)
    for seed in (1, 2):
        sheet = draw_sheet(view, kind, seed)
        boxes_of = [task.boxes for task in sheet.tasks]
        for box in (box for each in boxes_of for box in each if box.line and box.name != "L"):
            assert calculate(box.line, EMPTY) == pytest.approx(float(box.answer), abs=2e-3), (box, "the printed numbers give the answer")
        forward = view.activations
        if kind == "loss":
            p = forward.stages["probabilities"].values[range(len(forward.targets)), [piece.id for piece in forward.targets]]
            assert min(abs(float(boxes_of[3][0].answer) + np.log(p))) < 1e-4
        elif kind == "norm":
            row = forward.stages["encoder.0.self_attention.norm"].values[seed - 1, :4]
            assert [float(box.answer) for box in boxes_of[4]] == pytest.approx(row.tolist(), abs=6e-5)
        elif kind == "beam":
            model, prefix = site.reader._models.get(view.run, None)[0], [piece.id for piece in forward.fed[1:seed]]
            searched = search(model, [piece.id for piece in forward.source[:-1]], 2, 0.0, len(prefix) + 2, prefix).hypotheses
            names = [" ".join(view.run.tokenizers[1].piece(id) for id in each.ids[len(prefix) :]) for each in searched]
            assert [box.answer for box in boxes_of[2]] == names
        else:
            words, word = " ".join(source for source, _ in view.examples()).split(), boxes_of[1][0].name
            chosen = words[8 * seed - 8 : 8 * seed]
            merges, pieces = by_sentencepiece((" ".join(chosen),), word, len(boxes_of[0]))
            assert word in {*words} - {*chosen}
            assert len(pieces) < len(f"▁{word}"), "nothing would be merged"
            assert [box.answer.split(" (")[0].replace(" + ", "") for box in boxes_of[0]] == merges
            assert boxes_of[1][0].answer.split() == pieces


POST = ["mask_padding", "self_attention", "add_norm", "feed_forward", "add_norm"]


def figure(secret: bool = False, language: str = "en", **knobs) -> ModelFigure:
    return model_figure(SimpleNamespace(experiment=Experiment().with_(**knobs), secret=secret), language)


def parts_of(drawing: ModelFigure) -> list[Part]:
    def inside(stack: dict) -> list[Part]:
        return [*stack["input"], *(part for sublayer in stack["sublayers"] for part in sublayer["parts"]), *stack["end"]]

    return [*inside(drawing["encoder"]), *filter(None, [drawing["memory"]]), *inside(drawing["decoder"])]


def kinds(stack: dict, where: str = "sublayers") -> list[str]:
    drawn = stack[where] if where != "sublayers" else [part for sublayer in stack["sublayers"] for part in sublayer["parts"]]
    return [part["kind"] for part in drawn]


@pytest.mark.parametrize(("knobs", "encoder"), [
    ({"encoder_layers": 6, "decoder_layers": 1}, POST),
    ({"norm": "pre", "residual": False}, ["norm", "mask_padding", "self_attention", "norm", "feed_forward"]),
    ({"positions": "rotary"}, ["rotary", *POST]),
    ({"variant": "no_feed_forward"}, ["mask_padding", "self_attention", "add_norm", "norm"]), ({"variant": "no_source_mask"}, POST[1:]),
])  # fmt: skip
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
        assert {place["tab"] for part in parts_of(drawing) for place in part["shows"]} == {"attention"}, "what asks the model itself"
        assert ("feed_forward" in kinds(drawing["encoder"])) == ("“without feed-forward network”" not in drawing["differences"]) == secret


MODELS = st.fixed_dictionaries(
    {name: st.sampled_from(limits(name).choices) for name in ("architecture", "norm", "positions", "residual")}
    | {"decoder_layers": st.integers(1, 3), "encoder_layers": st.integers(1, 3)}
)


@settings(max_examples=10)
@given(knobs=MODELS)
def test_every_stage_of_the_map_belongs_to_one_part_and_every_part_leads_to_a_place_there_is(knobs):
    config = ModelConfig(**{"d_model": 8, "n_heads": 2, "d_ff": 8} | knobs)
    stages = record(build_variant(config, 7, 7, torch.Generator().manual_seed(1)).eval(), [4, 5], [5, 2])
    drawing = parts_of(figure(**knobs))
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


OWN = "encoder.0.self_attention"


def drawn_of(panel: dict) -> tuple:
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
    assert (block(panel, "undo-edits")["to"], drawn_of(ask(site, stage=WEIGHTS, row=1, col=2))) == ({"edits": ""}, drawn_of(plain))
    learned = block(ask(site, stage=f"{OWN}.q", row=0, col=3, edits=edits), "editor")["targets"][1:]
    typed = next(target for target in learned if target["place"] == f"{OWN}.W_q.weight:3,0")
    stages = activations(site.reader, site.runs.get(RUN), None, TEXT)[0].stages
    weight = site.reader.model_at(site.runs.get(RUN), None)[0].get_parameter(typed["matrix"])[3, 0].item()
    assert (typed["label"], float(typed["value"])) == ("W_Q[1, 4]", pytest.approx(weight, abs=1e-6)), "the run keeps its numbers"
    attention = site.panel("attention", run=RUN, text=TEXT, layer=1, head=1, edits=edits)
    followed = np.array(block(attention, "attention")["figure"]["data"][0]["z"], dtype=float)
    assert (followed[1][2], block(attention, "undo-edits")["to"]) == (0.5, {"edits": ""})
    assert stages[WEIGHTS].values[0, 1, 2] != 0.5


@pytest.mark.parametrize(("edits", "reason"), [
    ("encoder.9.self_attention.W_q.weight:0,0=1", "no encoder.9"), ("memory:99,0=1", "no memory:99,0=1"),
    ("memory:0,0=1e7", "1,000,000"), ("src.ids:0=4", "Nothing to type over"),
])  # fmt: skip
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
