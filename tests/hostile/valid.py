"""A valid call of each kind: of each route, listener, endpoint and action, by the name that the table of rights has for it."""

import json
import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from tests.hostile.people import FILE, FORM, PAGE, TINY, People, values, zip_of_reverse

GRADIO = "/gradio_api"


@dataclass(frozen=True)
class Call:
    """`body` is what becomes JSON, or bytes; None for none. `who` asks, by a name of People's tokens."""

    kind: str
    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    who: str = "stranger"

    @property
    def target(self) -> str:
        return quote(self.path, safe="/%=.~") + (f"?{urlencode(self.query)}" if self.query else "")

    @property
    def content(self) -> bytes | None:
        return self.body if isinstance(self.body, bytes | None) else json.dumps(self.body).encode("utf-8", "surrogatepass")


def valid_calls(people: People) -> dict[str, Call]:
    """By their kinds. Who may not ask for what a call is about is refused."""
    calls = [*_reads(people), *_commands(people), *_room(people), *_listeners(people), *_endpoints(people)]
    return {call.kind: call for call in calls}


def _reads(people: People) -> list[Call]:
    run, own, room = {"run": people.run}, {"own": people.own}, {"code": people.room}
    queries: dict[str, dict[str, Any]] = {
        "/": {"run": "reverse", "lang": "zh"}, "/config": {}, "/theme.css": {}, "/favicon.ico": {}, "/manifest.json": {},
        "/robots.txt": {}, "/health": {}, "/metrics": {}, f"{PAGE}/metrics": {},
        "/assets/{path:path}": {}, "/static/{path:path}": {},
        f"{PAGE}/asset/{{version}}/{{name:path}}": {}, f"{PAGE}/{{version}}/preview.png": {},
        f"{PAGE}/boot": {"run": "reverse", "d_model": "64", "lang": "en"}, f"{PAGE}/health": {},
        f"{PAGE}/runs": {"lang": "zh"}, f"{PAGE}/qr": {"text": "a"},
        f"{PAGE}/worksheet": {"run": "reverse", "text": "ab"}, f"{PAGE}/run/{{run}}": {"lang": "en"},
        f"{PAGE}/live/{{run}}": {"since": "0"},
        f"{PAGE}/panel/{{name}}": run | {"text": "ab", "step": "1", "head": "1", "lang": "en"},
        f"{PAGE}/history": run | {"table": "validations"}, f"{PAGE}/table": run | {"runs": people.run}, f"{PAGE}/board": run | room,
        f"{PAGE}/attention": run | {"text": "ab", "part": "cross"}, f"{PAGE}/code": run | {"text": "ab", "root": "http://here/"},
        f"{PAGE}/workbook": run | {"text": "ab"},
        f"{PAGE}/takeaway/{{run}}": {"sentences": "on"},
        f"{PAGE}/export": own | {"kind": "tsv"}, f"{PAGE}/reading": own, f"{PAGE}/preview": own | {"d_model": "16"},
        f"{PAGE}/room": room, f"{PAGE}/room/question": room | {"activity": people.activity},
        f"{PAGE}/room/answers": run | room | {"lesson": "attention", "text": "ab"},
        f"{PAGE}/room/live": room | {"ticket": "0" * 64},
        f"{GRADIO}/queue/data": {"session_hash": "hostile"}, f"{GRADIO}/upload_progress": {"upload_id": "hostile"},
        f"{GRADIO}/call/{{api_name}}/{{event_id}}": {}, f"{GRADIO}/call/v2/{{api_name}}/{{event_id}}": {},
        f"{GRADIO}/heartbeat/{{session_hash}}": {}, f"{GRADIO}/app_id": {}, f"{GRADIO}/startup-events": {}, f"{GRADIO}/info": {},
    }  # fmt: skip
    places = {"run": people.run, "version": "1", "path:path": "img/logo.svg", "api_name": "translate", "event_id": "0" * 32}
    reads = []
    for row, query in queries.items():
        here = places | {"session_hash": "hostile", "name": "training", "name:path": "ui/static/main.js"}
        reads.append(Call(f"GET {row}", "GET", re.sub(r"\{([^}]+)\}", lambda match, here=here: here[match[1]], row), query))
    return [*reads, Call("GET a panel", "GET", f"{PAGE}/panel/attention", run | {"text": "ab"})]


