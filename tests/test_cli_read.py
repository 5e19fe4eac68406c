"""Truths about `python -m playground read`: one JSON object for any upload, made by the code that the page runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from playground.cli import main

TABLE = "id,English,Deutsch\n7,cat,Katze\n9,dog,Hund\n11,cow,\n"


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TABLE)
    return str(file)


def said(capsys) -> dict:
    (line,) = capsys.readouterr().out.splitlines()
    return json.loads(line)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("options", "first"),
    [
        ([], ["cat", "Katze"]),
        (["--swap"], ["Katze", "cat"]),
        (["--source", "3", "--target", "2"], ["Katze", "cat"]),
        (["--source", "deutsch"], ["Katze", "cat"]),
        (["--target", "1"], ["cat", "7"]),
        (["--header", "no"], ["English", "Deutsch"]),
        (["--encoding", "latin-1", "--undo", "--language", "zh"], ["cat", "Katze"]),
    ],
)
def test_choices(capsys, file, options, first):
    assert main(["read", file, "--json", *options]) == 0
    found = said(capsys)
    assert found["first"] == first
    assert found["pairs"] + sum(map(len, found["dropped"].values())) == found["lines"]


def test_the_report_in_both_languages(capsys, file):
    assert main(["read", file]) == 0
    assert capsys.readouterr().out.startswith("Lines read: 4; pairs kept: 2; dropped: 2.\n")
    assert main(["read", file, "--language", "zh"]) == 0
    assert capsys.readouterr().out.startswith("读取 4 行")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--source", "Klingon"], "data.no_column"),
        (["--source", "2", "--target", "2"], "data.same_column"),
        (["--encoding", "klingon"], "data.unknown_encoding"),
        (["--encoding", "utf-32"], "data.wrong_encoding"),
    ],
)
def test_refusals_are_json_too(capsys, file, options, kind):
    assert main(["read", file, *options, "--json"]) == 2
    error = said(capsys)["error"]
    assert error["kind"] == kind
    assert "\n" not in error["sentence"]
    assert main(["read", file, *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{error['sentence']}\n")


@pytest.mark.parametrize("path", ["/nowhere/file.tsv", "/"])
def test_files_that_are_none(capsys, path):
    assert main(["read", path, "--json"]) == 2
    error = said(capsys)["error"]
    assert error["kind"] == "file"
    assert path in error["sentence"]


def test_from_any_folder_and_without_torch(file, tmp_path):
    root = Path(__file__).parents[1]
    start = f"import sys; sys.path.insert(0, {str(root)!r}); from playground.cli import main; "
    code = start + f"main(['read', {file!r}, '--json']); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, check=True)
    assert json.loads(done.stdout)["pairs"] == 2


def test_lines_of_one_language_are_read_when_somebody_says_that_they_are_pairs(capsys, tmp_path):
    file = tmp_path / "poem.txt"
    verses = "The woods are lovely, dark and deep,\nBut I have promises to keep,\n"
    file.write_text(f"{verses}\nHe gives his harness bells a shake\nTo ask if there is some mistake.")
    assert main(["read", str(file), "--json"]) == 2
    assert said(capsys)["error"]["kind"] == "data.same_language"
    assert main(["read", str(file), "--json", "--same-language"]) == 0
    assert said(capsys)["first"] == ["The woods are lovely, dark and deep,", "But I have promises to keep,"]
