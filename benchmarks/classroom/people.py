"""Students and their teacher, a thread each, who ask for what their pages ask for."""

import itertools
import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode

import orjson

from benchmarks.classroom.records import Canaries, Records
from benchmarks.server import PATIENCE, ROUTES
from playground.features.lessons.room_result import list_guesses
from playground.rooms.experiment import BOARD
from playground.ui.messages import TOKEN

SHIPPED = "reverse"  # the trained run that the teacher talks about
QUESTION = {"lab": "softmax"}
SCREENS = [  # what students sit at, in turns: machines of the school, a laptop of one's own, a telephone
    {"width": 880, "height": 720, "lang": "en"},
    {"width": 880, "height": 720, "lang": "en"},
    {"width": 1120, "height": 900, "lang": "zh", "dark": "1"},
    {"width": 360, "height": 840, "lang": "en", "dark": "1"},
]
EXPLORES = 3  # every third student has let go of the teacher
TRANSLATES = 10.0  # seconds between two sentences of one student
IDLE = 3.0  # seconds after which a connection isn't used again: the server closes it soon, and a browser would open another as well
BOARD_READ = 1.5  # seconds between two looks at the board, where its answer says nothing else
EARLY = {"runs.nothing_yet", "page.not_ready"}  # what a run that has just been made has to say
CHANGED = {"rooms.no_activity", "rooms.question_closed", "rooms.not_revealed", "board.not_shown"}  # the teacher was faster


class Person:
    """A person with a connection of their own. `room` is the newest state from the stream, see streams.py."""

    def __init__(self, number: int, drawn: str, port: int, records: Records) -> None:
        self.number, self.records, self.canaries = number, records, Canaries.of(number, drawn)
        self.allowed: set[str] = {self.canaries.name, self.canaries.words}
        self.code = self.ticket = ""
        self.room: dict[str, Any] = {}
        self.screen: dict[str, Any] = SCREENS[number % len(SCREENS)]
        self.news = threading.Event()
        self._connection, self._used = HTTPConnection("127.0.0.1", port, timeout=PATIENCE), 0.0

    def do(self, kind: str, action: str, **values: Any) -> dict[str, Any]:
        """Does something in the room; {} where that failed."""
        body = json.dumps({"code": self.code, **values} if self.code else values)
        return self._ask(kind, "POST", f"/room/{action}", body)

    def read(self, kind: str, path: str, **parameters: object) -> dict[str, Any]:
        """Returns the answer of one of the page's routes for this screen; {} where that failed."""
        return self._ask(kind, "GET", f"/{path}?{urlencode(parameters | self.screen)}")

    def enter(self, action: str, **values: Any) -> None:
        """Opens a room or joins one."""
        answer = self.do("joining", action, **values)
        if not answer:
            raise RuntimeError(f"nobody can {action} the room: {dict(self.records.errors)}")
        self.room, self.ticket, self.code = answer["room"], answer["ticket"], answer["room"]["code"]

    def hear(self, room: dict[str, Any]) -> None:
        """The stream has news."""
        self.room = room
        self.news.set()

    def activity(self, kind: str) -> tuple[str, dict[str, Any]]:
        """The newest of the room's activities of this kind, with its name; ("", {}) without any."""
        activities = [(name, activity) for name, activity in self.room.get("activities", {}).items() if activity["kind"] == kind]
        return activities[-1] if activities else ("", {})

    def close(self) -> None:
        self._connection.close()

    def _ask(self, kind: str, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        started = time.perf_counter()
        if started - self._used > IDLE:
            self._connection.close()
        try:
            self._connection.request(method, ROUTES + path, body, {TOKEN: self.canaries.token, "Content-Type": "application/json"})
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException) as error:
            self.records.failed(kind, type(error).__name__)
            self._connection.close()
            return {}
        self._used = time.perf_counter()
        took = self._used - started
        self.records.heard(text, self.allowed)
        reply = orjson.loads(text) if text.startswith(b"{") else {}
        key = reply.get("key", "") if "error" in reply else "" if answer.status == 200 else str(answer.status)
        if not key:
            self.records.took(kind, took)
            return reply
        if key not in EARLY | CHANGED:
            self.records.failed(kind, key)
        return {}


