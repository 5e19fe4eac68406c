"""What the page reads: every panel of every shipped run says something true and drawable, whatever it is asked."""

from __future__ import annotations

import io
import math
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pandas
import plotly.graph_objects as go
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from playground.cursor import FIELDS, choices
from playground.runs.queue import parallel
from playground.runs.run import Run
from playground.ui import assets, routes
from playground.ui.assets import PREFIX
from playground.ui.panels import PANELS, TABS, attention
from playground.words import LANGUAGES
from tests.runs.tiny import wait
from tests.thoroughness import examples_at_night
from tests.ui.blocks.conforming import faults

SHIPPED = ("reverse", "sort", "numbers_de", "numbers_zh", "german_english")
CURSOR = ("step", "text", "part", "view", "measure", "layer", "head", "q", "k", "method", "beam", "penalty", "temperature", "draw",
          "target", "mask", "masks", "pos", "shift", "split", "change", "off", "squeeze", "cells", "width", "dark", "lang",
          "follow", "held")  # fmt: skip


def blocks_of(blocks: list[dict]):
    for block in blocks:
        yield block
        yield from blocks_of(block.get("blocks", []))


# a table, a drawing of its own, parts that come one after another, cards, a class that there is not
DRAWN_OTHERWISE = ("data", "map", "evaluation", "course", "labs", "board")


def numbers_of(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_of(inner)
    elif isinstance(value, float):
        yield value


def test_a_class_that_follows_has_its_picture_made_once(site, monkeypatch):
    """All ask in the same moment, each with a token of their own. Who asks later has the same; who asks for something
    else, or once the run has changed, has it made anew."""
    made, come, asking = [], [], threading.Semaphore(0)

    def slow(view):
        made.append((view.text, view.token))
        asking.acquire(timeout=60)
        return attention.panel(view)

    monkeypatch.setitem(PANELS, "attention", slow)
    monkeypatch.setattr(site.runs, "seen", lambda *who: come.append(who))

    def ask(text: str, token: str) -> dict:
        asked = {"params": {"run": "reverse", "text": text}, "headers": {"X-Playground-Token": token}, "timeout": 60}
        return httpx.get(f"{site.http.base_url}{PREFIX}/panel/attention", **asked).json()

    with ThreadPoolExecutor(8) as class_:
        told = [class_.submit(ask, "together", f"{number}" * 32) for number in range(7)]
        other = class_.submit(ask, "alone", "7" * 32)
        wait(lambda: len(come) == 8)
        time.sleep(0.2)  # the last of them is a few lines further
        asking.release(8)
    first = told[0].result()["blocks"]
    assert all(one.result()["blocks"] == first for one in told)
    assert other.result()["blocks"] != first
    assert sorted(made) == [("alone", ""), ("together", "")]
    assert ask("together", "")["blocks"] == first
    assert len(made) == 2
    site.runs.get("reverse").touch()
    ask("together", "")
    assert len(made) == 3


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TABS)
@pytest.mark.parametrize("run", SHIPPED)
def test_every_panel_of_every_shipped_run(site, run, name, language):
    panel = site.panel(name, run=run, lang=language)
    assert "error" not in panel
    found = list(blocks_of(panel["blocks"]))
    assert not [fault for block in panel["blocks"] for fault in faults(block)]
    figures = [block for block in found if block["kind"] == "figure"]
    assert figures or name in DRAWN_OTHERWISE
    for block in figures:
        go.Figure(block["figure"])  # Plotly itself checks every property
        assert block["caption"], f"{block['id']} has no caption"
    assert all(math.isfinite(number) for number in numbers_of(panel))
    assert len({(block["kind"], block["id"]) for block in found}) == len(found)


@pytest.mark.parametrize("name", TABS)
def test_every_panel_can_be_presented(site, name):
    panel = site.panel(name, run="reverse", present="1")
    assert "error" not in panel
    assert not [fault for block in panel["blocks"] for fault in faults(block)]


