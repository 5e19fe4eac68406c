"""The panel of health: its numbers are the run's, every run has some, and only its owner may turn the knob."""

import pytest

from playground.config import limits
from playground.features.diagnostics.panel import QUANTITIES
from playground.words import say
from tests.runs.tiny import done
from tests.ui.looking import TINY, block

KNOBS = TINY | {"steps": 12, "eval_every": 4}
MINE = "h" * 32


@pytest.fixture(scope="module")
def run(site):
    return done(site.train(MINE, KNOBS))


def written(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


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
    run.history.events.pop()
    assert say("en", "diagnostics.changed_cut", step="4") in block(panel, "reaching")["caption"]
