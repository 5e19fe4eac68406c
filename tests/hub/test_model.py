"""A model of from_pretrained is the run that was pushed, a Space is this very app, and every mistake is one sentence."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
import torch
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import HTTPError
from hypothesis import given, settings, strategies as st

from playground import export as scores
from playground.choices import VARIANTS
from playground.cli import main
from playground.config import Experiment, Refusal
from playground.export.exported_run import find
from playground.hub import model
from playground.hub.model import HubTransformer
from playground.runs.corpora import ModelCache
from playground.runs.disk import SHIPPED
from playground.runs.disk.folder import Folder
from playground.training.bleu import BeamGain
from tests.hub.stand_in import served_hub

FILES = {"config.json", "model.safetensors", "src_tokenizer.json", "tgt_tokenizer.json", "README.md"}
REPO = "ada/playground"


NAMES = ("ada", "ada/", "/x", "a/b/c", "ada/x.git", "ada/-", "ada/a--b", "ada/a..b", "ada/ x", "ada/x\n", "阿/x")


@pytest.fixture(scope="module", autouse=True)
def _measured_once():
    """Scores of a run that ended are the same each time that it is written."""
    known, real = {}, scores.scores_of
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(scores, "scores_of", lambda *of: known.get(of[2].run.id) or known.setdefault(of[2].run.id, real(*of)))
        yield


@pytest.fixture
def hub():
    with served_hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def run():
    return Folder(SHIPPED / "reverse").run


def logits(model, source=((5, 6, 7, 2),), target=((1, 7, 6, 5),)):
    with torch.no_grad():
        return model(torch.tensor(source), torch.tensor(target)).logits


@pytest.mark.trust
def test_a_folder_that_was_saved_gives_the_logits_of_the_run_to_the_bit(run, tmp_path):
    run.history.beam = BeamGain(60, 4, 1.0, 2.0)
    HubTransformer.from_run(run).save_pretrained(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= FILES
    back = HubTransformer.from_pretrained(tmp_path)
    assert (back.training, back.beam) == (False, run.history.beam)
    assert torch.equal(logits(back), logits(ModelCache().get(run, None).model))
    assert [tokenizer.to_bytes() for tokenizer in back.tokenizers] == [tokenizer.to_bytes() for tokenizer in run.tokenizers]
    back.save_pretrained(tmp_path / "again")
    assert torch.equal(logits(HubTransformer.from_pretrained(tmp_path / "again")), logits(back))


@given(st.sampled_from(sorted(VARIANTS)), st.sampled_from(["none", "all"]))
@settings(max_examples=settings.default.max_examples // 5)
def test_every_variant_and_a_shared_matrix_come_back(variant, shared):
    knobs = {"d_model": 16, "n_heads": 2, "d_ff": 8, "variant": variant, "share_embeddings": shared, "zero_init": False}
    model = HubTransformer(src_vocab=12, tgt_vocab=12, **knobs).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand_like(parameter))  # none below 0: some are variances
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        assert torch.equal(logits(HubTransformer.from_pretrained(folder)), logits(model))


def test_a_config_that_lies_is_refused_before_a_model_is_made(run, tmp_path):
    HubTransformer.from_run(run).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config.keys() == {*Experiment().flat(), "src_vocab", "tgt_vocab", "longest_target", "beam"}
    lies = {
        "config.json": {"tgt_vocab": 10**9}, "model.safetensors": {"d_model": 512}, "d_model": {"d_model": 17},
        "auto_map": {"auto_map": "evil.Model"}, "beam": {"beam": "wide"},
    }  # fmt: skip
    for named, lie in lies.items():
        (tmp_path / "config.json").write_text(json.dumps(config | lie))
        with pytest.raises(Refusal, match=named):
            HubTransformer.from_pretrained(tmp_path)


def test_a_run_is_pushed_and_read_back_and_no_repository_is_read_as_pickle(hub, capsys):
    hub.repos["ada/old"] = {"config.json": b'{"src_vocab": 8, "tgt_vocab": 8}', "pytorch_model.bin": b"\x80\x04"}
    with pytest.raises(Exception, match=r"model\.safetensors"):
        HubTransformer.from_pretrained("ada/old")
    assert "pytorch_model.bin" not in str(hub.requests)
    assert (main(["push", "reverse", "ada/reverse", "--private"]), capsys.readouterr().out) == (0, f"{hub.url}/ada/reverse\n")
    assert hub.repos["ada/reverse"].keys() == FILES | {"history.csv", "model.py", "run.ipynb", "use.py"}
    assert hub.created["ada/reverse"]["visibility"] == "private"
    assert torch.equal(logits(HubTransformer.from_pretrained("ada/reverse")), logits(HubTransformer.from_run(find("reverse"))))


def test_what_can_not_be_pushed_is_refused(hub, capsys, monkeypatch, tmp_path):
    upload = partial(model.upload, tmp_path, "ada/reverse", "model", "x")

    def refusal(act=upload) -> str:
        with pytest.raises(Refusal) as refused:
            act()
        return refused.value.key

    assert {refusal(partial(model.push, "no such run", name)) for name in NAMES} == {"hub.not_a_name"}, "before any run is read"
    assert refusal(partial(model.push, "nothing", "ada/reverse")) == "export.no_run"
    for status, key in ((401, "hub.bad_token"), (402, "hub.not_free"), (403, "hub.no_right"), (404, "hub.no_right"), (400, "hub.refused")):
        hub.refusals = {"create": status}
        assert refusal() == key
    assert main(["push", "reverse", "ada/reverse"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "refused “ada/reverse”: no." in err
    for error, key in ((HTTPError("gone"), "hub.unreachable"), (ValueError("no metadata"), "hub.refused")):
        with patch.object(HfApi, "create_repo", side_effect=error):
            assert refusal() == key
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    assert refusal() == "hub.no_token"
    assert not hub.repos


def test_only_files_that_belong_go_up_and_a_dry_run_asks_nothing(hub, capsys, tmp_path):
    planned = model.plan_space(REPO, "zero")
    sizes = planned.sizes()
    assert {"app.py", "LICENSE", "README.md", "requirements.txt"} <= sizes.keys()
    assert {"checkpoints/reverse/run.json", "playground/ui/static/main.js", "playground/words/zh/hub.json"} <= sizes.keys()
    unwanted = re.compile(r"(^|/)(tests|benchmarks|node_modules|runs/[\w-]{22}|__pycache__|\.\w+)(/|$)|\.pyc$|package|eslint|Dockerfile")
    assert not [name for name in sizes if unwanted.search(name)]
    assert sum(sizes.values()) < 25_000_000
    assert main(["space", REPO, "--hardware", "zero", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert not hub.requests
    assert all(part in out for part in (f"Space {REPO}", planned.metadata().strip(), planned.written["requirements.txt"].strip(), *sizes))
    assert f"{len(sizes)} files, {sum(sizes.values()):,} bytes" in out
    (tmp_path / "app.py").touch()
    with pytest.raises(Refusal, match="not the whole app"):
        model.plan_space(REPO, "cpu", tmp_path)


@pytest.mark.parametrize("hardware", ["cpu", "gpu", "zero"])
def test_metadata_and_requirements_suit_the_hardware(hardware):
    planned = model.plan_space(REPO, hardware)
    metadata = dict(re.findall(r"^(\w+): *(.*)$", planned.metadata(), re.MULTILINE))
    assert metadata["sdk"] == "gradio"
    assert len(metadata["short_description"]) <= 60, "the Hub refuses a longer one"
    assert metadata["python_version"] == '"3.12"'  # quoted: 3.10 would be 3.1
    needed = planned.written["requirements.txt"].splitlines()
    assert [line for line in needed if line.startswith("--")] == ([model.CPU_WHEELS] if hardware == "cpu" else [])
    assert f"gradio=={metadata['sdk_version']}" in needed


@pytest.mark.night
def test_a_space_is_created_and_renewed_and_starts_by_itself(hub, capsys, tmp_path):
    assert main(["space", REPO, "--hardware", "zero", "--private"]) == 0
    assert capsys.readouterr().out.startswith(f"{hub.url}/spaces/{REPO}\n")
    path, files = f"spaces/{REPO}", hub.repos[f"spaces/{REPO}"]
    assert [hub.created[path][name] for name in ("sdk", "hardware", "visibility")] == ["gradio", "zero-a10g", "private"]
    files |= {"playground/gone.py": b"", "notes.md": b""}
    assert main(["space", REPO]) == 0
    assert "hardware" not in hub.created[path], "paid hardware is left to its owner"
    assert {name: len(content) for name, content in files.items()} == model.plan_space(REPO, "cpu").sizes() | {"notes.md": 0}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    code = "import playground, app; from playground.ui.server import head; head(); print(playground.__file__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "playground" / "__init__.py")


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
from playground.training.bleu import BeamGain
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


def test_a_frozen_page_becomes_a_static_space_and_no_other_folder_does(hub, capsys, tmp_path):
    command = ["space", "--static", REPO, "--folder", str(tmp_path)]
    (tmp_path / "README.md").write_text("---\nsdk: static\n---\n")
    assert main(command) == 2
    assert "no frozen page" in capsys.readouterr().err
    (tmp_path / "frozen.js").write_text("1")
    assert (main(command), hub.created[f"spaces/{REPO}"]["sdk"]) == (0, "static")
    assert hub.repos[f"spaces/{REPO}"].keys() == {"README.md", "frozen.js"}
