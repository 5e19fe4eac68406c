"""The command that lists the labs, or runs one."""

from __future__ import annotations

import argparse
import json

from playground.cursor import current_value


def lab(options: argparse.Namespace) -> int:
    from playground.lessons.labs import LABS, get

    if options.name is None:
        labs = [{"name": name, "kind": each.kind, "title": each.say(options.language, "title")} for name, each in LABS.items()]
        print(json.dumps(labs, ensure_ascii=False) if options.json else "\n".join(f"{each['name']:<14} {each['title']}" for each in labs))
        return 0
    lab = get(current_value("lab", options.name))
    outcome = lab.outcome(options.seed, **dict(setting.partition("=")[::2] for setting in options.set))
    verdict = lab.say(options.language, f"why_{outcome.answer}", **outcome.numbers)
    if options.json:
        entry = {"lab": lab.name, "kind": lab.kind, "seed": options.seed, "arms": list(lab.arms_of(options.seed)), "answer": outcome.answer}
        entry |= {"numbers": outcome.numbers, "verdict": verdict}
        print(json.dumps(entry, ensure_ascii=False))
        return 0
    print(lab.say(options.language, "question"), *(f"{name}: {value}" for name, value in outcome.numbers.items()), verdict, sep="\n")
    return 0
