"""The cells of run.ipynb, each below a line with its name. They run in the unzipped folder, with the playground installed.

`how` is generated for each run: its last step, knobs that config.json can't hold, and knobs changed during training."""

# %% setup
import csv
import json
from dataclasses import replace
from pathlib import Path

from playground.config import KNOBS, Experiment
from playground.reading.column_mapping import Choices
from playground.reading.uploads import read_files
from playground.runs.corpora import Corpora
from playground.runs.queue import train_inline

# %% how
how = {"step": 0, "knobs": {}, "moved": [], "given": (0, 0), "group": -1}

# %% sentences
config = json.loads(Path("config.json").read_text(encoding="utf-8"))
pairs = None
if config["task"] == "own":
    sentences = Path("sentences.tsv").read_bytes()
    choices = Choices(source=0, target=1, header=True, same_language=True, joined=(), group=how["group"])
    pairs = read_files([("sentences.tsv", sentences)], choices)
    pairs = replace(pairs, given=how["given"])

# %% train
experiment = Experiment().with_(**{name: config[name] for name in KNOBS} | how["knobs"])
run = train_inline.new_run(experiment, pairs)
run.live |= {knob: value for after, knob, value in how["moved"] if after == 0}
for step in train_inline.train(run, Corpora()):
    run.live |= {knob: value for after, knob, value in how["moved"] if after == step}
    if step == how["step"]:
        break

# %% compare
with open("history.csv", encoding="utf-8", newline="") as file:
    before = [float(row["loss"]) for row in csv.DictReader(file)]
now = run.history.steps.column("loss")
print(f"{before[-1]} {'==' if now[-1] == before[-1] else '!='} {now[-1]}")
for step, losses in enumerate(zip(before, now, strict=False), start=1):
    if losses[0] != losses[1]:
        print(f"step {step}: {losses[0]} != {losses[1]}; step {how['step']}: {now[-1] / before[-1] - 1:+.1%}")
        break
