"""Every benchmark runs, with settings so small that its numbers mean nothing, and says what it promises to say."""

import json
from argparse import Namespace
from contextlib import nullcontext

import pytest

from benchmarks import modes, page, suite
from benchmarks.browser import INSTALL
from benchmarks.page.costs import ROWS, Spent
from benchmarks.page.panels import NAMES
from benchmarks.server import Server
from benchmarks.tables import markdown, percentile, ratio, shown, summary
from benchmarks.time_to_target import _ratios, _rows
from playground.config import Refusal

SUMMARY = {"median", "low", "high", "values"}


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        yield server


@pytest.fixture
def one_server(server, monkeypatch):
    """The same server for all: starting one takes longer than all the rest."""
    for module in (modes, page):
        monkeypatch.setattr(module, "Server", lambda: nullcontext(server))


def result_of(capsys, *arguments: str) -> dict:
    code, said = suite.main([*arguments, "--smoke", "--json"]), capsys.readouterr()
    if INSTALL in said.err:
        pytest.skip(INSTALL)
    assert code == 0, said.err
    result = json.loads(said.out.splitlines()[-1])
    assert result["benchmark"] == arguments[0]
    assert result["machine"].keys() >= {"processor", "cores", "memory_gb", "device", "versions", "load_before"}
    assert result["machine"]["versions"].keys() >= {"python", "torch", "gradio"}
    assert suite.load(arguments[0]).table(
        result if arguments[0] != "page" else {name: result[name] for name in page.PARTS if name in result}
    )
    return result


@pytest.mark.parametrize("name", suite.BENCHMARKS)
def test_smoke_settings_are_options(name):
    assert suite.load(name).SMOKE.keys() <= vars(suite.read_options(name, [])).keys()


