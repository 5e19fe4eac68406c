"""Truths about `python -m playground read`: one JSON object for any upload, made by the code that the page runs."""

import json

import pytest

from playground.cli import main

VERSES = ["The woods are lovely, dark and deep,", "But I have promises to keep,"]
FILES = {
    "table.csv": "id,English,Deutsch\n7,cat,Katze\n9,dog,Hund\n11,cow,\n",
    "pairs.tsv": "eins\tone\n\nzwei\ttwo\nkaputt\n",
    "poem.txt": "\n".join([*VERSES, "", "He gives his harness bells a shake", "To ask if there is some mistake."]),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def test_a_file_is_read_as_the_options_say(capsys):
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


def test_a_refusal_is_one_sentence_or_one_json_object(capsys):
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
        assert main(["read", *words.split()]) == 2
        assert capsys.readouterr() == ("", f"{error['sentence']}\n")
