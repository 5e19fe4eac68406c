"""The command line of the benchmarks: every one runs with settings so small that its numbers mean nothing, and adds up what it promises."""

import json

import pytest

from benchmarks import page, suite
from benchmarks.page import INSTALL
from playground.runs.queue.scheduler import FAIR_EVERY


def result_of(capsys, *arguments: str) -> dict:
    code, output = suite.main([*arguments, "--smoke", "--json"]), capsys.readouterr()
    if INSTALL in output.err:
        pytest.skip(INSTALL)
    assert code == 0, output.err
    result = json.loads(output.out.splitlines()[-1])
    assert result["benchmark"] == arguments[0]
    assert result["machine"].keys() >= {"processor", "cores", "memory_gb", "device", "versions", "load_before"}
    assert suite.load(arguments[0]).table({name: result[name] for name in page.PARTS if name in result} or result)
    return result


def test_the_list_names_every_benchmark_and_smoke_settings_are_options(capsys):
    assert suite.main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(suite.BENCHMARKS)
    for name in suite.BENCHMARKS:
        assert suite.load(name).SMOKE.keys() <= vars(suite.read_options(name, [])).keys(), name
    assert suite.read_options("tasks", ["--set", "d_model=32", "bias=off"]).set == [("d_model", 32), ("bias", False)]
    assert [row["steps"] for row in result_of(capsys, "tasks", "--tasks", "reverse")["rows"]] == [3, 3]


@pytest.mark.parametrize(("arguments", "reason"), [
    (("tasks", "--set", "d_model=63"), "64"), (("--smoke", "tasks"), "NAME comes first"), (("--nothing",), "--nothing"),
    (("page", "--parts", "start,end"), "'end' is none of start, first_load, panels"),
    (("real", "--tasks", "scan", "--smoke", "--data", "nowhere"), "tasks_train_simple.txt.gz"),
])  # fmt: skip
def test_wrong_options_and_files_that_are_not_there_are_named(capsys, arguments, reason):
    try:
        assert suite.main(arguments) == 2
    except SystemExit:
        assert "--data" not in arguments
    assert reason in capsys.readouterr().err


@pytest.mark.night
@pytest.mark.parametrize("name", ["tasks", "real", "labs", "peers", "decoding", "page", "step_rate"])
def test_it_runs(name, capsys):
    result_of(capsys, name)


@pytest.mark.night
def test_a_class_of_eight_meets_no_error_hears_no_secret_and_none_waits_for_ever(capsys):
    result = result_of(capsys, "classroom", "--students", "8", "--minutes", "0.5", "--every", "10")
    assert result["errors"] == result["leaks"] == {}
    assert result["training"]["least"] >= 0.8 / FAIR_EVERY, "every FAIR_EVERY-th turn goes round"
    assert result["heard"] > 100_000
    assert result["times"]["joining"]["count"] == 9
    assert result["times"].keys() >= {"own run", "what the teacher shows", "guessing", "what the class guessed", "board", "translating"}
    assert all(0 < times["median"] <= times["p95"] <= times["p99"] for times in result["times"].values())
