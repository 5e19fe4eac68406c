"""The download of a run: its zip, streamed while it is packed."""

from __future__ import annotations

from asyncio import Semaphore
from collections.abc import AsyncIterator, Iterator
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from playground.config import Refusal
from playground.export.contents import file_name, pack_zip
from playground.export.exported_run import export_run
from playground.export.scores import scores_of
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.network import run_link
from playground.ui.view import language


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
