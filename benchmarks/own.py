"""Real files, trained as a visitor would and judged on sentences that stood in another file: SCAN's published splits, Tatoeba."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks.pace import cores
from benchmarks.suite import Missing, note, some_of
from benchmarks.tables import markdown, percent, seconds, shown, summary, whole
from playground.config import Experiment
from playground.data.corpus import Corpus, build_corpus
from playground.data.suggestion import suggest
from playground.decoding import greedy
from playground.features.evaluation.query import measure, tokenization
from playground.features.shared.queries.reader import max_output_tokens
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.reading.uploads import Choices, Pairs
from playground.runs.limits import machine_cores, machine_devices
from playground.runs.queue.warmup import warm_up
from playground.runs.upload_process import read
from playground.training.loop import Training

ABOUT = "own files: SCAN's published splits and Chinese-English Tatoeba, with the settings the page suggests; exact match, BLEU, chrF"
ROWS = 50  # sentences decoded at once


class Files(NamedTuple):
    """Which files are learnt from and which are asked, in the folder of data; and what is set beside what the page suggests."""

    train: tuple[str, ...]
    test: tuple[str, ...]
    swap: bool = False
    knobs: dict = {}  # noqa: RUF012 (read only)


CHINESE = {"tokenizer": "bpe", "vocab_size": 4000, "d_model": 128}
CORPORA = {
    **{
        f"scan_{split}": Files((f"scan/tasks_train_{split}.txt.gz",), (f"scan/tasks_test_{split}.txt.gz",), knobs={"batch_size": 64})
        for split in ("simple", "length", "addprim_jump")
    },
    "tatoeba": Files(
        ("tatoeba/cmn-eng/cmn-eng.2021-07.attrib3col.txt.gz",),
        ("tatoeba/en-zh/tatoeba.en.txt", "tatoeba/en-zh/tatoeba.zh.txt"),
        swap=True,
        knobs=CHINESE,
    ),
}
SMOKE = {"seeds": 1, "asked": 20, "set": [("steps", 3), ("d_model", 16), ("d_ff", 16), ("tokenizer", "auto"), ("vocab_size", 1000)]}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder that holds scan/ and tatoeba/")
    parser.add_argument("--corpora", type=some_of(CORPORA), default=list(CORPORA), metavar="A,B", help=", ".join(CORPORA))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--asked", type=int, default=2000, help="the most sentences of a test file, drawn evenly")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"corpus", "pairs", "left_out", "steps", "seconds", "asked", "exact", "bleu", "chrf", "own_asked", "own_exact", "own_bleu",
    "own_chrf", "knobs"}]}: own_ is the test split kept from the training file. Raises Missing when a file is not there."""
    for name in options.corpora:
        for file in (*CORPORA[name].train, *CORPORA[name].test):
            if not (options.data / file).exists():
                raise Missing(f"{options.data / file} is not here; --data says where it is, --corpora leaves it out.")
    warm_up()
    return {"rows": [_row(name, options) for name in options.corpora]}


def _row(name: str, options: argparse.Namespace) -> dict:
    files = CORPORA[name]
    train, test = (_read(options.data, paths, files.swap) for paths in (files.train, files.test))
    asked = {pair.src for pair in test.pairs}
    learnt = tuple(pair for pair in train.pairs if pair.src not in asked)
    left_out, train = len(train.pairs) - len(learnt), Pairs(learnt, {}, len(learnt), train.kind, train.names, train.credit)
    found = [_learn(name, train, test, seed, options) for seed in range(1, options.seeds + 1)]
    row = {"corpus": name, "pairs": len(learnt), "left_out": left_out}
    row |= {key: found[0][key] for key in ("steps", "asked", "own_asked", "knobs")}
    measures = ("seconds", "exact", "bleu", "chrf", "own_exact", "own_bleu", "own_chrf")
    row |= {key: summary(one[key] for one in found) for key in measures}
    note(f"{name}: {shown(row['exact'], percent)} of {row['asked']} in {shown(row['seconds'], seconds)}")
    return row


def _read(folder: Path, paths: tuple[str, ...], swap: bool) -> Pairs:
    return read([(Path(path).name, (folder / path).read_bytes()) for path in paths], Choices(swap=swap))


def _learn(name: str, train: Pairs, test: Pairs, seed: int, options: argparse.Namespace) -> dict:
    knobs = {"task": "own", "seed": seed, "data_seed": seed} | CORPORA[name].knobs
    given = knobs | dict(options.set)
    experiment = Experiment().with_(**{**suggest(train, given).knobs, **given})
    corpus = build_corpus(experiment.data, train, experiment.model.share_embeddings == "all")
    training = Training(experiment, corpus, machine_devices()[0])
    started = time.perf_counter()
    with cores(min(experiment.training.threads, machine_cores())) as parallel_map:
        training.parallel_map = parallel_map
        for step in training.steps():
            if step.step % 200 == 0:
                note(f"{name}: step {step.step}, loss {step.loss:.3f}, {time.perf_counter() - started:.0f} s")
    took, training.parallel_map = time.perf_counter() - started, map
    right: dict[str, dict[str, None]] = {}
    for pair in test.pairs:
        right.setdefault(normalise(pair.src), {})[pair.tgt] = None
    sources = list(right)[:: max(1, len(right) // options.asked)][: options.asked]
    torch.set_num_threads(1)
    found = scores_of(training.model, corpus, sources, [tuple(right[source]) for source in sources])
    own = [item.src for item in corpus.test]
    found |= {f"own_{key}": value for key, value in scores_of(training.model, corpus, own, [corpus.references[src] for src in own]).items()}
    return found | {"steps": training.step, "seconds": took, "knobs": experiment.difference()}


def scores_of(model: Transformer, corpus: Corpus, sources: list[str], references: list[tuple[str, ...]]) -> dict:
    """Exact match, BLEU and chrF of greedy outputs, each against all its right answers."""
    texts = []
    for start in range(0, len(sources), ROWS):
        ids = [corpus.src_tokenizer.encode(source) for source in sources[start : start + ROWS]]
        found = greedy(model, ids, max_output_tokens(corpus.longest_target, max(map(len, ids))))
        texts += [corpus.tgt_tokenizer.decode(hypothesis.ids) for hypothesis in found]
    measured = measure(texts, references, tokenization([text for answers in references for text in answers]))
    exact = sum(text in map(normalise, answers) for text, answers in zip(texts, references, strict=True)) / len(texts)
    return {"asked": len(texts), "exact": exact, "bleu": measured.bleu, "chrf": measured.chrf}


def table(result: dict) -> str:
    head = ("corpus", "pairs", "steps", "training", "asked", "exact match", "BLEU", "chrF", "own test: asked", "exact", "BLEU", "chrF")
    one = "{:.1f}".format
    rows = (
        (
            row["corpus"], whole(row["pairs"]), whole(row["steps"]), shown(row["seconds"], seconds), whole(row["asked"]),
            shown(row["exact"], percent), shown(row["bleu"], one), shown(row["chrf"], one), whole(row["own_asked"]),
            shown(row["own_exact"], percent), shown(row["own_bleu"], one), shown(row["own_chrf"], one),
        )
        for row in result["rows"]
    )  # fmt: skip
    return markdown(head, rows)
