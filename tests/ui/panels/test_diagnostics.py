"""The panel of health: its numbers are the run's, every run has some, and only its owner may turn the knob."""

from __future__ import annotations

import pytest

from playground.config import limits
from playground.ui.panels.diagnostics import QUANTITIES
from playground.words import say
from tests.runs.tiny import done, wait
from tests.ui.panels.looking import TINY, block, figures, ids, panel_of

KNOBS = TINY | {"steps": 12, "eval_every": 4}
MINE, THEIRS = "h" * 32, "i" * 32


@pytest.fixture(scope="module")
def run(site):
    run = done(site.train(MINE, KNOBS))
    yield run
    site.runs.delete(run.id, MINE)


def written(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def gauges(panel: dict) -> list[str]:
    return [option["value"] for option in block(panel, "gauge")["options"]]


def test_a_run_of_before_has_every_gauge_but_updates_and_says_why_no_curves(site, monkeypatch):
    assert gauges(site.panel("diagnostics", run="reverse")) == list(QUANTITIES)
    monkeypatch.setattr(site.runs.get("reverse").history, "diagnostics", None)
    panels = {gauge: site.panel("diagnostics", run="reverse", gauge=gauge) for gauge in QUANTITIES}
    for panel in panels.values():
        assert gauges(panel) == [name for name in QUANTITIES if name != "update"]
        assert block(panel, "no-curves")["text"] == say("en", "diagnostics.no_curves")
        assert not ids(panel) & {"reaching", "parts-course"}
    drawn = {gauge: figures(panel)[0]["figure"]["data"] for gauge, panel in panels.items()}
    assert (len(drawn["gradient"][0]["y"]), len(drawn["dead"][0]["y"]), len(drawn["activation"])) == (13, 4, 2)
    assert [len(row) for row in drawn["entropy"][0]["z"]] == [4] * 6


@pytest.mark.trust
def test_cut_the_table_says_exactly_0_where_nothing_arrives(site):
    rows = {row[0]: row[1:] for row in block(site.panel("diagnostics", run="reverse"), "three")["rows"]}
    assert list(rows) == [say("en", f"diagnostics.memory_{memory}") for memory in limits("memory_mode").choices]
    assert rows[say("en", "diagnostics.memory_cut")][:2] == ["0", "0"]
    assert all(float(number) > 0 for memory in ("whole", "mean") for number in rows[say("en", f"diagnostics.memory_{memory}")])


@pytest.mark.trust
def test_formula_and_count_stand_side_by_side_and_agree(site):
    panel = site.panel("diagnostics", run="german_english")
    rows, text = block(panel, "costs-table")["rows"], block(panel, "costs-said")["text"]
    assert all(row[1] == row[2] and row[3] == row[4] for row in rows)
    assert say("en", "diagnostics.agree") in text
    total = sum(parameter.numel() for parameter in site.reader.model_at(site.runs.get("german_english"), None)[0].parameters())
    assert rows[-1][1] == f"{total:,}"
    assert say("en", "diagnostics.heads_same", heads="1, 2, 4, 8", parameters=rows[-1][1], flops=rows[-1][3]) in text


def test_curves_and_gauges_are_what_was_recorded_at_the_step_of_the_replay(site, run):
    """What was done to the memory is said and drawn there."""
    table = run.history.diagnostics
    for gauge, quantity in QUANTITIES.items():
        panel = site.panel("diagnostics", run=run.id, gauge=gauge, route="1")
        assert (panel["step"], panel["recorded"]) == (12, True)
        course = block(panel, "parts-course")
        assert course["figure"]["data"][-1]["x"] == table.column("step")
        if gauge in ("gradient", "update"):
            numbers = [*map(written, table.column(f"encoder.0.self_attention/{quantity}"))]
            assert course["figure"]["data"][-1]["customdata"] == numbers
            assert block(panel, "parts-now")["figure"]["data"][0]["text"][1] == numbers[-1]
    ends = [trace["customdata"][-1] for trace in block(panel, "reaching")["figure"]["data"]]
    assert ends == [written(table.column(f"{name}/gradient")[-1]) for name in ("memory", "encoder", "decoder")]
    run.history.events.append((4, "memory_mode", "cut"))
    for step in (0, 1, 4, 12):
        panel = site.panel("diagnostics", run=run.id, step=step)
        assert (panel["step"], panel["recorded"]) == (step, step > 0)  # the replay's beginning, and the validations, are examined
        reaching = block(panel, "reaching")
        assert reaching["figure"]["layout"]["shapes"][0]["x0"] == step
        assert ("update" in gauges(panel)) == (step > 0)
    run.history.events.pop()
    assert say("en", "diagnostics.changed_cut", step="4") in reaching["caption"]
    assert [note["text"] for note in reaching["figure"]["layout"]["annotations"]] == [say("en", "diagnostics.memory_cut")]


def test_only_the_owner_of_a_run_that_can_go_on_may_turn_the_knob(site, run):
    live = site.train(MINE, KNOBS | {"steps": 100_000})
    wait(lambda: live.history.diagnostics)
    cases = [(run.id, MINE, "ended"), (run.id, THEIRS, "not_yours"), ("reverse", MINE, "not_yours")]
    for id, token, key in [*cases, (live.id, MINE, "open"), (live.id, THEIRS, "not_yours")]:
        panel = panel_of(site, token, "diagnostics", run=id)
        assert (block(panel, "live")["off"], block(panel, "knob-about")["text"]) == (key != "open", say("en", f"diagnostics.knob_{key}"))
    site.runs.delete(live.id, MINE)
