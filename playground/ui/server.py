"""From the page and the runs to a running server: limits, host and port, our own routes, and only those of Gradio's that are used."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

# Set before Gradio is imported: it would otherwise report home, and keep a long log of events that it copies after each one.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000")
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
# uvicorn believes every process of this machine who it asks for; which proxies there are is said by PLAYGROUND_PROXIES (see address.py).
os.environ.setdefault("FORWARDED_ALLOW_IPS", "")

from playground import zero_gpu  # noqa: F401  before Gradio and torch

# isort: split
import gradio as gr
import orjson
from fastapi import FastAPI
from gradio.queueing import Queue
from starlette.middleware import Middleware

from playground import logs
from playground.config import Refusal
from playground.cursor import declared
from playground.queries.reader import Reader
from playground.rooms.registry import Rooms
from playground.rooms.rules import RoomRules
from playground.runs.heap import freeze_objects
from playground.runs.registry import Runs
from playground.ui import calls, connections, endpoints, fair_queue, health, link_preview, sessions
from playground.ui import rooms as rooms_routes
from playground.ui.assets import asset_path
from playground.ui.bodies import Bodies
from playground.ui.calls import Calls
from playground.ui.delivery import middleware
from playground.ui.ending import Ending, end
from playground.ui.first_screen import FirstScreen, preloads
from playground.ui.gate import Gate, handlers
from playground.ui.guard import Guard
from playground.ui.headers import drop_gradios_origins
from playground.ui.network import PORT, port_for, server_name
from playground.ui.operator import routes as operator
from playground.ui.page import build
from playground.ui.panels import PLACES
from playground.ui.panels.map.panel import DRAWN
from playground.ui.routes import routes
from playground.ui.shares import Open
from playground.ui.skip_links import skip_links
from playground.ui.upload import stored_files
from playground.ui.upload.uploading import KEPT
from playground.words import ENGLISH, LANGUAGES, browser_tags, say

log = logging.getLogger(__name__)
# Seconds for which Gradio's queue sleeps between two looks at whether there is work, and at whether work has got on. By itself it looks a
# thousand times a second, which takes a core a twentieth of its time while nothing happens.
QUEUE_LOOK, PROGRESS_LOOK = 0.02, 0.5
SWITCH = 0.0005  # seconds for which a thread that computes keeps the others waiting: of a class there is always one with a short answer
# In this order: a later one overrules an earlier one.
STYLES = (
    *("style.css", "runs.css", "frame.css", "dock.css", "inside.css", "upload.css", "downloads.css", "keyboard.css", "present.css"),
    *("room.css", "experiment.css", "room_plan.css", "plain.css", "space_frame.css", "narrow.css", "contrast.css"),
)


def theme() -> gr.Theme:
    """Gradio's default shapes in quiet colours; fonts of the visitor's own system, so that nothing is fetched from elsewhere."""
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
    made = gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=sans, font_mono=mono, spacing_size="sm", radius_size="md")
    return made.set(  # every word at a contrast of 4.5 at least, which Gradio's own greys and indigo miss
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
    """Builds the page and launches it without blocking. Returns the page, the app and its address: the public one where there is one."""
    sys.setswitchinterval(SWITCH)
    rooms = Rooms(runs.store.folder / "rooms", limits=runs.limits)
    runs.rules = RoomRules(rooms, runs)
    runs.add_task(rooms.tidy)
    demo = build(runs)
    link_preview.install(gr.routes.templates.env)
    sessions.keep_little()
    endpoints.add(demo, runs, reader)
    demo.queue(default_concurrency_limit=8, max_size=200, api_open=False)
    streams, tabs, first = Open(), sessions.Sessions(demo), FirstScreen(runs, reader)
    counts = {"sessions": tabs.__len__, "streams": lambda: streams.count("address"), "readers_lost": lambda: reader.lost}
    for_operator = operator.routes(runs, counts)
    calls.install(demo)
    gate = Middleware(Gate, absent=operator.absent(for_operator))
    guards = [_guard(runs, demo._queue, streams), gate, Middleware(Bodies, limits=runs.limits), Middleware(Calls, listeners=demo.fns)]
    _share_memory(runs, reader, tabs, first)
    demo._queue.sleep_when_free, demo._queue.progress_update_sleep_when_free = QUEUE_LOOK, PROGRESS_LOOK
    app, url, public = demo.launch(
        server_name=server_name(host),
        server_port=port or port_for(server_name(host)),
        prevent_thread_lock=True,
        quiet=True,
        share=None,
        ssr_mode=False,
        pwa=False,
        run_history=False,
        enable_monitoring=False,
        show_error=False,
        mcp_server=mcp_wanted(),
        strict_cors=True,
        max_file_size="20mb",
        state_session_capacity=sessions.MOST,
        max_threads=40,
        footer_links=[],
        theme=theme(),
        head=head(),
        app_kwargs={
            # before Gradio's own, and there from the first request on
            "routes": [
                *health.routes(runs, counts),
                *for_operator,
                *routes(runs, reader, server_name(host), rooms),
                *rooms_routes.routes(rooms, runs, reader),
                link_preview.route(),
            ],
            "middleware": middleware(preloads(), skip_links, first.html, guards=guards),
            "exception_handlers": handlers(),
        },
    )
    drop_gradios_origins(app)
    if demo.mcp_error:  # which Gradio keeps to itself
        print(say(ENGLISH, "api.no_mcp"), flush=True)
    connections.watch(demo.server, runs.limits)
    return demo, app, public or url


def _guard(runs: Runs, queue: Queue, streams: Open) -> Middleware:
    """What turns requests away, and has the queue answer first who listens: the guard knows who does."""
    fair_queue.take_turns(queue, streams, runs.limits.calls_address)
    sessions.Tidying(queue, streams).begin()
    return Middleware(
        Guard,
        limits=runs.limits,
        visitors=runs.visitors,
        lifted=runs.rules.in_room,
        waiting=lambda address: fair_queue.waiting(queue, streams, address),
        streams=streams,
    )


def _share_memory(runs: Runs, reader: Reader, tabs: sessions.Sessions, first: FirstScreen) -> None:
    """What the page keeps counts in the memory as a whole; the routes see to the panels."""
    shares = {"sessions": (tabs,), "first_screens": (first.made,), "uploads": (KEPT,), "drawings": (DRAWN,)}
    for name, mine in (*shares.items(), *reader.caches.items()):
        runs.memory.add(name, *mine)


def head() -> str:
    """The tags that load the page's own style and script, and before it what the script must know before it can ask for anything.
    Relative addresses: they hold behind a proxy and inside a Space's frame."""
    styles = "".join(f'<link rel="stylesheet" href="{asset_path(name)}">' for name in STYLES)
    return (
        f"{styles}{known_tag(PLACES)}"
        f'<script type="module" src="{asset_path("main.js")}"></script>'
        '<meta name="referrer" content="same-origin">'
    )


