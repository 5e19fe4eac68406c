"""`playground.load`: whatever a model comes from, it translates as the page does; what is no model is one sentence."""

import json
import os
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch

import playground
from playground.cli import main
from playground.config import Refusal
from playground.export import documents, exported_run
from playground.pretrained import KINDS, _number_words
from playground.runs.disk import SHIPPED
from playground.runs.disk.folder import Folder
from playground.runs.incoming import files_of_zip
from playground.runs.queue import train_inline
from tests.runs.tiny import TINY, refused
from tests.test_cli import SMALL

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """(zip, folder) of the run that reverses."""
    folder = tmp_path_factory.mktemp("home")
    assert main(["export", str(SHIPPED / "reverse"), "-o", str(folder / "reverse.zip")]) == 0
    with zipfile.ZipFile(folder / "reverse.zip") as archive:
        archive.extractall(folder / "reverse")
    return folder / "reverse.zip", folder / "reverse"


@pytest.fixture(scope="module")
def reverse():
    return playground.load("reverse")


def test_importing_the_package_stays_light_and_numpy_has_no_threads_that_wait_busily():
    code = """import sys, playground; assert not {"torch", "numpy", "gradio", "pandas"} & {*sys.modules}
import numpy, pathlib; numpy.linalg.svd(numpy.ones((300, 300))); print(len([*pathlib.Path("/proc/self/task").glob("*")]))"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("1", "0")  # 0 where threads are not counted
    with pytest.raises(AttributeError, match="lode"):
        playground.lode  # noqa: B018


def test_every_source_gives_the_same_model(home, monkeypatch):
    zip_file, folder = home
    monkeypatch.setattr(exported_run, "snapshot_of", lambda name, names: {"somebody/reverse": folder}[name])
    models = [playground.load(source) for source in ("reverse", SHIPPED / "reverse", folder, zip_file, "hf:somebody/reverse")]
    for model in models:
        assert (model.translate("hello"), model.run.settings["task"]) == ("olleh", "reverse")
        assert model.run.last_loss == models[0].run.last_loss > 0
    history = models[0].run.history
    assert (list(history["step"]), history["loss"].iloc[-1]) == (list(range(1, 91)), models[0].run.last_loss)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Refusal, match="pip install pandas"):
        models[1].run.history  # noqa: B018


def test_what_is_no_source_no_model_or_no_sentence_is_one_refusal(home, tmp_path, monkeypatch, capsys):
    _, folder = home
    knobs = json.loads((folder / "config.json").read_text())

    def changed(name: str, data: bytes | None) -> Path:
        """A zip of the folder with another content in one of its files, None for one that is missing."""
        with zipfile.ZipFile(tmp_path / "changed.zip", "w") as archive:
            for file, content in ({path.name: path.read_bytes() for path in folder.iterdir()} | {name: data}).items():
                if content is not None:
                    archive.writestr(file, content)
        return tmp_path / "changed.zip"

    def config(**more: int) -> bytes:
        return json.dumps(knobs | more).encode()

    model = playground.load("reverse")
    acts = [
        *((key, partial(playground.load, source)) for source, key in (
            ("nothing", "export.not_found"), ("../checkpoints/nothing", "export.not_found"), ("hf:no-owner", "export.no_such_name"),
            ("http://127.0.0.1:9/", "export.no_run_in_link"), ("http://127.0.0.1:9/?run=abc", "export.unreachable"),
        )),
        *((key, lambda name=name, data=data: playground.load(changed(name, data))) for name, data, key in (
            ("config.json", None, "export.not_a_zip"), ("config.json", b"[1]", "runs.not_a_run"), ("config.json", b"{", "runs.not_a_run"),
            ("config.json", config(d_model=512, encoder_layers=6), "runs.not_a_run"),  # not what the parameters are of
            ("config.json", config(longest_target=10**9), "runs.not_a_run"), ("config.json", config(d_model=-1), "config.not_in_range"),
            ("model.safetensors", b"pickle?", "runs.not_a_run"), ("src_tokenizer.json", b"{}", "data.not_a_tokenizer"),
        )),
        *((key, partial(ask, text)) for ask in (model.translate, model.attention) for text, key in (
            ("", "runs.empty"), ("a" * 300, "runs.too_long"),
        )),
    ]  # fmt: skip
    for key, act in acts:
        with refused(key):
            act()
    with refused("export.too_large"):
        files_of_zip(changed("history.csv", bytes(1_000_000)).read_bytes(), ("history.csv",), most=100_000)
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    assert main(["export", "no-such-run"]) == 2
    assert "no run “no-such-run”" in capsys.readouterr().err


def test_translations_scores_alignments_and_labelled_attention_are_those_of_the_model(reverse):
    words = ["hello", "abc", "translate"]
    assert (reverse.translate(words), reverse.translate("hello", beam=3)) == ([reverse.translate(word) for word in words], "olleh")
    drawn = {reverse.translate("hello", temperature=3.0, seed=seed) for seed in range(4)}
    assert len(drawn) > 1
    assert reverse.translate("hello", temperature=3.0, seed=1) == reverse.translate("hello", temperature=3.0, seed=1)
    for values in ({"beam": -1}, {"beam": 2, "temperature": 1.0}):
        with pytest.raises(ValueError, match="beam"):
            reverse.translate("hello", **values)
    assert all("x" in text and "e" not in text for text in reverse.translate(words, must=["x"], must_not=["e"]))
    assert "xy" in reverse.translate("hello", beam=4, must="xy")
    with pytest.raises(Refusal, match="need beam search"):
        reverse.translate("hello", temperature=1.0, must=["x"])
    assert reverse.score(["hello"], ["olleh"]) == {"bleu": pytest.approx(100), "chrf": pytest.approx(100), "ter": 0, "exact_match": 1}
    assert reverse.score(["hello", "word"], ["olleh", "word"])["exact_match"] == 0.5
    assert (reverse.align("hello", "olleh"), reverse.attention("hello", "hel").output) == ("4-0 3-1 2-2 1-3 0-4", (*"hel", "<eos>"))
    own = reverse.attention("hello")
    assert np.array_equal(reverse.attention("hello", "olleh").cross, own.cross)
    assert _number_words(["▁ein", "▁Ha", "us", "<eos>"]) == [0, 1, 1, 1]
    assert (own.source, own.output, own.fed) == ((*"hello", "<eos>"), (*"olleh", "<eos>"), ("<bos>", *"olleh"))
    for kind in KINDS:
        rows, columns = own.labels(kind)
        weights = getattr(own, kind)
        assert weights.shape == (2, 4, len(rows), len(columns))
        assert np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert own.cross[-1].mean(axis=0).argmax(axis=-1)[:5].tolist() == [4, 3, 2, 1, 0]  # it reads the word backwards


@pytest.mark.parametrize("name", ["saved", "saved.zip"])
def test_what_is_saved_is_loaded_as_the_same_model(reverse, tmp_path, name):
    reverse.save(tmp_path / name)
    again = playground.load(tmp_path / name)
    assert repr(again) == repr(reverse) == "<Pretrained reverse: 239,262 parameters, 90 steps, exact match 99.0%>"
    assert again.contents == reverse.contents
    assert "example" not in vars(again), "drawn only for a picture"
    picture = again._repr_html_()
    assert picture.startswith("<div>&lt;Pretrained reverse: ")
    assert picture.count("<rect") == 1 + (len(again.example) + 1) * (len(again.translate(again.example)) + 1)
    assert len(picture) < 40_000


def test_training_in_a_line_is_the_training_of_the_command_line(tmp_path, capsys):
    rows, threads = [], torch.get_num_threads()
    model = playground.train("copy", progress=False, on_step=rows.append, out=tmp_path / "run", **TINY)
    assert main(["train", "--task", "copy", "--out", str(tmp_path / "cli"), *SMALL]) == 0
    assert model.contents["model.safetensors"] == playground.load(tmp_path / "cli").contents["model.safetensors"]
    assert playground.load(tmp_path / "run").contents == model.contents
    assert [row["step"] for row in rows] == list(range(1, len(model.run.rows) + 1))
    assert (rows[-1]["exact_match"], torch.get_num_threads()) == (model.run.exact_match, threads)
    (tmp_path / "notes.txt").write_text("mine")
    with refused("runs.folder_taken"):
        playground.train("copy", progress=False, out=tmp_path, **TINY)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_training_that_was_stopped_or_cut_off_goes_on_as_if_it_had_not_been(tmp_path, capsys, monkeypatch):
    whole, stopped, cut_off = playground.train("copy", progress=False, **TINY), tmp_path / "stopped", tmp_path / "cut off"
    playground.train("copy", progress=False, on_step=lambda row: row["step"] < 5, out=stopped, **TINY)
    monkeypatch.setattr(train_inline, "SAVE_SECONDS", 0)
    with pytest.raises(ZeroDivisionError):
        playground.train("copy", progress=False, on_step=lambda row: 1 / (5 - row["step"]), out=cut_off, **TINY)
    assert [(Folder(path).run.status, Folder(path).run.step > 0) for path in (stopped, cut_off)] == [("stopped", True), ("training", True)]
    assert main(["train", "--resume", str(cut_off), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["out"] == str(cut_off)
    for model in (playground.train(resume=stopped, progress=False), playground.load(stopped), playground.load(cut_off)):
        assert model.contents["model.safetensors"] == whole.contents["model.safetensors"]
        assert list(model.run.history["loss"].dropna()) == list(whole.run.history["loss"])
    for knobs, key in (({}, "runs.not_resumable"), ({"steps": 20}, "runs.keeps_its_settings")):
        with pytest.raises(Refusal, check=lambda refusal, key=key: refusal.key == key):
            playground.train(resume=stopped, **knobs)
    assert main(["train", "--resume", str(stopped), "--preset", "paper", "--steps", "20"]) == 2
    assert "--preset, --steps" in capsys.readouterr().err


def test_an_average_is_the_mean_of_the_last_saved_parameters(capsys):
    run = Folder(SHIPPED / "reverse").run
    last = run.replay.parameter_steps[-3:]
    assert last[-1] == run.step
    averaged = dict(playground.load("reverse", average=3).model.named_parameters())
    for name in run.snapshot.parameters:
        mean = sum(run.replay.parameters(at)[1][name].double() for at in last) / 3
        torch.testing.assert_close(averaged[name].detach().double(), mean, atol=1e-6, rtol=0)
    for source, count, key in (("reverse", 0, "bad"), ("reverse", -2, "bad"), ("hf:a/b", 3, "no"), ("https://a.b/?run=c", 0, "no")):
        with pytest.raises(Refusal, check=lambda refusal, key=key: refusal.key == f"runs.{key}_average"):
            playground.load(source, average=count)
    assert main(["translate", "reverse", "hello", "--average", "3", "--step", "0"]) == 2
    assert str(Refusal("runs.average_of_step")) in capsys.readouterr().err
    assert main(["translate", "reverse", "hello", "--average", "3"]) == 0
    assert capsys.readouterr().out == f"{playground.load('reverse', average=3).translate('hello')}\n"


def test_a_bar_is_drawn_where_a_person_watches(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", tqdm := MagicMock())
    for watched, progress in ((True, True), (True, False), (False, True)):
        monkeypatch.setattr(sys, "stderr", MagicMock(**{"isatty.return_value": watched}))
        playground.train("copy", progress=progress, **TINY)
    assert [call.kwargs for call in tqdm.tqdm.call_args_list] == [{"total": 12, "initial": 0, "unit": "step"}]
    assert tqdm.tqdm().__enter__().update.call_count == 12


def test_own_sentences_are_read_as_an_upload_is_and_a_step_can_end_the_training(tmp_path, capsys):
    pairs = [(f"ein Haus {number}", f"a house {number}") for number in range(30)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    settings = {**TINY, "steps": 50, "progress": False, "on_step": lambda row: row["step"] < 2}
    (tmp_path / "vocab.txt").write_text("ein\nHaus\n")
    model = playground.train(files=[tmp_path / "vocab.txt", tmp_path / "pairs.tsv"], **settings)
    assert [each.symbols for each in model.tokenizers] == [("ein", "Haus")] * 2
    models = [playground.train(pairs=pairs, **settings), playground.train(files=tmp_path / "pairs.tsv", **settings)]
    assert {len(model.run.rows) for model in models} == {2}
    assert models[0].contents["model.safetensors"] == models[1].contents["model.safetensors"]
    assert "<svg" in models[0]._repr_html_()
    home = tmp_path / "home"
    tuned = playground.train(pairs=pairs, base="reverse", steps=2, keep_best=True, eval_every=1, progress=False, out=home)
    assert "44\u00a0% of the new source" in capsys.readouterr().err
    assert tuned.contents["src_tokenizer.json"] == playground.load("reverse").contents["src_tokenizer.json"]
    losses = [row["validation_loss"] for row in tuned.run.rows]
    assert [row["validation_loss"] for row in tuned.best.run.rows][-1] == min(losses)
    assert main(["export", str(home), "--sentences", "-o", str(tmp_path / "tuned.zip")]) == 0
    zipfile.ZipFile(tmp_path / "tuned.zip").extractall(tmp_path / "taken")
    lacking = documents.how(exported_run.export_run(Folder(home).run))
    again = playground.repeat(tmp_path / "taken", lacking)  # from the same parameters
    assert again.contents["model.safetensors"] == tuned.contents["model.safetensors"]
    with refused("runs.base_gone"):
        playground.repeat(tmp_path / "taken", lacking | {"base": ("reverse", 1000)})
    unfit = ({"d_modell": 8}, {"pairs": []}, {"base": "reverse", "d_model": 8})
    for wrong, error in (({"pairs": pairs, "files": "x"}, ValueError), *((knobs, Refusal) for knobs in unfit)):
        with pytest.raises(error):
            playground.train(**wrong)
