"""A Space is this very app: every file it needs and no other, with metadata and requirements to suit its hardware."""

import re
import subprocess
import sys

import pytest

from playground.cli import main
from playground.config import Refusal
from playground.hub import space

REPO = "ada/playground"


def metadata(made):
    return dict(re.findall(r"^(\w+): *(.*)$", made.metadata(), re.MULTILINE))


def test_only_files_that_belong_go_up():
    names = space.plan(REPO, "cpu").sizes()
    assert {"app.py", "LICENSE", "README.md", "requirements.txt"} <= names.keys()
    assert {"checkpoints/reverse/run.json", "playground/ui/static/main.js", "playground/words/zh/hub.json"} <= names.keys()
    unwanted = re.compile(r"(^|/)(tests|benchmarks|node_modules|runs/[\w-]{22}|__pycache__|\.\w+)(/|$)|\.pyc$|package|eslint|Dockerfile")
    assert not [name for name in names if unwanted.search(name)]
    assert sum(names.values()) < 25_000_000


@pytest.mark.night
def test_it_is_all_the_app_needs(hub, tmp_path):
    """What was uploaded starts by itself, in a folder of its own."""
    space.upload(space.plan(REPO, "cpu"))
    for name, data in hub.repos["spaces/ada/playground"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    code = "import playground, app; from playground.ui.server import head; head(); print(playground.__file__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "playground" / "__init__.py")


@pytest.mark.parametrize(
    ("hardware", "flavor", "torch", "wheels"),
    [("cpu", "cpu-basic", "2.13.0", True), ("gpu", "t4-small", "2.13.0", False), ("zero", "zero-a10g", "2.11.0", False)],
)
def test_metadata_and_requirements_suit_the_hardware(hardware, flavor, torch, wheels):
    made = space.plan(REPO, hardware)
    said = metadata(made)
    assert (said["sdk"], said["suggested_hardware"], said["license"], said["header"]) == ("gradio", flavor, "apache-2.0", "mini")
    assert said["python_version"] == '"3.12"'  # quoted: 3.10 would be 3.1
    assert said["thumbnail"] == "https://huggingface.co/spaces/ada/playground/resolve/main/playground/ui/static/preview.png"
    needed = made.written["requirements.txt"].splitlines()
    assert f"torch=={torch}" in needed
    assert [line for line in needed if line.startswith("--")] == ([space.CPU_WHEELS] if wheels else [])
    assert needed[0].startswith("--") == wheels
    assert f"gradio=={said['sdk_version']}" in needed


def test_a_dry_run_lists_everything_and_asks_nothing(hub, capsys):
    assert main(["space", REPO, "--hardware", "zero", "--dry-run"]) == 0
    made, out = space.plan(REPO, "zero"), capsys.readouterr().out
    assert hub.asked == []
    assert all(part in out for part in (f"Space {REPO}", made.metadata().strip(), made.written["requirements.txt"].strip(), *made.sizes()))
    assert f"{len(made.sizes())} files, {sum(made.sizes().values()):,} bytes" in out


@pytest.mark.night
def test_a_space_is_created_filled_and_renewed(hub, capsys):
    assert main(["space", REPO, "--hardware", "zero", "--private"]) == 0
    assert capsys.readouterr().out.startswith(f"{hub.url}/spaces/{REPO}\n")
    created, files = hub.created[f"spaces/{REPO}"], hub.repos[f"spaces/{REPO}"]
    assert (created["sdk"], created["hardware"], created["visibility"]) == ("gradio", "zero-a10g", "private")
    assert {name: len(data) for name, data in files.items()} == space.plan(REPO, "zero").sizes()
    files |= {"playground/gone.py": b"", "notes.md": b"mine"}
    assert main(["space", REPO]) == 0
    assert "playground/gone.py" not in files
    assert files["notes.md"] == b"mine"
    assert files["requirements.txt"].startswith(b"--extra-index-url")
    space.upload(space.plan("ada/gpu", "gpu"))
    assert "hardware" not in hub.created["spaces/ada/gpu"], "paid hardware is left to its owner"


def test_half_an_app_is_no_space_and_what_python_leaves_behind_stays(tmp_path):
    (tmp_path / "app.py").touch()
    with pytest.raises(Refusal, match="not the whole app"):
        space.plan(REPO, "cpu", tmp_path)
    for name in ("a.py", "__pycache__/a.pyc", ".hidden/x", "deep/.secret", "deep/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in space._files(tmp_path)] == ["a.py", "app.py", "b.py"]
