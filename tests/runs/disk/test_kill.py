"""kill -9: whatever the process was doing, the run can be read back and goes on as if it had not been cut."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from playground.runs.disk import files
from playground.runs.disk.folder import Folder
from tests.runs.tiny import alone, curve, same_replay, tiny, wait

ROOT = Path(__file__).parents[3]
TOKEN = "survivor"

# A server that saves after every step. It says how far it is, and at one point of its `crash`-th save it kills itself: POINTS says when,
# and what stands beside the run's folder then.
POINTS = {
    "write": {"", ".old", ".new"},  # the weights are half written
    "marker": {"", ".old", ".new"},  # everything but run.json
    "moved": {"", ".gone", ".new"},  # the save before has been moved away
    "between": {".old", ".gone", ".new"},  # neither is in its place
    "renamed": {"", ".old", ".gone"},  # the new one is in its place
    "after": {"", ".old"},
}
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
folder, crash, point = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
runs, real, saves = Runs(folder, None, limits(save_seconds=0.0)), files.replace_folder, []
write, rename = files._write_new, Path.rename

def end():
    os.kill(os.getpid(), signal.SIGKILL)

def write_new(path, data):
    if point == "marker" and path.name == "run.json":
        end()
    write(path, data[: len(data) // 2] if point == "write" and path.name == "weights.safetensors" else data)
    if point == "write" and path.name == "weights.safetensors":
        end()

def rename_and_end(self, target):
    rename(self, target)
    if str(target).endswith({"moved": ".gone", "between": ".old", "renamed": self.name.removesuffix(".new")}.get(point, "nothing")):
        end()

def replace_folder(path, *arguments, **options):
    saves.append(path)
    if len(saves) == crash:
        files._write_new, Path.rename = write_new, rename_and_end
    real(path, *arguments, **options)
    if len(saves) == crash:
        end()
    print(len(saves), flush=True)

files.replace_folder = replace_folder
mine = runs.mine("survivor")
if mine:
    runs.resume(mine[0].id, "survivor")
else:
    mine = [runs.create(tiny(steps=60), "survivor", label="<b>tough</b>")]
wait(lambda: not mine[0].working, 120)
"""


def server(folder: Path, crash: int, point: str = "") -> subprocess.Popen:
    command = [sys.executable, "-c", SERVER, str(folder), str(crash), point]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "runs").iterdir())


@pytest.mark.fault("kill -9 at each point of a save", "the run is whole, and resumed it becomes what it would have become, bit for bit")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
@pytest.mark.parametrize(
    ("point", "again"),
    [("between", False), *(pytest.param(point, False, marks=pytest.mark.night) for point in POINTS if point != "between"),
     pytest.param("moved", True, marks=pytest.mark.night)],
)  # fmt: skip
def test_killed_the_run_is_what_it_would_have_been(serve, tmp_path, point, again):
    """At a point of a save; and again from outside, by whatever it does then."""
    folder = tmp_path / "data"
    first = server(folder, 8, point)
    assert first.wait(120) == -signal.SIGKILL
    assert {name[22:] for name in kept(folder)} == POINTS[point]

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
    assert kept(folder) == [run.id, f"{run.id}.old"]
    assert Folder(files.beside(folder / "runs" / run.id).old).run.step == run.step - 1, "the save before is whole as well"
    runs.resume(run.id, TOKEN)
    wait(lambda: not run.working)
    assert kept(folder) == [run.id]
    twin, _ = alone(tiny(steps=60))
    assert run.status == "done"
    assert curve(run) == curve(twin)
    assert run.history.validations.rows() == twin.history.validations.rows()
    assert same_replay(run, twin)


@pytest.mark.night
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
    folder, _ = sorted((tmp_path / "runs").iterdir())  # the save before is beside it
    assert '"status":"interrupted"' in (folder / "run.json").read_text()
    assert (folder / "state.safetensors").exists()
