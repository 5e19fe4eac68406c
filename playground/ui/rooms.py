"""The routes of rooms: `POST {PREFIX}/room/{action}` changes one, `GET {PREFIX}/room` reads one after a reload, `GET {PREFIX}/room/live` is
its stream; `GET {PREFIX}/room/question` shows what the class guessed, `GET {PREFIX}/room/answers` the model answers of a lesson, with
how the class answered.

Who asks is known by the visitor's token, as for runs. A stream is asked for with a ticket in its address, since a browser sends no header
of ours with it; the ticket opens this room and nothing else (see rooms/room.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from playground.config import Refusal
from playground.lessons.checks import registry
from playground.lessons.checks.posed import MAX_OPTIONS
from playground.lessons.course import COURSE
from playground.queries.reader import Reader
from playground.rooms import activities, answers, progress
from playground.rooms.registry import Rooms
from playground.rooms.room import Room, clean_code, ticket_of
from playground.runs.registry import Runs
from playground.ui import command, experiments
from playground.ui.address import address_of
from playground.ui.assets import PREFIX
from playground.ui.links import LISTS
from playground.ui.panels.lessons import checks
from playground.ui.permits import require_room, require_sentences
from playground.ui.rights import ROOM, ROUTES, Right
from playground.ui.room_question import Questions
from playground.ui.view import View, language
from playground.words import say

LOOK, HEARTBEAT = 1.0, 15.0  # seconds until a page that is gone is noticed; between signs of life on a quiet stream
PAUSE = 0.2  # seconds between two events of a stream: what changes meanwhile is told at once
ANSWERS = f"{PREFIX}/room/answers"
GONE = b"event: gone\ndata: {}\n\n"


class Asked:
    """Who asks for what. Raises Refusal for a value of another kind than is read."""

    def __init__(self, request: Request, values: Mapping[str, Any]) -> None:
        self.language, self.token = language(request.query_params), command.token_of(request.headers)
        self.address, self.values = address_of(request), values

    def value(self, name: str, *kinds: type) -> Any:
        """A value that is one of these kinds; True is no number."""
        value = self.values.get(name)
        if type(value) not in kinds:
            raise Refusal("page.not_a_command")
        return value

    @property
    def code(self) -> str:
        return clean_code(self.value("code", str))

    @property
    def key(self) -> tuple[str, str]:
        """The room, and what opens it."""
        return self.code, ticket_of(self.code, self.token)

    @property
    def activity(self) -> str:
        """The name of one of the room's."""
        return self.value("activity", str)

    @property
    def cursor(self) -> dict[str, str]:
        """Where the page looks."""
        cursor = self.value("cursor", dict)
        if not all(isinstance(value, str) for value in cursor.values()):
            raise Refusal("page.not_a_command")
        return cursor


def told(found: dict[str, Any] | Refusal, said: str) -> Response:
    """An answer, or why there is none, in the language `said`."""
    return command.told({"error": found.say(said), "key": found.key} if isinstance(found, Refusal) else found)


def routes(rooms: Rooms, runs: Runs, reader: Reader) -> list[Route]:
    """Every route of rooms."""
    questions = Questions(rooms, runs, reader)
    actions = _actions(rooms, runs, questions)

    def do(name: str, asked: Asked) -> dict[str, Any]:
        right = ROOM[name]
        require_room(right, rooms, *(asked.key if right is not Right.VISITOR else ("", asked.token)))
        require_sentences(runs, asked.values, asked.token)
        return actions[name](asked)

    async def act(request: Request) -> Response:
        said = language(request.query_params)
        try:
            if refusal := command.turned_away(request.headers):
                raise refusal
            values = await command.message(request)
            name = request.path_params["action"]
            if name not in actions or not isinstance(values, dict):
                raise Refusal("page.not_a_command")
            return told(await command.in_thread(do, name, Asked(request, values)), said)
        except Refusal as refusal:
            return told(refusal, said)
        except ClientDisconnect:
            return Response(status_code=400)

    def read(answer: Callable[[Asked], dict]) -> Callable:
        async def endpoint(request: Request) -> Response:
            asked = Asked(request, request.query_params)
            return told(await command.in_thread(answer, asked), asked.language)

        return endpoint

    def guesses(asked: Asked) -> dict:
        return questions.read(asked.key, asked.activity, asked.values)

    def model_answers(asked: Asked) -> dict:
        """In a room to its teacher alone, and with what the class has answered; to a visitor in no room, who prepares or learns alone."""
        require_sentences(runs, asked.values, asked.token)
        given = None
        if asked.code:
            require_room(ROUTES["GET"][ANSWERS], rooms, *asked.key)
            given = rooms.inside(*asked.key)[0].activities.get(answers.NAME)
        return {"blocks": checks.model_answers(View(runs, reader, asked.values, asked.token), given)}

    async def live(request: Request) -> Response:
        code, ticket = clean_code(request.query_params.get("code", "")), request.query_params.get("ticket", "")[:128]
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(_stream(rooms, code, ticket, request), media_type="text/event-stream", headers=headers)

    return [
        Route(f"{PREFIX}/room", read(lambda asked: _entered(rooms, *asked.key)), methods=["GET"]),
        Route(f"{PREFIX}/room/question", read(guesses), methods=["GET"]),
        Route(ANSWERS, read(model_answers), methods=["GET"]),
        Route(f"{PREFIX}/room/live", live, methods=["GET"]),
        Route(f"{PREFIX}/room/{{action}}", act, methods=["POST"]),
    ]


