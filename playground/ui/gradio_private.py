"""The only four places that touch what Gradio doesn't document. GRADIO.md says for each why, and what would replace it;
tests/ui/test_gradio_private.py goes red with the release that breaks it."""

from __future__ import annotations

import gradio as gr
from fastapi import FastAPI
from gradio.route_utils import CustomCORSMiddleware
from gradio.tunneling import CURRENT_TUNNELS

from playground.runs.limits import Limits
from playground.ui.connections import CLOSING_CONNECTIONS, KEEP_ALIVE_S, limited_protocol

# Poll intervals of Gradio's queue for new work and for progress, in seconds.
QUEUE_POLL_S, PROGRESS_POLL_S = 0.02, 0.5


# hook 1
def slow_down_queue(demo: gr.Blocks) -> None:
    """Makes Gradio's queue look for work less often. By default it does a thousand times a second, which takes 5 % of a core while idle."""
    demo._queue.sleep_when_free, demo._queue.progress_update_sleep_when_free = QUEUE_POLL_S, PROGRESS_POLL_S


# hook 2
def limit_connections(demo: gr.Blocks, limits: Limits) -> None:
    """Sets limits and deadlines for every new connection of a launched page: `launch` passes no settings on to uvicorn."""
    config = demo.server.config
    config.timeout_keep_alive, config.limit_concurrency = KEEP_ALIVE_S, limits.connections + CLOSING_CONNECTIONS
    config.http_protocol_class = limited_protocol(config.http_protocol_class, limits)


def stop_server(demo: gr.Blocks) -> None:
    """Makes a launched page's server take no more requests, without waiting for those at work."""
    demo.server.should_exit = True


# hook 3
def drop_cors(app: FastAPI) -> None:
    """Removes Gradio's CORS rule, which runs before ours: every site may send cookies, and every port of this machine."""
    app.user_middleware = [layer for layer in app.user_middleware if layer.cls is not CustomCORSMiddleware]
    app.middleware_stack = None  # forces a rebuild at the next request


# hook 4
def close_tunnels() -> None:
    """Ends the processes of share links, which would outlive ours: it leaves without Python's exit handlers."""
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()
