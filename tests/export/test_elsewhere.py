"""What is taken home works where there is nothing of ours: the zip in an empty environment, the notebook, and an installed wheel."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from playground.cli import main
from playground.pretrained import load
from tests.export.environments import environment, run
from tests.runs.tiny import TINY

ROOT = Path(__file__).parents[2]
CORE = ("torch", "safetensors")
LOGITS = """
import json
from pathlib import Path
import torch
torch.set_num_threads(1)
from use import Translator
translator = Translator(Path("."))
output, columns, rows = translator.look("hello")
Path("logits.json").write_text(json.dumps(output.logits.tolist()))
print(translator.translate("hello"))
"""
EMPTY = "import importlib.util as u; print([name for name in ('playground', 'numpy', 'gradio', 'pandas') if u.find_spec(name)])"


def unpacked(zip_file: Path, folder: Path) -> Path:
    with zipfile.ZipFile(zip_file) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.night
def test_the_zip_in_an_environment_with_torch_and_safetensors_alone(tmp_path):
    assert main(["export", "reverse", "-o", str(tmp_path / "reverse.zip")]) == 0
    home, python = unpacked(tmp_path / "reverse.zip", tmp_path / "home"), environment(tmp_path / "venv", CORE)
    assert run(python, "-c", EMPTY, at=home).strip() == "[]"
    said = run(python, "use.py", "hello", "--svg", "attention.svg", at=home).splitlines()
    assert said[0] == "olleh"
    assert len(said) == 1 + len("olleh") + 1  # a line for each output token, <eos> among them
    assert (home / "attention.svg").read_text(encoding="utf-8").count("<rect") == 1 + 2 * 4 * 6 * 6
    assert run(python, "-c", LOGITS, at=home).strip() == "olleh"
    torch.set_num_threads(1)  # as there: another number of threads cuts sums otherwise, and the last bits are others
    model = load("reverse")
    src, tgt = (torch.tensor([ids]) for ids in ([*model._read("hello"), 2], [1, *model.tokenizers[1].encode("olleh")]))
    with torch.inference_mode():
        assert model.model(src, tgt).logits.tolist() == json.loads((home / "logits.json").read_text())


@pytest.mark.night
@pytest.mark.parametrize("own", [False, True], ids=["task", "own"])
def test_the_notebook_trains_the_same_run_again(tmp_path, own, monkeypatch):
    """Its cells, one after the other as Jupyter would run them: the last loss is equal to the last bit."""
    monkeypatch.setenv("PLAYGROUND_DEVICE", "cpu")
    knobs = [part for name, value in TINY.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    if own:
        (tmp_path / "own.tsv").write_text("".join(f"word{n} again\twort{n} noch\n" for n in range(60)), encoding="utf-8")
        knobs += ["--data", str(tmp_path / "own.tsv")]
    assert main(["train", *knobs, "--out", str(tmp_path / "run")]) == 0
    assert main(["export", str(tmp_path / "run"), "-o", str(tmp_path / "run.zip"), *(["--sentences"] if own else [])]) == 0
    home = unpacked(tmp_path / "run.zip", tmp_path / "home")
    cells = json.loads((home / "run.ipynb").read_text(encoding="utf-8"))["cells"]
    (home / "cells.py").write_text("\n\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code"), encoding="utf-8")
    before, sign, now = run(Path(sys.executable), "cells.py", at=home, path=ROOT).split()
    assert sign == "==", (before, now)
    assert float(before) == load(tmp_path / "run").run.last_loss


@pytest.mark.night
def test_a_wheel_is_installed_and_loads_a_model(tmp_path):
    """From the files of the repository, into an environment with the core's packages only."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if name.startswith(("playground/", "checkpoints/")) or name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / "source" / name)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    subprocess.run(build, cwd=tmp_path / "source", check=True)
    (wheel,) = tmp_path.glob("transformer_playground-*.whl")
    python = environment(tmp_path / "venv", (*CORE, "numpy", "sentencepiece", "cachetools"))
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    unpacked(wheel, site)
    (tmp_path / "empty").mkdir()
    code = "import playground as p; m = p.load('reverse'); print(p.__file__, m.translate('hello'), m.attention('hello').cross.shape)"
    said = run(python, "-c", code, at=tmp_path / "empty")
    assert str(site) in said
    assert "olleh (2, 4, 6, 6)" in said
    run(python, "-m", "playground", "export", "reverse", at=tmp_path / "empty")
    assert (tmp_path / "empty" / "reverse.zip").exists()
    entries = next(site.glob("transformer_playground-*.dist-info")) / "entry_points.txt"
    assert "transformer-playground = playground.cli:main" in entries.read_text()
