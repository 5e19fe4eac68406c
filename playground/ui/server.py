"""Assembles the running server from the page and the runs: limits, host and port, our own routes, and only those of Gradio's in use.

On a signal training runs are saved, within the ten seconds that Docker, a Space and systemd wait before they kill.
"""

import gc
import logging
import os
import signal
import sys
import time
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from playground.ui import gradio_private  # before Gradio

# isort: split
import gradio as gr
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.requests import Request

from playground import logs
from playground.config import Refusal
from playground.features.map.panel import PLANS
from playground.features.shared.queries.reader import Reader
from playground.features.shared.uploading import UPLOADS
from playground.rooms.registry import RoomRules, Rooms
from playground.runs.disk import default_folder
from playground.runs.engines.children import HOME_NICENESS, NICENESS_VARIABLE
from playground.runs.memory import freeze_objects
from playground.runs.registry import Runs
from playground.runs.runtime import Runtime, hold_threads
from playground.ui import ON_ZERO_GPU, account, document, operator, rooms as rooms_routes
from playground.ui.calls import Calls
from playground.ui.delivery import Rewriter, build_middleware
from playground.ui.document import FirstScreen, head, preloads
from playground.ui.endpoints import MENU_ENTRY, Call, add_endpoints, bind_endpoints, describe_api
from playground.ui.guard import Bodies, Guard, store_uploads, uploads_folder
from playground.ui.network import PORT, choose_port, describe_lan, is_loopback, server_name
from playground.ui.page import build_page, theme
from playground.ui.rights import API, EXCEPTION_HANDLERS, Gate, GuardedRoute, Listeners, Table
from playground.ui.routes import routes
from playground.ui.turns import MAX_WAITING, Tally, Turns
from playground.words import ENGLISH, say

log = logging.getLogger(__name__)
# Ctrl-C, the signal of service managers, a closed terminal, and Ctrl-Break on Windows
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
POLL_S = 0.1  # between two checks of the flag
MAX_SESSIONS = 100  # of browser tabs that Gradio remembers, 0.3 MB each: an evicted tab gets another unnoticed, as it has no state there
SWITCH_INTERVAL_S = 0.0005  # seconds of a thread's time slice: in a class a short request is always waiting


def start(runs: Runs, reader: Reader, host: str | None = None, port: int | None = None) -> tuple[gr.Blocks, FastAPI, str]:
    """Builds the page and launches it without blocking. Returns the page, the app and its address: the public one if there is one."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    rooms = Rooms(runs.store.folder / "rooms", limits=runs.limits)
    runs.rules = RoomRules(rooms, runs)
    runs.add_task(rooms.tidy)
    streams, first_screen = Tally(), FirstScreen(runs, reader)
    turns = Turns(streams, runs.limits.calls_address)
    demo, listeners = build_page(runs, turns)
    endpoint_calls = bind_endpoints(runs, reader, turns)
    listeners |= add_endpoints(demo, endpoint_calls)
    if ON_ZERO_GPU:  # by default a single call may wait there; elsewhere a new queue only makes Gradio build its app once more
        demo.queue(max_size=2 * MAX_WAITING)
    gradio_private.slow_down_queue(demo)
    counts = {"sessions": lambda: streams.count("tab"), "streams": lambda: streams.count("address"), "readers_lost": lambda: reader.lost}
    mcp_routes, mcp_arguments = build_mcp(endpoint_calls, streams)
    own_routes = mcp_routes + collect_routes(runs, reader, rooms, counts, server_name(host))
    _share_memory(runs, reader, first_screen)
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
        mcp_server=False,  # whose answers are Python's text of a dictionary: see build_mcp
        strict_cors=True,
        max_file_size="20mb",
        state_session_capacity=MAX_SESSIONS,
        max_threads=2 * MAX_WAITING,  # calls that Gradio has begun: most of them wait for their turn
        footer_links=[],
        theme=theme(),
        head=head(),
        app_kwargs={
            **mcp_arguments,
            "routes": own_routes,  # matched before Gradio's, from the first request on
            "middleware": build_middleware(_rewriters(first_screen), _guards(Table(own_routes), runs, listeners, turns, streams)),
            "exception_handlers": EXCEPTION_HANDLERS,
        },
    )
    gradio_private.guard_connections(demo, runs.limits)
    return demo, app, public or url


def collect_routes(
    runs: Runs, reader: Reader, rooms: Rooms, counts: Mapping[str, Callable[[], int]], listens_at: str = "127.0.0.1"
) -> list[GuardedRoute]:
    """Returns our own routes, with their access rules."""
    own_routes = [*operator.health_routes(runs, counts), *operator.routes(runs, counts), *routes(runs, reader, listens_at, rooms)]
    return [*own_routes, *account.routes(runs, reader), *rooms_routes.routes(rooms, runs, reader), document.route()]


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


def _share_memory(runs: Runs, reader: Reader, first_screen: FirstScreen) -> None:
    """Registers the page's caches with the shared memory budget; the routes register the panels."""
    shares = {"first_screens": (first_screen.cache,), "uploads": (UPLOADS,), "drawings": (PLANS,)}
    for name, caches in (*shares.items(), *reader.caches.items()):
        runs.memory.add(name, *caches)


