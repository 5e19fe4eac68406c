"""One training of one peer in a process of its own: reads what to do as JSON on stdin, prints how it goes as JSON lines.

stdin: {"peer", "train": [[source ids, target ids], ...], "heldout": the same, "vocabulary", "setting", "seed", "threads", "target",
"limit", "warm"}.
stdout: a line after every examination, then one more with "parameters". The process is warm before its clock starts: `warm` seconds of
training of another model come first.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module

import torch

from benchmarks.peers.common import Setting, Task, Watch
from playground.data.corpus import Item


def task_of(asked: dict) -> Task:
    """The task in what stdin says."""
    train, heldout = (tuple(Item("", "", tuple(src), tuple(tgt)) for src, tgt in asked[part]) for part in ("train", "heldout"))
    sides = [ids for item in (*train, *heldout) for ids in (item.src_ids, item.tgt_ids)]
    return Task(train, heldout, asked["vocabulary"], 1 + max(map(len, sides)), Setting(**asked["setting"]), asked["seed"])


def learn(asked: dict) -> dict:
    """One training, from the pairs in hand to the target or the limit. Returns what the watch found, and the number of parameters."""
    module, task = import_module(f"benchmarks.peers.{asked['peer']}"), task_of(asked)
    torch.set_num_threads(asked["threads"])
    for target, limit, report in ((2.0, asked["warm"], lambda found: None), (asked["target"], asked["limit"], say)):
        watch = Watch(target, limit, report)
        learner = module.Learner(task)
        watch.prepared()
        learner.train(watch)
    return watch.found | {"parameters": sum(parameter.numel() for parameter in learner.model.parameters())}


def say(found: dict) -> None:
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # of libraries older than this torch
    say(learn(json.load(sys.stdin)))
