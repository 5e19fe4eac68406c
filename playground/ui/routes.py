"""The page's read-only routes. They respond in a fraction of the time of a Gradio event, and change nothing.

Reading needs a run's unguessable id; the only route that changes a run is in command.py.
"""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import segno
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from playground import handin
from playground.config import Refusal
from playground.features import compare
from playground.features.board import panel as board
from playground.features.data.panel import preview
from playground.features.lessons import checks
from playground.features.map import worksheets
from playground.features.registry import PANELS, check
from playground.features.shared import uploading
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View, language
from playground.rooms.registry import Rooms
from playground.runs.memory import LRU
from playground.runs.registry import Runs
from playground.runs.tables import csv_of
from playground.ui import command, messages
from playground.ui.assets import CORE, PREFIX, asset_version, choose_coding, read_asset
from playground.ui.boot import collect_boot_data, describe_run, list_runs
from playground.ui.delivery import FOR_EVER
from playground.ui.downloads import attention_file, snippets, takeaway, workbook_file
from playground.ui.network import address_of, describe_lan, is_loopback
from playground.ui.rights import FILE, LINK, PUBLIC, READER, VISITOR, GuardedRoute, Right, require_run, respond_not_found
from playground.ui.turns import Pace

HEARTBEAT_S = 15.0  # seconds between keep-alive comments on a quiet stream
# Panels that are the same for all readers of the run's sentences. Where every visitor may read them the response is cached without a token:
# visitors that follow a teacher request the same panel in the same moment.
SHARED_PANELS = frozenset(("sentence", "translate", "map", "teacher_forcing", "attention", "masks", "positions", "embeddings", "step"))
CACHE_BYTES = 8_000_000  # bytes of JSON in the cache of shared panels
YIELD_S = {"translate": 0.05}  # seconds for which a panel yields to others: a written sentence can wait longer than a click
MAX_ATTEMPTS = 3  # attempts at finding panel and sentence at one step, between two snapshots