ELSEWHERE = {  # a value of every field of the cursor that is not its default
    "step": "0", "text": "abc", "part": "decoder", "layer": "2", "head": "3", "q": "1", "k": "1", "method": "sample", "beam": "2",
    "penalty": "1.5", "temperature": "2", "draw": "7", "draws": "20", "top_k": "5", "top_p": "0.5", "prefix": "zy", "cache": "off",
    "unknown": "copy", "target": "output",
    "view": "rollout", "measure": "entropy", "fix": "1:7", "force": "abc", "change": "row", "off": "c1.3_e2.1", "squeeze": "mean",
    "cells": "c2.3_q1_k4-0.55", "stage": "decoder.1.cross_attention.weights", "row": "1", "col": "1", "window": "8", "hide": "on",
    "digits": "on", "masks": "0,1", "mask": "memory", "pos": "learned", "shift": "9", "split": "train", "lab": "softmax",
    "guess": "unknown", "sure": "95", "toss": "12", "arms": "reverse", "lesson": "attention", "notes": "on", "predicted": "unknown",
    "certain": "50", "compare": "sort", "mapped": "sort", "gauge": "entropy", "route": "1", "what": "memory", "token": "5", "by": "place",
    "set": "temperature=2.0", "follow": "on", "runs": "sort", "over": "seconds", "pin": "sort", "seeds": "each",
    "find": "re", "sort": "-exact_match", "differ": "ticked", "activity": "0a1b2c3d", "arm": "1", "across": "knob", "names": "on",
    "revealed": "on", "file": "0a1b2c3d", "moment": "logits", "line": "1", "place": "1", "logit": "5", "module": "1",
    "parameter": "encoder.0.self_attention.W_v.weight", "grad_row": "1", "grad_col": "1", "stop": "3",
}  # fmt: skip


def test_there_is_another_value_of_every_field():
    assert ELSEWHERE.keys() == FIELDS.keys() - {"run", "lang", "tab", "glossary", "present", "room", "api", "plain"}
    assert all(value != FIELDS[name].default for name, value in ELSEWHERE.items())


@pytest.mark.sample
@pytest.mark.parametrize("name", TABS)
@pytest.mark.parametrize(
    "chosen", [{}, {"method": "beam"}, {"pos": "shift"}, {"pos": "learned"}, {"change": "row"}, {"lesson": "attention"}], ids=str
)
def test_a_panel_depends_on_the_fields_it_says_and_no_others(site, name, chosen):
    """Else the page would go on showing what the cursor has left."""

    def seen(**parameters):
        while (panel := site.panel(name, run="reverse", **parameters)).get("more"):
            pass
        return [block for block in panel["blocks"] if block["id"] != "cache"], set(panel["uses"])  # which measures time

    blocks, uses = seen(**chosen)
    assert uses <= FIELDS.keys()
    others = {field: value for field, value in ELSEWHERE.items() if field not in uses and field not in chosen}
    assert seen(**chosen, **others)[0] == blocks


@pytest.mark.parametrize("run", SHIPPED)
def test_a_link_may_choose_a_split_that_the_run_has_not(site, run):
    """A run changes under a link that somebody edits: the choice is among what is there."""
    for split in choices("split"):
        chosen = next(block for block in blocks_of(site.panel("data", run=run, split=split)["blocks"]) if block["id"] == "split")
        assert chosen["value"] in {option["value"] for option in chosen["options"]}


def test_the_sentence_and_its_verdict(site):
    answer = site.panel("sentence", run="reverse", text="hello")
    assert [token["text"] for token in answer["source"]] == list("hello")
    assert answer["references"] == ["olleh"]
    said = "".join(token["text"] for token in answer["output"])
    assert answer["correct"] == (said == "olleh")
    assert [token["right"] for token in answer["output"]] == [a == b for a, b in zip(said, "olleh", strict=False)]


def test_a_word_the_model_never_saw_is_marked(site):
    answer = site.panel("sentence", run="reverse", text="héllo")
    assert [token["known"] for token in answer["source"]] == [True, False, True, True, True]
    assert answer["correct"] is None


def test_the_large_picture_holds_the_models_own_numbers(site):
    run = site.runs.get("reverse")
    look = site.reader.look(run, None, "hello")
    panel = site.panel("attention", run="reverse", text="hello", layer=2, head=1)
    picture = next(block for block in blocks_of(panel["blocks"]) if block["kind"] == "figure")["figure"]
    shown = picture["data"][0]["z"]
    for row, expected in zip(shown, look.cross[1, 0], strict=True):
        assert row == pytest.approx(expected.tolist(), abs=1e-4)
    assert picture["layout"]["meta"]["columns"] == [*"hello", "<eos>"]


def test_a_step_of_the_replay_is_that_steps_model(site):
    run = site.runs.get("reverse")
    first = run.replay.parameter_steps[0]
    early, late = site.panel("sentence", run="reverse", text="hello", step=first), site.panel("sentence", run="reverse", text="hello")
    assert early["step"] == first == 0
    assert late["step"] == run.step
    assert early["output"] != late["output"]


