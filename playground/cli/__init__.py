"""The command line: a function for each command, its options above it. Every knob is an option; every mistake is a sentence on stderr.

Read in this order: options (shared by several commands) · training (train, checkpoints) · decoding (translate, score, align) · reports
(runs, history, lab, read, verify, words) · sharing (export, push, space, freeze, exercises, store) · here: serve, which starts the page. A
command imports what it needs when it is called.
"""

import argparse
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from playground import __version__
from playground.cli import decoding, reports, sharing, training
from playground.cli.options import INTERRUPTED, Commands, Parser, add_command, explain_error
from playground.config import Refusal

CALLS = "PLAYGROUND_CALLS"  # a variable of this process: how often Gradio's reload mode has run app.py, see `start_page`
WITHOUT_TORCH = {"serve", "read", "words", "store"}
STARTING = "Starting the playground: a few seconds. Ctrl-C saves what is trained and stops."


class Setting(NamedTuple):
    """An option of `serve` and the variable that a host may set in its place. Without a metavar it is a switch, which sets `value`."""

    option: str
    variable: str
    help: str
    metavar: str | None = None
    value: str = "1"


SETTINGS = (
    Setting("host", "GRADIO_SERVER_NAME", "the address to listen at, 127.0.0.1 by itself; 0.0.0.0 lets other machines in", "ADDRESS"),
    Setting("port", "PORT", "the port, by itself 7860 or the next free one", "N"),
    Setting("data", "PLAYGROUND_DATA", "the folder where runs and rooms are kept", "FOLDER"),
    Setting("root-path", "GRADIO_ROOT_PATH", "the path at which a proxy has the page, such as /playground", "PATH"),
    Setting("open", "PLAYGROUND_OPEN", "open the page in a browser"),
    Setting("share", "GRADIO_SHARE", "a public link through Gradio's tunnel", value="True"),
)


def add_serve(commands: Commands) -> None:
    command = add_command(commands, "serve", serve, "start the page")
    for setting in SETTINGS:
        value = {"metavar": setting.metavar} if setting.metavar else {"action": "store_const", "const": setting.value}
        command.add_argument(f"--{setting.option}", dest=setting.variable, help=f"{setting.help} ({setting.variable})", **value)


def serve(options: argparse.Namespace) -> int:
    os.environ |= {setting.variable: value for setting in SETTINGS if (value := getattr(options, setting.variable)) is not None}
    start_page()
    return 0


def start_page() -> None:
    """Serves the page until a signal; says so before the imports, which take seconds.

    Gradio's reload mode (`gradio app.py`) calls it again in a thread, when it has begun to watch and after each change of a file: then the
    process saves what is trained and begins anew. Raises what the changed files raise; the server goes on meanwhile.
    """
    calls = int(os.environ.get(CALLS, 0)) + ("GRADIO_WATCH_DIRS" in os.environ)
    os.environ[CALLS] = str(calls)
    if calls == 2:
        return
    gc.disable()  # imports leave no garbage, and looking for it takes a fifth of the start; the server turns it on again
    print(STARTING, flush=True)
    from playground.ui.server import serve as serve_until_signal

    if calls > 2:
        del os.environ[CALLS]  # for the process that replaces this one
        signal.raise_signal(signal.SIGTERM)
        raise SystemExit  # ends the thread; `shut_down` replaces the process
    serve_until_signal()


COMMANDS = (
    training.add_train, decoding.add_translate, decoding.add_score, decoding.add_align, reports.add_runs, reports.add_history,
    sharing.add_export, reports.add_read, reports.add_lab, training.add_checkpoints, sharing.add_push, sharing.add_space,
    sharing.add_freeze, sharing.add_exercises, sharing.add_store, reports.add_verify, reports.add_words, add_serve,
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
        if options.command == "translate" and decoding.translate_light(options):
            return 0
        if options.command not in WITHOUT_TORCH and "torch" not in sys.modules:
            gc.disable()  # as in start_page, for what most commands need
            import_module("playground.export.exported_run")
            gc.freeze()
            gc.enable()
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