def _commands(people: People) -> list[Call]:
    values: dict[str, dict[str, Any]] = {
        "train": {"knobs": TINY | {"task": "reverse"}}, "experiment": {"lab": "heads", "seed": 1}, "take_key": {"key": "0" * 32},
        "control": {"knob": "learning_rate", "value": 0.01}, "fork": {"step": 1}, "copy": {}, "repeat": {"all": False}, "pause": {},
        "resume": {}, "step": {}, "stop": {}, "delete": {"stay": True}, "rename": {"label": "hostile"}, "share_sentences": {"shared": True},
        "live": {"knob": "learning_rate", "value": 0.01}, "tune": {"knobs": TINY | {"task": "sort"}},
    }  # fmt: skip
    bodies = {name: {"action": name, "run": people.run, **more} for name, more in values.items()}
    opened = Call(f"POST {PAGE}/open", "POST", f"{PAGE}/open", {"name": "reverse.zip"}, body=zip_of_reverse())
    return [opened, *(Call(f"command {name}", "POST", f"{PAGE}/command", body=body) for name, body in bodies.items())]


def _room(people: People) -> list[Call]:
    code, activity = {"code": people.room}, {"activity": people.activity}
    cursor = {"cursor": {"tab": "training", "run": "reverse"}}
    values: dict[str, dict[str, Any]] = {
        "open": {"language": "en", "ends": time.time() + 3600}, "join": {**code, "nickname": "hostile"}, "forget": {},
        "leave": code, "follow": {**code, "following": True}, "answer": {**code, **activity, "guess": "a", "sure": "50"},
        "tick": {**code, "done": True}, "progress": {**code, "done": {}},
        "check": {**code, "lesson": "attention", "question": "attended", "asked": "0" * 10, "choice": 0, "right": True},
        "train": {**code, **activity}, "end": code,
        "hide": {**code, "member": 1, "hidden": True}, "remove": {**code, "member": 99}, "cursor": {**code, **cursor},
        "fix": {**code, "fixed": {}}, "assign": {**code, "text": "Look.", "to": {}}, "limit": {**code, "limits": {}},
        "withdraw": {**code, "activity": "nothing"}, "ask": {**code, "about": "lab", **cursor}, "close": {**code, **activity},
        "reveal": {**code, **activity, **cursor},
        "deal": {**code, "knobs": TINY, "arms": [{"learning_rate": 0.01}, {"learning_rate": 0.02}], "order": "together"},
        "deal_lab": {**code, "lab": "heads", "order": "together"}, "share_board": {**code, **activity, "shared": True},
    }  # fmt: skip
    return [Call(f"room {name}", "POST", f"{PAGE}/room/{name}", body=body) for name, body in values.items()]


def _listeners(people: People) -> list[Call]:
    """Of each of the page's, with the values that its controls have at first; and Gradio's ways to call and to upload."""
    calls, names = [], set()
    for listener in people.config["dependencies"]:
        name = re.sub(r"_\d+$", "", listener["api_name"])
        if name in names or listener["api_visibility"] == "public":
            continue
        names.add(name)
        data = values(people.config, listener, {2: "a\tb\nc\td\ne\tf"} if name == "read" else {})
        body = {"data": data, "fn_index": listener["id"], "session_hash": "hostile", "event_data": None, "trigger_id": None}
        way = "queue/join" if listener["queue"] else "run/predict"
        calls.append(Call(f"listener {name}", "POST", f"{GRADIO}/{way}", body=body))
    upload = Call(f"POST {GRADIO}/upload", "POST", f"{GRADIO}/upload", {"upload_id": "hostile"}, {"Content-Type": FORM}, FILE)
    cancel = {"session_hash": "hostile", "fn_index": 7, "event_id": "0" * 32}
    operator = Call(f"POST {PAGE}/operator", "POST", f"{PAGE}/operator", body={"action": "pause"})
    return [*calls, upload, operator, Call(f"POST {GRADIO}/cancel", "POST", f"{GRADIO}/cancel", body=cancel)]


def _endpoints(people: People) -> list[Call]:
    values: dict[str, dict[str, Any]] = {
        "train": {"owner": "hostile", **TINY}, "lab": {"name": "softmax"}, "runs": {"owner": "hostile"}, "status": {"run": people.run},
        "translate": {"run": people.run, "text": "ab", "method": "beam", "beam": 3, "owner": "hostile"}, "curves": {"run": people.run},
        "read_pairs": {"pairs": "a\tb\nc\td", "owner": "hostile"}, "stop": {"run": people.run, "owner": "hostile"},
        "read_file": {"file": {"path": people.file, "meta": {"_type": "gradio.FileData"}}, "owner": "hostile"},
        "open_run": {"file": {"path": people.zip, "meta": {"_type": "gradio.FileData"}}, "owner": "hostile"},
        "delete": {"run": people.run, "owner": "hostile"}, "labs": {},
        "attention": {"run": people.run, "text": "ab", "kind": "cross", "layer": 1, "head": 1, "owner": "hostile"},
    }  # fmt: skip
    named = [Call(f"endpoint {name}", "POST", f"{GRADIO}/call/v2/{name}", body=body) for name, body in values.items()]
    return [*named, Call("endpoint status, by position", "POST", f"{GRADIO}/call/status", body={"data": [people.run]})]
