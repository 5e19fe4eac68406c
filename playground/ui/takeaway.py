"""Taking a run home from the page: its zip, sent while it is made."""

from __future__ import annotations

from asyncio import Semaphore
from collections.abc import AsyncIterator, Iterator
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from playground.config import Refusal
from playground.export.contents import file_name, packed
from playground.export.scores import scores_of
from playground.export.taken import take
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.network import link_to
from playground.ui.view import language


def takeaway(runs: Runs, reader: Reader, request: Request, token: str, packing: Semaphore) -> StreamingResponse:
    """The zip of a run, whose tokenizers and weights tell what it learned from: for readers of its sentences. With `sentences=on` also
    own sentences, for the owner alone. Pieces are made one at a time, whoever asks. Raises Refusal before the first byte is sent."""
    run, own = runs.require_reader(request.path_params["run"], token), request.query_params.get("sentences") == "on"
    runs.mark_seen(run.id)
    if own and not runs.owns(run.id, token):
        raise Refusal("export.not_your_sentences")
    taken = take(run)
    scores, link = partial(scores_of, reader, runs.corpora, taken), link_to(run.id, request.base_url)
    pieces = packed(taken, scores, own, link, language(request.query_params))
    headers = {"Content-Disposition": f'attachment; filename="{file_name(taken)}"', "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(_in_turn(pieces, packing), media_type="application/zip", headers=headers | {"Cache-Control": "no-store"})


async def _in_turn(pieces: Iterator[bytes], packing: Semaphore) -> AsyncIterator[bytes]:
    """The turn is over while a piece is on its way: who reads slowly keeps nobody waiting."""
    while True:
        async with packing:
            piece = await run_in_threadpool(next, pieces, None)
        if piece is None:
            return
        yield piece
