"""The lines that people copy: each of them runs as it stands, with the run and the sentence that were on screen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from playground.ui.snippets import LANGUAGES
from playground.words import LANGUAGES as SPOKEN
from playground.words import entries

ROOT = Path(__file__).parents[2]
AWKWARD = """it's "a" $HOME `ls` \\n ${x} 中 "TEXT" 'URL'"""
RUNS = {
    "python": [sys.executable, "-c"],
    "javascript": ["node", "--input-type=module", "-e"],
    "curl": ["bash", "-c"],
    "load": [sys.executable, "-c"],
}


def lines(site, language: str, text: str) -> str:
    answer = site.get("code", run="reverse", text=text, root=site.url).json()
    return next(one["code"] for one in answer["languages"] if one["id"] == language)


def run(language: str, code: str, folder) -> str:
    if shutil.which({"curl": "curl", "javascript": "node"}.get(language, sys.executable)) is None:
        pytest.skip(f"{language} is not installed")
    found = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([*RUNS[language], code], cwd=folder, env=found, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lines_run_as_they_stand(site, language, tmp_path):
    told = run(language, lines(site, language, "hello"), tmp_path)
    assert "olleh" in told
    if language == "curl":
        assert json.loads(told.split("data: ")[1])[0]["right"]
    if language == "python":
        assert "<bos> → o" in told


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_any_sentence_stays_a_sentence(site, language, tmp_path):
    """Quoted as the language quotes it: nothing of it is run. The model doesn't know these characters, and answers all the same."""
    told = run(language, lines(site, language, AWKWARD), tmp_path)
    assert "<eos>" in told
    assert "data: [{" in told if language == "curl" else "error" not in told


def test_every_language_is_explained(site):
    for spoken in SPOKEN:
        answer = site.get("code", run="reverse", text="a", root=site.url, lang=spoken).json()
        assert [one["id"] for one in answer["languages"]] == list(LANGUAGES)
        assert answer["about"] == entries(spoken)["api.dialog_about"]


def test_without_a_sentence_they_hold_the_example(site):
    answer = site.get("code", run="reverse", root=site.url).json()
    example = site.get("run/reverse").json()["examples"][0][0]
    assert all(example in one["code"] for one in answer["languages"])


@pytest.mark.parametrize(
    ("asked", "key"), [({"run": "nobody"}, "runs.unknown"), ({"run": "reverse", "root": "x" * 3000}, "cursor.too_long")]
)
def test_what_can_not_be_is_a_sentence(site, asked, key):
    assert site.get("code", **asked).json()["key"] == key
