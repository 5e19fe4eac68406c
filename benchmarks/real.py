"""Own data with the suggested settings. Budgets are steps and seconds of the processor: they are the same however busy the machine is."""

import argparse
import random
import time
from functools import partial
from pathlib import Path

import torch

from benchmarks.suite import Missing, note, some_of
from benchmarks.tables import percent, seconds, tabulate, whole
from playground.config import Experiment
from playground.data.corpus import Corpus, build_corpus
from playground.data.suggestion import suggest
from playground.decoding import greedy, limit_output
from playground.model.transformer import Transformer
from playground.reading.column_mapping import Choices
from playground.reading.pairs import Pairs
from playground.runs.machine_speed import execution_plan
from playground.runs.upload_process import read
from playground.training.bleu import score_outputs
from playground.training.loop import Training

ABOUT = "own data with the suggested settings: Tatoeba, SCAN, made-up inflections of new words"
FILES = {"tatoeba": "tatoeba/cmn-eng/cmn-eng.2021-07.attrib3col.txt.gz", "scan": "scan/tasks_train_simple.txt.gz"}
MADE = ("inflections",)
ROWS = 50  # sentences decoded at once
ONSETS = ["b", "br", "d", "dr", "f", "fl", "g", "gr", "k", "kl", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "z"]
STRONG = "kp"  # stems that end so change their vowel
UMLAUT, PAST = str.maketrans("aou", "äöü"), str.maketrans("aeio", "uaaa")
FORMS = {  # features -> a form of weak verbs, of strong ones
    "V;IND;PRS;1;SG": ("{0}e", "{0}e"), "V;IND;PRS;2;SG": ("{0}st", "{1}st"), "V;IND;PRS;3;SG": ("{0}t", "{1}t"),
    "V;IND;PRS;1;PL": ("{0}en", "{0}en"), "V;IND;PST;1;SG": ("{0}te", "{2}"), "V;IND;PST;3;PL": ("{0}ten", "{2}en"),
    "V.PTCP;PST": ("ge{0}t", "ge{0}en"), "V.PTCP;PRS": ("{0}end", "{0}end"),
}  # fmt: skip
SMOKE = {"new_pairs": 10, "words": 40, "tasks": list(MADE), "set": [("steps", 3), ("d_model", 16), ("d_ff", 16)]}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder that holds scan/ and tatoeba/")
    parser.add_argument("--tasks", type=some_of([*FILES, *MADE]), default=[*FILES, *MADE], metavar="A,B", help=", ".join([*FILES, *MADE]))
    parser.add_argument("--words", type=int, default=800, help="made-up lemmas to learn from")
    parser.add_argument("--new-pairs", type=int, default=500, help="the most new pairs that are asked")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"task", "pairs", "steps", "cpu_seconds", "held_out", "new", "knobs"}]}; "held_out" and "new" have "asked",
    "exact", "bleu" and "chrf", and "new" is None where there are no others. Raises Missing when a file is not there."""
    for name in options.tasks:
        if name in FILES and not (options.data / FILES[name]).exists():
            raise Missing(f"{options.data / FILES[name]} is not here; --data says where it is, --tasks leaves it out.")
    torch.set_num_threads(1)
    return {"rows": [_row(name, options) for name in options.tasks]}


def _read_task(name: str, options: argparse.Namespace) -> tuple[Pairs, tuple[tuple[str, str], ...]]:
    """Returns pairs to learn from, and new ones to ask beside those that are held out."""
    if name in FILES:
        path = options.data / FILES[name]
        return read([(path.name, path.read_bytes())], Choices(swap=name == "tatoeba")), ()
    content, new = inflections(options.words, options.new_pairs, 1)
    return read([("made.trn", content)]), new[: options.new_pairs]


def _row(name: str, options: argparse.Namespace) -> dict:
    pairs, new_pairs = _read_task(name, options)
    experiment = Experiment().with_(**{"task": "own", "threads": 1, **suggest(pairs).knobs, **dict(options.set)})
    corpus = build_corpus(experiment.data, pairs, experiment.model.share_embeddings == "all")
    training, started = Training(experiment, corpus, precision=execution_plan(experiment, "cpu")["precision"]), time.process_time()
    for step in training.steps():
        if step.step % 200 == 0:
            note(f"{name}: step {step.step}, loss {step.loss:.3f}, {time.process_time() - started:.0f} s of the processor")
    took, score = time.process_time() - started, partial(scores_of, training.model, corpus)
    held = [item.src for item in corpus.heldout[: options.new_pairs]]
    return {
        "task": name, "pairs": len(pairs.pairs), "steps": training.step, "cpu_seconds": took, "knobs": experiment.difference(),
        "held_out": score(held, [corpus.references[src] for src in held]),
        "new": score([src for src, _ in new_pairs], [(tgt,) for _, tgt in new_pairs]) if new_pairs else None,
    }  # fmt: skip


def scores_of(model: Transformer, corpus: Corpus, sources: list[str], references: list[tuple[str, ...]]) -> dict:
    """Exact match, BLEU and chrF of greedy outputs, each against all its right answers."""
    texts = []
    for start in range(0, len(sources), ROWS):
        ids = [corpus.src_tokenizer.encode(source) for source in sources[start : start + ROWS]]
        most = limit_output(corpus.longest_target, max(map(len, ids)))
        texts += [corpus.tgt_tokenizer.decode(hypothesis.ids) for hypothesis in greedy(model, ids, most)]
    scored = score_outputs(texts, references)
    return {"asked": len(texts), "exact": scored.exact_match, "bleu": scored.measured.bleu, "chrf": scored.measured.chrf}


def inflections(lemmas: int, more: int, seed: int) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Makes verbs in eight forms each. Returns a file of lemma, form and features, and (source, target) of verbs that are not in it."""
    dice, stems = random.Random(seed), dict[str, None]()  # in the order that they are drawn
    while len(stems) < lemmas + more:
        syllables = [dice.choice(ONSETS) + dice.choice("aeiou") for _ in range(dice.choice((1, 1, 2)))]
        stems["".join([*syllables, dice.choice("klmnprst")])] = None
    rows = [
        (f"{stem}en", forms[stem[-1] in STRONG].format(stem, stem.translate(UMLAUT), stem.translate(PAST)), features)
        for stem in stems for features, forms in FORMS.items()
    ]  # fmt: skip
    learnt = rows[: lemmas * len(FORMS)]
    dice.shuffle(learnt)
    new = tuple((f"{lemma} {features}", form) for lemma, form, features in rows[len(learnt) :])
    return "".join("\t".join(row) + "\n" for row in learnt).encode(), new


def table(result: dict) -> str:
    return tabulate(result["rows"], {
        "task": lambda row: row["task"],
        "pairs": lambda row: whole(row["pairs"]),
        "steps": lambda row: whole(row["steps"]),
        "processor": lambda row: seconds(row["cpu_seconds"]),
        "held out: exact": lambda row: percent(row["held_out"]["exact"]),
        "BLEU": lambda row: f"{row['held_out']['bleu']:.1f}",
        "chrF": lambda row: f"{row['held_out']['chrf']:.1f}",
        "new words: exact": lambda row: percent(row["new"]["exact"]) if row["new"] else "–",
    })  # fmt: skip
