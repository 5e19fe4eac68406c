"""Parts of the command line that several commands share: the parser, options of the same meaning, and the sentence of a file's error."""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from playground.cursor import FIELDS

RUN = "a run's folder or downloaded zip, or the name or id of one that ships with the app or is kept"
ENCODING = "the encoding of a file, if it can’t be found out; one for all, or one for each with a comma between"
STEP = "an earlier step, from the training replay"
SAME_LANGUAGE = "lines that follow one another are pairs even if they seem to be in one language"
FOLDER = "where a server keeps its runs, if not in PLAYGROUND_DATA or its usual place"
INTERRUPTED = 130  # the exit code after Ctrl-C, as of shells
COPY_UNKNOWN = "in place of <unk>, the word of the source that cross-attention attends to most there"

Commands = Any  # argparse's parsers of the commands, which have no public type


class Parser(argparse.ArgumentParser):
    """argparse with errors as one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.", file=sys.stderr)
        raise SystemExit(2)


def add_command(commands: Commands, name: str, act: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
    """Adds a command; its options' `act` runs it."""
    command = commands.add_parser(name, help=help)
    command.set_defaults(command=name, act=act)
    return command


def add_columns(command: argparse.ArgumentParser) -> None:
    """Adds options for the roles of a table's columns."""
    command.add_argument("--source", metavar="N|NAME", help="the source's column, by its number from 1 or its name")
    command.add_argument("--target", metavar="N|NAME", help="the target's column")
    command.add_argument("--join", nargs="+", metavar="N|NAME", help="columns that become part of the source, behind it")
    command.add_argument("--split-by", metavar="N|NAME", help="pairs with the same text in this column are held out together")


def add_decoding(command: argparse.ArgumentParser) -> None:
    about = "beam search, or 1 for greedy decoding; by default the better on held-out sentences at the end of training"
    command.add_argument("--beam", type=int, metavar="WIDTH", help=about)
    command.add_argument("--length-penalty", type=float, default=FIELDS["penalty"].read(""))
    command.add_argument("--copy-unknown", action="store_true", help=COPY_UNKNOWN)
    command.add_argument("--average", type=int, default=1, metavar="K", help="use the mean of the last K saved parameters, not the last")


def option(knob: str) -> str:
    return f"--{knob.replace('_', '-')}"


def explain_error(error: OSError) -> str:
    return f"{error.filename or 'A file'} can't be used: {error.strerror or error}."
