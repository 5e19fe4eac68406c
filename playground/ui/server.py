"""Assembles the running server from the page and the runs: limits, host and port, our own routes, and only those of Gradio's in use."""

from __future__ import annotations

import gc
import logging
import os
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

# Set before Gradio is imported: by default it sends telemetry, and keeps a long event log that it copies after each event.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000")
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
# uvicorn would trust forwarding headers of every local process; PLAYGROUND_PROXIES declares the proxies (see address.py)
os.environ.setdefault("FORWARDED_ALLOW_IPS", "")

from playground import zero_gpu  # before Gradio and torch

# isort: split
from playground.ui import gradio_private  # before Gradio

# isort: split
import gradio as gr
import orjson
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.requests import Request

from playground import logs
from playground.config import Refusal
from playground.cursor import declared
from playground.features.map.panel import PLANS
from playground.features.registry import PLACES
from playground.features.shared.queries.reader import Reader
from playground.features.shared.uploading import UPLOADS
from playground.rooms.registry import Rooms
from playground.rooms.rules import RoomRules
from playground.runs.cache import freeze_objects
from playground.runs.registry import Runs
from playground.ui import document, operator, rooms as rooms_routes
from playground.ui.assets import MAIN, asset_path, list_styles
from playground.ui.bodies import Bodies, store_uploads, uploads_folder
from playground.ui.calls import Calls
from playground.ui.delivery import Rewriter, build_middleware
from playground.ui.ending import Shutdown, shut_down
from playground.ui.endpoints import MENU_ENTRY, add_endpoints, describe_api
from playground.ui.first_screen import FirstScreen, preloads
from playground.ui.gate import Gate, exception_handlers
from playground.ui.guard import Guard
from playground.ui.network import PORT, choose_port, describe_lan, server_name
from playground.ui.page import build_page
from playground.ui.rights import API, GuardedRoute, Listeners, Table
from playground.ui.routes import routes
from playground.ui.turns import MAX_WAITING, Tally, Turns
from playground.words import ENGLISH, LANGUAGES, browser_tags, say

log = logging.getLogger(__name__)
MAX_SESSIONS = 100  # of browser tabs that Gradio remembers, 0.3 MB each: an evicted tab gets another unnoticed, as it has no state there
SWITCH_INTERVAL_S = 0.0005  # seconds of a thread's time slice: in a class a short request is always waiting


def theme() -> gr.Theme:
    """Returns Gradio's default theme in quiet colours, with system fonts: nothing is fetched from elsewhere."""
    sans = [
        "system-ui",
        "-apple-system",
        "Segoe UI",
        "Roboto",
        "PingFang SC",
        "Noto Sans SC",
        "Noto Sans CJK SC",
        "Microsoft YaHei",
        "sans-serif",
    ]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    base = gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=sans, font_mono=mono, spacing_size="sm", radius_size="md")
    return base.set(  # contrast of at least 4.5, which Gradio's own greys and indigo miss
        body_text_color_subdued="*neutral_600",
        block_title_text_color="*neutral_600",
        block_label_text_color="*neutral_600",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        color_accent="*primary_600",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
    )


def start(runs: Runs, reader: Reader, host: str | None = None, port: int | None = None) -> tuple[gr.Blocks, FastAPI, str]:
    """Builds the page and launches it without blocking. Returns the page, the app and its address: the public one if there is one."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    rooms = Rooms(runs.store.folder / "rooms", limits=runs.limits)
    runs.rules = RoomRules(rooms, runs)
    runs.add_task(rooms.tidy)
    streams, first_screen = Tally(), FirstScreen(runs, reader)
    turns = Turns(streams, runs.limits.calls_address)
    demo, listeners = build_page(runs, turns)
    listeners |= add_endpoints(demo, runs, reader, turns)
    if zero_gpu.ON_ZERO_GPU:  # by default a single call may wait there; elsewhere a new queue only makes Gradio build its app once more
        demo.queue(max_size=2 * MAX_WAITING)
    gradio_private.slow_down_queue(demo)
    counts = {"sessions": lambda: streams.count("tab"), "streams": lambda: streams.count("address"), "readers_lost": lambda: reader.lost}
    own_routes = collect_routes(runs, reader, rooms, counts, server_name(host))
    _share_memory(runs, reader, first_screen)
    mcp_wanted = is_mcp_wanted()
    app, url, public = demo.launch(
        server_name=server_name(host),
        server_port=port or choose_port(server_name(host)),
        root_path=os.environ.get("GRADIO_ROOT_PATH", "").rstrip("/"),  # a slash at its end answers nothing below it
        prevent_thread_lock=True,
        quiet=True,
        share=None,
        ssr_mode=False,
        pwa=False,
        run_history=False,
        enable_monitoring=False,
        show_error=False,
        mcp_server=mcp_wanted,
        strict_cors=True,
        max_file_size="20mb",
        state_session_capacity=MAX_SESSIONS,
        max_threads=2 * MAX_WAITING,  # calls that Gradio has begun: most of them wait for their turn
        footer_links=[],
        theme=theme(),
        head=head(),
        app_kwargs={
            "routes": own_routes,  # matched before Gradio's, from the first request on
            "middleware": build_middleware(_rewriters(first_screen), _guards(Table(own_routes), runs, listeners, turns, streams)),
            "exception_handlers": exception_handlers(),
        },
    )
    gradio_private.guard_connections(demo, runs.limits)
    if mcp_wanted and not _is_served(f"{url}{API[1:]}/mcp/schema"):  # Gradio doesn't report it
        print(say(ENGLISH, "api.no_mcp"), flush=True)
    return demo, app, public or url


def collect_routes(
    runs: Runs, reader: Reader, rooms: Rooms, counts: Mapping[str, Callable[[], int]], listens_at: str = "127.0.0.1"
) -> list[GuardedRoute]:
    """Returns our own routes, with their access rules."""
    own_routes = [*operator.health_routes(runs, counts), *operator.routes(runs, counts), *routes(runs, reader, listens_at, rooms)]
    return [*own_routes, *rooms_routes.routes(rooms, runs, reader), document.route()]


def _guards(table: Table, runs: Runs, listeners: Listeners, turns: Turns, streams: Tally) -> list[Middleware]:
    """Returns the middleware that may reject a request: for its visitor, its address, its right, its body and its call."""
    who = {"visitors": runs.visitors, "lifted": runs.rules.in_room}
    return [
        Middleware(Guard, table=table, limits=runs.limits, turns=turns, streams=streams, **who),
        Middleware(Gate, table=table),
        Middleware(Bodies, table=table, limits=runs.limits),
        Middleware(Calls, listeners=listeners, uploads=uploads_folder),
    ]


def _rewriters(first_screen: FirstScreen) -> dict[str, Rewriter]:
    """Returns what completes Gradio's responses, by path."""
    tags = preloads()

    def complete_page(request: Request, page: bytes) -> bytes:
        return document.complete(request, page.decode().replace(MENU_ENTRY, ""), tags, first_screen.html).encode()

    def drop_menu(request: Request, config: bytes) -> bytes:
        return config.replace(MENU_ENTRY.encode(), b"")

    return {"/": complete_page, "/config": drop_menu, f"{API}/info": lambda request, info: describe_api(info)}


