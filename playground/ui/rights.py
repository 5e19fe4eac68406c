"""The access control table: the right that every route, listener and action needs. A route is looked up before anything else (gate.py), a
listener before its values are read (calls.py), an action before it begins (permits.py).

What is not in the table is closed: a new route of Gradio's, and a forgotten one of ours, which a test finds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cache

from starlette.routing import compile_path

from playground.ui.assets import PREFIX

API = "/gradio_api"
UPLOAD = f"{API}/upload"


class Right(Enum):
    """The right a request needs. Without it the response is the same as for a missing resource."""

    PUBLIC = "public"  # every client
    LINK = "link"  # clients that know the run's unguessable id
    READER = "reader"  # readers of the sentences: their owner, and visitors with whom they are shared
    VISITOR = "visitor"  # visitors with a key
    OWNER = "owner"  # the visitor that made the run
    MEMBER = "member"  # members of the room, its teacher included
    TEACHER = "teacher"  # the visitor that opened the room
    OPERATOR = "operator"  # the operator of the server
    OFF = "off"  # no client


PUBLIC, LINK, READER, VISITOR, OWNER, MEMBER, TEACHER, OPERATOR, OFF = Right

# Rights by method (GET includes HEAD) and route pattern. Gradio's routes are those that the page, gradio_client and the snippets use; /mcp
# exists only with PLAYGROUND_MCP.
ROUTES: Mapping[str, Mapping[str, Right]] = {
    "GET": {
        # the page and its files
        "/": PUBLIC,
        "/config": PUBLIC,
        "/theme.css": PUBLIC,
        "/assets/{path:path}": PUBLIC,
        "/static/{path:path}": PUBLIC,
        "/favicon.ico": PUBLIC,
        "/manifest.json": PUBLIC,
        "/robots.txt": PUBLIC,
        "/health": PUBLIC,
        f"{PREFIX}/health": PUBLIC,
        f"{PREFIX}/asset/{{version}}/{{name}}": PUBLIC,
        f"{PREFIX}/{{version}}/preview.png": PUBLIC,
        # read by the page
        f"{PREFIX}/boot": PUBLIC,
        f"{PREFIX}/runs": PUBLIC,
        f"{PREFIX}/qr": PUBLIC,
        f"{PREFIX}/worksheet": PUBLIC,
        f"{PREFIX}/run/{{run}}": LINK,
        f"{PREFIX}/live/{{run}}": LINK,
        f"{PREFIX}/panel/{{name}}": LINK,
        f"{PREFIX}/history": LINK,
        f"{PREFIX}/table": LINK,
        f"{PREFIX}/board": LINK,
        f"{PREFIX}/code": LINK,
        f"{PREFIX}/takeaway/{{run}}": READER,  # with own sentences: OWNER
        f"{PREFIX}/attention": READER,
        f"{PREFIX}/export": READER,
        f"{PREFIX}/reading": READER,
        f"{PREFIX}/preview": READER,
        f"{PREFIX}/room": MEMBER,
        f"{PREFIX}/room/live": MEMBER,
        f"{PREFIX}/room/question": MEMBER,
        f"{PREFIX}/room/answers": TEACHER,  # of a room; in none: LINK
        # present with PLAYGROUND_OPERATOR or PLAYGROUND_METRICS; they check the operator's token themselves
        f"{PREFIX}/metrics": PUBLIC,
        "/metrics": PUBLIC,
        # Gradio's own
        f"{API}/queue/data": PUBLIC,
        f"{API}/call/{{api_name}}/{{event_id}}": PUBLIC,
        f"{API}/call/v2/{{api_name}}/{{event_id}}": PUBLIC,
        f"{API}/upload_progress": PUBLIC,
        f"{API}/heartbeat/{{session_hash}}": PUBLIC,
        f"{API}/app_id": PUBLIC,
        f"{API}/startup-events": PUBLIC,
        f"{API}/info": PUBLIC,
        f"{API}/mcp/{{path:path}}": PUBLIC,
    },
    "POST": {
        # changes by the page: see COMMANDS and ROOM
        f"{PREFIX}/command": VISITOR,
        f"{PREFIX}/room/{{action}}": VISITOR,
        f"{PREFIX}/operator": PUBLIC,  # see above
        # calls of Gradio's listeners: see LISTENERS
        f"{API}/run/{{api_name}}": PUBLIC,
        f"{API}/queue/join": PUBLIC,
        f"{API}/call/{{api_name}}": PUBLIC,
        f"{API}/call/v2/{{api_name}}": PUBLIC,
        f"{API}/cancel": PUBLIC,
        UPLOAD: PUBLIC,
        f"{API}/mcp/{{path:path}}": PUBLIC,
    },
    "DELETE": {f"{API}/mcp/{{path:path}}": PUBLIC},
}

# Maximum bytes of a POST's body, by route; a run's settings are two thousand.
DEFAULT_BYTES, CALL_BYTES = 32_768, 20_000_000  # pasted sentences are part of a call, and as long as a file may be
BODIES: Mapping[str, int] = {
    **dict.fromkeys((f"{API}/{way}" for way in ("run/{api_name}", "queue/join", "call/{api_name}", "call/v2/{api_name}")), CALL_BYTES),
    f"{API}/mcp/{{path:path}}": CALL_BYTES,
    UPLOAD: 21 * 1024**2,  # all files of one upload with their multipart headers
}

# Gradio's listeners by function name, and the API endpoints.
LISTENERS: Mapping[str, Right] = {
    "js_fn": OFF,  # runs in the browser only
    "take_preset": PUBLIC,
    "reset": PUBLIC,
    "take_task": PUBLIC,
    "take_minutes": PUBLIC,
    "look_ahead": PUBLIC,
    "relabel": PUBLIC,
    "arrive": PUBLIC,
    "read": PUBLIC,
    "train": VISITOR,
    "lab": PUBLIC,  # an experiment: VISITOR
    "runs": PUBLIC,
    "status": LINK,
    "translate": READER,
    "attention": READER,
    "curves": LINK,
}

# Actions of POST …/command, see actions.py.
COMMANDS: Mapping[str, Right] = {
    "train": VISITOR,
    "experiment": VISITOR,
    "take_key": VISITOR,
    "control": VISITOR,  # does nothing to another visitor's run
    **dict.fromkeys(("fork", "copy", "repeat"), READER),
    **dict.fromkeys(("pause", "resume", "step", "stop", "delete", "rename", "share_sentences", "live"), OWNER),
}

# Actions of POST …/room/{action}, see rooms.py.
ROOM: Mapping[str, Right] = {
    **dict.fromkeys(("open", "join", "forget"), VISITOR),
    **dict.fromkeys(("leave", "follow", "answer", "tick", "progress", "check", "train"), MEMBER),
    **dict.fromkeys(("end", "hide", "remove", "cursor", "fix", "assign", "limit", "withdraw"), TEACHER),
    **dict.fromkeys(("ask", "close", "reveal", "deal", "deal_lab", "share_board"), TEACHER),
}


def route_pattern(path: str) -> str:
    """Returns the path's pattern in the table, free of user input; "" for an unknown path."""
    return next((row for _, row, pattern, _ in _patterns() if pattern.match(path or "/")), "")


def right_to(method: str, path: str) -> tuple[Right, tuple[str, ...]]:
    """Returns the right that a request needs and the path's methods: OFF and () for an unknown path."""
    rights = {method: right for method, _, pattern, right in _patterns() if pattern.match(path or "/")}
    if "GET" in rights:
        rights |= {"HEAD": rights["GET"]}
    return rights.get(method, OFF), tuple(sorted(rights))


def max_body_bytes(method: str, path: str) -> int:
    """Returns the maximum bytes of a request's body."""
    rows = (row for row_method, row, pattern, _ in _patterns() if row_method == method and pattern.match(path))
    return BODIES.get(next(rows, ""), DEFAULT_BYTES)


def right_of(listener: str) -> Right:
    """Returns the right to call a Gradio listener by name. Gradio numbers further listeners of the same function."""
    return LISTENERS.get(re.sub(r"_\d+$", "", listener), OFF)


@cache
def _patterns() -> list[tuple[str, str, re.Pattern[str], Right]]:
    return [(method, path, compile_path(path)[0], right) for method, paths in ROUTES.items() for path, right in paths.items()]