class Student(Person):
    """Trains the arm that was dealt, follows or not, guesses, translates, and looks at the board while it is shown."""

    def __init__(self, number: int, drawn: str, port: int, records: Records) -> None:
        super().__init__(number, drawn, port, records)
        self.run, self.text_shown = "", ""
        self.follows = number % EXPLORES != 0
        self._random, self._guessed, self._seen_question = random.Random(number), "", ""

    def train(self) -> None:
        """Raises RuntimeError when there is no arm."""
        name, _ = self.activity("experiment")
        self.run = self.do("training", "train", activity=name).get("run", "")
        if not self.run:
            raise RuntimeError(f"student {self.number} has no run: {dict(self.records.errors)}")

    def attend(self, until: float) -> None:
        """Until that moment of time.monotonic()."""
        steps = [self._own_run(), self._board(), self._sentences()]
        due = [time.monotonic() + self._random.random() for _ in steps]  # no two press in the same moment
        while (now := time.monotonic()) < until:
            self.news.wait(max(min(*due, until) - now, 0))
            if self.news.is_set():
                self.news.clear()
                self._react()
            for at, step in enumerate(steps):
                if due[at] <= time.monotonic():
                    due[at] = time.monotonic() + next(step)

    def _react(self) -> None:
        """To what the teacher has done."""
        room = self.room
        if self.follows and room["cursor"].get("text") not in (None, self.text_shown):
            self.text_shown = room["cursor"]["text"]
            place = {name: value for name, value in room["cursor"].items() if name != "tab"}
            self.read("what the teacher shows", f"panel/{room['cursor']['tab']}", **place)
        name, question = self.activity("question")
        if question.get("state") == "open" and not question["mine"] and self._guessed != name:
            self._guessed = name
            guess = {"guess": self._random.choice(list_guesses(QUESTION)), "sure": self._random.choice(("50", "75", "95"))}
            self.do("guessing", "answer", activity=name, **guess)
        if question.get("state") == "revealed" and self._seen_question != name:
            self._seen_question = name
            self.read("what the class guessed", "room/question", code=self.code, activity=name)

    def _own_run(self) -> Iterator[float]:
        """Looks at the own run as often as the server says, each time giving the seconds until the next look."""
        while True:
            answer = self.read("own run", "panel/training", run=self.run, beside="sentence")
            yield answer.get("refresh_ms", 1000) / 1000

    def _board(self) -> Iterator[float]:
        while True:
            name, experiment = self.activity("experiment")
            answer = {}
            if experiment.get("board"):
                answer = self.read("board", f"panel/{BOARD}", run=self.run, room=self.code, activity=name)
            yield answer.get("pause", 1000 * BOARD_READ) / 1000

    def _sentences(self) -> Iterator[float]:
        for end in itertools.cycle("abcdefghijklmnopqrstuvwxyz"):
            self.read("translating", "panel/translate", run=SHIPPED, text=self.canaries.words + end)
            yield TRANSLATES


class Teacher(Person):
    """Opens the room, deals the arms, moves, asks, reveals and shows the board, again and again."""

    def deal(self, knobs: Mapping[str, Any], arms: list[dict[str, Any]]) -> None:
        if not self.do("dealing", "deal", knobs=dict(knobs), arms=arms, order="together"):
            raise RuntimeError(f"nothing was dealt: {dict(self.records.errors)}")

    def move(self, text: str, head: int) -> None:
        """Shows another sentence and another head."""
        self.do("moving", "cursor", cursor={"run": SHIPPED, "tab": "attention", "text": text, "head": str(head)})

    def share(self, shared: bool) -> None:
        name, _ = self.activity("experiment")
        self.do("sharing the board", "share_board", activity=name, shared=shared)

    def look(self) -> None:
        name, _ = self.activity("experiment")
        self.read("the teacher's board", f"panel/{BOARD}", run=SHIPPED, room=self.code, activity=name, names="on")

    def question(self, stage: int) -> None:
        """One of a question's stages: it is asked, closed, revealed, deleted."""
        if stage == 0:
            self.do("asking", "ask", about="lab", cursor={**QUESTION, "run": SHIPPED})
            return
        name, _ = self.activity("question")
        values = {"cursor": {"run": SHIPPED}} if stage == 2 else {}
        self.do("asking", ("ask", "close", "reveal", "withdraw")[stage], activity=name, **values)
