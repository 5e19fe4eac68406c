"""Runs tests in forks of a process that has loaded the libraries, and nothing of ours: a run of a few tests takes seconds less.

It reads orders from its input, a line of JSON each, and writes an answer for each: {"status": of pytest, null when it hung; "output"}.
"""

import json
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module

import pytest

LIBRARIES = ("torch", "safetensors.torch", "gradio", "plotly.graph_objects", "pandas", "sentencepiece", "sacrebleu", "hypothesis", "xdist")
LOOK_S = 0.05
OPTIONS = ("-q", "-rsfE", "-x", "-n0", "-p", "no:cacheprovider", "-m", "", "--tb=line")


def run(tests: list[str], seconds: float) -> dict[str, object]:
    """Tests until one fails, for at most so long, in a process of their own."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.setsid()
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
            os._exit(int(pytest.main([*OPTIONS, *tests])))
        status = wait(child, seconds)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and whatever the tests have started
        if status is None:
            os.waitpid(child, 0)
        output.seek(0)
        return {"status": status, "output": output.read().decode(errors="replace")[-20_000:]}


def wait(child: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(LOOK_S)
    return None


if __name__ == "__main__":
    for name in LIBRARIES:
        import_module(name)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