def known_tag(places: Mapping[str, Sequence[str]]) -> str:
    """The tag that tells the script which cursor, languages, places and tabs there are."""
    known = orjson.dumps({"cursor": declared(), "languages": languages(), "places": places}).decode().replace("<", r"\u003c")
    return f'<script type="application/json" id="pg-known">{known}</script>'


def languages() -> dict[str, dict[str, Any]]:
    """The page's languages by their codes: their names, long and brief, the tags of their text and those by which browsers ask for them."""
    return {
        code: {
            "name": say(code, "language.name"),
            "brief": say(code, "language.brief"),
            "html": say(code, "language.html"),
            "browser": browser_tags(code),
        }
        for code in LANGUAGES
    }


def mcp_wanted() -> bool:
    """Whether the endpoints are to be tools as well: where PLAYGROUND_MCP says so, and the package is there."""
    wanted = os.environ.get("PLAYGROUND_MCP", "") not in ("", "0")
    if wanted and find_spec("mcp") is None:
        print(say(ENGLISH, "api.no_mcp"), flush=True)
        return False
    return wanted


def serve() -> None:
    """What app.py does: runs, the page, and an orderly end when a signal asks for it. Exits with 2 where another server has the folder,
    or another program the port that was named."""
    ending = Ending()
    logs.begin()
    try:
        port = port_for(server_name())
        runs = Runs()
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        raise SystemExit(2) from None
    reader = Reader(runs)
    stored_files.install(runs)
    demo, _, url = start(runs, reader, port=port)
    freeze_objects()
    logs.adopt("uvicorn")
    limits = runs.limits
    logs.event(log, "server_began", runs=len(runs.shipped()), device=",".join(limits.devices), cores=limits.cores, memory=limits.memory)
    if port != PORT and not {"PORT", "GRADIO_SERVER_PORT"} & os.environ.keys():
        print(say(ENGLISH, "page.next_port", taken=PORT, port=port), flush=True)
    print(f"Transformer Playground: {url}", flush=True)
    ending.wait()
    end(demo, runs)