def _actions(rooms: Rooms, runs: Runs, questions: Questions) -> dict[str, Callable[[Asked], dict[str, Any]]]:
    """What can be done, by its name."""

    def open_(asked: Asked) -> dict:
        room = rooms.open(asked.token, asked.value("language", str), asked.value("ends", int, float), asked.address)
        return _entered(rooms, room.code, ticket_of(room.code, asked.token))

    def join(asked: Asked) -> dict:
        room = rooms.join(asked.code, asked.token, asked.value("nickname", str), asked.address)
        return _entered(rooms, room.code, ticket_of(room.code, asked.token))

    def forget(asked: Asked) -> dict:
        """The visitor leaves every room that they joined, and their runs are deleted."""
        rooms.leave_all(asked.token)
        for run in (mine := runs.mine(asked.token)):
            runs.delete(run.id, asked.token)
        return {"run": runs.shipped()[0].id, "gone": True, "notice": say(asked.language, "page.room_forgotten", count=len(mine))}

    def done(act: Callable[[Asked], None]) -> Callable[[Asked], dict]:
        def action(asked: Asked) -> dict:
            act(asked)
            return {"done": True}

        return action

    return {
        "open": open_,
        "join": join,
        "forget": forget,
        "leave": done(lambda asked: rooms.leave(*asked.key)),
        "end": done(lambda asked: rooms.end(*asked.key)),
        "follow": done(lambda asked: rooms.follow(*asked.key, asked.value("following", bool))),
        "hide": done(lambda asked: rooms.hide(*asked.key, asked.value("member", int), asked.value("hidden", bool))),
        "remove": done(lambda asked: rooms.remove(*asked.key, asked.value("member", int))),
        "cursor": done(lambda asked: rooms.point(*asked.key, asked.cursor, LISTS)),
        "ask": done(lambda asked: questions.ask(asked.key, asked.value("about", str), asked.cursor)),
        "answer": done(lambda asked: questions.answer(asked.key, asked.activity, asked.value("guess", str), asked.value("sure", str))),
        "close": done(lambda asked: questions.close(asked.key, asked.activity)),
        "reveal": done(lambda asked: questions.reveal(asked.key, asked.activity, asked.cursor, asked.token)),
        "fix": done(lambda asked: rooms.fix(*asked.key, asked.value("fixed", dict), LISTS)),
        "assign": done(lambda asked: rooms.assign(*asked.key, asked.value("text", str), asked.value("to", dict), LISTS)),
        "tick": done(lambda asked: rooms.tick(*asked.key, asked.value("done", bool))),
        "limit": done(lambda asked: rooms.limit(*asked.key, asked.value("limits", dict))),
        "withdraw": done(lambda asked: rooms.withdraw(*asked.key, asked.activity)),
        "progress": done(lambda asked: _report(rooms, asked)),
        "check": done(lambda asked: _check(rooms, asked)),
        **experiments.actions(rooms, runs),
    }


def _report(rooms: Rooms, asked: Asked) -> None:
    """How many steps of which lessons the caller has done."""
    done = asked.value("done", dict)
    steps = {name: len(lesson.steps) for name, lesson in COURSE.items()}
    rooms.change(*asked.key, lambda room, number: activities.changed(room, progress.NAME, progress.reported(room, number, done, steps)))


def _check(rooms: Rooms, asked: Asked) -> None:
    """What the caller answered to a question that ends a lesson."""
    names = [asked.value(name, str) for name in ("lesson", "question", "asked")]
    answer = answers.Answer(*names, asked.value("choice", int), asked.value("right", bool))
    questions = {name: [check.name for check in registry.list_checks(lesson)] for name, lesson in COURSE.items()}

    def make(room: Room, number: int) -> Room:
        return activities.changed(room, answers.NAME, answers.reported(room, number, answer, questions, MAX_OPTIONS))

    rooms.change(*asked.key, make)


def _entered(rooms: Rooms, code: str, ticket: str) -> dict[str, Any]:
    """The room as its member or teacher sees it, and what opens the stream to them."""
    return {"room": rooms.view(code, ticket), "ticket": ticket}


async def _stream(rooms: Rooms, code: str, ticket: str, request: Request) -> AsyncIterator[bytes]:
    """Server-sent events: the room as this member sees it, whenever it has changed; `gone` once they are not in it."""
    try:
        _, number = rooms.inside(code, ticket)
    except Refusal:
        yield GONE
        return
    with rooms.hub.listen(code, number) as listener:
        quiet = 0.0
        while not await request.is_disconnected():
            if await listener.wait(LOOK):
                quiet = 0.0
                try:
                    yield b"data: %b\n\n" % orjson.dumps(rooms.view(code, ticket))
                except Refusal:
                    yield GONE
                    return
                await asyncio.sleep(PAUSE)
            elif (quiet := quiet + LOOK) >= HEARTBEAT:
                quiet = 0.0
                yield b": still here\n\n"
