"""A file is read, translated in batches and scored, and given files are what a run is validated and tested on."""

import io
import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from playground.cli import lines, main, parser
from playground.reading.uploads import read_files
from playground.runs import upload_process
from playground.runs.disk.folder import Folder
from tests.runs.tiny import CORPORA
from tests.test_cli import SMALL, machine, printed  # noqa: F401

DICE = random.Random(1)
TEXTS = ["".join(DICE.choice("abcdefghij") for _ in range(DICE.randint(1, 14))) for _ in range(60)]
TAKEN_OVER = ("sentences", "tokenize", "exact_match", "too_short", "length_ratio")
LEMMAS = [f"{start}{two}n" for start in ("ba", "de", "gi", "ko", "lu") for two in ("ra", "mi", "so", "te")]
VERSES = ["The woods are lovely, dark and deep,", "But I have promises to keep,"]
FILES = {
    "table.csv": "id,English,Deutsch\n7,cat,Katze\n9,dog,Hund\n11,cow,\n", "pairs.tsv": "eins\tone\n\nzwei\ttwo\nkaputt\n",
    "poem.txt": "\n".join([*VERSES, "", "He gives his harness bells a shake", "To ask if there is some mistake."]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _read_here(monkeypatch):
    monkeypatch.setattr(upload_process, "read", read_files)  # the same in a process of its own: tests/runs/test_upload_process.py


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with an opinion, for BLEU of nothing in common is 0 whatever is done."""
    folder = tmp_path_factory.mktemp("scored") / "run"
    assert main(["train", *SMALL, "--d-model", "16", "--dropout", "0", "--steps", "60", "--out", str(folder)]) == 0
    torch.set_num_threads(1)
    return folder


@pytest.fixture
def files(tmp_path):
    (tmp_path / "source").write_text("".join(f"{text}\n" for text in TEXTS))
    (tmp_path / "reference").write_bytes("".join(f"{text[::-1]}\r\n" for text in TEXTS).encode("utf-8-sig"))
    return tmp_path


def translated(capsys, *arguments, err: str | None = None) -> list[str]:
    assert main(["translate", *arguments]) == 0
    out, errors = capsys.readouterr()
    assert err in (None, errors)
    return out.splitlines()


@pytest.mark.trust
@pytest.mark.parametrize("beam", [[], pytest.param(["--beam", "3"], marks=pytest.mark.night)])
def test_lines_of_files_and_of_stdin_are_what_sentences_one_by_one_are(folder, files, capsys, monkeypatch, beam):
    monkeypatch.setattr(lines, "CHUNK", 16)
    alone = translated(capsys, str(folder), *TEXTS, *beam)
    assert len(set(alone)) > 10
    inputs = [str(files / "source")] * 2
    assert translated(capsys, str(folder), "--input", *inputs, *beam) == [*alone, *alone]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(["", *TEXTS, "", "É" + "a" * 999]).encode("utf-16"))))
    assert main(["translate", str(folder), *beam]) == 0
    out, err = capsys.readouterr()
    assert out.split("\n")[:-2] == ["", *alone, ""]
    unread = "Not in the vocabulary, read as <unk>: É\n"
    assert err == unread + "1 line has more tokens than the model can read: only the beginning was translated.\n"
    translated(capsys, str(folder), "ÉaÉ", "--json", err=unread)


@pytest.mark.trust
def test_the_score_is_that_of_the_sacrebleu_program(folder, files, capsys):
    names = {name: str(files / name) for name in ("source", "reference", "output")}
    beam = ["--beam", "2", "--length-penalty", "0.8", "--tokenize", "char"]
    assert main(["score", str(folder), names["source"], names["reference"], *beam, "-o", names["output"], "--json"]) == 0
    (report,) = printed(capsys)
    (files / "reference").write_text("".join(f"{text[::-1]}\n" for text in TEXTS))  # the program doesn't take CR and BOM away
    arguments = [names["reference"], "-i", names["output"], "-m", "bleu", "chrf", "ter", "-tok", "char", "--confidence", "-w", "6"]
    done = subprocess.run([sys.executable, "-m", "sacrebleu", *arguments], capture_output=True, check=True)
    bleu, chrf, ter = json.loads(done.stdout)
    for name, theirs in (("bleu", bleu), ("chrf", chrf), ("ter", ter)):
        assert (report[name], report[f"{name}_signature"]) == (pytest.approx(theirs["score"], abs=1e-6), theirs["signature"])
        assert report[f"{name}_reach"] == pytest.approx(theirs["confidence_var"], abs=1e-6)
    assert f"ratio = {report['length_ratio']:.3f}" in bleu["verbose_score"]
    outputs = (files / "output").read_text().splitlines()
    assert report["exact_match"] == sum(output == text[::-1] for output, text in zip(outputs, TEXTS, strict=True)) / len(TEXTS)
    assert (report["sentences"], report["step"], report["beam"], report["cut"]) == (60, 60, 2, 0)
    assert report["chrf"] > 0
    own = {name: value for name, value in report.items() if name in TAKEN_OVER or name.startswith(("bleu", "chrf", "ter"))}
    assert main(["score", "--hypotheses", names["output"], names["reference"], "--tokenize", "char", "--json"]) == 0
    assert printed(capsys) == [own], "the same outputs, as those of any system"
    (files / "other").write_text("".join(f"{output}\n" for output in outputs))
    assert main(["score", "--hypotheses", names["output"], names["reference"], str(files / "other"), "--json"]) == 0
    (several,) = printed(capsys)
    assert (several["exact_match"], round(several["chrf"]), several["ter"]) == (1, 100, 0), "the nearest of several references counts"


def test_a_score_for_people_and_what_cant_be_scored_are_few_lines(folder, files, capsys):
    source, reference = files / "source", files / "reference"
    assert main(["score", str(folder), str(source), str(reference), "--step", "0"]) == 0
    bleu, chrf, ter, _, how = capsys.readouterr().out.splitlines()
    assert (bleu[:4], chrf[:4], ter[:3]) == ("BLEU", "chrF", "TER")
    assert how.endswith("greedy, step 0")
    for contents, word in ((b"just one\n", "60 lines"), (None, "can't be used")):
        reference.write_bytes(contents) if contents else reference.unlink()
        assert main(["score", str(folder), str(source), str(reference)]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert word in err
    assert main(["score", str(folder), str(source), str(source), "--beam", "99"]) == 2


def test_files_are_read_as_pairs_are_whatever_their_encoding_and_format(folder, tmp_path, capsys):
    """Commas make no table of a text; of two files neither may hold both sides."""
    pairs, write = [(text, text[::-1]) for text in TEXTS[:12]], lambda name, data: (tmp_path / name).write_bytes(data)
    sources = "".join(f"{src}, {src}\n" for src, _ in pairs)
    write("utf8.txt", sources.encode())
    write("utf16.txt", sources.encode("utf-16"))
    write("pairs.tsv", "".join(f"{src}, {src}\t{tgt}\n" for src, tgt in pairs).encode("utf-16"))
    paths = {name: str(tmp_path / name) for name in ("utf8.txt", "utf16.txt", "pairs.tsv")}
    first, *rest = (translated(capsys, str(folder), "--input", file) for file in paths.values())
    assert (rest, len(first), main(["score", str(folder), paths["pairs.tsv"], "--json"])) == ([first, first], 12, 0)
    assert printed(capsys)[0]["sentences"] == 12
    for files, word in (((paths["utf8.txt"],), "no translations"), ((paths["pairs.tsv"], paths["utf8.txt"]), "alone")):
        assert main(["score", str(folder), *files]) == 2
        assert word in capsys.readouterr().err


def test_given_files_are_what_is_validated_and_tested_on(capsys, tmp_path):
    def write(name: str, numbers) -> str:
        (tmp_path / name).write_text("".join(f"a{n} b\tc{n} d\n" for n in numbers))
        return str(tmp_path / name)

    data, valid, test = write("train.tsv", range(30)), write("valid.tsv", (2, 40, 41)), write("test.tsv", (3, 50))
    command = ["train", *SMALL, "--steps", "1", "--out", str(tmp_path / "run"), "--data", data]
    assert main([*command, "--valid", valid, "--test", test]) == 0
    assert "To validate on: 3; to test on: 2; left out of training, for their source is among these: 2." in capsys.readouterr().err
    run = Folder(tmp_path / "run").run  # as it is read back
    corpus = CORPORA.get(run.experiment, run.pairs)
    assert [item.src for item in corpus.heldout] == ["a2 b", "a40 b", "a41 b"]
    assert [item.src for item in corpus.test] == ["a3 b", "a50 b"]
    assert {item.src for item in corpus.train} == {f"a{n} b" for n in range(30)} - {"a2 b", "a3 b"}
    assert run.history.validations.last()["all_pairs"] == 3
    drawn = CORPORA.get(run.experiment, replace(run.pairs, given=(0, 0)))  # corpora are kept by what makes them
    assert [item.src for item in drawn.heldout] != [item.src for item in corpus.heldout]
    assert main(["train", *SMALL, "--test", test]) == 2  # on them alone nothing is trained
    assert "--data" in capsys.readouterr().err
    assert parser().parse_args(["train", "--test", "7"]).test_size == "7"  # what the option was once


def test_columns_are_joined_and_held_out_by_as_the_options_say(capsys, tmp_path):
    table = tmp_path / "forms.csv"
    table.write_text("\n".join(f"{mood},{lemma},{lemma}-{mood}" for lemma in LEMMAS for mood in ("now", "then")))
    command = ["train", *SMALL, "--steps", "1", "--out", str(tmp_path / "run"), "--data", str(table)]
    assert main([*command, "--source", "2", "--target", "3", "--join", "1", "--split-by", "2"]) == 0
    run = Folder(tmp_path / "run").run
    corpus = CORPORA.get(run.experiment, run.pairs)
    learnt, held = ({tuple(item.src.split()) for item in items} for items in (corpus.train, corpus.heldout))
    assert held | learnt <= {(lemma, mood) for lemma in LEMMAS for mood in ("now", "then")}
    assert held
    assert not {lemma for lemma, _ in held} & {lemma for lemma, _ in learnt}, "nothing is known of its lemmas"
    for option, column in (("--join", "9"), ("--split-by", "tense")):
        assert main([*command, option, column]) == 2
        assert column in capsys.readouterr().err


def test_a_file_is_read_as_the_options_say_or_refused_in_one_sentence_or_one_json_object(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for words, first, pairs in (
        ("table.csv", ["cat", "Katze"], 2), ("table.csv --swap", ["Katze", "cat"], 2),
        ("table.csv --source 3 --target 2", ["Katze", "cat"], 2), ("table.csv --source deutsch", ["Katze", "cat"], 2),
        ("table.csv --target 1", ["cat", "7"], 3), ("table.csv --header no", ["English", "Deutsch"], 3),
        ("table.csv --encoding latin-1 --undo --language zh", ["cat", "Katze"], 2), ("pairs.tsv", ["eins", "one"], 2),
        ("poem.txt --same-language", VERSES, 2),
    ):  # fmt: skip
        assert main(["read", *words.split(), "--json"]) == 0
        outcome = json.loads(capsys.readouterr().out)
        assert (outcome["first"], outcome["pairs"]) == (first, pairs), words
        assert outcome["pairs"] + sum(map(len, outcome["dropped"].values())) == outcome["lines"]
    for language, beginning in (("en", "Lines read: 4; pairs kept: 2; dropped: 2.\n"), ("zh", "读取 4 行")):
        assert main(["read", "table.csv", "--language", language]) == 0
        assert capsys.readouterr().out.startswith(beginning)
    for words, kind in (
        ("table.csv --source Klingon", "data.no_column"), ("table.csv --source 2 --target 2", "data.same_column"),
        ("table.csv --encoding klingon", "data.unknown_encoding"), ("table.csv --encoding utf-32", "data.wrong_encoding"),
        ("poem.txt", "data.same_language"), ("/nowhere/file.tsv", "file"), ("/", "file"),
    ):  # fmt: skip
        assert main(["read", *words.split(), "--json"]) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["kind"] == kind, words
        assert "\n" not in error["sentence"]
        assert kind != "file" or words in error["sentence"]
        assert (main(["read", *words.split()]), capsys.readouterr()) == (2, ("", f"{error['sentence']}\n"))
