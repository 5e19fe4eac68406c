"""Processes beside the page's: who trains there, and what happens when one dies, hangs, or is left alone."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from playground.runs.engines import Lost, choice
from playground.runs.engines.children import Child
from playground.runs.runtime import Runtime
from tests.runs.tiny import CORPORA, ME, at_step, done, ended_as_if_alone, limits, tiny, wait

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="there is no forkserver here")
LONELY = """
import signal, sys, time
from pathlib import Path
from playground.runs.registry import Runs
from tests.runs.tiny import limits, tiny, wait

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a background job began with it ignored
    runs = Runs(Path(sys.argv[1]), None, limits(engine="processes"))
    wait(lambda: len(runs._workers.engines.ready) == 2, 120)
    run = runs.create(tiny(steps=100_000), "me")
    wait(lambda: run.step > 3)
    print(*(child.pid for child in runs._workers.engines.ready), flush=True)
    time.sleep(600)
"""


def test_which_engines_are_processes_of_their_own():
    for engine, cores, children in (("here", 2, 0), ("auto", 1, 0), ("auto", 2, 2), ("processes", 1, 1), ("processes", 2, 2)):
        engines = choice.Engines(CORPORA, limits(engine=engine, cores=cores), runtime=Runtime(spawn=lambda work, name: None))
        assert len(engines._children) == children, (engine, cores)


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_only_a_process_that_ended_by_itself_is_a_warning(caplog, level):
    def poll(seconds: float) -> bool:
        if level == logging.INFO:
            child.close()
        raise EOFError

    child = Child(0, Mock(**{"Pipe.return_value": (Mock(poll=poll), Mock())}), 1.0)
    with caplog.at_level(logging.INFO, "playground"), pytest.raises(Lost):
        child.start()
    assert [record.levelno for record in caplog.records if record.event == "process_ended"] == [level]


@pytest.fixture
def beside(serve):
    """beside() -> Runs whose processes are ready."""

    def start(**values):
        runs = serve(limits(engine="processes", **values))
        wait(lambda: runs.count()["processes"] == runs.limits.cores, 120)
        return runs

    return start


def trainer(runs, run):
    return runs._workers._jobs[run.id].trainer


def process_of(runs, run):
    return trainer(runs, run).lane.pid


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def check_ended_as_if_alone(made, experiments):
    for run, experiment in zip(map(done, made), experiments, strict=True):
        ended_as_if_alone(run, experiment)


@pytest.mark.fault("kill -9 or SIGSTOP of a process that trains", "it is replaced, and its runs go on")
@pytest.mark.night
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_killed_or_stuck_a_process_is_replaced_and_its_runs_go_on(beside, number):
    runs = beside(turn_seconds=0.05, step_seconds=12.0)
    experiments = [tiny(steps=300, seed=seed) for seed in (1, 2, 3)]
    made = [runs.create(experiment, ME) for experiment in experiments]
    for run in made:
        at_step(run, 5)
        runs._workers.save(run)
    killed, other = process_of(runs, made[0]), process_of(runs, made[1])
    assert killed == process_of(runs, made[2])
    os.kill(killed, number)
    check_ended_as_if_alone(made, experiments)
    assert not alive(killed)
    assert alive(other)


@pytest.mark.fault("a leak in one run: its process holds far more than its training should take",
                   "it is replaced; its run goes on from its last save")  # fmt: skip
@pytest.mark.night
def test_where_there_is_no_memory_left_a_process_that_grows_is_replaced(beside, monkeypatch, caplog):
    runs = beside()
    experiments = [tiny(steps=200, seed=seed) for seed in (1, 2)]
    made = [runs.create(experiment, ME) for experiment in experiments]
    for run in made:
        at_step(run, 5)
        runs._workers.save(run)
    grown, other = (process_of(runs, run) for run in made)
    monkeypatch.setattr(choice, "own_bytes", lambda pid: 10**12 if pid == grown else choice.LEAK_BYTES)
    runs._housekeeper.free_memory()
    assert alive(grown), "there is memory"
    runs.memory.limit, limit = 1, runs.memory.limit
    runs._housekeeper.free_memory()
    runs.memory.limit = limit
    assert not alive(grown)
    assert "process_grew" in caplog.text
    check_ended_as_if_alone(made, experiments)
    assert alive(other)


@pytest.mark.fault("kill -9 of the server", "no process that trained for it stays")
@pytest.mark.night
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_the_one_that_asks_them(tmp_path, number):
    (tmp_path / "lonely.py").write_text(LONELY)
    command = [sys.executable, str(tmp_path / "lonely.py"), str(tmp_path / "data")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    pids = [int(pid) for pid in server.stdout.readline().split()]
    assert len(pids) == 2
    assert all(map(alive, pids))
    server.send_signal(number)
    server.wait(60)
    wait(lambda: not any(map(alive, pids)), 10)
