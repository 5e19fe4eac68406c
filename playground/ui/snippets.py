"""How to use a run from code: a few lines in each language, with the run and the sentence that are on screen."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from playground.cursor import check
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.assets import STATIC
from playground.ui.view import View

LANGUAGES = {"python": "Python", "javascript": "JavaScript", "curl": "curl", "load": "playground.load"}  # the last has the weights


def snippets(runs: Runs, reader: Reader, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """For the run and the text of these parameters; `root` is the address at which the page was found. Raises Refusal."""
    view, root = View(runs, reader, parameters, token), parameters.get("root", "")
    check("text", root)
    check("text", view.text)
    return {
        "about": view.say("api.dialog_about"),
        "copied": view.say("api.copied"),
        "languages": [
            {"id": name, "name": shown, "about": view.say(f"api.dialog_{name}"), "code": code(name, root, view.run.id, view.text)}
            for name, shown in LANGUAGES.items()
        ],
    }


def code(name: str, root: str, run: str, text: str) -> str:
    """The lines of one language. What is filled in is quoted as that language quotes it."""
    body = json.dumps({"run": run, "text": text}, ensure_ascii=False)
    filled = {"URL": root, "LINK": f"{root}?run={run}", "RUN": run, "TEXT": text, "BODY": body}
    quote = shlex.quote if name == "curl" else lambda value: json.dumps(value, ensure_ascii=False)
    template = (STATIC / f"snippet_{name}.txt").read_text(encoding="utf-8")
    return re.sub(r'"(URL|LINK|RUN|TEXT|BODY)"', lambda found: quote(filled[found[1]]), template)
