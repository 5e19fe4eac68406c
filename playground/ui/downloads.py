"""Files and code that a visitor takes along: attention as numpy arrays, a sentence's workbook, a run's zip, code that uses it."""

import io
import json
import re
import shlex
from asyncio import Semaphore
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from playground.config import Refusal
from playground.cursor import check
from playground.export import file_name, pack_zip, scores_of
from playground.export.exported_run import export_run
from playground.export.workbook import Sentence, refuse_unwritable, write_workbook
from playground.features.shared.heads import name_axes
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View, language
from playground.runs.registry import Runs
from playground.ui.assets import STATIC
from playground.ui.network import run_link


def attention_file(view: View) -> tuple[str, bytes]:
    """Returns the name and bytes of an .npz: `weights` (layers, heads, queries, keys) in float32, the names of their `queries` and `keys`,
    and their run, step, sentence and part. Nothing is pickled. Raises Refusal like a panel."""
    part, step = view.part, view.look.step
    queries, keys = (np.array([str(name) for name in names]) for names in name_axes(view, part))
    about = {"run": view.run.name, "step": step, "sentence": view.text, "part": part}
    file = io.BytesIO()
    np.savez(file, weights=view.weights.astype(np.float32), queries=queries, keys=keys, **about)
    return f"{view.run.name}-step{step}-attention-{part}.npz", file.getvalue()


def workbook_file(view: View) -> tuple[str, bytes]:
    """Returns the name and bytes of an .xlsx of the sentence through the model, see playground/export/workbook.py. Raises Refusal like a
    panel, and for a run or a sentence that has no workbook."""
    refuse_unwritable(view.run.experiment.model)
    exported, look, language = export_run(view.run), view.look, view.language
    ids, right = [piece.id for piece in look.source[:-1]], [piece.id for piece in look.targets]
    target = exported.tokenizers[1].decode(right)
    file = view.reader.work(
        view.run, look.step, ("workbook", view.text, tuple(right), exported.name, language),
        lambda model, step: write_workbook(
            model, exported.tokenizers, Sentence(ids, right, exported.name, step, view.text, target), language
        ),
    )  # fmt: skip
    return f"{view.run.name}-step{look.step}.xlsx", file


def takeaway(runs: Runs, reader: Reader, request: Request, token: str, packing: Semaphore) -> StreamingResponse:
    """Returns a run's zip, for readers of its sentences, which its tokenizers and weights reveal. With `sentences=on` also own sentences,
    for the owner only. Pieces of all requests are packed one at a time. Raises Refusal before the first byte is sent."""
    run, with_sentences = runs.require_reader(request.path_params["run"], token), request.query_params.get("sentences") == "on"
    runs.mark_seen(run.id)
    if with_sentences and not runs.owns(run.id, token):
        raise Refusal("export.not_your_sentences")
    snapshot = export_run(run)
    scores, link = partial(scores_of, reader, runs.corpora, snapshot), run_link(run.id, request.base_url)
    pieces = pack_zip(snapshot, scores, with_sentences, link, language(request.query_params))
    headers = {"Content-Disposition": f'attachment; filename="{file_name(snapshot)}"', "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(_pack_pieces(pieces, packing), media_type="application/zip", headers=headers | {"Cache-Control": "no-store"})


async def _pack_pieces(pieces: Iterator[bytes], packing: Semaphore) -> AsyncIterator[bytes]:
    """Packs pieces under a semaphore that is released while one is sent: a slow client blocks no other."""
    while True:
        async with packing:
            piece = await run_in_threadpool(next, pieces, None)
        if piece is None:
            return
        yield piece


LANGUAGES = {"python": "Python", "javascript": "JavaScript", "curl": "curl", "load": "playground.load"}  # the last one loads the weights


def snippets(runs: Runs, reader: Reader, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """Returns the snippets for a run and a text; `root` is the page's address. Raises Refusal."""
    view, root = View(runs, reader, parameters, token), parameters.get("root", "")
    check("text", root)
    check("text", view.text)
    return {
        "about": view.say("api.dialog_about" if view.run.may_be_read_by("") else "api.dialog_private"),
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