def build_mcp(calls: Mapping[str, Call], streams: Tally) -> tuple[list[GuardedRoute], dict[str, Any]]:
    """Returns the route of MCP and the app's arguments for it; without PLAYGROUND_MCP, or its package, none."""
    if os.environ.get("PLAYGROUND_MCP", "") in ("", "0"):
        return [], {}
    try:
        from playground.ui.endpoints import mcp_tools
    except ImportError:
        print(say(ENGLISH, "api.no_mcp"), flush=True)
        return [], {}
    manager = mcp_tools.build_manager(calls, streams)
    return mcp_tools.routes(manager), {"lifespan": lambda app: manager.run()}


def serve() -> None:
    """Runs the server until a signal, then shuts down; app.py calls it, with garbage collection off while it starts. Exits with 2 if
    another server holds the folder, or another program the named port."""
    shutdown = Shutdown()
    logs.begin()
    if is_loopback(server_name()):
        os.environ.setdefault(NICENESS_VARIABLE, str(HOME_NICENESS))
    runtime, begin_threads = hold_threads()  # their warm-up would take the start's cores
    try:
        port = choose_port(server_name())
        backup = begin_backup(runtime)
        runs = Runs(runtime=runtime)
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
        with suppress(OSError):
            urlopen(demo.local_url, timeout=10).close()  # draws the first screen
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        raise SystemExit(2) from None
    finally:
        begin_threads()
    shutdown.wait()
    shut_down(demo, runs, backup)


def begin_backup(runtime: Runtime) -> Any:
    """Restores the store from its backup on the Hub, and begins to upload it; None without PLAYGROUND_BACKUP. Raises Refusal."""
    if not os.environ.get("PLAYGROUND_BACKUP"):
        return None
    from playground.hub.backup import HubBackup

    backup = HubBackup(os.environ["PLAYGROUND_BACKUP"], default_folder())
    backup.begin(runtime)
    return backup


def announce(url: str, folder: Path) -> None:
    """Prints where the page is, for this machine and for others of the network, and where runs are kept; opens it with PLAYGROUND_OPEN."""
    lan = describe_lan(server_name())["address"]
    port = urlsplit(url).port
    print(f"Transformer Playground: {url}", *([f"Other machines of this network: http://{lan}:{port}"] if lan and port else []), sep="\n")
    print(f"Runs are kept in {folder}", flush=True)
    if os.environ.get("PLAYGROUND_OPEN", "") not in ("", "0"):
        webbrowser.open(url)


class Shutdown:
    """Replaces the default action of the signals: the first sets a flag, further ones change nothing. Signals ignored at the start, as by
    nohup, stay ignored."""

    def __init__(self) -> None:
        """Must run in the main thread."""
        self.requested = False
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._request)

    def wait(self) -> None:
        """Blocks until a signal requests the end."""
        while not self.requested:
            time.sleep(POLL_S)

    def _request(self, *signal_args: Any) -> None:
        self.requested = True


def shut_down(demo: gr.Blocks, runs: Runs, backup: Any = None) -> None:
    """Stops accepting requests, saves training runs, uploads the backup and exits with 0, or after a change in reload mode begins anew.
    Open streams report the interruption. Threads still answering are abandoned: torch may abort an interpreter that cleans up around
    them."""
    gradio_private.stop_server(demo)
    runs.close()
    if backup:
        backup.close()
    logs.event(log, "server_ended")
    gradio_private.close_tunnels()
    with suppress(OSError):  # the terminal is closed
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
    again = sys.modules.get(__name__)  # imported anew in reload mode, see cli.start_page
    if again and vars(again) is not globals():
        os.execv(sys.executable, sys.orig_argv)
    os._exit(0)
