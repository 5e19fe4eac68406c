"""The panel of health: its numbers are the run's, every run has some, and only its owner may turn the knob."""

from __future__ import annotations

import pytest

from playground.config import limits
from playground.ui.panels.diagnostics import QUANTITIES
from playground.words import LANGUAGES, say
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


def test_a_run_has_every_gauge_and_one_of_before_all_but_updates_and_says_why_no_curves(site, monkeypatch):
    panel = site.panel("diagnostics", run="reverse")
    assert gauges(panel) == list(QUANTITIES)
    assert {"reaching", "parts-course"} <= ids(panel)
    assert "no-curves" not in ids(panel)
    monkeypatch.setattr(site.runs.get("reverse").history, "diagnostics", None)
    drawn = {}
    for at, gauge in enumerate(QUANTITIES):
        language = LANGUAGES[at % len(LANGUAGES)]
        panel = site.panel("diagnostics", run="reverse", gauge=gauge, lang=language)
        assert gauges(panel) == [name for name in QUANTITIES if name != "update"]
        assert block(panel, "no-curves")["text"] == say(language, "diagnostics.no_curves")
        assert not ids(panel) & {"reaching", "parts-course"}
        drawn[gauge] = figures(panel)[0]["figure"]["data"]
    shapes = (
        len(drawn["gradient"][0]["y"]),
        len(drawn["dead"][0]["y"]),
        [len(row) for row in drawn["entropy"][0]["z"]],
        len(drawn["activation"]),
    )
    assert shapes == (13, 4, [4] * 6, 2)
    asked = [figures(site.panel("diagnostics", run="reverse", gauge=gauge))[0] for gauge in ("update", "gradient")]
    assert asked[0] == asked[1]  # a link that asks for what isn't there


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


def test_curves_and_gauges_are_what_was_recorded(site, run):
    table = run.history.diagnostics
    for gauge, quantity in QUANTITIES.items():
        panel = site.panel("diagnostics", run=run.id, gauge=gauge, route="1")
        assert (panel["step"], panel["recorded"]) == (12, True)
        course = block(panel, "parts-course")
        assert course["figure"]["data"][-1]["x"] == table.column("step")
        assert course["caption"].startswith("Encoder 1 self-attention: ") or gauge in ("dead", "entropy")
        if gauge in ("gradient", "update"):
            numbers = [*map(written, table.column(f"encoder.0.self_attention/{quantity}"))]
            assert course["figure"]["data"][-1]["customdata"] == numbers
            assert block(panel, "parts-now")["figure"]["data"][0]["text"][1] == numbers[-1]
    ends = [trace["customdata"][-1] for trace in block(panel, "reaching")["figure"]["data"]]
    assert ends == [written(table.column(f"{name}/gradient")[-1]) for name in ("memory", "encoder", "decoder")]


def test_it_obeys_the_replay(site, run):
    for step in (0, 1, 4, 12):
        panel = site.panel("diagnostics", run=run.id, step=step)
        assert (panel["step"], panel["recorded"]) == (step, step > 0)  # the replay's beginning, and the validations, are examined
        assert block(panel, "reaching")["figure"]["layout"]["shapes"][0]["x0"] == step
        assert f"step {step}" in block(panel, "parts-now")["title"]
    assert "update" not in gauges(site.panel("diagnostics", run=run.id, step=0))


def test_only_the_owner_of_a_run_that_can_go_on_may_turn_the_knob(site, run):
    live = site.train(MINE, KNOBS | {"steps": 100_000})
    wait(lambda: live.history.diagnostics)
    cases = [(run.id, MINE, "ended"), (run.id, THEIRS, "not_yours"), ("reverse", MINE, "not_yours")]
    for id, token, key in [*cases, (live.id, MINE, "open"), (live.id, THEIRS, "not_yours")]:
        panel = panel_of(site, token, "diagnostics", run=id)
        assert (block(panel, "live")["off"], block(panel, "knob-about")["text"]) == (key != "open", say("en", f"diagnostics.knob_{key}"))
    site.runs.delete(live.id, MINE)


def test_what_was_done_to_the_memory_is_said_and_drawn(site, run):
    run.history.events.append((4, "memory_mode", "cut"))
    for asked in ({"step": "12"}, {}):
        reaching = block(site.panel("diagnostics", run=run.id, **asked), "reaching")
        assert say("en", "diagnostics.changed_cut", step="4") in reaching["caption"]
        assert [note["text"] for note in reaching["figure"]["layout"]["annotations"]] == [say("en", "diagnostics.memory_cut")]
    run.history.events.pop()