def _is_served(url: str) -> bool:
    with suppress(OSError):
        return urlopen(url, timeout=10).status == HTTPStatus.OK
    return False


def _share_memory(runs: Runs, reader: Reader, first_screen: FirstScreen) -> None:
    """Registers the page's caches with the shared memory budget; the routes register the panels."""
    shares = {"first_screens": (first_screen.cache,), "uploads": (UPLOADS,), "drawings": (PLANS,)}
    for name, caches in (*shares.items(), *reader.caches.items()):
        runs.memory.add(name, *caches)


def head() -> str:
    """Returns the tags that load the page's style and script, and first the data that the script needs before any request. Relative
    addresses work behind a proxy and inside a Space's frame."""
    styles = "".join(f'<link rel="stylesheet" href="{asset_path(name)}">' for name in list_styles())
    return (
        f"{styles}{known_tag(PLACES)}"
        f'<script type="module" src="{asset_path(MAIN)}"></script>'
        '<meta name="referrer" content="same-origin">'
    )


def known_tag(places: Mapping[str, Sequence[str]]) -> str:
    """Returns a tag that declares the cursor, languages, places and tabs to the script."""
    known = orjson.dumps({"cursor": declared(), "languages": languages(), "places": places}).decode().replace("<", r"\u003c")
    return f'<script type="application/json" id="pg-known">{known}</script>'


def languages() -> dict[str, dict[str, Any]]:
    """Returns the page's languages by code: long and brief names, the tag of their text and the tags by which browsers request them."""
    return {
        code: {
            "name": say(code, "language.name"),
            "brief": say(code, "language.brief"),
            "html": say(code, "language.html"),
            "browser": browser_tags(code),
        }
        for code in LANGUAGES
    }


def is_mcp_wanted() -> bool:
    """Whether the endpoints become MCP tools: PLAYGROUND_MCP is set and the package is installed."""
    wanted = os.environ.get("PLAYGROUND_MCP", "") not in ("", "0")
    if wanted and find_spec("mcp") is None:
        print(say(ENGLISH, "api.no_mcp"), flush=True)
        return False
    return wanted


def serve() -> None:
    """Runs the server until a signal, then shuts down; app.py calls it, with garbage collection off while it starts. Exits with 2 if
    another server holds the folder, or another program the named port."""
    shutdown = Shutdown()
    logs.begin()
    try:
        port = choose_port(server_name())
        runs = Runs()
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        raise SystemExit(2) from None
    reader = Reader(runs)
    store_uploads(runs)
    demo, _, url = start(runs, reader, port=port)
    gc.enable()
    freeze_objects()
    logs.adopt("uvicorn")
    limits = runs.limits
    logs.event(log, "server_began", runs=len(runs.shipped()), device=",".join(limits.devices), cores=limits.cores, memory=limits.memory)
    if port != PORT and not {"PORT", "GRADIO_SERVER_PORT"} & os.environ.keys():
        print(say(ENGLISH, "page.next_port", taken=PORT, port=port), flush=True)
    announce(url, runs.store.folder)
    shutdown.wait()
    shut_down(demo, runs)


def announce(url: str, folder: Path) -> None:
    """Prints where the page is, for this machine and for others of the network, and where runs are kept; opens it with PLAYGROUND_OPEN."""
    lan = describe_lan(server_name())["address"]
    port = urlsplit(url).port
    print(f"Transformer Playground: {url}", *([f"Other machines of this network: http://{lan}:{port}"] if lan and port else []), sep="\n")
    print(f"Runs are kept in {folder}", flush=True)
    if os.environ.get("PLAYGROUND_OPEN", "") not in ("", "0"):
        webbrowser.open(url)