class Responses:
    """The responses of the routes about the runs of a server."""

    def __init__(self, runs: Runs, reader: Reader, rooms: Rooms | None) -> None:
        self._runs, self._reader, self._rooms = runs, reader, rooms
        self._key = handin.read_key(runs.store.folder)
        self._pace, self._panels = Pace(), LRU(most_bytes=CACHE_BYTES)
        runs.memory.add("panels", self._panels)

    async def live(self, request: Request) -> Response:
        """Streams the changes of a run since the last one that the browser has."""
        run_id = request.path_params["run"]
        try:
            self._runs.get(run_id)
        except Refusal as refusal:
            return _respond_refusal(refusal, request)
        events = _stream(self._runs, run_id, _read_last_event(request), request, self._pace)
        return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})

    def run(self, request: Request) -> dict:
        return describe_run(self._runs, self._reader, request.path_params["run"], _token(request), request.query_params)

    def panel(self, request: Request) -> dict:
        """Returns a panel; with `beside=sentence` also the sentence, of the same step of a training run."""
        name = request.path_params["name"]
        if name not in PANELS:
            raise Refusal("page.no_such_panel", name=name[:40])
        before = self._reader.seconds
        with self._reader.one_answer(YIELD_S.get(name, 0.0)):
            panel_fields, view = self._draw_both(name, request)
        if view.run.working:
            self._pace.record_request(address_of(request), _token(request), self._reader.seconds - before)
        refresh_ms = self._pace.spread_refresh_ms(address_of(request))
        if "pause" in panel_fields:  # the board asks again by itself, and costs a class as much as its runs do
            panel_fields = {**panel_fields, "pause": max(panel_fields["pause"], refresh_ms // 2)}
        return {**panel_fields, "refresh_ms": refresh_ms}

    def _draw_both(self, name: str, request: Request) -> tuple[dict, View]:
        panel_fields, view = self._draw(name, request)
        if request.query_params.get("beside") == "sentence":
            for _ in range(MAX_ATTEMPTS):
                sentence, _ = self._draw("sentence", request)
                if panel_fields.get("recorded") or panel_fields.get("step") in (None, sentence["step"]):
                    break
                panel_fields, _ = self._draw(name, request)
            panel_fields = {**panel_fields, "sentence": sentence}
        return panel_fields, view

    def _draw(self, name: str, request: Request) -> tuple[dict, View]:
        view = self.view(request)
        self._runs.mark_seen(view.run.id, _token(request))
        if shared := name in SHARED_PANELS and view.run.may_be_read_by(""):
            view = self.view(request, shared)
        check(name, view)

        def make() -> dict:
            return {**PANELS[name](view), "uses": sorted(view.used)}

        cache_key = (name, view.run.version, *sorted(view.parameters.items()))
        return (_embed_parts(self._panels.get_or_make(cache_key, lambda: _serialise_parts(make()))) if shared else make()), view

    def handin(self, request: Request) -> dict:
        """Signs what the visitor's browser says of the course. Raises Refusal without a token, of which the code has a mark."""
        require_run(VISITOR, self._runs, "", _token(request))
        date = time.strftime("%Y-%m-%d", time.gmtime())
        return {"code": handin.sign(self._key, date, *checks.read_result(request.query_params), _token(request))}

    def view(self, request: Request, shared: bool = False) -> View:
        return View(self._runs, self._reader, dict(request.query_params), "" if shared else _token(request), self._rooms)

    def export(self, request: Request) -> Response:
        query = request.query_params
        return _send_file(*uploading.export_upload(self._runs, query.get("own", ""), query.get("kind", ""), _token(request)))

    def reading(self, request: Request) -> dict:
        return uploading.describe_upload(self._runs, request.query_params.get("own", ""), language(request.query_params), _token(request))

    def history(self, request: Request) -> Response:
        run = self._runs.get(request.query_params.get("run", ""))
        if request.query_params.get("table") == "validations":
            return _send_file(f"{run.name}-validations.csv", csv_of(run.history.validations.frame()))
        return _send_file(f"{run.name}-steps.csv", csv_of(run.history.steps.frame()))


def routes(runs: Runs, reader: Reader, listens_at: str = "127.0.0.1", rooms: Rooms | None = None) -> list[GuardedRoute]:
    """Returns our own routes, for a server that listens at this address."""
    responses, packing = Responses(runs, reader, rooms), asyncio.Semaphore(1)  # one zip at a time: its scores take a whole core

    def get(path: str, right: Right, answer: Callable[[Request], Any]) -> GuardedRoute:
        async def endpoint(request: Request) -> Response:
            reply = await messages.run_in_thread(answer, request)
            return _respond_refusal(reply, request) if isinstance(reply, Refusal) else _to_response(reply)

        return GuardedRoute(f"{PREFIX}{path}", endpoint, right)

    def boot(request: Request) -> dict:
        lan = describe_lan(listens_at) if _is_on_this_machine(request) else {"listens": True, "address": ""}
        return collect_boot_data(runs, request.query_params, _token(request)) | {"lan": lan}

    def download(path: str, right: Right, answer: Callable[[View], tuple[str, bytes | str]]) -> GuardedRoute:
        return get(path, right, lambda request: _send_file(*answer(responses.view(request))))

    return [
        command.route(runs),
        command.opening_route(runs),
        get("/boot", PUBLIC, boot),
        get("/runs", PUBLIC, lambda request: list_runs(runs, _token(request), language(request.query_params))),
        get("/run/{run}", LINK, responses.run),
        get("/panel/{name}", LINK, responses.panel),
        get("/export", READER, responses.export),
        get("/history", LINK, responses.history),
        download("/table", LINK, compare.write_csv),
        download("/board", LINK, board.write_csv),
        download("/attention", READER, attention_file),
        download("/workbook", READER, workbook_file),
        get("/takeaway/{run}", READER, lambda request: takeaway(runs, reader, request, _token(request), packing)),  # own sentences: OWNER
        get("/reading", READER, responses.reading),
        get("/preview", READER, lambda request: preview(runs, request.query_params, _token(request))),
        get("/code", LINK, lambda request: snippets(runs, reader, request.query_params, _token(request))),
        get("/qr", PUBLIC, _draw_qr),
        get("/handin", VISITOR, responses.handin),
        get(f"/{worksheets.PATH}", PUBLIC, lambda request: _print_worksheet(request, responses.view)),
        GuardedRoute(f"{PREFIX}/asset/{{version}}/{{name:path}}", _send_asset, PUBLIC, cost=FILE),
        GuardedRoute(f"{PREFIX}/live/{{run}}", responses.live, LINK, stream="visitor"),
    ]


async def _send_asset(request: Request) -> Response:
    content_coding = choose_coding(request.headers.get("Accept-Encoding", ""))
    try:
        body, media_type = await run_in_threadpool(read_asset, request.path_params["name"], content_coding)
    except KeyError:
        return respond_not_found(request)
    is_current = request.path_params["version"] == asset_version()
    headers = {"Content-Encoding": content_coding, "Vary": "Accept-Encoding", "Cache-Control": FOR_EVER if is_current else "no-cache"}
    return Response(body, media_type=media_type, headers=headers)


def _is_on_this_machine(request: Request) -> bool:
    return is_loopback(request.url.hostname or "") and request.client is not None and is_loopback(request.client.host)


def _read_last_event(request: Request) -> int:
    """Returns the id of the last event that a browser received, 0 for none. One that reconnects repeats its first address, where `since` is
    older, and sends the id."""
    text = request.headers.get("Last-Event-ID") or request.query_params.get("since", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _draw_qr(request: Request) -> Response:
    text = request.query_params.get("text", "")[:1500]
    picture = io.BytesIO()
    segno.make(text or " ", error="l", micro=False).save(picture, kind="svg", border=2, scale=6, xmldecl=False)
    return Response(picture.getvalue(), media_type="image/svg+xml", headers={"Content-Security-Policy": "default-src 'none'"})


def _print_worksheet(request: Request, open_view: Callable[[Request], View]) -> Response:
    stylesheet = f"asset/{asset_version()}/{CORE}worksheet.css"
    page = worksheets.render_page(request.query_params, stylesheet, lambda: open_view(request))
    return HTMLResponse(page, headers=worksheets.HEADERS)


async def _stream(runs: Runs, run_id: str, since: int, request: Request, pace: Pace) -> AsyncIterator[bytes]:
    """Yields a run's server-sent events: the changes since the last one, at most at the rate of `pace`. An event's id is the version it
    leads to."""
    pace.streams += 1
    try:
        version, quiet_s = -1, 0.0
        while not await request.is_disconnected():
            run = runs.find(run_id)
            if run is None:
                yield b"event: gone\ndata: {}\n\n"
                return
            runs.mark_seen(run_id)
            if run.version != version:
                version, quiet_s = run.version, 0.0
                # serialising a small update of a training run takes less time here than starting another thread
                is_small = since and run.working
                update, since = runs.update(run, since) if is_small else await run_in_threadpool(runs.update, run, since)
                yield b"id: %d\ndata: %b\n\n" % (since, update)
            else:
                quiet_s += pace.poll_s
                if quiet_s >= HEARTBEAT_S:
                    quiet_s = 0.0
                    yield b": still here\n\n"
            await asyncio.sleep(pace.until_poll_s)
    finally:
        pace.streams -= 1


def _token(request: Request) -> str:
    return messages.token_of(request.headers)


def _to_response(value: Any) -> Response:
    if isinstance(value, Response):
        return value
    return Response(_to_json(value), media_type="application/json", headers={"Cache-Control": "no-store"})


def _to_json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


def _serialise_parts(answer: dict) -> dict:
    """Serialises the parts of a response once for all requests of it."""
    return {name: _to_json(part) if isinstance(part, list | dict) else part for name, part in answer.items()}


def _embed_parts(answer: dict) -> dict:
    return {name: orjson.Fragment(part) if isinstance(part, bytes) else part for name, part in answer.items()}


def _send_file(name: str, content: bytes | str) -> Response:
    """Returns a download, which browsers never display."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _respond_refusal(refusal: Refusal, request: Request) -> Response:
    return _to_response({"error": refusal.say(language(request.query_params)), "key": refusal.key})
