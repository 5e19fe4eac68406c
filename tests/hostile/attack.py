"""Sending calls, and judging the answers."""

import json
import re
import time
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from itertools import count

from tests.hostile.people import GRADIO, Call, People

TABS = count()
SLOW = 5.0  # seconds after which an answer is too late
READ = 200_000  # bytes of an answer that are looked at; of a stream, what comes first
MOMENT = 0.3  # seconds that a quiet stream is listened to
TRACEBACK = re.compile(rb"Traceback \(most recent|/site-packages/|\.py\\?\", line \d")


@dataclass(frozen=True)
class Finding:
    """The result of a call. `fault` names what is wrong with the answer, or is ""; `detail` is the call and the answer."""

    status: int
    fault: str
    detail: str


class Attack:
    """On a server of this machine. `calls` are valid ones; no caller here may read the canary."""

    def __init__(self, port: int, calls: dict[str, Call], people: People, quiet_s: float = MOMENT) -> None:
        """`quiet_s` is how long the stream of a queued call is listened to."""
        self._port, self.calls, self._people, self.quiet_s = port, calls, people, quiet_s
        self.ids = (people.run, people.own, people.room, people.activity)

    def judged(self, call: Call) -> Finding:
        session = f"hostile{next(TABS)}"  # a tab of its own, so that each hears of its own calls alone
        if isinstance(call.body, dict) and call.body.get("session_hash") == "hostile":
            call = replace(call, body=call.body | {"session_hash": session})
        began, fault = time.perf_counter(), ""
        try:
            status, body = self.answered(call, session)
        except TimeoutError as error:  # it is this side that gave up
            status, body, fault = 0, repr(error).encode(), "slow"
        except (OSError, HTTPException, ValueError) as error:
            status, body, fault = 0, repr(error).encode(), "cut off"
        seconds = time.perf_counter() - began
        fault = fault or self._fault(call, status, body, seconds)
        request = f"{call.who}: {call.method} {call.target[:300]} {call.headers} {(call.content or b'')[:300]!r}"
        return Finding(status, fault, f"{request} -> {status} {body[:300]!r}" if fault else "")

    def answered(self, call: Call, session: str) -> tuple[int, bytes]:
        """As `ask`, and what comes of a call that waits in the queue."""
        status, body = self.ask(call)
        if status == 200 and call.path.startswith(GRADIO) and b'"event_id"' in body and b"data:" not in body:
            event = json.loads(body)["event_id"]
            queued = {"session_hash": session} if "join" in call.path else {}
            body += self.ask(Call("", "GET", f"{GRADIO}/queue/data" if queued else f"{GRADIO}/call/x/{event}", queued), self.quiet_s)[1]
        return status, body

    def _fault(self, call: Call, status: int, body: bytes, seconds: float) -> str:
        wrong = {
            "5xx": status >= 500,
            "slow": seconds > SLOW,
            "traceback": TRACEBACK.search(body) is not None and not call.path.startswith(("/assets", "/static")),
            "somebody else's sentence": self._people.canary in body and self._people.canary not in (call.content or b""),
            "an error without a sentence": b'"error":null' in body.replace(b" ", b""),
        }
        return next((name for name, is_so in wrong.items() if is_so), "")

    def ask(self, call: Call, quiet_s: float = MOMENT) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=2 * SLOW)
        token = self._people.tokens[call.who]
        headers = {"Content-Type": "application/json"} | ({"X-Playground-Token": token} if token else {}) | call.headers
        try:
            connection.request(call.method, call.target, call.content, {name: value.encode() for name, value in headers.items()})
            answer = connection.getresponse()
            if not (answer.getheader("Content-Type") or "").startswith("text/event-stream"):
                return answer.status, answer.read(READ)
            body = b""  # to its end or for a moment: a stream may go on for ever
            if connection.sock:
                connection.sock.settimeout(quiet_s)
            until = time.perf_counter() + SLOW / 2
            while len(body) < READ and time.perf_counter() < until and b"process_completed" not in body:
                try:
                    more = answer.read1(READ)
                except TimeoutError:
                    break
                if not more:
                    break
                body += more
            return answer.status, body
        finally:
            connection.close()
