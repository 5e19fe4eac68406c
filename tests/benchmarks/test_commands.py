"""The command line of the benchmarks: every one runs with settings so small that its numbers mean nothing, and adds up what it promises."""

import json
from contextlib import nullcontext
from importlib.util import find_spec

import pytest

from benchmarks import modes, page, suite
from benchmarks.browser import INSTALL
from benchmarks.server import Server
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
    (("time_to_target", "--modes", "headless,asleep"), "'asleep' is none of headless, replay, page"),
    (("own", "--corpora", "scan_length", "--smoke", "--data", "nowhere"), "tasks_train_length.txt.gz"),
    (("real", "--tasks", "scan", "--smoke", "--data", "nowhere"), "tasks_train_simple.txt.gz"),
])  # fmt: skip
def test_wrong_options_and_files_that_are_not_there_are_named(capsys, arguments, reason):
    try:
        assert suite.main(arguments) == 2
    except SystemExit:
        assert "--data" not in arguments
    assert reason in capsys.readouterr().err


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        yield server


@pytest.fixture
def one_server(server, monkeypatch):
    """The same server for all: starting one takes longer than all the rest."""
    for module in (modes, page):
        monkeypatch.setattr(module, "Server", lambda: nullcontext(server))


@pytest.mark.night
@pytest.mark.parametrize(("name", "options"), [
    ("tasks", ()), ("many_runs", ("--first-seed", "7")), ("many_runs", ("--parts", "waiting", "--target", "2")), ("real", ()),
    ("labs", ()), ("growth", ("--parts", "steps,memory")), ("engines", ()), ("forecast", ()),
    ("soak", ()), ("hostile", ("--calls", "1000")), ("peers", ()), ("decoding", ()), ("page", ()),
    ("step_rate", ()), ("time_to_target", ("--first-seed", "5")),
])  # fmt: skip
def test_it_runs(name, options, capsys, one_server):
    result = result_of(capsys, name, *options)
    assert not result.get("problems")
    assert not [fault for fault, count in result.get("faults", {}).items() if count and fault != "slow"]
    assert name != "engines" or [row["engine"] for row in result["rows"]] == ["here", "processes", *(["ray"] if find_spec("ray") else [])]


@pytest.mark.night
def test_a_class_of_eight_meets_no_error_hears_no_secret_and_none_waits_for_ever(capsys):
    result = result_of(capsys, "classroom", "--students", "8", "--minutes", "0.5", "--every", "10")
    assert result["errors"] == result["leaks"] == {}
    assert result["training"]["least"] >= 0.8 / FAIR_EVERY, "every FAIR_EVERY-th turn goes round"
    assert result["heard"] > 100_000
    assert result["times"]["joining"]["count"] == 9
    assert result["times"].keys() >= {"own run", "what the teacher shows", "guessing", "what the class guessed", "board", "translating"}
    assert all(0 < times["median"] <= times["p95"] <= times["p99"] for times in result["times"].values())
