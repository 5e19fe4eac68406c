"""Promises outside the code are true: the README's blocks, commands and paths, and the commands that the workflows call."""

import os
import re
import shlex
import subprocess
import sys
from itertools import product

import pytest
import yaml
from hypothesis import settings
from PIL import Image

import playground
from docs.film import FILM, PICTURES
from playground.cli import parser
from playground.hub.model import BELONGS
from playground.readme import BLOCKS, DOCUMENTS, QUIZ, ROOT, renew
from playground.runs.registry import Runs

TEXTS = {document.relative_to(ROOT).as_posix(): document.read_text(encoding="utf-8") for document in DOCUMENTS}
TEXT = "\n".join(TEXTS.values())
WORKFLOWS = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / ".github" / "workflows").glob("*.yml"))
NOT_RUN = {
    "serve": "answers until it is stopped: tests/browser", "push": "writes to the Hub: tests/hub", "space": "writes to the Hub: tests/hub",
    "checkpoints": "trains all shipped models again, which takes an hour", "verify": "needs the codes of a server: tests/test_handin.py",
}  # fmt: skip


def test_the_front_page_is_short_and_the_generated_blocks_are_current():
    assert len(TEXTS["README.md"]) <= 8_000
    for name, text in TEXTS.items():
        assert renew(text) == text, f"{name}: run python -m playground.readme"
    assert all(TEXT.count(f"<!-- {name}: begin -->") == 1 for name in BLOCKS)
    questions = re.search(r"## Quiz(.*?)<details>", TEXT, re.DOTALL).group(1)
    assert len(re.findall(r"^\d+\. .*\?$", questions, re.MULTILINE)) == len(QUIZ)


def test_every_command_path_mark_profile_and_file_exists():
    commands = re.findall(r"^    python -m playground (.*?)(?:\s+#.*)?$", TEXT, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        parser().parse_args(shlex.split(command))  # SystemExit for one that there is not
    called = TEXT + WORKFLOWS
    for module in re.findall(r"python -m ((?:playground|tests|benchmarks)[\w.]*)", called):
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
    paths = re.findall(r"`((?:playground|tests|benchmarks|checkpoints)/[\w/.]*)`|pytest (?:-m \w+ )?((?:tests/[\w/.]+ ?)+)", called)
    for path in " ".join(filter(None, (path for groups in paths for path in groups))).split():
        assert (ROOT / path).exists(), path
    for name, text in TEXTS.items():
        for link in re.findall(r"\]\(([\w/.-]+)\)", text):
            assert (ROOT / name).parent.joinpath(link).exists(), (name, link)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    marks, profiles = re.findall(r"pytest -m (\w+)", WORKFLOWS), re.findall(r"--hypothesis-profile=(\w+)", WORKFLOWS)
    assert all(f'"{mark}: ' in project for mark in marks), marks
    assert all(map(settings.get_profile, profiles)), profiles
    files = re.findall(r"-[rc] ([\w/.-]+)", WORKFLOWS)
    assert len(files) > 3
    assert all((ROOT / file).is_file() for file in (*files, "package-lock.json", "mkdocs.yml")), files


def test_every_picture_and_place_is_of_this_version_and_the_gate_runs_on_every_python_that_is_promised():
    change_log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", change_log, re.MULTILINE)[1] == playground.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == playground.__version__
    assert '"playground.__version__"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for picture in PICTURES.iterdir():
        with Image.open(picture) as image:
            version = image.info.get("comment", b"").decode() or image.info["version"]
        assert version == playground.__version__, f"{picture.name}: run python -m docs.film"
        assert f"pictures/{picture.name})" in TEXT, picture.name
    assert FILM.stat().st_size < 1_500_000
    gate = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]["gate"]
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[1]
    versions = gate["strategy"]["matrix"]["python"]
    assert versions == [f"3.{minor}" for minor in range(int(oldest), int(oldest) + len(versions))]
    assert f"3.{sys.version_info.minor}" in versions


@pytest.mark.night
def test_every_command_of_the_documents_succeeds(tmp_path):
    """In the order of the documents, own data first: others go on with the run that it keeps."""
    pairs = [(f"das haus nummer {number}", f"the house number {number}") for number in range(400)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    for name, language in product(("train", "dev", "test"), (0, 1)):
        lines = [pair[language] for pair in (pairs[:300] if name == "train" else pairs[300:350] if name == "dev" else pairs[350:])]
        (tmp_path / f"{name}.{('de', 'en')[language]}").write_text("\n".join(lines), encoding="utf-8")
    data = os.environ | {"PLAYGROUND_DATA": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}
    Runs(tmp_path / "data").close()  # a server's, which `store` is about
    called = []
    for name in sorted(TEXTS, key=lambda name: "own-data" not in name):
        for line in re.findall(r"^    python -m playground (.*?)(?:\s+#.*)?$", TEXTS[name], re.MULTILINE):
            called.append(shlex.split(line)[0])
            if called[-1] not in NOT_RUN:
                command = [sys.executable, "-m", "playground", *shlex.split(line)]
                answer = subprocess.run(command, cwd=tmp_path, env=data, capture_output=True, text=True)
                refused = "--resume" in line  # the run that --out kept has ended, and it says so
                assert answer.returncode == 2 * refused, (line, answer.stdout[-500:], answer.stderr[-2000:])
    assert set(called) >= {*NOT_RUN, "train", "translate", "export", "store"}


def test_the_image_holds_what_a_space_holds_and_caddy_finds_it():
    dockerfile, left_in = ((ROOT / name).read_text(encoding="utf-8") for name in ("Dockerfile", ".dockerignore"))
    assert set(re.findall(r"^!(.*)", left_in, re.MULTILINE)) == set(BELONGS)
    assert re.findall(r"https?://[^/ ]+", dockerfile) == ["https://download.pytorch.org", "http://127.0.0.1:'"]
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    page, caddy = (compose["services"][name] for name in ("playground", "caddy"))
    volume, port = re.search(r"^VOLUME (\S+)\nEXPOSE (\d+)$", dockerfile, re.MULTILINE).groups()
    assert (page["volumes"], page["environment"]) == ([f"runs:{volume}"], {"PLAYGROUND_PROXIES": "1"})
    assert caddy["command"].endswith(f" playground:{port}")
