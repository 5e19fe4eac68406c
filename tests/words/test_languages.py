"""A language is a folder of JSON. A made-up third one, English with every sentence changed, is offered, linked to, spoken and checked."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.ui.server import head, languages
from playground.words import ENGLISH, LANGUAGES, browser_tags, entries, preferred

ROOT = Path(__file__).parents[2]

ASKED = """
import json, sys
from pathlib import Path
from starlette.applications import Starlette
from starlette.testclient import TestClient
from playground import words
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.panels import PANELS
from playground.ui.routes import PREFIX, routes
from tests.words.test_words import differences

runs = Runs(Path(sys.argv[1]))
reader = Reader(runs)
client = TestClient(Starlette(routes=routes(runs, reader)))

def ask(path, **query):
    return client.get(f"{PREFIX}/{path}", params=query).json()

answers = {
    "languages": [words.LANGUAGES, words.preferred("xy-AB, en"), words.preferred("fr")],
    "boot": {language: ask("boot", lang=language, task="nothing") for language in ("en", "xx", "no")},
    "panels": {name: ask(f"panel/{name}", lang="xx", run="reverse", text="hello") for name in PANELS},
    "whole": differences("xx"),
}
words.entries("xx").pop("page.train")
words.entries("xx")["page.started"] = "¡¡ {nobody}"
answers["broken"] = differences("xx")
reader.close()
runs.close()
print(json.dumps(answers))
"""


def texts(block: object, key: str = "") -> Iterator[str]:
    """What a person reads of a panel's answer, by the names under which the page shows text."""
    for name, value in block.items() if isinstance(block, dict) else [(key, one) for one in block] if isinstance(block, list) else ():
        if isinstance(value, str) and name in ("text", "caption", "title", "label", "hint", "placeholder"):
            yield value
        yield from texts(value, name)


@pytest.mark.night
def test_a_third_language_is_offered_and_all_that_panels_say_is_in_it(tmp_path):
    shutil.copytree(ROOT / "playground", tmp_path / "playground", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    third = tmp_path / "playground" / "words" / "xx"
    third.mkdir()
    for file in (ROOT / "playground" / "words" / "en").glob("*.json"):
        sentences = {name: f"¡¡ {text}" for name, text in json.loads(file.read_text(encoding="utf-8")).items()}
        (third / file.name).write_text(json.dumps(sentences), encoding="utf-8")
    (third / "language.json").write_text('{"name": "Ixish", "brief": "IX", "html": "xx-XX", "browser": "xx | xy"}', encoding="utf-8")
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", ASKED, str(tmp_path / "runs")]
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["languages"] == [["en", "xx", "zh"], "xx", "en"], "English first"
    english, own, unknown = (answers["boot"][language] for language in ("en", "xx", "no"))
    assert own["ignored"] == english["ignored"] == ["task"], "the task of the link, never its language"
    assert sorted(unknown["ignored"]) == ["lang", "task"]
    for part in ("words", "labels"):
        assert own[part] == {name: f"¡¡ {text}" for name, text in english[part].items()}
    assert (answers["whole"], answers["broken"]) == ([], ["page.train is missing", "page.started fills in nobody, not name"])
    prose = re.compile(r"[A-Za-z’']{3,} [A-Za-z’']{2,}")
    spoken = {name: list(texts(panel)) for name, panel in answers["panels"].items()}
    assert {name: strays for name, all in spoken.items() if (strays := [one for one in all if prose.search(one) and "¡¡" not in one])} == {}
    assert sum("¡¡" in one for all in spoken.values() for one in all) > 100


def test_every_folder_of_words_is_a_language_that_the_page_offers():
    assert set(LANGUAGES) == {folder.name for folder in (ROOT / "playground" / "words").iterdir() if any(folder.glob("*.json"))}
    assert LANGUAGES[0] == ENGLISH
    assert list(languages()) == list(LANGUAGES)
    own = [{key: text for key, text in entries(language).items() if key.startswith("language.")} for language in LANGUAGES]
    assert {frozenset(one) for one in own} == {frozenset(f"language.{key}" for key in ("name", "brief", "html", "browser"))}
    assert len({one["language.name"] for one in own}) == len(own)
    assert all(one["language.name"] in head() for one in own)
    assert all(map(browser_tags, LANGUAGES))


def test_a_browser_gets_the_first_language_that_is_here():
    accepted = {
        "zh-CN,zh;q=0.9,en;q=0.8": "zh", "zh": "zh", "ZH-Hant-TW": "zh", "en-GB": "en", "": "en", "fr-CH, fr;q=0.9": "en",
        "fr-CH, zh;q=0.8, en;q=0.7": "zh", "fr, en, zh": "en", "zhx": "en", ";;,,*": "en",
    }  # fmt: skip
    assert {header: preferred(header) for header in accepted} == accepted
    assert (preferred("en", "zh"), preferred("zh", "no")) == ("zh", "zh")
