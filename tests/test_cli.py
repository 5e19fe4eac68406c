"""The command line, as a program would use it."""

import io
import json
import os
import shutil
import signal
import sys
import webbrowser
from contextlib import redirect_stdout
from dataclasses import replace

import pandas
import pytest
import torch

from playground import __version__, cli
from playground.cli import decoding, main, parser, training
from playground.cli.training import _experiment
from playground.config import PRESETS, TASK_STEPS, Refusal, default, to_json
from playground.data.suggestion import suggest
from playground.lessons.labs import LABS
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs import forecast
from playground.runs.disk import files
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import Store
from playground.runs.history import VALIDATIONS
from playground.runs.machine_speed import MachineSpeed
from playground.runs.queue.train_inline import CHECKPOINTS
from playground.runs.run import Run
from playground.ui import network, server
from playground.words import say
from tests.runs.tiny import TINY, alone, curve, tiny

SMALL = [part for name, value in TINY.items() for part in (f"--{name.replace('_', '-')}", str(value))]
MISTAKES = [  # and the last word of each stands in the sentence
    "train --d-model 17", "train --learning-rate nan", "train --until-exact-match 2", "train --preset magic", "train --no-such-knob",
    "train --task own", "train --data /nowhere/pairs.tsv", "train --steps 1 --out /proc", "translate /nowhere /nowhere", "history /nowhere",
    "history checkpoints/reverse --csv /nowhere/steps.csv", "read /nowhere", "checkpoints everything", "fly", "lab nothing",
    "freeze -o /nowhere nobody", "lab softmax --set factor=3", "lab softmax --set colour=colour", "translate reverse hello --must 7",
]  # fmt: skip
ODD = ("--beam 0", "--beam 99", "--sample nan", "--sample 0", "--sample 1 --top-p 0")


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_DEVICE", "cpu")
    yield
    torch.set_num_threads(1)


