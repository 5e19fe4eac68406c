"""The panel of health: its numbers are the run's, every run has some, and only its owner may turn the knob."""

from __future__ import annotations

import time

import pytest

from playground.config import limits
from playground.ui.panels.diagnostics import QUANTITIES
from playground.ui.routes import PREFIX
from playground.words import LANGUAGES, say
from tests.ui.panels.looking import TINY as VARIANT
from tests.ui.test_routes import blocks_of

TINY = VARIANT | {
    "steps": 12,
    "eval_every": 4,
}
MINE, THEIRS = "h" * 32, "i" * 32


@pytest.fixture(scope="module")
def run(site):
    run = site.train(MINE, TINY)
    end = time.monotonic() + 60
    while run.status != "done":
        assert time.monotonic() < end, run.message
        time.sleep(0.02)
    yield run
    site.runs.delete(run.id, MINE)


def block(panel: dict, id: str) -> dict:
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == id)


def ids(panel: dict) -> set[str]:
    return {block["id"] for block in blocks_of(panel["blocks"])}


@pytest.mark.sample(1)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shipped_run_has_every_gauge_and_its_curves(site, language):
    for gauge in QUANTITIES:
        panel = site.panel("diagnostics", run="reverse", gauge=gauge, lang=language)
        assert [option["value"] for option in block(panel, "gauge")["options"]] == list(QUANTITIES)
        assert {"reaching", "parts-course"} <= ids(panel)
        assert "no-curves" not in ids(panel)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_run_of_before_has_every_gauge_but_updates_and_says_why_no_curves(site, language, monkeypatch):
    monkeypatch.setattr(site.runs.get("reverse").history, "diagnostics", None)
    gauges = {}
    for gauge in QUANTITIES:
        panel = site.panel("diagnostics", run="reverse", gauge=gauge, lang=language)
        offered = [option["value"] for option in block(panel, "gauge")["options"]]
        assert offered == [name for name in QUANTITIES if name != "update"]
        assert block(panel, "no-curves")["text"] == say(language, "diagnostics.no_curves")
        assert not ids(panel) & {"reaching", "parts-course"}
        gauges[gauge] = next(b for b in blocks_of(panel["blocks"]) if b["kind"] == "figure")
        assert gauges[gauge]["caption"]
    assert gauges["update"] == gauges["gradient"]  # a link that asks for what isn't there
    assert len(gauges["gradient"]["figure"]["data"][0]["y"]) == 13
    assert len(gauges["dead"]["figure"]["data"][0]["y"]) == 4
    assert [len(row) for row in gauges["entropy"]["figure"]["data"][0]["z"]] == [4] * 6
    assert len(gauges["activation"]["figure"]["data"]) == 2


@pytest.mark.trust
def test_cut_the_table_says_exactly_0_where_nothing_arrives(site):
    rows = {row[0]: row[1:] for row in block(site.panel("diagnostics", run="reverse"), "three")["rows"]}
    assert list(rows) == [say("en", f"diagnostics.memory_{memory}") for memory in limits("memory_mode").choices]
    assert rows[say("en", "diagnostics.memory_cut")][:2] == ["0", "0"]
    assert all(float(number) > 0 for memory in ("whole", "mean") for number in rows[say("en", f"diagnostics.memory_{memory}")])


@pytest.mark.trust
def test_formula_and_count_stand_side_by_side_and_agree(site):
    panel = site.panel("diagnostics", run="german_english")
    rows = block(panel, "costs-table")["rows"]
    assert all(row[1] == row[2] and row[3] == row[4] for row in rows)
    assert say("en", "diagnostics.agree") in block(panel, "costs-said")["text"]
    total = sum(parameter.numel() for parameter in site.reader.model_at(site.runs.get("german_english"), None)[0].parameters())
    assert rows[-1][1] == f"{total:,}"
    same = say("en", "diagnostics.heads_same", heads="1, 2, 4, 8", parameters=rows[-1][1], flops=rows[-1][3])
    assert same in block(panel, "costs-said")["text"]