@pytest.mark.parametrize(
    "path", ["run/nobody", "panel/learn?run=nobody", "panel/sentence?run=../../etc/passwd", "panel/nothing?run=reverse"]
)
def test_what_is_not_there_gets_one_sentence(site, path):
    answer = site.http.get(f"{assets.PREFIX}/{path}")
    assert answer.status_code == 200
    assert set(answer.json()) == {"error", "key"}
    assert answer.json()["error"].endswith((".", "。"))


@examples_at_night(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(PANELS)),
    parameters=st.dictionaries(
        st.sampled_from(CURSOR),
        st.sampled_from(
            ["", "nan", "inf", "-1", "0", "1", "3.5", "999999999999", "１２", "true", "<script>", "{{x}}", "🙂", "reference", "a b"]
        )
        | st.text(max_size=12).filter(lambda text: text.isprintable()),
        max_size=6,
    ),
)
def test_no_parameter_breaks_a_panel(site, name, parameters):
    answer = site.get(f"panel/{name}", run="reverse", **parameters)
    assert answer.status_code == 200, answer.text
    if "error" in answer.json():
        assert answer.json()["error"].strip()


def test_text_too_long_or_empty_is_refused_in_a_sentence(site):
    for text in ("x" * 600, " "):
        assert "error" in site.get("panel/sentence", run="reverse", text=text).json()


@pytest.mark.parametrize("name", ["../server.py", "..%2f..%2fserver.py", "server.py", "screenshot.png", "main.js/../../server.py"])
def test_only_the_pages_own_files_are_served(site, name):
    assert site.http.get(f"{assets.PREFIX}/asset/{assets.asset_version()}/{name}").status_code == 404


def test_assets_come_compressed_and_for_ever(site):
    answer = site.get(f"asset/{assets.asset_version()}/plotly.js")
    assert answer.headers["content-encoding"] in ("br", "gzip")
    assert "immutable" in answer.headers["cache-control"]
    assert "immutable" not in site.get("asset/yesterday/plotly.js").headers["cache-control"]
    assert "Plotly" in answer.text[:20_000] or "plotly" in answer.text[:20_000]
    for theirs, ours in assets.MENDED.items():  # numbers on cells and beside the pointer: a true minus, and contrast
        assert answer.text.count(ours.decode()) == 1
        assert theirs.decode() not in answer.text


@pytest.mark.parametrize(
    "path",
    ["monitoring", "monitoring/summary", "gradio_api/deep_link", "gradio_api/proxy=http://127.0.0.1:1/", "gradio_api/run-history/buckets",
     "gradio_api/runs", "gradio_api/dev/reload", "gradio_api/vibe-code", "gradio_api/stream/x/y/0/playlist.m3u8"],
)  # fmt: skip
def test_gradios_unused_routes_are_closed(site, path):
    assert site.http.get(f"/{path}").status_code == 404


def test_gradio_serves_no_file_of_the_project_or_the_store(site):
    for file in (Path(routes.__file__), Path(site.runs.store.folder) / "anything", "/etc/passwd", "README.md"):
        assert site.http.get(f"/gradio_api/file={file}").status_code in (403, 404)


def test_the_page_names_no_other_host(site):
    page = site.http.get("/").text
    hosts = set(re.findall(r"(?:src|href)=\"(?:https?:)?//([^/\"]+)", page))
    assert not hosts - {site.url.split("//")[1].rstrip("/")}, hosts


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_curves_can_be_taken_home(site, language):
    """What the Training tab offers is the run's history, to the last bit."""
    history = site.runs.get("sort").history
    found = next(block for block in blocks_of(site.panel("training", run="sort", lang=language)["blocks"]) if block["kind"] == "downloads")
    files = {file["query"]["table"]: site.get(found["path"], lang=language, **file["query"]) for file in found["files"]}
    for name, frame in (("steps", history.frame()), ("validations", history.validation_frame())):
        assert files[name].headers["content-disposition"] == f'attachment; filename="sort-{name}.csv"'
        back = pandas.read_csv(io.StringIO(files[name].text), float_precision="round_trip")
        pandas.testing.assert_frame_equal(back, frame, check_exact=True)
    assert site.get("history", run="nobody").json()["key"] == "runs.unknown"
    assert "." not in found["path"]  # proxies take such a path for a file of their own


