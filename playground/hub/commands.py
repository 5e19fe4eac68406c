"""The commands that go to the Hub, as the command line calls them."""

from __future__ import annotations

import argparse

from playground.hub.push import push as push_run
from playground.hub.space import plan, upload


def push(options: argparse.Namespace) -> int:
    print(push_run(options.run, options.repo, options.private))
    return 0


def space(options: argparse.Namespace) -> int:
    made = plan(options.repo, options.hardware)
    if options.dry_run:
        print("\n".join(made.say()))
    else:
        print(upload(made, options.private), made.hardware.note, sep="\n")
    return 0


COMMANDS = {"push": push, "space": space}
