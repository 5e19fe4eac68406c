"""Code that uses a run: a few lines per language, with the run and the sentence on screen."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from playground.cursor import check
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View
from playground.runs.registry import Runs
from playground.ui.assets import STATIC

LANGUAGES = {"python": "Python", "javascript": "JavaScript", "curl": "curl", "load": "playground.load"}  # the last one loads the weights


def snippets(runs: Runs, reader: Reader, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """Returns the snippets for a run and a text; `root` is the page's address. Raises Refusal."""
    view, root = View(runs, reader, parameters, token), parameters.get("root", "")
    check("text", root)
    check("text", view.text)
    return {
        "about": view.say("api.dialog_about"),
        "copied": view.say("api.copied"),
        "languages": [
            {"id": name, "name": label, "about": view.say(f"api.dialog_{name}"), "code": code(name, root, view.run.id, view.text)}
            for name, label in LANGUAGES.items()
        ],
    }


def code(name: str, root: str, run: str, text: str) -> str:
    """Returns the code in one language, with the values quoted by its rules."""
    body = json.dumps({"run": run, "text": text}, ensure_ascii=False)
    values = {"URL": root, "LINK": f"{root}?run={run}", "RUN": run, "TEXT": text, "BODY": body}
    quote = shlex.quote if name == "curl" else lambda value: json.dumps(value, ensure_ascii=False)
    template = (STATIC / f"snippet_{name}.txt").read_text(encoding="utf-8")
    return re.sub(r'"(URL|LINK|RUN|TEXT|BODY)"', lambda placeholder: quote(values[placeholder[1]]), template)
