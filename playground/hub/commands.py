"""The commands for the Hub, as the command line calls them."""

from __future__ import annotations

import argparse

from playground.hub.push import push as push_run
from playground.hub.space import plan, upload


def push(options: argparse.Namespace) -> int:
    print(push_run(options.run, options.repo, options.private))
    return 0


def space(options: argparse.Namespace) -> int:
    upload_plan = plan(options.repo, options.hardware)
    if options.dry_run:
        print("\n".join(upload_plan.say()))
    else:
        print(upload(upload_plan, options.private), upload_plan.hardware.note, sep="\n")
    return 0


COMMANDS = {"push": push, "space": space}
