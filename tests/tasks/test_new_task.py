"""A new toy task is one declaration and its words: the knob, the command line, links, the page, corpora and trainings find it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

DECLARATION = """
from playground.tasks import toy_tasks
from playground.tasks.example import Example, Task

def twice(src):
    return (Example(src, src + src, (*range(len(src)), *range(len(src)))),) if src.isalpha() else ()

def draw(rng, harder):
    return twice("".join(rng.choices("abcdefgh", k=rng.randint(1, 5))))[0]

toy_tasks.TASKS["twice"] = Task("twice", "characters", "characters", draw, twice, steps=7)

from playground import words
for language in words.LANGUAGES:
    words.entries(language)["tasks.twice.label"] = f"twice, in {language}"
"""

TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 1, "train_size": 100, "validation_size": 10}
OPTIONS = [text for name, value in TINY.items() for text in (f"--{name.replace('_', '-')}", str(value))]
ASKED = f"""
import contextlib, io, json
from playground import config
from playground.cli import main
from playground.data.corpus import build_corpus
from playground.ui.controls import options

experiment, ignored = config.read_query({{"task": "twice"}})
corpus = build_corpus(experiment.with_(**{TINY}).data)
out = io.StringIO()
with contextlib.redirect_stdout(out):
    code = main(["train", "--task", "twice", "--json", "--eval-every", "7", *{OPTIONS}])
print(json.dumps({{
    "choices": config.limits("task").choices,
    "usual": 7 in config.USUAL_STEPS,
    "link": [experiment.data.task, experiment.query(), len(ignored)],
    "options": [label for language in ("en", "zh") for label, value in options("task", language) if value == "twice"],
    "right": all(example.tgt == example.src * 2 for example in corpus.heldout),
    "heldout": len(corpus.heldout),
    "code": code,
    "end": json.loads(out.getvalue().splitlines()[-1]),
}}))
"""


@pytest.mark.night
def test_a_task_that_is_declared_is_found_everywhere():
    done = subprocess.run([sys.executable, "-c", DECLARATION + ASKED], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result.pop("end").items() >= {"status": "done", "steps": 7}.items(), "as many steps as the task says are enough"
    assert result == {
        "choices": result["choices"], "usual": True, "link": ["twice", {"task": "twice"}, 0], "options": ["twice, in en", "twice, in zh"],
        "right": True, "heldout": 10, "code": 0,
    }  # fmt: skip
    assert result["choices"][-2:] == ["twice", "own"]