def printed(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """(what the program printed, the run's folder) of one small training."""
    folder = tmp_path_factory.mktemp("trained") / "runs" / ("a" * 22)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setenv("PLAYGROUND_DEVICE", "cpu")
        assert main(["train", *SMALL, "--json", "--out", str(folder), "--replay-bytes", "300000"]) == 0
    torch.set_num_threads(1)
    return [json.loads(line) for line in out.getvalue().splitlines()], folder


def test_a_run_made_here_is_the_run_the_page_would_make(trained):
    (*validations, end), folder = trained
    run, training = alone(tiny())
    assert [row["step"] for row in validations] == [4, 8, 12]
    assert [row["loss"] for row in validations] == run.history.validations.column("loss")
    assert (end["steps"], end["device"], end["threads"], end["status"]) == (12, "cpu", 1, "done")
    assert end["exact_match"] == validations[-1]["exact_match"]
    assert end["parameters"] == sum(p.numel() for p in training.model.parameters())
    written = Folder(folder).run
    assert (written.experiment, curve(written)) == (tiny(), curve(run))
    assert sum((folder / f"replay.{kind}").stat().st_size for kind in ("json", "safetensors")) <= 300_000


def test_until_exact_match_ends_early_and_a_run_that_diverges_with_another_code(capsys, monkeypatch):
    quick = ["--task", "beer", "--steps", "2000", "--dropout", "0", "--validate-every", "1"]
    assert main(["train", *SMALL, *quick, "--until-exact-match", "1", "--json"]) == 0
    end = printed(capsys)[-1]
    assert (end["steps"] < 2000, end["exact_match"]) == (True, 1.0)
    assert "100.0\N{NO-BREAK SPACE}%" in end["message"]
    from playground.training.loop import Diverged, Training

    def steps(self):
        raise Diverged(1)
        yield

    monkeypatch.setattr(Training, "steps", steps)
    assert (main(["train", *SMALL, "--json"]), printed(capsys)[-1]["status"]) == (2, "diverged")


def test_what_no_option_says_is_as_suggested_for_these_files(capsys):
    """And a preset is a choice like an option."""
    pairs = Pairs(tuple(Pair(f"a{n} b", f"c{n} d", n + 1) for n in range(300)), {}, 300, "tsv", ("own.tsv",))
    options = parser().parse_args(["train", "--data", "own.tsv", "--d-model", "8", "--seed", "3"])
    experiment, wanted = _experiment(options, pairs), suggest(pairs, {"d_model": 8})
    assert {**wanted.knobs, "d_model": 8, "seed": 3, "task": "own"}.items() <= experiment.flat().items()
    assert experiment.data.tokenizer == "bpe"
    errors = capsys.readouterr().err
    assert "--tokenizer bpe" in errors
    assert "--d-model" not in errors
    assert all(sentence in errors for sentence in wanted.sentences("en"))
    paper = _experiment(parser().parse_args(["train", "--data", "own.tsv", "--preset", "paper"]), pairs)
    assert (paper.training.steps, paper.data.tokenizer) == (PRESETS["paper"]["steps"], "bpe")


def test_own_pairs_are_told_how_long_they_take_and_what_spoils_them(capsys, tmp_path, monkeypatch):
    """As the page says it; what a button mends there, options mend here."""
    monkeypatch.setattr(forecast, "measure_speed", lambda device: MachineSpeed(0.01, 0.0))
    table = tmp_path / "ways.tsv"
    table.write_text("".join(f"ask {n % 20}\tanswer {n}\tway {n // 20}\n" for n in range(100)) + f"lang\t{'long ' * 70}\tway\n")
    options = ["--steps", "20", "--batch-size", "4", "--max-tokens", "20", "--tokenizer", "words"]
    assert main(["train", *SMALL, "--data", str(table), *options]) == 0
    lines = capsys.readouterr().err.splitlines()
    once = {"steps": "20", "passes": "0.94", "within": forecast.WITHIN}  # of 85 pairs 80 are seen
    assert say("en", "sentences.estimate", time="1 s", **once) in lines, "two layers, which count as five of the encoder's calls"
    mends = {line.strip(): lines[place - 1] for place, line in enumerate(lines) if line.startswith("    ")}
    mends = dict(mend.partition(": ")[::2] for mend in mends)
    assert mends[say("en", "sentences.mend_ambiguous", name="column 3")] == "--source 1 --target 2 --join 3"
    assert mends[say("en", "sentences.mend_left_out", most=70)] == "--max-tokens 70"
    assert mends[say("en", "sentences.mend_unwritable")].startswith("--tokenizer bpe --vocab-size ")
    assert mends[say("en", "sentences.mend_few_passes", steps="128")] == "--steps 128"


def test_a_time_sets_as_many_steps_as_may_fit_and_a_task_that_needs_more_gets_them(capsys, monkeypatch):
    monkeypatch.setattr(forecast, "measure_speed", lambda device: MachineSpeed(0.01, 0.0))  # ten layers: a tenth of a second for each step
    monkeypatch.setattr(forecast, "machine_cores", lambda: 1)
    experiment = _experiment(parser().parse_args(["train", "--minutes", "5"]))
    assert experiment.training.steps == forecast.SLACK * 5 * 60 * 10
    assert "6,000" in capsys.readouterr().err
    assert _experiment(parser().parse_args(["train", "--minutes", "5", "--steps", "70"])).training.steps == 70
    assert capsys.readouterr().err == ""
    def steps(*arguments):
        return _experiment(parser().parse_args(["train", *arguments])).training.steps

    assert steps("--task", "addition") == TASK_STEPS["addition"] > steps() == default("steps")
    assert steps("--task", "addition", "--steps", "7") == 7
    assert steps("--task", "addition", "--preset", "fast") == steps("--preset", "fast")


def test_translate_align_and_version(trained, capsys, tmp_path):
    folder = str(trained[1])
    assert main(["translate", folder, "hello", "world", "--json", "--beam", "2"]) == 0
    hello, world = printed(capsys)
    assert (hello["source"], hello["references"], hello["step"], len(world["outputs"])) == ("hello", ["olleh"], 12, 2)
    assert (main(["translate", folder, "hello", "--step", "0"]), len(capsys.readouterr().out.splitlines())) == (0, 1)
    assert (main(["translate", "reverse", "hello"]), capsys.readouterr().out) == (0, "olleh\n")  # one that ships with the app, by its name
    drawn = ["--sample", "3", "--top-k", "2", "--top-p", "0.9", "--seed", "4", "--prefix", "ol"]
    assert (main(["translate", folder, "hello", *drawn]), capsys.readouterr().out[:2]) == (0, "ol")
    assert main(["translate", "reverse", "hello", "--must", "x", "--must", "yh", "--must-not", "ll"]) == 0
    output = capsys.readouterr().out
    assert ("x" in output, "yh" in output, "ll" in output) == (True, True, False)
    (tmp_path / "src").write_text("hello\nabc\n")
    (tmp_path / "tgt").write_text("olleh\ncba\n")
    assert main(["align", "reverse", str(tmp_path / "src"), str(tmp_path / "tgt")]) == 0
    assert capsys.readouterr().out.splitlines() == ["4-0 3-1 2-2 1-3 0-4", "2-0 1-1 0-2"]
    assert main(["align", "reverse", str(tmp_path / "src")]) == 2
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"transformer-playground {__version__}\n"


def test_a_typed_sentence_is_translated_without_torch_to_the_same_text(trained, capsys, tmp_path, monkeypatch):
    """And not by a damaged run, of which the whole program says what is wrong."""
    folder = shutil.copytree(trained[1], tmp_path / "run")
    parse = lambda *words: parser().parse_args(["translate", str(folder), *words])  # noqa: E731
    light, whole = [(way(parse("hello", "dog é")), capsys.readouterr()) for way in (decoding.translate_light, decoding.translate)]
    assert (light[0], whole[0], light[1], "é" in light[1].err) == (True, 0, whole[1], True)
    for other in ("--step 0", "--json", "--beam 2", "--must x", "--prefix o", "--sample 1", "--top-p 0", "--average 2"):
        assert not decoding.translate_light(parse("hello", *other.split())), other
    monkeypatch.setenv("PLAYGROUND_DATA", str(shutil.copytree(folder, tmp_path / "runs" / ("k" * 16)).parents[1]))
    for name in (Folder(folder).card["name"], Folder(folder).card["id"]):  # of a run that a server has saved
        assert decoding.translate_light(parser().parse_args(["translate", name, "hello"]))
    files.write_file(folder / "weights.safetensors", (folder / "weights.safetensors").read_bytes()[::-1])
    for sentence in ("hello", "", "x" * 300):
        assert (decoding.translate_light(parse(sentence)), main(["translate", str(folder), sentence])) == (False, 2)


def test_runs_and_their_curves_are_tables(trained, capsys, tmp_path, monkeypatch):
    folder, run = trained[1], alone(tiny())[0]
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "nothing here"))
    assert main(["runs"]) == 0
    assert "numbers_zh" in capsys.readouterr().out
    assert main(["runs", "--folder", str(folder.parents[1]), "--csv", str(tmp_path / "runs.csv")]) == 0
    table = pandas.read_csv(tmp_path / "runs.csv")
    assert set(CHECKPOINTS) <= set(table["name"])
    assert (len(table), table.iloc[-1]["exact_match"]) == (len(CHECKPOINTS) + 1, pytest.approx(run.exact_match))
    assert main(["history", str(folder), "--csv", str(tmp_path / "steps.csv")]) == 0
    steps = pandas.read_csv(tmp_path / "steps.csv", float_precision="round_trip")
    assert steps["loss"].tolist() == run.history.steps.column("loss")
    capsys.readouterr()
    assert main(["history", str(folder), "--validations"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert (head.split(), [row.split()[0] for row in rows]) == (list(VALIDATIONS), ["4", "8", "12"])


def test_a_mistake_is_one_sentence_on_stderr(capsys):
    cases = {words: words.split()[-1].split("=")[-1] for words in MISTAKES} | {f"translate reverse hello {odd}": "top-p" for odd in ODD}
    for words, word in cases.items():
        try:
            code = main(words.split())
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        assert (code, out, len(err.strip().splitlines())) == (2, "", 1), words
        assert word in err
        assert "Traceback" not in err


def test_ctrl_c_ends_a_training_after_its_step_and_says_how_it_goes_on(trained, capsys, monkeypatch, tmp_path):
    tell, folder = training._tell, tmp_path / "run"

    def interrupt(run, *rest):
        if run.step == 5 and run.status == "training":
            signal.raise_signal(signal.SIGINT)
        return tell(run, *rest)

    monkeypatch.setattr(training, "_tell", interrupt)
    for options, advice in (["--out", str(folder)], f"go on with --resume {folder}"), ([], "--out"):
        assert main(["train", *SMALL, *options]) == 130
        assert f"Interrupted after step 5: {advice}" in capsys.readouterr().err.replace("nothing is kept (", "")
    monkeypatch.setattr(training, "_tell", tell)
    assert main(["train", "--resume", str(folder)]) == 0
    assert Folder(folder).run.history.steps.column("loss") == Folder(trained[1]).run.history.steps.column("loss")
    monkeypatch.setattr(training, "_tell", lambda run, *rest: signal.raise_signal(signal.SIGINT))  # a second time, and too early
    assert main(["train", *SMALL]) == 130


def test_labs_are_listed_and_run(capsys, monkeypatch):
    monkeypatch.setitem(LABS, "skip", replace(LABS["skip"], base={"steps": 2, "d_model": 8, "d_ff": 8, "n_heads": 2, "eval_every": 1}))
    assert main(["lab", "skip", "--seed", "3", "--json"]) == 0
    (bench,) = printed(capsys)
    assert (bench["lab"], bench["kind"], bench["seed"], bench["arms"]) == ("skip", "ablation", 3, ["with", "without"])
    assert main(["lab", "--json"]) == 0
    names = [lab["name"] for lab in json.loads(capsys.readouterr().out)]
    assert "softmax" in names
    assert main(["lab", "softmax", "--seed", "2", "--set", "factor=10.0", "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["lab"], outcome["seed"], outcome["answer"]) == ("softmax", 2, "vanishes")
    assert f"{outcome['numbers']['slope_large']:.3g}" in outcome["verdict"]
    assert (main(["lab"]), len(capsys.readouterr().out.splitlines())) == (0, len(names))


def test_a_missing_package_is_named_and_a_missing_module_of_ours_is_a_fault(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)  # as after `pip install .`: importing it raises ModuleNotFoundError
    for command in (["runs"], ["history", "reverse"]):
        assert (main(command), capsys.readouterr()) == (2, ("", str(Refusal("export.no_package", package="pandas")) + "\n"))
    monkeypatch.setitem(sys.modules, "playground.ui.server", None)
    with pytest.raises(ModuleNotFoundError, match="playground"):
        main(["serve"])


def test_a_kept_run_is_frozen_by_its_name(tmp_path, monkeypatch):
    """The page is made from a copy: the folder of the server that keeps the run stays as it is."""
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path / "data"))
    run = Run("a-new-run-with-an-id-22", "fresh-finch", tiny(), status="done", label="of the class")
    store = Store(tmp_path / "data")
    store.save(run, {"config.json": files.to_json(to_json(run.experiment))})
    before, calls = sorted((tmp_path / "data").rglob("*")), []

    def frozen(site, choice, folder, work):
        known = {run.name for run in site.runs.shipped()} >= {"fresh-finch", *CHECKPOINTS}
        calls.append((site.run.name, site.run.label, choice.count, site.runs.get(site.run.id) is site.run, known))
        folder.mkdir()
        yield 1, 1, "index.html"

    monkeypatch.setattr("playground.freeze.freeze", frozen)
    for name in (run.label, str(store.path(run))):
        assert main(["freeze", name, "--sentences", "3", "-o", str(tmp_path / name.replace("/", "-"))]) == 0
    assert (calls, before) == ([("fresh-finch", "of the class", 3, True, True)] * 2, sorted((tmp_path / "data").rglob("*")))


def test_serve_sets_the_variable_of_each_option_and_says_where_the_page_and_its_runs_are(monkeypatch, capsys, tmp_path):
    started = []
    monkeypatch.setattr(os, "environ", {"PORT": "7000", "PLAYGROUND_DATA": "there"})
    monkeypatch.setattr(cli, "start_page", lambda: started.append(dict(os.environ)))
    main(["serve", "--port", "8000", "--root-path", "/playground", "--open", "--share"])
    options = {"GRADIO_ROOT_PATH": "/playground", "PLAYGROUND_OPEN": "1", "GRADIO_SHARE": "True"}
    assert started == [{"PORT": "8000", "PLAYGROUND_DATA": "there", **options}]
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    monkeypatch.setenv("PLAYGROUND_OPEN", "1")
    monkeypatch.setattr(network, "lan_address", lambda: "10.0.0.5")
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    server.announce("http://0.0.0.0:8000/", tmp_path)
    text = capsys.readouterr().out
    assert opened == ["http://0.0.0.0:8000/"]
    assert {opened[0], "http://10.0.0.5:8000", str(tmp_path)} <= set(text.split())
