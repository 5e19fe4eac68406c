"""The tour through the map's own route, and the printable sheet: the model's numbers, and no answer before it is asked for."""

import re
from functools import partial
from types import SimpleNamespace

import pytest

from playground.features.map import panel as tour
from playground.features.shared.queries.activations import SentenceActivations
from playground.inspection.activations import record
from playground.inspection.worksheet import KINDS as SHEETS, worksheet
from playground.lessons.tour import NOTES, STOPS, list_notes
from playground.words import LANGUAGES, say
from tests.inspection.test_activations import build
from tests.lessons.test_tour import KINDS, SRC, TGT, by_hand
from tests.ui.looking import all_blocks

HEAD = 2  # counted from 1; runs with fewer have their last
RUN = "german_english"


def at_stop(site, run: str, stop: str, **parameters) -> tuple[dict, dict]:
    """The block of the stop, and the drawing under it."""
    panel = site.panel("map", run=run, stop=stop, layer=1, head=HEAD, **parameters)
    assert "error" not in panel, panel
    return panel["blocks"]


@pytest.mark.parametrize("run", [RUN, pytest.param("numbers_zh", marks=pytest.mark.night)])
def test_each_number_is_the_model_s_framed_and_its_calculation_stands_beside_it(site, run):
    record = site.runs.get(run)
    text, ids = site.reader.read(record, site.reader.examples(record, "heldout", 1)[0][0])
    written = [piece.id for piece in site.reader.look(record, None, text).targets]
    wanted = by_hand(site.reader.model_at(record, None)[0], ids, written, min(HEAD, record.experiment.model.n_heads) - 1)
    assert wanted.keys() == set(STOPS)
    for at, stop in enumerate(STOPS):
        block, drawing = at_stop(site, run, stop, text=text, target="output", lang=LANGUAGES[at % len(LANGUAGES)])
        assert block["answer"] == pytest.approx(wanted[stop], abs=2e-5, rel=2e-5), stop
        blocks = {block["id"]: block for block in all_blocks(drawing["blocks"])}
        assert (blocks["stage"]["caption"], {"source", "formula"} & blocks.keys()) == ("", set())
        assert ("sheet" in blocks) == (stop not in ("mask", "loop"))  # where cells are counted
        if "sheet" in blocks:
            assert blocks["sheet"]["answer"] == pytest.approx(block["answer"], abs=2e-5)
            assert (blocks["sheet"]["asks"], blocks["sheet"]["still"]) == (False, True)  # the page stays where it is


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
            block = tour.build_stop(SimpleNamespace(run=run, say=partial(say, language)), seen, stop, 0)
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
        for kind in SHEETS:
            answer = site.get("worksheet", seed=3, kind=kind, lang=language, key=1)
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
