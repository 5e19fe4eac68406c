"""The command that lists the labs, or runs one."""

from __future__ import annotations

import argparse
import json

from playground.cursor import current_value


def lab(options: argparse.Namespace) -> int:
    from playground.lessons.labs import LABS, get

    if options.name is None:
        found = [{"name": name, "kind": one.kind, "title": one.say(options.language, "title")} for name, one in LABS.items()]
        print(json.dumps(found, ensure_ascii=False) if options.json else "\n".join(f"{one['name']:<14} {one['title']}" for one in found))
        return 0
    one = get(current_value("lab", options.name))
    outcome = one.outcome(options.seed, **dict(setting.partition("=")[::2] for setting in options.set))
    verdict = one.say(options.language, f"why_{outcome.answer}", **outcome.numbers)
    if options.json:
        said = {"lab": one.name, "kind": one.kind, "seed": options.seed, "arms": list(one.arms_of(options.seed)), "answer": outcome.answer}
        said |= {"numbers": outcome.numbers, "verdict": verdict}
        print(json.dumps(said, ensure_ascii=False))
        return 0
    print(one.say(options.language, "question"), *(f"{name}: {value}" for name, value in outcome.numbers.items()), verdict, sep="\n")
    return 0
