"""`serve`: starts the page. Every option sets the environment variable that a host may set in its place; app.py starts the same page."""

import argparse
import gc
import os
from typing import NamedTuple

from playground.cli.options import Commands, add_command

STARTING = "Starting the playground: a few seconds. Ctrl-C saves what is trained and stops."


class Setting(NamedTuple):
    """An option of `serve` and its variable. An option without a metavar is a switch, which sets `value`."""

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
    """Serves the page until a signal; says so before the imports, which take seconds."""
    gc.disable()  # imports leave no garbage, and looking for it takes a fifth of the start; the server turns it on again
    print(STARTING, flush=True)
    from playground.ui.server import serve as serve_until_signal

    serve_until_signal()
