"""The people when the calls come: the owner of a run on own sentences, a class with its teacher, and others; made over HTTP."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from functools import cache, partial
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode

from playground.export import stream
from playground.export.exported_run import export_run, find
from playground.rooms.room import ticket_of
from tests.runs.tiny import wait

PAGE = "/gradio_api/playground"
TINY = {
    "d_model": 16, "d_ff": 32, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "validation_size": 20, "batch_size": 8, "steps": 2,
}  # fmt: skip
SOURCE, TARGET = "kanarie", "zeisig"  # a word of each of the owner's sentences, that no other visitor may read
LINES = "\n".join(f"{SOURCE} {n} sings\t{TARGET} {n} singt" for n in range(60))
FORM = "multipart/form-data; boundary=x"
FILE = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.tsv"\r\n\r\na\tb\r\n--x--\r\n'
PATIENCE = 60.0  # seconds


@cache
def zip_of_reverse() -> bytes:
    contents = export_run(find("reverse")).model_files()
    return b"".join(stream({name: partial(bytes, data) for name, data in contents.items()}))


def values(config: dict[str, Any], listener: dict[str, Any], replaced: dict[int, Any]) -> list[Any]:
    """Returns the values of a listener: what its controls hold at first, but for those `replaced` by their places."""
    props = {component["id"]: component["props"] for component in config["components"]}
    return [replaced.get(at, props[id].get("value")) for at, id in enumerate(listener["inputs"])]


@dataclass
class People:
    """Their keys by their names, and the things a call may be about. The person without a key has none."""

    port: int
    tokens: dict[str, str]
    canary: bytes = TARGET.encode()
    run: str = ""  # the owner's
    own: str = ""  # the owner's sentences
    file: str = ""  # the path of an uploaded file of a stranger's
    zip: str = ""  # of an uploaded zip of a run
    room: str = ""  # the teacher's, in which the student is; the other one was removed
    activity: str = ""
    config: dict[str, Any] = field(default_factory=dict)  # Gradio's, of the page

    @classmethod
    def come(cls, port: int) -> People:
        names = ("owner", "teacher", "student", "removed", "stranger")
        people = cls(port, {"nobody": ""} | {name: (name * 16)[:32] for name in names})
        people.config = people.get("/config")
        ticket = people.get(f"{PAGE}/boot", "owner")["ticket"]
        people.own = people._upload(ticket)
        run = FILE.replace(b"a.tsv", b"reverse.zip").replace(b"a\tb", zip_of_reverse())
        for name, body in (("file", FILE), ("zip", run)):
            setattr(people, name, *json.loads(people._asked("POST", "/gradio_api/upload", "stranger", body, FORM)))
        knobs = {**TINY, "task": "own", "tokenizer": "characters", "own": people.own}
        people.run = people.post(f"{PAGE}/command", "owner", action="train", run="", knobs=knobs)["run"]
        people.room = people.post(f"{PAGE}/room/open", "teacher", language="en", ends=time.time() + 86_400)["room"]["code"]
        for name in ("student", "removed"):
            people.post(f"{PAGE}/room/join", name, code=people.room, nickname=name)
        arms = [{"learning_rate": rate} for rate in (0.01, 0.02)]
        dealt = people.post(f"{PAGE}/room/deal", "teacher", code=people.room, knobs=TINY, arms=arms, order="together")
        people.activity = dealt["activity"]
        people.post(f"{PAGE}/room/remove", "teacher", code=people.room, member=2)
        people._wait()
        return people

    def ticket(self, who: str) -> str:
        return ticket_of(self.room, self.tokens[who])

    def get(self, path: str, who: str = "nobody") -> Any:
        return json.loads(self._asked("GET", path, who))

    def post(self, path: str, who: str = "nobody", /, **values: Any) -> Any:
        answer = json.loads(self._asked("POST", path, who, json.dumps(values)))
        if "error" in answer:
            raise RuntimeError(f"{path}: {answer['error']}")
        return answer

    def _asked(self, method: str, path: str, who: str, body: str | bytes | None = None, kind: str = "application/json") -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"X-Playground-Token": self.tokens[who]} if self.tokens[who] else {}
        connection.request(method, path, body, headers | {"Content-Type": kind})
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def _upload(self, ticket: str) -> str:
        listener = next(component for component in self.config["dependencies"] if component["api_name"] == "read")
        data = values(self.config, listener, {0: {"ticket": ticket}, 2: LINES})
        call = {"data": data, "fn_index": listener["id"], "session_hash": "people"}
        self._asked("POST", "/gradio_api/queue/join", "owner", json.dumps(call))
        events = self._asked("GET", "/gradio_api/queue/data?session_hash=people", "owner").decode()
        event = next(json.loads(line[6:]) for line in events.splitlines() if line.startswith("data: ") and "process_completed" in line)
        return event["output"]["data"][0]["own"]

    def _wait(self) -> None:
        table = f"{PAGE}/table?run={self.run}&runs={self.run}"
        wait(lambda: b",own,done," in self._asked("GET", table, "owner") or time.sleep(0.2), PATIENCE)


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
        "/": {"run": "reverse", "lang": "zh"}, "/config": {}, "/theme.css": {}, "/favicon.ico": {}, "/manifest.json": {}, "/robots.txt": {},
        "/health": {}, "/metrics": {}, f"{PAGE}/metrics": {}, "/assets/{path:path}": {}, "/static/{path:path}": {},
        f"{PAGE}/asset/{{version}}/{{name:path}}": {}, f"{PAGE}/{{version}}/preview.png": {},
        f"{PAGE}/boot": {"run": "reverse", "d_model": "64", "lang": "en"}, f"{PAGE}/health": {}, f"{PAGE}/runs": {"lang": "zh"},
        f"{PAGE}/qr": {"text": "a"}, f"{PAGE}/handin": {"done": "tour"},
        f"{PAGE}/worksheet": {"run": "reverse", "text": "ab", "kind": "loss"}, f"{PAGE}/run/{{run}}": {"lang": "en"},
        f"{PAGE}/live/{{run}}": {"since": "0"}, f"{PAGE}/panel/{{name}}": run | {"text": "ab", "step": "1", "head": "1", "lang": "en"},
        f"{PAGE}/history": run | {"table": "validations"}, f"{PAGE}/table": run | {"runs": people.run}, f"{PAGE}/board": run | room,
        f"{PAGE}/attention": run | {"text": "ab", "part": "cross"}, f"{PAGE}/code": run | {"text": "ab", "root": "http://here/"},
        f"{PAGE}/workbook": run | {"text": "ab"}, f"{PAGE}/takeaway/{{run}}": {"sentences": "on"}, f"{PAGE}/export": own | {"kind": "tsv"},
        f"{PAGE}/reading": own, f"{PAGE}/preview": own | {"d_model": "16"}, f"{PAGE}/room": room,
        f"{PAGE}/room/question": room | {"activity": people.activity},
        f"{PAGE}/room/answers": run | room | {"lesson": "attention", "text": "ab"}, f"{PAGE}/room/live": room | {"ticket": "0" * 64},
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
        "train": {"knobs": TINY | {"task": "reverse"}}, "experiment": {"lab": "w_o", "seed": 1}, "take_key": {"key": "0" * 32},
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
        "tick": {**code, "done": True}, "call": code, "progress": {**code, "done": {}},
        "check": {**code, "lesson": "attention", "question": "attended", "asked": "0" * 10, "choice": 0, "right": True},
        "train": {**code, **activity}, "end": code,
        "hide": {**code, "member": 1, "hidden": True}, "remove": {**code, "member": 99}, "cursor": {**code, **cursor},
        "fix": {**code, "fixed": {}}, "assign": {**code, "text": "Look.", "to": {}}, "limit": {**code, "limits": {}},
        "withdraw": {**code, "activity": "nothing"}, "ask": {**code, "about": "lab", **cursor}, "close": {**code, **activity},
        "reveal": {**code, **activity, **cursor},
        "deal": {**code, "knobs": TINY, "arms": [{"learning_rate": 0.01}, {"learning_rate": 0.02}], "order": "together"},
        "deal_lab": {**code, "lab": "w_o", "order": "together"}, "share_board": {**code, **activity, "shared": True},
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
