"""kill -9: whatever the process was doing, the run can be read back and goes on as if it had not been cut."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs.tiny import alone, curve, same_replay, tiny, wait

ROOT = Path(__file__).parents[3]
TOKEN = "survivor"

# A server that saves after every step. It says how far it is, and in the middle of its `crash`-th save it kills itself.
SERVER = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from playground.runs.disk import files
from playground.runs.queue import jobs
from playground.runs.registry import Runs
from tests.runs.tiny import limits, tiny, wait

jobs.SAVE_SHARE = 1e9  # save, whatever it costs
folder, crash = Path(sys.argv[1]), int(sys.argv[2])
runs, real, saves = Runs(folder, None, limits(save_seconds=0.0)), files.replace_folder, []

def replace_folder(path, *arguments, **options):
    saves.append(path)
    if len(saves) == crash:  # the new folder is written and the old one moved away, but the new one is not in its place
        Path.rename = lambda self, target, rename=Path.rename: (rename(self, target), os.kill(os.getpid(), signal.SIGKILL))
    real(path, *arguments, **options)
    print(len(saves), flush=True)

files.replace_folder = replace_folder
mine = runs.mine("survivor")
if mine:
    runs.resume(mine[0].id, "survivor")
else:
    mine = [runs.create(tiny(steps=60), "survivor", label="<b>tough</b>")]
wait(lambda: not mine[0].working, 120)
"""


def server(folder: Path, crash: int) -> subprocess.Popen:
    command = [sys.executable, "-c", SERVER, str(folder), str(crash)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "runs").iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
@pytest.mark.parametrize("again", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_killed_the_run_is_what_it_would_have_been(serve, tmp_path, again):
    """In the middle of a save; and again from outside, by whatever it does then."""
    folder = tmp_path / "data"
    first = server(folder, crash=8)
    assert first.wait(120) == -signal.SIGKILL
    assert {name[22:] for name in kept(folder)} == {".new", ".old"}  # in the middle of the swap

    if again:
        second = server(folder, crash=0)
        for line in second.stdout:
            if int(line) >= 9:
                second.kill()
        assert second.wait(120) == -signal.SIGKILL

    runs = serve(folder=folder)
    (run,) = runs.mine(TOKEN)
    assert run.status == "interrupted"
    assert run.label == "<b>tough</b>"
    assert (12 if again else 6) <= run.step == run.checkpoint_step < 60
    assert len(run.history.steps) == run.step
    assert kept(folder) == [run.id]
    runs.resume(run.id, TOKEN)
    wait(lambda: not run.working)
    twin, _ = alone(tiny(steps=60))
    assert run.status == "done"
    assert curve(run) == curve(twin)
    assert run.history.validations.rows() == twin.history.validations.rows()
    assert same_replay(run, twin)


@pytest.mark.slow
def test_a_server_that_ends_by_itself_leaves_in_order(tmp_path):
    """The interpreter's exit closes the runs: no abort by a thread that still trains, and the run is saved."""
    code = """
from pathlib import Path
import sys
from playground.runs.registry import Runs
from tests.runs.tiny import limits, tiny, wait
runs = Runs(Path(sys.argv[1]), None, limits(cores=1))
run = runs.create(tiny(steps=100_000), "survivor")
wait(lambda: run.step > 3)
"""
    found = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stderr) == (0, "")
    (folder,) = (tmp_path / "runs").iterdir()
    assert '"status":"interrupted"' in (folder / "run.json").read_text()
    assert (folder / "state.safetensors").exists()
