"""On a ZeroGPU Space the page starts and no run waits for a GPU that never comes."""

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
torch.backends.cuda.is_built = torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 1
torch.cuda.is_current_stream_capturing = torch.cuda.current_device = torch._C._cuda_init = lambda *_, **__: 1 / 0  # there is no driver
lent = []
GPU = lambda function: lent.append(function.__name__) or function
"""
VISIT = """
from playground.ui import server
from playground.runs.queue import train_inline
from tests.runs.tiny import CORPORA, tiny
import spaces
run = train_inline.new_run(tiny(steps=3))
steps = list(train_inline.train(run, CORPORA))
print(*spaces.lent, run.status, run.device)
"""


@pytest.mark.night
def test_a_zero_gpu_space_declares_one_function_and_trains_on_the_cpu(tmp_path):
    (tmp_path / "spaces.py").write_text(SPACES)
    there = os.environ | {"SPACES_ZERO_GPU": "true", "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    there.pop("PLAYGROUND_DEVICE", None)
    done = subprocess.run([sys.executable, "-c", VISIT], env=there, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "lent_gpu done cpu"
