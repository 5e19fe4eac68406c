"""On a ZeroGPU Space the page starts, training runs on the CPU and no run waits for a GPU that never comes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What the package of this name does there: it must come before Gradio, and says that there is a GPU where asking for one is an error.
SPACES = """
import sys
assert "gradio" not in sys.modules, "too late"
import torch
def no_driver(*arguments, **options):
    raise RuntimeError("CUDA driver version is insufficient for CUDA runtime version")
torch.backends.cuda.is_built = torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 1
torch.cuda.is_current_stream_capturing = torch.cuda.current_device = torch._C._cuda_init = no_driver
lent = []
def GPU(function):
    lent.append(function.__name__)
    return function
"""
# What happens there: the page is built, and a visitor trains.
VISIT = """
import json, sys, time
from playground.ui import server
from playground.ui.boot import boot
from playground.runs.registry import Runs
from playground.config import Experiment
from pathlib import Path
import spaces
runs = Runs(Path(sys.argv[1]))
run = runs.create(Experiment().with_(steps=3, train_size=100, validation_size=10, d_model=8, d_ff=8, n_heads=1), "t" * 32)
end = time.monotonic() + 60
while not run.message and run.status not in ("done", "failed") and time.monotonic() < end:
    time.sleep(0.05)
print(json.dumps([spaces.lent, run.status, run.device, str(run.message), boot(runs, {}, "")["zero_gpu"]]))
runs.close()
"""


@pytest.mark.night
def test_a_zero_gpu_space_declares_one_function_and_trains_on_the_cpu(tmp_path):
    (tmp_path / "spaces.py").write_text(SPACES)
    there = os.environ | {"SPACES_ZERO_GPU": "true", "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    there.pop("PLAYGROUND_DEVICE", None)
    command = [sys.executable, "-c", VISIT, str(tmp_path / "runs")]
    done = subprocess.run(command, env=there, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [["lent_gpu"], "done", "cpu", "None", True]
