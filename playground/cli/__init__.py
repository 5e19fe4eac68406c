"""The command line, a function for each command. Every knob is an option; every mistake is one sentence on stderr.

Read in this order: training (train, checkpoints) and own_data (own pairs) · decoding (translate, score) · tables (runs, history) ·
files (read) · lessons (lab) · publishing (serve, freeze, push, space) · store (store).

The options of each are in playground/arguments.py; a command imports what it needs when it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from playground.arguments import parser
from playground.cli.decoding import score, translate
from playground.cli.files import explain_error, read
from playground.cli.lessons import lab
from playground.cli.publishing import freeze, hub, serve
from playground.cli.store import store
from playground.cli.tables import history, runs
from playground.cli.training import checkpoints, train
from playground.config import Refusal
from playground.export.saving import export


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns the exit code: 2 when a request can't be fulfilled."""
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options) or 0
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
    except ModuleNotFoundError as missing:  # `pip install .` installs only what training and translating need
        package = str(missing.name).partition(".")[0]
        if package == "playground":
            raise
        print(Refusal("export.no_package", package=package), file=sys.stderr)
    except BrokenPipeError:  # the reader of the output has closed it, like `head`
        return 0
    except OSError as error:
        print(explain_error(error), file=sys.stderr)
    return 2


COMMANDS = {
    "train": train, "translate": translate, "score": score, "runs": runs, "history": history, "export": export, "read": read, "lab": lab,
    "checkpoints": checkpoints, "push": hub, "space": hub, "freeze": freeze, "serve": serve,
    "store": store,
}  # fmt: skip
