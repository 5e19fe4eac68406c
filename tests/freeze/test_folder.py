"""The folder: what is in it, and what it is not written over."""

from __future__ import annotations

import pytest

from playground.config import Refusal
from playground.freeze import folder as freezing
from playground.freeze.grids import axis
from playground.freeze.packing import whole
from playground.ui.boot import runs_list
from playground.ui.view import View, examples
from playground.words import LANGUAGES


@pytest.fixture(scope="module")
def run(site):
    return next(run for run in site.runs.shipped() if run.name == "reverse")


@pytest.mark.parametrize(
    ("live", "key"), [("", "page.not_empty"), ("example.org", "page.bad_live"), ("javascript:alert(1)", "page.bad_live")]
)
def test_a_folder_with_something_else_in_it_is_left_alone_and_the_live_page_has_a_whole_address(site, run, tmp_path, live, key):
    (tmp_path / "thesis.txt").write_text("mine")
    folder = tmp_path if key == "page.not_empty" else tmp_path / "frozen"
    with pytest.raises(Refusal) as refused:
        next(freezing.freeze(site.runs, site.reader, run, 1, folder, live))
    assert refused.value.key == key
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_answers_are_the_panels_and_progress_begins_at_once(site, run, tmp_path, monkeypatch):
    """A small plan: one panel, one sentence; what is packed is what the panel says, but for what asks a server."""
    text, _ = examples(site.reader, run)[0]
    monkeypatch.setattr(freezing, "plan", lambda run, texts, first: {"sentence": [[axis("text", texts), axis("lang", LANGUAGES)]]})
    progress = list(freezing.freeze(site.runs, site.reader, run, 1, tmp_path / "frozen"))
    assert [(done, all) for done, all, _ in progress] == [(0, 2), (2, 2), (2, 2)]
    content = (tmp_path / "frozen" / "answers" / "sentence-0-0.pack").read_bytes()
    asked = View(site.runs, site.reader, {"run": run.id, "text": text, "lang": "en"})
    assert whole(content, "0")["output"] == freezing.PANELS["sentence"](asked)["output"]
    assert (tmp_path / "frozen" / "index.html").read_text().startswith("<!doctype html>")
    assert next((tmp_path / "frozen" / "asset").glob("*/server.js")).read_text().startswith("// A frozen page")


def test_blocks_that_need_a_server_are_left_out_wherever_they_stand():
    asks, text, take = {"kind": "downloads", "id": "a"}, {"kind": "text", "id": "b"}, {"kind": "button", "id": "t", "act": "take"}
    later, never = ({"kind": "later", "id": name, "panel": name} for name in ("reach", "score"))
    figure = {"kind": "figure", "id": "c", "saved": {"file": "c", "arrays": {"run": "r"}}}
    left = freezing._without_server([{"kind": "row", "id": "r", "blocks": [asks, take, text, later, never, figure]}], {"reach"})
    assert left == [{"kind": "row", "id": "r", "blocks": [text, later, {**figure, "saved": {"file": "c", "arrays": None}}]}]


def test_a_longer_work_is_frozen_when_it_is_done(site, run, monkeypatch):
    answers = iter([{"step": 1, "more": True, "blocks": []}, {"step": 1, "blocks": [{"kind": "text", "id": "end"}]}])
    monkeypatch.setitem(freezing.PANELS, "reach", lambda view: next(answers))
    answer = freezing._answer(View(site.runs, site.reader, {"run": run.id}), "reach", set(), set())
    assert answer["blocks"] == [{"kind": "text", "id": "end"}]
    assert "more" not in answer


def test_the_page_finds_every_list_of_runs_that_a_server_would_send(site, run):
    """Without one of them nothing is drawn at all."""
    known = freezing._page(site.runs, site.reader, run, "en", [("abc", "cba")])
    assert known["runs"].keys() == runs_list(site.runs, "", "en").keys()
