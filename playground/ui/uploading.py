"""Own sentences on the page: files or pasted text, read by data/uploads, kept for a while under an id that only the page knows."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from pathlib import Path
from typing import Any

import gradio as gr

from playground.config import Experiment, Refusal
from playground.data.uploads import Pairs, read_files, report
from playground.runs.registry import Runs
from playground.words import say

KEPT = OrderedDict[str, Pairs]()  # uploads that no run has taken yet, oldest first
MOST_KEPT, MOST_CHARACTERS = 100, 100_000_000
PREVIEW = 5


def keep(found: Pairs) -> str:
    """Keeps pairs for the run that will want them. Returns their id; the oldest go when there are too many."""
    own = secrets.token_urlsafe(16)
    KEPT[own] = found
    while len(KEPT) > MOST_KEPT or (sum(_size(pairs) for pairs in list(KEPT.values())) > MOST_CHARACTERS and len(KEPT) > 1):
        KEPT.popitem(last=False)
    return own


def pairs(runs: Runs, experiment: Experiment) -> tuple[Pairs | None, str]:
    """The pairs an experiment asks for, and whom they are owed to: from a recent upload, or from a run that has them."""
    own = experiment.data.own
    if experiment.data.task != "own":
        return None, ""
    if not own:
        raise Refusal("page.no_upload_yet", knob="task")
    found = KEPT.get(own) or runs.pairs(own)
    if found is None:
        raise Refusal("page.no_upload", knob="task")
    return found, found.credit


def read(files: list[str] | None, text: str | None, swap: bool, language: str) -> dict[str, Any]:
    """Reads what was given and says how it was understood: the id under which it is kept, five pairs, and the report."""
    given = [(Path(file).name, Path(file).read_bytes()) for file in files or []]
    if not given and (text or "").strip():
        given = [(say(language, "page.pasted"), (text or "").encode("utf-8", "replace"))]
    if not given:
        raise Refusal("page.nothing_to_read")
    found = read_files(given, swap=bool(swap))
    rows = [{"source": source, "target": target, "line": line} for source, target, line in found.pairs[:PREVIEW]]
    shown = {
        "name": ", ".join(name for name, _ in given),
        "report": report(found, language),
        "rows": rows,
        "pairs": len(found.pairs),
        "next": say(language, "page.own_next"),
    }
    return {"own": keep(found), "reading": shown}


def wire(runs: Runs, upload: dict, who: list, hidden: dict, knobs: dict, answer, start, everything: list) -> None:
    """Reading starts by itself when files come, on the button for pasted text, and again when the columns are swapped."""

    def look(token: str, language: str, files, text: str, swap: bool):
        got = answer(language, lambda: read(files, text, swap, language))
        return [got, got["own"], "own"] if "own" in got else [got, gr.skip(), gr.skip()]

    def use(token: str, language: str, own: str, *values: Any):
        return start(token, language, own, *({**dict(zip(knobs, values, strict=True)), "task": "own"}.values()))

    given = [*who, upload["files"], upload["text"], upload["swap"]]
    shown = [hidden["reply"], hidden["own"], knobs["task"]]
    ours = "(...values) => window.playground.withToken(...values)"
    options = {"js": ours, "show_progress": "minimal", "concurrency_limit": 2, "trigger_mode": "always_last"}
    upload["look"].click(look, given, shown, api_name="read", api_visibility="undocumented", **options)
    upload["files"].upload(look, given, shown, api_visibility="private", **options)
    upload["swap"].input(look, given, shown, api_visibility="private", **options)
    upload["use"].click(
        use,
        everything,
        hidden["reply"],
        js="(...values) => window.playground.trainInputs(...values)",
        api_visibility="private",
        show_progress="hidden",
        queue=False,
    )


def _size(pairs: Pairs) -> int:
    return sum(len(source) + len(target) for source, target, _ in pairs.pairs)
