"""Truths about `python -m playground read`: one JSON object for any upload, made by the code that the page runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from playground.cli import main

VERSES = """The woods are lovely, dark and deep,
But I have promises to keep,

He gives his harness bells a shake
To ask if there is some mistake."""
FILES = {
    "table.csv": "id,English,Deutsch\n7,cat,Katze\n9,dog,Hund\n11,cow,\n",
    "pairs.tsv": "eins\tone\n\nzwei\ttwo\nkaputt\n",
    "poem.txt": VERSES,
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "first", "pairs"),
    [
        ("table.csv", ["cat", "Katze"], 2),
        ("table.csv --swap", ["Katze", "cat"], 2),
        ("table.csv --source 3 --target 2", ["Katze", "cat"], 2),
        ("table.csv --source deutsch", ["Katze", "cat"], 2),
        ("table.csv --target 1", ["cat", "7"], 3),
        ("table.csv --header no", ["English", "Deutsch"], 3),
        ("table.csv --encoding latin-1 --undo --language zh", ["cat", "Katze"], 2),
        ("pairs.tsv", ["eins", "one"], 2),
        ("poem.txt --same-language", VERSES.splitlines()[:2], 2),
    ],
)
def test_a_file_is_read_as_the_options_say(capsys, monkeypatch, folder, words, first, pairs):
    monkeypatch.chdir(folder)
    assert main(["read", *words.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["pairs"]) == (first, pairs)
    assert found["pairs"] + sum(map(len, found["dropped"].values())) == found["lines"]


def test_the_report_in_both_languages(capsys, folder):
    for language, beginning in (("en", "Lines read: 4; pairs kept: 2; dropped: 2.\n"), ("zh", "读取 4 行")):
        assert main(["read", str(folder / "table.csv"), "--language", language]) == 0
        assert capsys.readouterr().out.startswith(beginning)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("table.csv --source Klingon", "data.no_column"),
        ("table.csv --source 2 --target 2", "data.same_column"),
        ("table.csv --encoding klingon", "data.unknown_encoding"),
        ("table.csv --encoding utf-32", "data.wrong_encoding"),
        ("poem.txt", "data.same_language"),
        ("/nowhere/file.tsv", "file"),
        ("/", "file"),
    ],
)
def test_a_refusal_is_one_sentence_or_one_json_object(capsys, monkeypatch, folder, words, kind):
    monkeypatch.chdir(folder)
    assert main(["read", *words.split(), "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == kind
    assert "\n" not in error["sentence"]
    assert kind != "file" or words in error["sentence"]
    assert main(["read", *words.split()]) == 2
    assert capsys.readouterr() == ("", f"{error['sentence']}\n")


def test_from_any_folder_and_without_torch(folder):
    start = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r}); from playground.cli import main; "
    code = start + "main(['read', 'table.csv', '--json']); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=folder, check=True)
    assert json.loads(done.stdout)["pairs"] == 2
