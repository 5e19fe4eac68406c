"""The command line: a function for each command, its options above it. Every knob is an option; every mistake is a sentence on stderr.

Read in this order: options (shared by several commands) · training (train, checkpoints) · decoding (translate, score, align) · reports
(runs, history, lab, read, verify, words) · sharing (export, push, space, freeze, exercises, store) · serving (serve). A command imports
what it needs when it is called.
"""

import sys
from collections.abc import Sequence

from playground import __version__
from playground.cli import decoding, reports, serving, sharing, training
from playground.cli.options import INTERRUPTED, Parser, explain_error
from playground.config import Refusal

COMMANDS = (
    training.add_train, decoding.add_translate, decoding.add_score, decoding.add_align, reports.add_runs, reports.add_history,
    sharing.add_export, reports.add_read, reports.add_lab, training.add_checkpoints, sharing.add_push, sharing.add_space,
    sharing.add_freeze, sharing.add_exercises, sharing.add_store, reports.add_verify, reports.add_words, serving.add_serve,
)  # fmt: skip


def parser() -> Parser:
    """Returns the parser of all commands; `command` holds the name of the chosen one, `act` its function."""
    top = Parser(prog="python -m playground", description="A playground for the encoder-decoder Transformer.")
    top.add_argument("--version", action="version", version=f"transformer-playground {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for add in COMMANDS:
        add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns the exit code: 2 when a request can't be fulfilled, 130 after Ctrl-C."""
    options = parser().parse_args(arguments)
    try:
        return options.act(options) or 0
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
    except ModuleNotFoundError as missing:  # `pip install .` installs only what training and translating need
        package = str(missing.name).partition(".")[0]
        if package == "playground":
            raise
        print(Refusal("export.no_package", package=package), file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, like `head`
        return 0
    except OSError as error:
        print(explain_error(error), file=sys.stderr)
    return 2
