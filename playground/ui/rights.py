"""Who may ask for what: one table of everything that this server answers. A route is looked up in it before anything else (see gate.py), a
listener before its values are read (calls.py), an action before it begins (permits.py).

What is not in the table is closed: a route of Gradio's that a new version brings, and one of ours that was forgotten, which a test finds.
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
    """What a person needs. Whoever doesn't have it is told the same as if there were no such thing."""

    PUBLIC = "public"  # anybody
    LINK = "link"  # whoever knows the id of the run, which nobody can guess
    READER = "reader"  # whoever may read the sentences: their owner, and all to whom the owner has opened them
    VISITOR = "visitor"  # whoever has a key
    OWNER = "owner"  # whoever made the run
    MEMBER = "member"  # who is in the room, its teacher too
    TEACHER = "teacher"  # who opened the room
    OPERATOR = "operator"  # who runs the server
    OFF = "off"  # nobody


PUBLIC, LINK, READER, VISITOR, OWNER, MEMBER, TEACHER, OPERATOR, OFF = Right

# By the method, which for GET is HEAD as well, and by the path as the route has it. Gradio's are those that the page, gradio_client and the
# snippets ask for; /mcp is there where PLAYGROUND_MCP asks for it.
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
        # what the page reads
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
        # where PLAYGROUND_OPERATOR or PLAYGROUND_METRICS asks for them, which see to the operator's token themselves
        f"{PREFIX}/operator": PUBLIC,
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
        # what the page changes: see COMMANDS and ROOM
        f"{PREFIX}/command": VISITOR,
        f"{PREFIX}/room/{{action}}": VISITOR,
        f"{PREFIX}/operator": PUBLIC,  # see above
        # how Gradio's listeners are called: see LISTENERS
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

# Bytes of a POST's body: SHORT, of which a run's settings are two thousand, unless its route says more.
SHORT, CALL = 32_768, 20_000_000  # pasted sentences are a part of a call, and as long as a file may be
BODIES: Mapping[str, int] = {
    **dict.fromkeys((f"{API}/{way}" for way in ("run/{api_name}", "queue/join", "call/{api_name}", "call/v2/{api_name}")), CALL),
    f"{API}/mcp/{{path:path}}": CALL,
    UPLOAD: 21 * 1024**2,  # all files of one upload, and what stands around them
}

# Gradio's listeners, by the names of their functions, and the endpoints for programs.
LISTENERS: Mapping[str, Right] = {
    "js_fn": OFF,  # runs in the page alone
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
    "control": VISITOR,  # does nothing to a run of somebody else's
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


def row_of(path: str) -> str:
    """The path as the table has it, with nothing in it that somebody wrote; "" where there is nothing."""
    return next((row for _, row, pattern, _ in _patterns() if pattern.match(path or "/")), "")


def right_to(method: str, path: str) -> tuple[Right, tuple[str, ...]]:
    """The right to a request, and the methods there are at this path: OFF and none where there is nothing."""
    found = {method: right for method, _, pattern, right in _patterns() if pattern.match(path or "/")}
    if "GET" in found:
        found |= {"HEAD": found["GET"]}
    return found.get(method, OFF), tuple(sorted(found))


def longest_body(method: str, path: str) -> int:
    """How many bytes the body of such a request may have."""
    rows = (row for known, row, pattern, _ in _patterns() if known == method and pattern.match(path))
    return BODIES.get(next(rows, ""), SHORT)


def right_of(listener: str) -> Right:
    """To call one of Gradio's listeners, by the name that Gradio gave it: a second one of the same function has a number behind it."""
    return LISTENERS.get(re.sub(r"_\d+$", "", listener), OFF)


@cache
def _patterns() -> list[tuple[str, str, re.Pattern[str], Right]]:
    return [(method, path, compile_path(path)[0], right) for method, paths in ROUTES.items() for path, right in paths.items()]
