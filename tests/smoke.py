"""`python -m tests.smoke`: trains a tiny run by the command line, translates with it, starts the page, asks it, and stops it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.server import Client, free_port, wait_for_answer

ROOT = Path(__file__).parents[1]
PATIENCE = 300.0  # seconds that a start may take on a slow machine
TRAIN = (
    "train --task reverse --steps 20 --train-size 100 --validation-size 10 --d-model 16 --n-heads 2 --d-ff 16 "
    "--encoder-layers 1 --decoder-layers 1 --warmup 5 --eval-every 10 --json"
)  # fmt: skip


def run(*arguments: str) -> list[str]:
    """The lines that `python -m playground` prints. Raises CalledProcessError when it fails."""
    command = [sys.executable, "-m", "playground", *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True).stdout.splitlines()


def train_and_translate(folder: Path) -> None:
    *validations, end = map(json.loads, run(*TRAIN.split(), "--out", str(folder)))
    assert [row["step"] for row in validations] == [10, 20], validations
    assert (end["status"], end["steps"]) == ("done", 20), end
    (answer,) = map(json.loads, run("translate", str(folder), "hello", "--json"))
    assert (answer["source"], answer["step"], len(answer["outputs"])) == ("hello", 20, 1), answer
    assert run("translate", "reverse", "hello") == ["olleh"]


def ask_the_page(folder: Path) -> None:
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--data", str(folder)]
    server = subprocess.Popen([sys.executable, "-m", "playground", "serve", *options], cwd=ROOT)
    try:
        wait_for_answer(port, PATIENCE, lambda: server.poll() is None)
        assert json.loads(Client(port).get("/health")[0])["status"] == "ok"
        assert b"pg-known" in Client(port).get("/")[0]
    finally:
        server.terminate()
        server.wait(PATIENCE)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="smoke-", ignore_cleanup_errors=True) as folder:
        train_and_translate(Path(folder) / "run")
        print("trained and translated", flush=True)
        ask_the_page(Path(folder) / "data")
    print("the page answered")


if __name__ == "__main__":
    main()
