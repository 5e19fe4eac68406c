"""Our own routes: everything the page reads. They answer in a fraction of what a Gradio event costs, and change nothing.

Reading needs a run's id, which can't be guessed; changing one goes through the only route that changes anything, see command.py.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import segno
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from playground.config import Refusal
from playground.queries.reader import Reader
from playground.rooms.registry import Rooms
from playground.runs.lru import LRU
from playground.runs.registry import Runs
from playground.runs.tables import csv_of
from playground.ui import command
from playground.ui.address import address_of
from playground.ui.assets import PREFIX, asset, asset_version, coding
from playground.ui.boot import boot, run_card, runs_list
from playground.ui.delivery import FOR_EVER
from playground.ui.downloads import attention_file
from playground.ui.gate import not_there
from playground.ui.network import is_own, lan
from playground.ui.pace import Pace
from playground.ui.panels import PANELS, board, check, run_table
from playground.ui.panels.map import worksheet
from playground.ui.snippets import snippets
from playground.ui.takeaway import takeaway
from playground.ui.upload import uploading
from playground.ui.upload.preview import preview
from playground.ui.view import View, language

HEARTBEAT = 15.0  # seconds between signs of life on a quiet stream
# Panels that are the same for all who may read the run's sentences, and where everybody may they never learn who asks: those who follow a
# teacher ask for one in the same moment.
SHARED = frozenset(("sentence", "translate", "map", "teacher_forcing", "attention", "masks", "positions", "embeddings", "step"))
ANSWERS_BYTES = 8_000_000  # of those, as JSON, that are kept for whoever asks for the same later
PATIENCE = {"translate": 0.25}  # seconds for which the panel lets others go first: who has written a sentence waits longer than who looks
TRIES = 3  # to find panel and sentence at one step, between two snapshots


def routes(runs: Runs, reader: Reader, listens_at: str = "127.0.0.1", rooms: Rooms | None = None) -> list[Route]:
    """Every route of ours, of a server that listens at this address."""
    pace, answers, packing = Pace(), LRU(most_bytes=ANSWERS_BYTES), asyncio.Semaphore(1)  # of zips: their scores take a processor
    runs.memory.add("panels", answers)

    async def send_asset(request: Request) -> Response:
        chosen = coding(request.headers.get("Accept-Encoding", ""))
        try:
            body, kind = await run_in_threadpool(asset, request.path_params["name"], chosen)
        except KeyError:
            return not_there(request)
        current = request.path_params["version"] == asset_version()
        headers = {"Content-Encoding": chosen, "Vary": "Accept-Encoding", "Cache-Control": FOR_EVER if current else "no-cache"}
        return Response(body, media_type=kind, headers=headers)

    async def live(request: Request) -> Response:
        run_id, since = request.path_params["run"], request.query_params.get("since")
        # a browser whose line was cut asks anew for the address it began with, and says which event it got last
        since = _number(request.headers.get("Last-Event-ID", since))
        try:
            runs.get(run_id)
        except Refusal as refusal:
            return _refused(refusal, request)
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(_stream(runs, run_id, since, request, pace), media_type="text/event-stream", headers=headers)

    def read(answer: Callable[[Request], Any]) -> Callable:
        async def endpoint(request: Request) -> Response:
            found = await command.in_thread(answer, request)
            return _refused(found, request) if isinstance(found, Refusal) else _json(found)

        return endpoint

    def view_of(request: Request, shared: bool = False) -> View:
        return View(runs, reader, dict(request.query_params), "" if shared else _token(request), rooms)

    def panel(request: Request) -> dict:
        """A panel; with `beside=sentence` also the sentence, of the same step of a run that trains."""
        name = request.path_params["name"]
        if name not in PANELS:
            raise Refusal("page.no_such_panel", name=name[:40])
        before = reader.seconds
        with reader.one_answer(PATIENCE.get(name, 0.0)):
            found, view = both(name, request)
        if view.run.working:
            pace.asked(address_of(request), _token(request), reader.seconds - before)
        return {**found, "refresh_ms": pace.refresh_ms(address_of(request))}

    def both(name: str, request: Request) -> tuple[dict, View]:
        found, view = panel_of(name, request)
        if request.query_params.get("beside") == "sentence":
            for _ in range(TRIES):
                sentence, _ = panel_of("sentence", request)
                if found.get("recorded") or found.get("step") in (None, sentence["step"]):
                    break
                found, _ = panel_of(name, request)
            found = {**found, "sentence": sentence}
        return found, view

    def panel_of(name: str, request: Request) -> tuple[dict, View]:
        view = view_of(request)
        runs.mark_seen(view.run.id, _token(request))
        if shared := name in SHARED and view.run.may_be_read_by(""):
            view = view_of(request, shared)
        check(name, view)

        def make() -> dict:
            return {**PANELS[name](view), "uses": sorted(view.used)}

        question = (name, view.run.version, *sorted(view.parameters.items()))
        return (_unpacked(answers.get_or_make(question, lambda: _packed(make()))) if shared else make()), view

    def qr(request: Request) -> Response:
        text = request.query_params.get("text", "")[:1500]
        picture = io.BytesIO()
        segno.make(text or " ", error="l", micro=False).save(picture, kind="svg", border=2, scale=6, xmldecl=False)
        return Response(picture.getvalue(), media_type="image/svg+xml", headers={"Content-Security-Policy": "default-src 'none'"})

    def printed(request: Request) -> Response:
        stylesheet = f"asset/{asset_version()}/worksheet.css"
        return HTMLResponse(worksheet.page(request.query_params, stylesheet), headers=worksheet.HEADERS)

    def export(request: Request) -> Response:
        return _file(*uploading.exported(runs, request.query_params.get("own", ""), request.query_params.get("kind", ""), _token(request)))

    def history(request: Request) -> Response:
        run = runs.get(request.query_params.get("run", ""))
        if request.query_params.get("table") == "validations":
            return _file(f"{run.name}-validations.csv", csv_of(run.history.validation_frame()))
        return _file(f"{run.name}-steps.csv", csv_of(run.history.frame()))

    reads = {
        "/boot": lambda request: boot(runs, request.query_params, _token(request)) | {"lan": _lan(request, listens_at)},
        "/runs": lambda request: runs_list(runs, _token(request), language(request.query_params)),
        "/run/{run}": lambda request: run_card(runs, reader, request.path_params["run"], _token(request), request.query_params),
        "/panel/{name}": panel,
        "/export": export,
        "/history": history,
        "/table": lambda request: _file(*run_table.file(view_of(request))),
        "/board": lambda request: _file(*board.file(view_of(request))),
        "/attention": lambda request: _file(*attention_file(view_of(request))),
        "/takeaway/{run}": lambda request: takeaway(runs, reader, request, _token(request), packing),
        "/reading": lambda request: uploading.again(
            runs, request.query_params.get("own", ""), language(request.query_params), _token(request)
        ),
        "/preview": lambda request: preview(runs, request.query_params, _token(request)),
        "/code": lambda request: snippets(runs, reader, request.query_params, _token(request)),
        "/qr": qr,
        f"/{worksheet.PATH}": printed,
    }
    streams = {"/asset/{version}/{name}": send_asset, "/live/{run}": live}
    endpoints = {path: read(answer) for path, answer in reads.items()} | streams
    return [command.route(runs), *(Route(f"{PREFIX}{path}", endpoint, methods=["GET"]) for path, endpoint in endpoints.items())]


async def _stream(runs: Runs, run_id: str, since: int, request: Request, pace: Pace) -> AsyncIterator[bytes]:
    """Server-sent events of one run: what changed since the last one, as often as it changes, at most at the `pace`. The id of an event is
    the version it leads to."""
    pace.streams += 1
    try:
        version, quiet = -1, 0.0
        while not await request.is_disconnected():
            try:
                run = runs.get(run_id)
            except Refusal:
                yield b"event: gone\ndata: {}\n\n"
                return
            runs.mark_seen(run_id)
            if run.version != version:
                version, quiet = run.version, 0.0
                # a little more of what is in memory is made here in less time than another thread would take to begin
                little = since and run.working
                update, since = runs.update(run, since) if little else await run_in_threadpool(runs.update, run, since)
                yield b"id: %d\ndata: %b\n\n" % (since, update)
            else:
                quiet += pace.look
                if quiet >= HEARTBEAT:
                    quiet = 0.0
                    yield b": still here\n\n"
            await asyncio.sleep(pace.until_look)
    finally:
        pace.streams -= 1


def _lan(request: Request, listens_at: str) -> dict:
    """For whoever sits at this very machine: nobody else is told what it is called in its network."""
    is_here = is_own(request.url.hostname or "") and request.client is not None and is_own(request.client.host)
    return lan(listens_at) if is_here else {"listens": True, "address": "", "windows": False}


def _token(request: Request) -> str:
    return command.token_of(request.headers)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 12 else 0


def _json(value: Any) -> Response:
    if isinstance(value, Response):
        return value
    return Response(_dumped(value), media_type="application/json", headers={"Cache-Control": "no-store"})


def _dumped(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


def _packed(answer: dict) -> dict:
    """The same answer, its parts as JSON already: written once for all who ask for it."""
    return {name: _dumped(part) if isinstance(part, list | dict) else part for name, part in answer.items()}


def _unpacked(answer: dict) -> dict:
    return {name: orjson.Fragment(part) if isinstance(part, bytes) else part for name, part in answer.items()}


def _file(name: str, content: bytes | str) -> Response:
    """To be kept, and never to be shown by the browser."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _refused(refusal: Refusal, request: Request) -> Response:
    return _json({"error": refusal.say(language(request.query_params)), "key": refusal.key})