def test_the_list_names_every_benchmark(capsys):
    assert suite.main(["--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == list(suite.BENCHMARKS)


def test_a_knob_is_checked_before_anything_runs(capsys):
    with pytest.raises(SystemExit):
        suite.main(["tasks", "--set", "d_model=63"])
    assert "64" in capsys.readouterr().err
    assert suite.read_options("tasks", ["--set", "d_model=32", "bias=off"]).set == [("d_model", 32), ("bias", False)]


def test_an_unknown_name_is_refused_with_those_that_are_known(capsys):
    with pytest.raises(SystemExit):
        suite.main(["time_to_target", "--modes", "headless,asleep"])
    assert "'asleep' is none of headless, replay, page" in capsys.readouterr().err


@pytest.mark.parametrize("problem", [suite.Missing(INSTALL), Refusal("config.not_a_config")])
def test_what_is_missing_is_one_line(problem, capsys, monkeypatch):
    def run(options: Namespace) -> dict:
        raise problem

    monkeypatch.setattr(suite.load("tasks"), "run", run)
    assert suite.main(["tasks", "--smoke"]) == 2
    assert capsys.readouterr().err.strip() == f"tasks: {problem}"


@pytest.mark.night
def test_tasks(capsys, tmp_path):
    kept = tmp_path / "tasks.md"
    result = result_of(capsys, "tasks", "--out", str(kept))
    assert [(row["task"], row["variant"]) for row in result["rows"]] == [
        ("reverse", "default"),
        ("reverse", "no_positions"),
        ("beer", "paper_size"),
    ]
    for row in result["rows"]:
        assert row["heldout"].keys() == row["seconds"].keys() == SUMMARY
        assert len(row["heldout"]["values"]) == result["seeds"] == 2
        assert row["parameters"] > 0
        assert (row["harder"] is None) == (row["pairs"]["harder"] == 0) == (row["task"] == "beer")
    assert [row["steps"] for row in result["rows"]] == [3, 3, 3]
    text = kept.read_text(encoding="utf-8")
    assert "Machine:" in text
    assert "| beer" in text


@pytest.mark.night
def test_no_part_of_the_table_replaces_the_kept_one(capsys):
    assert result_of(capsys, "tasks", "--tasks", "sort", "--variants", "default")["kept"] is None


@pytest.mark.night
def test_time_to_target(capsys, one_server):
    result = result_of(capsys, "time_to_target", "--first-seed", "5")
    assert result["first_seed"] == 5
    assert [row["mode"] for row in result["rows"]] == ["headless", "replay"]
    for row in result["rows"]:
        assert row.keys() == {"task", "preset", "mode", "seconds", "shown", "steps", "reached", "of", "others"}
        assert row["seconds"].keys() == SUMMARY
        assert row["reached"] == row["of"] == 1
    alone, replay = result["trainings"]
    assert alone["seed"] == replay["seed"] == 5
    assert 0 <= alone["others"] <= 1
    assert alone["preparing"] + alone["validating"] < alone["seconds"]
    assert result["ratios"][0]["ratio"]["median"] == pytest.approx(replay["seconds"] / alone["seconds"])


@pytest.mark.browser
@pytest.mark.night
def test_time_to_target_with_the_page_open(capsys, one_server):
    result = result_of(capsys, "time_to_target", "--modes", "page", "--presets", "fast")
    (row,) = result["rows"]
    assert row["reached"] == 1
    assert 0 < row["shown"]["median"] < 60
    assert result["chromium"]


def test_a_target_that_is_never_reached_counts_as_later_than_any(capsys):
    times = [(1, "headless", 2.0), (2, "headless", None), (3, "headless", None), (1, "page", 3.0), (2, "page", 9.0), (3, "page", 5.0)]
    found = [
        {
            "task": "t",
            "preset": "default",
            "mode": mode,
            "seed": seed,
            "seconds": took or 99.0,
            "reached": bool(took),
            "step": 1,
            "others": 0,
        }
        for seed, mode, took in times
    ]
    alone, watched = _rows(found)
    assert (alone["seconds"]["median"], alone["seconds"]["low"], alone["reached"]) == (None, 2.0, 1)
    assert (watched["seconds"]["median"], watched["reached"]) == (5.0, 3)
    (only,) = _ratios(found)
    assert (only["of"], only["to"], only["ratio"]["values"]) == ("default page", "default headless", [1.5])


@pytest.mark.night
def test_page(capsys, one_server):
    result = result_of(capsys, "page")
    costs = {row["what"]: row for row in result["costs"]["rows"]}
    assert costs.keys() == ROWS.keys()
    assert costs["step"]["times"]["median"] == result["costs"]["steps"] == 8
    assert costs["step"]["share"]["median"] == 1
    assert costs["replay"]["times"]["median"] == 9  # every step, and before the first
    assert costs["validation"]["times"]["median"] == 2  # at step 5 and at the end
    assert result["costs"]["all"].keys() == {"unwatched", "watched"}
    assert {row["panel"] for row in result["panels"]["rows"]} == set(NAMES)
    for row in result["panels"]["rows"]:
        assert 0 < row["idle"]["median"] <= row["idle"]["p95"]
        assert row["training"]["median"] > 0
    alone, watched = result["streams"]["rows"]
    assert (alone["streams"], watched["streams"]) == (0, 2)
    assert alone["updates"]["median"] == 0 < watched["updates"]["median"]
    assert watched.keys() == {
        *("streams", "updates", "panels", "serving", "clients", "bytes", "steps", "lost", "lost_of_left")
    }
    assert result["together"] == [
        {"visitors": row["streams"], "share": result["costs"]["recording"]["median"] + row["lost"]["median"]} for row in (alone, watched)
    ]


def test_what_happens_inside_something_measured_belongs_to_the_outer_one():
    spent = Spent()
    with spent.on("replay"), spent.on("live"):
        pass
    with spent.on("live"):
        pass
    assert spent.times == {"replay": 1, "live": 1}
    assert spent.seconds.keys() == {"replay", "live"}


def test_summaries():
    assert summary([3, 1, 2]) == {"median": 2, "low": 1, "high": 3, "values": [3, 1, 2]}
    assert summary([1.0, None, 2.0, None]) == {"median": None, "low": 1.0, "high": None, "values": [1.0, None, 2.0, None]}
    assert shown(summary([3, 1, 2]), ratio) == "2.00 (1.00 to 3.00)"
    assert shown(summary([2.0, 3.0, None]), ratio) == "3.00 (2.00 to never)"
    assert shown(summary([2]), ratio) == "2.00"
    assert shown(summary([]), ratio) == shown({}, ratio) == "–"


def test_percentile_is_a_value_that_occurred():
    assert percentile([5, 1, 4, 2, 3], 0.5) == 3
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([7], 0.95) == 7
    with pytest.raises(ValueError):
        percentile([], 0.5)


def test_a_table_has_text_at_the_left_and_numbers_at_the_right():
    lines = markdown(("task", "how", "seconds"), [("sort", "alone", "1.5 (1.0 to 2.0)"), ("reverse", "page", "–")]).splitlines()
    assert lines == [
        "| task    | how   |          seconds |",
        "| ------- | ----- | ---------------: |",
        "| sort    | alone | 1.5 (1.0 to 2.0) |",
        "| reverse | page  |                – |",
    ]
