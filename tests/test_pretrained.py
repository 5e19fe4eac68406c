"""`playground.load`: whatever a model comes from, it translates as the page does; what is no model is one sentence."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import playground
from playground import fetching
from playground.cli import main
from playground.config import Refusal
from playground.pretrained import KINDS
from playground.runs.registry import SHIPPED

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """(zip, folder) of the run that reverses."""
    folder = tmp_path_factory.mktemp("home")
    assert main(["export", str(SHIPPED / "reverse"), "-o", str(folder / "reverse.zip")]) == 0
    with zipfile.ZipFile(folder / "reverse.zip") as archive:
        archive.extractall(folder / "reverse")
    return folder / "reverse.zip", folder / "reverse"


def test_importing_the_package_stays_light():
    code = "import sys, playground; assert 'load' in dir(playground) or hasattr(playground, '__getattr__'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "numpy", "gradio", "pandas"} & set(loaded)
    with pytest.raises(AttributeError, match="lode"):
        playground.lode  # noqa: B018


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="where threads are counted")
def test_numpy_has_no_threads_that_wait_busily():
    code = "import playground, numpy, os; numpy.linalg.svd(numpy.ones((300, 300))); print(len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True).stdout.strip() == b"1"


def test_every_source_gives_the_same_model(home, monkeypatch):
    zip_file, folder = home
    monkeypatch.setattr(fetching, "snapshot_of", None)  # no test fetches
    monkeypatch.setattr("playground.pretrained.snapshot_of", lambda name, names: {"somebody/reverse": folder}[name])
    models = [playground.load(source) for source in ("reverse", SHIPPED / "reverse", folder, zip_file, "hf:somebody/reverse")]
    for model in models:
        assert model.translate("hello") == "olleh"
        assert model.run.settings["task"] == "reverse"
        assert model.run.last_loss == models[0].run.last_loss > 0


def test_attention_comes_with_its_labels():
    found = playground.load("reverse").attention("hello")
    assert found.source == (*"hello", "<eos>")
    assert found.output == (*"olleh", "<eos>")
    assert found.fed == ("<bos>", *"olleh")
    for kind in KINDS:
        rows, columns = found.labels(kind)
        weights = getattr(found, kind)
        assert weights.shape == (2, 4, len(rows), len(columns))
        assert np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert found.cross[-1].mean(axis=0).argmax(axis=-1)[:5].tolist() == [4, 3, 2, 1, 0]  # it reads the word backwards


def test_the_history_is_a_table_where_there_is_pandas(monkeypatch):
    run = playground.load("reverse").run
    assert list(run.history["step"]) == list(range(1, 91))
    assert run.history["loss"].iloc[-1] == run.last_loss
    assert run.history["exact_match"].dropna().iloc[-1] == pytest.approx(0.99)
    monkeypatch.setitem(sys.modules, "pandas", None)
    run = playground.load("reverse").run
    assert run.last_loss > 0
    with pytest.raises(Refusal, match="pip install pandas"):
        run.history  # noqa: B018


def test_what_can_not_be_read_is_one_sentence(home):
    model = playground.load("reverse")
    for text, key in (("", "runs.empty"), ("a" * 300, "runs.too_long")):
        for ask in (model.translate, model.attention):
            with pytest.raises(Refusal) as refusal:
                ask(text)
            assert refusal.value.key == key


def changed(folder, tmp_path, **files):
    """A zip of the folder with other contents in some of its files, None for one that is missing."""
    contents = {file.name: file.read_bytes() for file in folder.iterdir()} | {name.replace("__", "."): data for name, data in files.items()}
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as archive:
        for name, data in contents.items():
            if data is not None:
                archive.writestr(name, data)
    return tmp_path / "changed.zip"


def config(folder, **knobs) -> bytes:
    return json.dumps(json.loads((folder / "config.json").read_text()) | knobs).encode()


def test_what_is_no_model_is_one_sentence(home, tmp_path):
    _, folder = home
    cases = [
        ({"config__json": None}, "export.not_a_zip"),
        ({"config__json": b"[1]"}, "runs.not_a_run"),
        ({"config__json": b"{"}, "runs.not_a_run"),
        ({"config__json": config(folder, d_model=512, encoder_layers=6)}, "runs.not_a_run"),  # not what the parameters are of
        ({"config__json": config(folder, d_model=-1)}, "config.not_in_range"),
        ({"model__safetensors": b"pickle?"}, "runs.not_a_run"),
        ({"src_tokenizer__json": b"{}"}, "data.not_a_tokenizer"),
    ]
    for files, key in cases:
        with pytest.raises(Refusal) as refusal:
            playground.load(changed(folder, tmp_path, **files))
        assert refusal.value.key == key, files
        assert str(refusal.value)


@pytest.mark.parametrize(("source", "key"), [
    ("nothing", "export.not_found"), ("../checkpoints/nothing", "export.not_found"), ("hf:no-owner", "export.no_such_name"),
    ("http://127.0.0.1:9/", "export.no_run_in_link"), ("http://127.0.0.1:9/?run=abc", "export.unreachable"),
])  # fmt: skip
def test_a_source_that_is_none_is_one_sentence(source, key):
    with pytest.raises(Refusal) as refusal:
        playground.load(source)
    assert refusal.value.key == key
    assert str(refusal.value)


def test_a_zip_that_would_fill_the_memory_is_not_unpacked(monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(1_000_000))
    monkeypatch.setattr(fetching, "MAX_BYTES", 100_000)
    with pytest.raises(Refusal) as refusal:
        fetching.files_of_zip(packed.getvalue(), ("a",))
    assert refusal.value.key == "export.too_large"


def test_the_command_says_what_it_can_not_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    assert main(["export", "no-such-run"]) == 2
    assert "no run “no-such-run”" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main(["export", "reverse", "--sentences"]) == 2
    assert not list(tmp_path.glob("*.zip*"))
