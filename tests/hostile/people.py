"""The people when the calls come: the owner of a run with sentences of their own, a class with its teacher, and others. What is theirs is
made over HTTP, as their pages would make it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import cache, partial
from http.client import HTTPConnection
from typing import Any

from playground.export.contents import stream
from playground.export.exported_run import export_run, find
from playground.rooms.room import ticket_of

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
        end = time.monotonic() + PATIENCE
        while True:
            listed = self._asked("GET", f"{PAGE}/table?run={self.run}&runs={self.run}", "owner")
            if b",own,done," in listed:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"the owner's run is not trained: {listed[:300]!r}")
            time.sleep(0.2)
