"""What can be known of the Dockerfile without building it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from playground.hub.space import BELONGS, CPU_WHEELS
from playground.runs.disk.store import wanted_folder

ROOT = Path(__file__).parents[2]
KNOWN = {"FROM", "ARG", "RUN", "USER", "WORKDIR", "ENV", "COPY", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}


@pytest.fixture(scope="module")
def lines():
    """(instruction, arguments) in order; comments left out, lines that go on joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(name, " ".join(rest.split())) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())]


def found(lines, instruction):
    return [rest for name, rest in lines if name == instruction]


def environment(lines):
    return dict(word.split("=", 1) for rest in found(lines, "ENV") for word in rest.split())


def test_every_line_is_an_instruction_and_the_image_comes_first(lines):
    assert {name for name, _ in lines} == KNOWN
    assert lines[0][0] == "FROM"
    assert lines[-1] == ("CMD", '["python", "app.py"]')


def test_torch_is_the_cpu_wheel_unless_told_otherwise(lines):
    (argument,) = found(lines, "ARG")
    name, _, wheels = argument.partition("=")
    assert CPU_WHEELS.endswith(wheels)
    installed = next(rest for rest in found(lines, "RUN") if rest.startswith("pip install"))
    assert f'--extra-index-url "${name}" -r requirements.txt' in installed
    order = [instruction for instruction, _ in lines]
    assert order.index("FROM") < order.index("ARG") < lines.index(("RUN", installed))  # before FROM it would be unknown after it


def test_runs_are_kept_in_a_volume_that_its_user_may_write(lines, monkeypatch):
    (volume,) = found(lines, "VOLUME")
    monkeypatch.setenv("PLAYGROUND_DATA", environment(lines)["PLAYGROUND_DATA"])
    assert str(wanted_folder()) == volume
    assert lines.index(("USER", "user")) < lines.index(("RUN", f"mkdir {volume}")) < lines.index(("VOLUME", volume))


def test_the_port_is_the_one_the_app_listens_on(lines):
    assert found(lines, "EXPOSE") == [environment(lines)["PORT"]]
    assert environment(lines)["GRADIO_SERVER_NAME"] == "0.0.0.0"


def test_the_health_check_tells_a_server_that_answers_from_one_that_does_not(lines, site):
    _, _, command = found(lines, "HEALTHCHECK")[0].partition("CMD ")
    python, *arguments = json.loads(command)
    assert python == "python"
    for port, code in ((urlsplit(site.url).port, 0), (1, 1)):
        done = subprocess.run([sys.executable, *arguments], env=os.environ | {"PORT": str(port)}, capture_output=True, timeout=60)
        assert done.returncode == code, done.stderr


def test_what_the_app_needs_is_copied_and_tests_are_not():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not set(BELONGS) & set(ignored)
    assert {"tests", "benchmarks", "node_modules", ".git", "**/__pycache__"} <= set(ignored)