def test_a_run_that_was_told_has_its_curves_and_updates(site, run):
    table = run.history.diagnostics
    steps = table.column("step")
    for gauge, quantity in QUANTITIES.items():
        panel = site.panel("diagnostics", run=run.id, gauge=gauge, route="1")
        assert (panel["step"], panel["recorded"]) == (12, True)
        course = block(panel, "parts-course")
        assert course["figure"]["data"][-1]["x"] == steps
        assert course["caption"].startswith("Encoder 1 self-attention: ") or gauge in ("dead", "entropy")
        if gauge in ("gradient", "update"):
            numbers = table.column(f"encoder.0.self_attention/{quantity}")
            assert course["figure"]["data"][-1]["customdata"] == [f"{number:.3g}" for number in numbers]
            assert block(panel, "parts-now")["figure"]["data"][0]["text"][1] == f"{numbers[-1]:.3g}"
    reaching = block(panel, "reaching")["figure"]["data"]
    assert [trace["customdata"][-1] for trace in reaching] == [
        f"{table.column(f'{name}/gradient')[-1]:.3g}" for name in ("memory", "encoder", "decoder")
    ]


def test_it_obeys_the_replay(site, run):
    for step in (0, 1, 4, 12):
        panel = site.panel("diagnostics", run=run.id, step=step)
        assert panel["step"] == step  # the replay's beginning, and the validations, are examined
        assert panel["recorded"] == (step > 0)
        assert block(panel, "reaching")["figure"]["layout"]["shapes"][0]["x0"] == step
        assert f"step {step}" in block(panel, "parts-now")["title"]
    assert "update" not in [option["value"] for option in block(site.panel("diagnostics", run=run.id, step=0), "gauge")["options"]]


def test_only_the_owner_of_a_run_that_can_go_on_may_turn_the_knob(site, run):
    def knob(id: str, token: str) -> tuple[bool, str]:
        panel = site.http.get(f"{PREFIX}/panel/diagnostics", params={"run": id}, headers={"X-Playground-Token": token}).json()
        return block(panel, "live")["off"], block(panel, "knob-about")["text"]

    assert knob(run.id, MINE) == (True, say("en", "diagnostics.knob_ended"))
    assert knob(run.id, THEIRS) == knob("reverse", MINE) == (True, say("en", "diagnostics.knob_not_yours"))
    mine = site.train(MINE, TINY | {"steps": 100_000})
    end = time.monotonic() + 60
    while not mine.history.diagnostics:
        assert time.monotonic() < end, mine.message
        time.sleep(0.02)
    assert knob(mine.id, MINE) == (False, say("en", "diagnostics.knob_open"))
    assert knob(mine.id, THEIRS)[0]
    site.runs.delete(mine.id, MINE)


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("more", [{"width": "390"}, {"dark": "1"}, {"gauge": "<b>"}, {"route": "99"}, {"route": "-1"}, {"step": "9" * 9}])
def test_in_every_dress(site, run, language, more):
    for id in (run.id, "numbers_zh"):
        panel = site.panel("diagnostics", run=id, lang=language, **more)
        assert "error" not in panel
        assert all(b["caption"] and b["title"] for b in blocks_of(panel["blocks"]) if b["kind"] == "figure")


def test_what_was_done_to_the_memory_is_said_and_drawn(site, run):
    run.history.events.append((4, "memory_mode", "cut"))
    try:
        panel = site.panel("diagnostics", run=run.id, step="12")
        found = block(panel, "reaching")
        assert say("en", "diagnostics.changed_cut", step="4") in found["caption"]
        assert [note["text"] for note in found["figure"]["layout"]["annotations"]] == [say("en", "diagnostics.memory_cut")]
        assert say("en", "diagnostics.changed_cut", step="4") in block(site.panel("diagnostics", run=run.id), "reaching")["caption"]
    finally:
        run.history.events.pop()
