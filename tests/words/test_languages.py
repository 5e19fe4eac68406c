"""A language is a folder of JSON. A made-up third one, English with every sentence changed, is offered, linked to, spoken and checked."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from playground.ui.server import head, languages
from playground.words import ENGLISH, LANGUAGES, browser_tags, entries, known, preferred
from tests.thoroughness import every_case

ROOT = Path(__file__).parents[2]

ASKED = """
import json, sys
from pathlib import Path
from starlette.applications import Starlette
from starlette.testclient import TestClient
from playground import words
from playground.arguments import parser
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui import links, listeners
from playground.ui.routes import PREFIX, routes
from playground.ui.server import head
from tests.words.test_words import differences

runs = Runs(Path(sys.argv[1]))
reader = Reader(runs)
client = TestClient(Starlette(routes=routes(runs, reader)))
request = lambda query, accepted: type("Request", (), {"query_params": query, "headers": {"accept-language": accepted}})()

def ask(path, **query):
    return client.get(f"{PREFIX}/{path}", params=query).json()

found = {
    "languages": words.LANGUAGES,
    "head": head(),
    "options": parser().parse_args(["lab", "--language", "xx"]).language,
    "arrives": [
        listeners._language(request(query, accepted)) for query, accepted in (({"lang": "xx"}, "en"), ({}, "xy-AB, en"), ({}, "fr"))
    ],
    "boot": {language: ask("boot", lang=language, task="nothing") for language in ("en", "xx", "no")},
    "panels": {language: ask("panel/positions", lang=language, run="reverse") for language in ("en", "xx")},
    "refused": ask("panel/attention", lang="xx", run="nobody")["error"],
    "whole": differences("xx"),
}
words.entries("xx").pop("page.train")
words.entries("xx")["page.started"] = "¡¡ {nobody}"
found["broken"] = differences("xx")
reader.close()
runs.close()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict:
    """What a playground with a third language answers."""
    house = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "playground", house / "playground", ignore=shutil.ignore_patterns("__pycache__"))
    (house / "checkpoints").symlink_to(ROOT / "checkpoints")
    third = house / "playground" / "words" / "xx"
    third.mkdir()
    for file in (ROOT / "playground" / "words" / "en").glob("*.json"):
        sentences = {name: f"¡¡ {text}" for name, text in json.loads(file.read_text(encoding="utf-8")).items()}
        (third / file.name).write_text(json.dumps(sentences), encoding="utf-8")
    (third / "language.json").write_text('{"name": "Ixish", "brief": "IX", "html": "xx-XX", "browser": "xx | xy"}', encoding="utf-8")
    path = {"PYTHONPATH": f"{house}:{ROOT}", "PATH": "", "HOME": str(house)}
    command = [sys.executable, "-c", ASKED, str(house / "runs")]
    done = subprocess.run(command, cwd=house, env=path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.night
def test_a_third_language_is_offered(said):
    assert said["languages"] == ["en", "xx", "zh"], "English first"
    assert "Ixish" in said["head"]
    assert said["options"] == "xx"
    assert said["arrives"] == ["xx", "xx", "en"]


@pytest.mark.night
def test_a_link_in_a_third_language_works_and_what_it_says_is_in_it(said):
    english, third, unknown = (said["boot"][language] for language in ("en", "xx", "no"))
    assert third["ignored"] == english["ignored"] == ["task"], "the task of the link, never its language"
    assert sorted(unknown["ignored"]) == ["lang", "task"]
    assert third["notice"].startswith("¡¡")
    assert set(third["words"]) == set(english["words"])
    assert all(text == f"¡¡ {english['words'][name]}" for name, text in third["words"].items())
    assert all(label == f"¡¡ {english['labels'][name]}" for name, label in third["labels"].items())
    assert said["refused"].startswith("¡¡")


@pytest.mark.night
def test_panels_answer_in_a_third_language(said):
    captions = [[block.get("text") or block.get("caption") for block in said["panels"][language]["blocks"]] for language in ("en", "xx")]
    assert sum(map(bool, captions[0])) >= 2
    for english, third in zip(*captions, strict=True):
        assert third == english or third == f"¡¡ {english}"
        assert bool(english) == str(third).startswith("¡¡")


@pytest.mark.night
def test_what_a_language_lacks_is_named(said):
    assert said["whole"] == []
    assert said["broken"] == ["page.train is missing", "page.started fills in nobody, not name"]


def test_every_folder_of_words_is_a_language():
    folders = {folder.name for folder in (ROOT / "playground" / "words").iterdir() if any(folder.glob("*.json"))}
    assert set(LANGUAGES) == folders
    assert LANGUAGES[0] == ENGLISH
    assert len({entries(language)["language.name"] for language in LANGUAGES}) == len(LANGUAGES)
    for language in LANGUAGES:
        assert {key for key in entries(language) if key.startswith("language.")} == {
            f"language.{key}" for key in ("name", "brief", "html", "browser")
        }
        assert browser_tags(language)


def test_the_page_is_told_of_every_language():
    assert list(languages()) == list(LANGUAGES)
    assert all(said["name"] in head() for said in languages().values())
    assert all(known(language, "language.html") for language in LANGUAGES)


@every_case(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("zh", "zh"), ("ZH-Hant-TW", "zh"), ("en-GB", "en"), ("", "en"), ("fr-CH, fr;q=0.9", "en"),
        ("fr-CH, zh;q=0.8, en;q=0.7", "zh"), ("fr, en, zh", "en"), ("zhx", "en"), (";;,,*", "en"),
    ],
)  # fmt: skip
def test_a_browser_gets_the_first_language_that_is_here(accepted, language):
    assert preferred(accepted) == language
