"""Arguments: every command of the command line with its options. Options for knobs are generated from their declarations."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

from playground.config import FORMER_NAMES, KNOBS, PRESETS, default
from playground.cursor import FIELDS
from playground.words import ENGLISH, LANGUAGES, known, say

RUN = "a run's folder, or the name or id of one that ships with the app or is kept"
ENCODING = "the encoding of a file, if it can’t be found out; one for all, or one for each with a comma between"
STEP = "an earlier step, from the training replay"
TOKENIZE = ("13a", "intl", "zh", "char", "none")
COPY_UNKNOWN = "in place of <unk>, the word of the source that cross-attention attends to most there"
SAME_LANGUAGE = "lines that follow one another are pairs even if they seem to be in one language"


class Parser(argparse.ArgumentParser):
    """argparse with errors as one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.", file=sys.stderr)
        raise SystemExit(2)


class TestFiles(argparse.Action):
    """Files; or a number, the meaning of `--test` before there was --test-size."""

    def __call__(self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, __: str | None = None) -> None:
        if len(values) == 1 and values[0].isdecimal():
            namespace.test_size = values[0]
        else:
            namespace.test = [Path(value) for value in values]


def parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands; `command` holds the name of the chosen one."""
    top = Parser(prog="python -m playground", description="A playground for the encoder-decoder Transformer.")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)

    command = commands.add_parser("train", help="train a model and print its metrics")
    command.set_defaults(command="train")
    command.add_argument("--preset", choices=PRESETS, default="default")
    command.add_argument("--until-exact-match", type=float, metavar="X", help="end once exact match on held-out sentences reaches this")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="keep the run here")
    command.add_argument("--film-bytes", dest="replay_bytes", type=int, help=argparse.SUPPRESS)
    command.add_argument("--replay-bytes", type=int, metavar="N", help="bytes to keep for the training replay")
    command.add_argument(
        "--data", nargs="+", type=Path, metavar="FILE", help="own pairs: a file of any format that `read` knows, or two line-aligned files"
    )
    command.add_argument("--valid", nargs="+", type=Path, metavar="FILE", help="with --data: pairs to validate on, read in the same way")
    command.add_argument("--test", nargs="+", action=TestFiles, metavar="FILE", help="with --data: pairs for a last evaluation")
    command.add_argument("--swap", action="store_true", help="the second column or file is the source")
    _add_columns(command)
    command.add_argument("--same-language", action="store_true", help=SAME_LANGUAGE)
    command.add_argument("--json", action="store_true", help="one JSON object per validation, and a last one")
    for name in KNOBS:
        help = say(ENGLISH, f"knobs.{name}.help") if known(ENGLISH, f"knobs.{name}.help") else name
        command.add_argument(_option(name), metavar=str(default(name)) or "ID", help=help.replace("%", "%%"))
    for former, name in FORMER_NAMES.items() - {("test", "test_size")}:  # see TestFiles
        command.add_argument(_option(former), dest=name, help=argparse.SUPPRESS)

    command = commands.add_parser("translate", help="translate with a trained run")
    command.set_defaults(command="translate")
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("text", nargs="*", metavar="TEXT", help="a sentence each; without any, every line of the standard input")
    files = "translate files of plain lines, or the source side of pairs"
    command.add_argument("--input", nargs="+", type=Path, default=[], metavar="FILE", help=files)
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)
    _add_decoding(command)
    command.add_argument("--sample", type=float, metavar="TEMPERATURE", help="sample each token at this temperature")
    command.add_argument("--top-k", type=int, default=0, help="sample from this many of the most likely tokens; 0: from all")
    command.add_argument("--top-p", type=float, default=1.0, help="sample from the fewest tokens whose probabilities sum to this")
    command.add_argument("--seed", type=int, default=0, help="random seed of sampling")
    about = "the output starts with this text; of a whole target --json says the score and the probability of each token"
    command.add_argument("--prefix", default="", metavar="TEXT", help=about)
    command.add_argument("--step", type=int, help=STEP)
    command.add_argument("--json", action="store_true")

    command = commands.add_parser("score", help="translate a file with a trained run, and measure BLEU and chrF with sacrebleu")
    command.set_defaults(command="score")
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("source", type=Path, metavar="SOURCE", help="a file of sentences, one per line, or of pairs")
    command.add_argument("reference", nargs="?", type=Path, metavar="REFERENCE", help="a file of their translations, line by line")
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)
    _add_decoding(command)
    command.add_argument("--step", type=int, help=STEP)
    command.add_argument("--tokenize", choices=TOKENIZE, help="sacrebleu's, for BLEU; by default as the references are written")
    command.add_argument("-o", "--out", type=Path, metavar="FILE", help="write the outputs here, line by line")
    command.add_argument("--json", action="store_true", help="one JSON object")

    command = commands.add_parser("runs", help="list the runs that ship with the app and those that are kept")
    command.set_defaults(command="runs")
    command.add_argument("--folder", type=Path, help="where a server keeps its runs, if not in PLAYGROUND_DATA or its usual place")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the table here")

    command = commands.add_parser("history", help="the training curve of a run, step by step")
    command.set_defaults(command="history")
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("--validations", action="store_true", help="a row for each validation instead")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the table here")

    command = commands.add_parser("export", help="take a run home: one zip with the model, its curve, and code that needs no playground")
    command.set_defaults(command="export")
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("-o", "--out", type=Path, metavar="FILE", help="the zip; by default it has the name of the run")
    command.add_argument("--sentences", action="store_true", help="with the own sentences that it was trained on")
    command.add_argument("--language", choices=LANGUAGES, default=ENGLISH, help="of the model card and the notebook")

    command = commands.add_parser("read", help="show how a file of sentence pairs is read")
    command.set_defaults(command="read")
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument("--swap", action="store_true", help="swap source and target")
    _add_columns(command)
    command.add_argument("--header", choices=("yes", "no"), help="whether the first row names the columns")
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)
    command.add_argument("--undo", action="store_true", help="undo what tools left in the sentences, such as &apos; and @@")
    command.add_argument("--same-language", action="store_true", help=SAME_LANGUAGE)
    command.add_argument("--language", choices=LANGUAGES, default=ENGLISH, help="of the report")
    command.add_argument("--json", action="store_true", help="one JSON object, also about a mistake")

    command = commands.add_parser("lab", help="list the labs, or run one")
    command.set_defaults(command="lab")
    command.add_argument("name", nargs="?", metavar="NAME", help="without one, all are listed")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings of the lab")
    command.add_argument("--language", choices=LANGUAGES, default=ENGLISH)
    command.add_argument("--json", action="store_true", help="one JSON object")

    command = commands.add_parser("checkpoints", help="retrain the runs that ship with the app")
    command.set_defaults(command="checkpoints")
    command.add_argument("names", nargs="*", metavar="NAME", help="only these")
    command.add_argument("--folder", type=Path)

    command = commands.add_parser("push", help="upload a run to the Hugging Face Hub")
    command.set_defaults(command="push")
    command.add_argument("run", metavar="RUN", help="a run's folder, name or id")
    command.add_argument("repo", metavar="OWNER/NAME")
    command.add_argument("--private", action="store_true", help="only its owner can see it")

    command = commands.add_parser("space", help="upload this app as a Space of the Hugging Face Hub")
    command.set_defaults(command="space")
    command.add_argument("repo", metavar="OWNER/NAME")
    command.add_argument("--hardware", choices=("cpu", "gpu", "zero"), default="cpu", help="what the Space is run on; zero: ZeroGPU")
    command.add_argument("--private", action="store_true", help="only its owner can see it")
    command.add_argument("--dry-run", action="store_true", help="only print what would be uploaded")

    command = commands.add_parser("freeze", help="a run as a folder of files that a browser opens, without a server")
    command.set_defaults(command="freeze")
    command.add_argument("run", metavar="RUN", help="a run that ships with the app, by its name, or the folder of a run")
    command.add_argument("--sentences", type=int, default=20, metavar="N", help="how many of its sentences can be looked at")
    command.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where the files go")
    command.add_argument("--live", default="", metavar="URL", help="a playground with a server, for all that needs one")

    command = commands.add_parser("store", help="all that a server keeps: look through it, take it along as one file, bring it back")
    command.set_defaults(command="store")
    subs = command.add_subparsers(dest="what", required=True, metavar="check|export|import", parser_class=Parser)
    sub = subs.add_parser("check", help="read every save and every room; 1 when one of them can't be read")
    sub.add_argument("--json", action="store_true", help="one JSON object per finding")
    sub = subs.add_parser("export", help="write one tar of all whole runs and rooms, also while a server is at work on them")
    sub.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="the tar, which holds the sentences and names of others")
    sub.add_argument("--all-saves", action="store_true", help="of each run also the save before its newest")
    sub = subs.add_parser("import", help="bring what a tar has and the folder has not; no server may be using the folder")
    sub.add_argument("file", type=Path, metavar="FILE")
    for sub in subs.choices.values():
        sub.add_argument("--folder", type=Path, help="where a server keeps its runs, if not in PLAYGROUND_DATA or its usual place")

    commands.add_parser("serve", help="start the page").set_defaults(command="serve")
    return top


def _add_columns(command: argparse.ArgumentParser) -> None:
    """Adds options for the roles of a table's columns."""
    command.add_argument("--source", metavar="N|NAME", help="the source's column, by its number from 1 or its name")
    command.add_argument("--target", metavar="N|NAME", help="the target's column")
    command.add_argument("--join", nargs="+", metavar="N|NAME", help="columns that become part of the source, behind it")
    command.add_argument("--split-by", metavar="N|NAME", help="pairs with the same text in this column are held out together")


def _add_decoding(command: argparse.ArgumentParser) -> None:
    command.add_argument("--beam", type=int, metavar="WIDTH", help="beam search instead of greedy decoding")
    command.add_argument("--length-penalty", type=float, default=FIELDS["penalty"].read(""))
    command.add_argument("--copy-unknown", action="store_true", help=COPY_UNKNOWN)


def _option(knob: str) -> str:
    return f"--{knob.replace('_', '-')}"