def test_a_qr_code_is_a_picture(site):
    answer = site.get("qr", text="https://example.org/?run=<script>")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "<script" not in answer.text


def test_boot_says_what_of_a_link_is_ignored(site):
    answer = site.get("boot", d_model="65", n_heads="8", tab="training").json()
    assert "d_model" in answer["notice"]
    assert "65" in answer["notice"]
    assert site.get("boot", n_heads="8").json()["notice"] in (None, "")


@pytest.mark.parametrize(("streams", "look"), [(1, 0.1), (5, 0.1), (10, 0.2), (25, 0.5), (300, 0.5)])
def test_a_lone_visitors_curve_grows_ten_times_a_second_and_one_of_manys_twice(streams, look):
    pace = routes.Pace()
    pace.streams = streams
    assert pace.look == pytest.approx(look)


def test_a_picture_of_a_run_that_trains_costs_what_the_models_threads_took_for_it_too(site, monkeypatch):
    def burn() -> None:
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass

    told = []

    def burning(view) -> dict:
        return {"step": 1, "blocks": [], "asked": view.reader._ask(burn, "burn")}

    monkeypatch.setattr(routes, "PANELS", {**PANELS, "training": burning, "sentence": burning})
    monkeypatch.setattr(routes.Pace, "asked", lambda pace, address, visitor, seconds: told.append(seconds))
    site.panel("training", run="reverse", text="costs", beside="sentence")
    assert told == [], "nobody waits for another picture of a run at rest"
    monkeypatch.setattr(Run, "working", True)
    assert "refresh_ms" in site.panel("training", run="reverse", text="costs as well", beside="sentence")
    assert len(told) == 1
    assert told[0] >= 0.1


@pytest.mark.parametrize(("name", "patience"), [("training", 0.0), ("translate", 0.25)])
def test_a_panel_and_the_sentence_beside_it_are_due_at_one_moment(site, monkeypatch, name, patience):
    """What is asked second doesn't wait behind a crowd once more; and who translates lets those go first who only look."""
    due, make = [], parallel._Question

    def asking(view) -> dict:
        view.reader._ask(lambda: None, "a question")
        return {"step": 1, "blocks": []}

    monkeypatch.setattr(parallel, "_Question", lambda work, kind, asked: due.append(asked) or make(work, kind, asked))
    monkeypatch.setattr(routes, "PANELS", {**PANELS, name: asking, "sentence": asking})
    before = time.monotonic()
    site.panel(name, run="reverse", text=f"one moment of {name}", beside="sentence")
    assert len(due) == 2
    assert due[0] == due[1]
    assert before + patience <= due[0] <= time.monotonic() + patience


@pytest.mark.parametrize("name", ["training", "attention", "data"])
def test_the_sentence_beside_a_panel_is_the_sentence(site, name):
    asked = {"run": "reverse", "text": "hello", "step": 0}
    beside, alone = site.panel(name, **asked, beside="sentence"), site.panel("sentence", **asked)
    assert beside["sentence"]["output"] == alone["output"]
    assert beside["sentence"]["step"] == 0
    assert beside["step"] == (None if name == "data" else 0)
    assert "sentence" not in site.panel(name, **asked)


def test_panel_and_sentence_are_of_one_step_though_the_run_goes_on_between_them(site, monkeypatch):
    """The model that the sentence is asked of may be newer than the one that the picture was made from: then the picture is made anew."""
    steps = iter([7, 9, 9, 9])
    panels = {name: lambda view: {"step": next(steps), "blocks": []} for name in ("training", "sentence")}
    monkeypatch.setattr(routes, "PANELS", {**PANELS, **panels})
    found = site.panel("training", run="reverse", text="goes on", beside="sentence")
    assert found["step"] == found["sentence"]["step"] == 9


def test_what_training_recorded_is_shown_beside_a_newer_sentence(site, monkeypatch):
    """It has steps of its own, which the sentence may never be of: nothing is made anew."""
    asked = []
    panels = {"diagnostics": lambda view: asked.append(view) or {"step": 4, "recorded": True, "blocks": []}}
    monkeypatch.setattr(routes, "PANELS", {**PANELS, **panels, "sentence": lambda view: {"step": 7, "blocks": []}})
    found = site.panel("diagnostics", run="reverse", text="recorded", beside="sentence")
    assert (found["step"], found["sentence"]["step"]) == (4, 7)
    assert len(asked) == 1
