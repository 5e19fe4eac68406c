"""kill -9: whatever the process was doing, the run can be read back and goes on as if it had not been cut."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from playground.runs.disk import files
from playground.runs.disk.folder import Folder
from tests.runs.by_hand import ordered
from tests.runs.tiny import ended_as_if_alone, tiny

ROOT = Path(__file__).parents[3]
TOKEN = "survivor"

POINTS = {  # of a save: what stands beside the run's folder then
    "write": {"", ".old", ".new"},  # the weights are half written
    "marker": {"", ".old", ".new"},  # everything but run.json
    "moved": {"", ".gone", ".new"},  # the save before has been moved away
    "between": {".old", ".gone", ".new"},  # neither is in its place
    "renamed": {"", ".old", ".gone"},  # the new one is in its place
}
# A server that saves after every step. At a point of its eighth save it kills itself.
SERVER = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from playground.runs.disk import files
from playground.runs.queue import saving
from playground.runs.registry import Runs
from tests.runs.tiny import limits, tiny, wait

saving.SAVE_SHARE = 1e9  # save, whatever it costs
replace, rename, write = files.replace_folder, Path.rename, files._write_new
point, saves = sys.argv[2], []

def end_at(here):
    if len(saves) == 8 and here == point:
        os.kill(os.getpid(), signal.SIGKILL)

def rename_and_end(self, target):
    rename(self, target)
    end_at({".gone": "moved", ".old": "between", "": "renamed"}[Path(target).suffix])

def write_and_end(path, data):
    if path.name == "run.json":
        end_at("marker")
    half = path.name == "weights.safetensors" and len(saves) == 8 and point == "write"
    write(path, data[: len(data) // 2] if half else data)
    end_at("write" if half else "")

def replace_folder(path, *arguments, **options):
    saves.append(path)
    replace(path, *arguments, **options)

files.replace_folder, Path.rename, files._write_new = replace_folder, rename_and_end, write_and_end
runs = Runs(Path(sys.argv[1]), None, limits(save_seconds=0.0))
run = runs.create(tiny(), "survivor", label="<b>tough</b>")
wait(lambda: not run.working, 120)
"""


@pytest.mark.fault("kill -9 at each point of a save", "the run is whole, and resumed it becomes what it would have become, bit for bit")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
@pytest.mark.parametrize("point", ["moved", *(pytest.param(point, marks=pytest.mark.night) for point in POINTS if point != "moved")])
def test_killed_the_run_is_what_it_would_have_been(world, point):
    folder = world.folder
    world.end(killed=False)
    server = subprocess.run([sys.executable, "-c", SERVER, str(folder), point], cwd=ROOT, timeout=120, check=False)
    assert server.returncode == -signal.SIGKILL
    names = lambda: sorted(path.name for path in (folder / "runs").iterdir())  # noqa: E731
    assert {name[22:] for name in names()} == POINTS[point]
    world.start()
    (run,) = world.runs.mine(TOKEN)
    assert (run.status, run.label) == ("interrupted", "<b>tough</b>")
    assert 6 <= run.step == run.checkpoint_step == len(run.history.steps) < 30
    assert names() == [run.id, f"{run.id}.old"]
    assert Folder(files.beside(folder / "runs" / run.id).old).run.step == run.step - 1, "the save before is whole as well"
    ordered(world, run, "resume", TOKEN)
    assert names() == [run.id]
    ended_as_if_alone(run, tiny())
