"""An export works where there is nothing of ours: the zip beside torch and safetensors, the notebook, and an installed wheel."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from playground.cli import main
from playground.pretrained import load
from tests.test_cli import SMALL

pytestmark = pytest.mark.night
ROOT = Path(__file__).parents[2]
PAGE = ("gradio", "pandas", "plotly", "sacrebleu", "huggingface_hub", "chardet", "openpyxl", "polib", "pyarrow")
LOGITS = """
import json
from pathlib import Path
import torch
torch.set_num_threads(1)
from use import Translator
output, columns, rows = Translator(Path(".")).look("hello")
Path("logits.json").write_text(json.dumps(output.logits.tolist()))
"""


def run(*arguments: str, at: Path, path: Path | None = None, without: tuple[str, ...] = ()) -> str:
    """Returns the output of Python in the folder `at`, with only `path` of ours in reach, as if `without` were not installed."""
    (at.parent / "hidden").mkdir(exist_ok=True)
    (at.parent / "hidden" / "sitecustomize.py").write_text(f"import sys; sys.modules.update(dict.fromkeys({without!r}))")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env["PYTHONPATH"] = os.pathsep.join(map(str, filter(None, (at.parent / "hidden", path))))
    done = subprocess.run([sys.executable, *arguments], cwd=at, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def unpacked(zip_file: Path, folder: Path) -> Path:
    with zipfile.ZipFile(zip_file) as archive:
        archive.extractall(folder)
    return folder


def test_the_zip_beside_torch_and_safetensors_alone(tmp_path):
    assert main(["export", "reverse", "-o", str(tmp_path / "reverse.zip")]) == 0
    home, without = unpacked(tmp_path / "reverse.zip", tmp_path / "home"), (*PAGE, "playground", "numpy", "sentencepiece")
    first, *rest = run("use.py", "hello", "--svg", "attention.svg", at=home, without=without).splitlines()
    assert (first, len(rest)) == ("olleh", len("olleh") + 1)  # a line for each output token, <eos> among them
    assert (home / "attention.svg").read_text(encoding="utf-8").count("<rect") == 1 + 2 * 4 * 6 * 6
    run("-c", LOGITS, at=home, without=without)
    torch.set_num_threads(1)  # as there: another number of threads cuts sums otherwise, and the last bits are others
    model = load("reverse")
    src, tgt = (torch.tensor([ids]) for ids in ([*model._read("hello"), 2], [1, *model.tokenizers[1].encode("olleh")]))
    with torch.inference_mode():
        assert model.model(src, tgt).logits.tolist() == json.loads((home / "logits.json").read_text())


@pytest.mark.parametrize("own", [False, True], ids=["task", "own"])
def test_the_notebook_trains_the_same_run_again(tmp_path, own, monkeypatch):
    """Its cells, one after the other as Jupyter would run them: the last loss is equal to the last bit."""
    monkeypatch.setenv("PLAYGROUND_DEVICE", "cpu")
    knobs = [*SMALL]
    if own:
        (tmp_path / "own.tsv").write_text("".join(f"word{n} again\twort{n} noch\n" for n in range(60)), encoding="utf-8")
        knobs += ["--data", str(tmp_path / "own.tsv")]
    assert main(["train", *knobs, "--out", str(tmp_path / "run")]) == 0
    assert main(["export", str(tmp_path / "run"), "-o", str(tmp_path / "run.zip"), *(["--sentences"] if own else [])]) == 0
    home = unpacked(tmp_path / "run.zip", tmp_path / "home")
    cells = json.loads((home / "run.ipynb").read_text(encoding="utf-8"))["cells"]
    (home / "cells.py").write_text("\n\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code"), encoding="utf-8")
    before, sign, now = run("cells.py", at=home, path=ROOT).split()
    assert sign == "==", (before, now)
    assert float(before) == load(tmp_path / "run").run.last_loss


def test_a_wheel_is_installed_and_loads_a_model(tmp_path):
    """From the files of the repository, beside the core's packages only."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if name.startswith(("playground/", "checkpoints/")) or name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / "source" / name)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    subprocess.run(build, cwd=tmp_path / "source", check=True)
    (wheel,) = tmp_path.glob("transformer_playground-*.whl")
    site, empty = unpacked(wheel, tmp_path / "site"), tmp_path / "empty"
    empty.mkdir()
    code = "import playground as p; m = p.load('reverse'); print(p.__file__, m.translate('hello'), m.attention('hello').cross.shape)"
    assert run("-c", code, at=empty, path=site, without=PAGE) == f"{site / 'playground' / '__init__.py'} olleh (2, 4, 6, 6)\n"
    run("-m", "playground", "export", "reverse", at=empty, path=site, without=PAGE)
    assert (empty / "reverse.zip").exists()
    entries = next(site.glob("transformer_playground-*.dist-info")) / "entry_points.txt"
    assert "transformer-playground = playground.cli:main" in entries.read_text()
