"""The only four places that touch what Gradio doesn't document. GRADIO.md says for each why, and what would replace it;
tests/ui/test_network.py goes red with the release that breaks it. Imported before Gradio, see hook 1."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest import mock

from playground.runs.limits import Limits
from playground.ui.delivery import PublicCORS
from playground.ui.network import CLOSING_CONNECTIONS, KEEP_ALIVE_S, limited_protocol


class DeferredModule(ModuleType):
    """Stands for a module until one of its attributes is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


# hook 1: Gradio writes a stub file for each of its components as it is imported, which is 30 % of the page's imports. A component without
# a file of its own has none. And it imports pandas and mcp, a tenth each, for a cache, components and a server that the page lacks.
sys.modules.setdefault("pandas", DeferredModule("pandas"))
sys.modules.setdefault("mcp", None)  # as if it were not installed
with mock.patch("inspect.getfile", side_effect=OSError):
    import gradio as gr
    from gradio.tunneling import CURRENT_TUNNELS
if isinstance(sys.modules["pandas"], DeferredModule):
    del sys.modules["pandas"]
if sys.modules["mcp"] is None:
    del sys.modules["mcp"]

# Poll intervals of Gradio's queue for new work and for progress, in seconds.
QUEUE_POLL_S, PROGRESS_POLL_S = 0.02, 0.5


# hook 2
def slow_down_queue(demo: gr.Blocks) -> None:
    """Makes Gradio's queue look for work less often. By default it does a thousand times a second: up to 11 % of a core while idle."""
    demo._queue.sleep_when_free, demo._queue.progress_update_sleep_when_free = QUEUE_POLL_S, PROGRESS_POLL_S


# hook 3: the uvicorn that `launch` has started; it passes no settings on
def guard_connections(demo: gr.Blocks, limits: Limits) -> None:
    """Sets limits, deadlines and our CORS rule for every new connection. Gradio's rule runs before any middleware of ours in its app."""
    config = demo.server.config
    config.timeout_keep_alive, config.limit_concurrency = KEEP_ALIVE_S, limits.connections + CLOSING_CONNECTIONS
    config.http_protocol_class = limited_protocol(config.http_protocol_class, limits)
    config.loaded_app = PublicCORS(config.loaded_app)


def stop_server(demo: gr.Blocks) -> None:
    """Makes the server take no more requests, without waiting for those at work."""
    demo.server.should_exit = True


# hook 4
def close_tunnels() -> None:
    """Ends the processes of share links, which would outlive ours: it leaves without Python's exit handlers."""
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()
