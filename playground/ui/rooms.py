"""The routes of rooms: `POST {PREFIX}/room/{action}` changes a room, `GET {PREFIX}/room` reads it after a reload, `GET {PREFIX}/room/live`
streams it; `GET {PREFIX}/room/question` shows the class's guesses, `GET {PREFIX}/room/answers` the model answers of a lesson, with the
class's answers.

A token identifies the visitor, as for runs. A stream's address has a ticket, since browsers send no header of ours with it; the ticket
opens this room only (see rooms/room.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from playground.config import Refusal
from playground.features.lessons import checks
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View, language
from playground.lessons.checks import list_checks
from playground.lessons.checks.posed import MAX_OPTIONS
from playground.lessons.course import COURSE
from playground.rooms import activities, answers, progress
from playground.rooms.registry import Rooms
from playground.rooms.room import Room, clean_code, ticket_of
from playground.runs.registry import Runs
from playground.ui import command, room_actions
from playground.ui.assets import PREFIX
from playground.ui.boot import LISTS
from playground.ui.network import address_of
from playground.ui.rights import MEMBER, TEACHER, VISITOR, GuardedRoute, Right, require_room, require_sentences
from playground.ui.room_actions import Questions
from playground.words import say

POLL_S, HEARTBEAT_S = 1.0, 15.0  # seconds until a closed page is noticed; between keep-alive comments on a quiet stream
MIN_INTERVAL_S = 0.2  # minimum seconds between two events of a stream: changes in between are sent together
GONE = b"event: gone\ndata: {}\n\n"


class ActionRequest:
    """The request of an action. Raises Refusal for a value of an unexpected type."""

    def __init__(self, request: Request, values: Mapping[str, Any]) -> None:
        self.language, self.token = language(request.query_params), command.token_of(request.headers)
        self.address, self.values = address_of(request), values

    def value(self, name: str, *kinds: type) -> Any:
        """Returns a value of one of these types; True is no number."""
        value = self.values.get(name)
        if type(value) not in kinds:
            raise Refusal("page.not_a_command")
        return value

    @property
    def code(self) -> str:
        return clean_code(self.value("code", str))

    @property
    def key(self) -> tuple[str, str]:
        """The room's code and its ticket."""
        return self.code, ticket_of(self.code, self.token)

    @property
    def activity(self) -> str:
        """The name of one of the room's activities."""
        return self.value("activity", str)

    @property
    def cursor(self) -> dict[str, str]:
        """The cursor of the page."""
        cursor = self.value("cursor", dict)
        if not all(isinstance(value, str) for value in cursor.values()):
            raise Refusal("page.not_a_command")
        return cursor


def respond(answer: dict[str, Any] | Refusal, chosen: str) -> Response:
    """Returns an answer, or a refusal in this language, as JSON."""
    return command.respond({"error": answer.say(chosen), "key": answer.key} if isinstance(answer, Refusal) else answer)


def routes(rooms: Rooms, runs: Runs, reader: Reader) -> list[GuardedRoute]:
    """Returns the routes of rooms."""
    questions = Questions(rooms, runs, reader)
    actions = _actions(rooms, runs, questions)

    def do(name: str, call: ActionRequest) -> dict[str, Any]:
        right, action = actions[name]
        require_room(right, rooms, *(call.key if right is not VISITOR else ("", call.token)))
        require_sentences(runs, call.values, call.token)
        return action(call)

    async def act(request: Request) -> Response:
        chosen = language(request.query_params)
        try:
            if refusal := command.check_origin(request.headers):
                raise refusal
            values = await command.read_message(request)
            name = request.path_params["action"]
            if name not in actions or not isinstance(values, dict):
                raise Refusal("page.not_a_command")
            return respond(await command.run_in_thread(do, name, ActionRequest(request, values)), chosen)
        except Refusal as refusal:
            return respond(refusal, chosen)
        except ClientDisconnect:
            return Response(status_code=400)

    def read(answer: Callable[[ActionRequest], dict]) -> Callable:
        async def endpoint(request: Request) -> Response:
            call = ActionRequest(request, request.query_params)
            return respond(await command.run_in_thread(answer, call), call.language)

        return endpoint

    def guesses(call: ActionRequest) -> dict:
        return questions.read(call.key, call.activity, call.values)

    def model_answers(call: ActionRequest) -> dict:
        """Returns the model answers: in a room to its teacher only, with the class's answers; without a room to every visitor."""
        require_sentences(runs, call.values, call.token)
        class_answers = None
        if call.code:
            require_room(TEACHER, rooms, *call.key)
            class_answers = rooms.authenticate(*call.key)[0].activities.get(answers.NAME)
        return {"blocks": checks.build_model_answers(View(runs, reader, call.values, call.token), class_answers)}

    async def live(request: Request) -> Response:
        code, ticket = clean_code(request.query_params.get("code", "")), request.query_params.get("ticket", "")[:128]
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(_stream(rooms, code, ticket, request), media_type="text/event-stream", headers=headers)

    return [
        GuardedRoute(f"{PREFIX}/room", read(lambda call: _enter_room(rooms, *call.key)), MEMBER),
        GuardedRoute(f"{PREFIX}/room/question", read(guesses), MEMBER),
        GuardedRoute(f"{PREFIX}/room/answers", read(model_answers), TEACHER),  # of a room; in none: LINK
        GuardedRoute(f"{PREFIX}/room/live", live, MEMBER, stream="visitor"),
        GuardedRoute(f"{PREFIX}/room/{{action}}", act, VISITOR, "POST"),  # each action declares its own, too
    ]


def _actions(rooms: Rooms, runs: Runs, questions: Questions) -> dict[str, tuple[Right, Callable[[ActionRequest], dict[str, Any]]]]:
    """Returns the right and the function of each action by name."""

    def open_(call: ActionRequest) -> dict:
        room = rooms.open(call.token, call.value("language", str), call.value("ends", int, float), call.address)
        return _enter_room(rooms, room.code, ticket_of(room.code, call.token))

    def join(call: ActionRequest) -> dict:
        room = rooms.join(call.code, call.token, call.value("nickname", str), call.address)
        return _enter_room(rooms, room.code, ticket_of(room.code, call.token))

    def forget(call: ActionRequest) -> dict:
        """Leaves every room that the visitor has joined, and deletes their runs."""
        rooms.leave_all(call.token)
        for run in (own_runs := runs.list_owned(call.token)):
            runs.delete(run.id, call.token)
        return {"run": runs.shipped()[0].id, "gone": True, "notice": say(call.language, "page.room_forgotten", count=len(own_runs))}

    def report_done(change: Callable[[ActionRequest], None]) -> Callable[[ActionRequest], dict]:
        def action(call: ActionRequest) -> dict:
            change(call)
            return {"done": True}

        return action

    def answer(call: ActionRequest) -> None:
        questions.answer(call.key, call.activity, call.value("guess", str), call.value("sure", str))

    return {
        "open": (VISITOR, open_),
        "join": (VISITOR, join),
        "forget": (VISITOR, forget),
        "leave": (MEMBER, report_done(lambda call: rooms.leave(*call.key))),
        "end": (TEACHER, report_done(lambda call: rooms.end(*call.key))),
        "follow": (MEMBER, report_done(lambda call: rooms.follow(*call.key, call.value("following", bool)))),
        "hide": (TEACHER, report_done(lambda call: rooms.hide(*call.key, call.value("member", int), call.value("hidden", bool)))),
        "remove": (TEACHER, report_done(lambda call: rooms.remove(*call.key, call.value("member", int)))),
        "cursor": (TEACHER, report_done(lambda call: rooms.point(*call.key, call.cursor, LISTS))),
        "ask": (TEACHER, report_done(lambda call: questions.ask(call.key, call.value("about", str), call.cursor))),
        "answer": (MEMBER, report_done(answer)),
        "close": (TEACHER, report_done(lambda call: questions.close(call.key, call.activity))),
        "reveal": (TEACHER, report_done(lambda call: questions.reveal(call.key, call.activity, call.cursor, call.token))),
        "fix": (TEACHER, report_done(lambda call: rooms.fix(*call.key, call.value("fixed", dict), LISTS))),
        "assign": (TEACHER, report_done(lambda call: rooms.assign(*call.key, call.value("text", str), call.value("to", dict), LISTS))),
        "tick": (MEMBER, report_done(lambda call: rooms.tick(*call.key, call.value("done", bool)))),
        "limit": (TEACHER, report_done(lambda call: rooms.limit(*call.key, call.value("limits", dict)))),
        "withdraw": (TEACHER, report_done(lambda call: rooms.withdraw(*call.key, call.activity))),
        "progress": (MEMBER, report_done(lambda call: _report_progress(rooms, call))),
        "check": (MEMBER, report_done(lambda call: _report_answer(rooms, call))),
        **room_actions.actions(rooms, runs),
    }


def _report_progress(rooms: Rooms, call: ActionRequest) -> None:
    """Reports the caller's completed steps by lesson."""
    ticked = call.value("done", dict)
    steps = {name: len(lesson.steps) for name, lesson in COURSE.items()}
    rooms.change(*call.key, lambda room, number: activities.put_activity(room, progress.NAME, progress.record(room, number, ticked, steps)))


def _report_answer(rooms: Rooms, call: ActionRequest) -> None:
    """Reports the caller's answer to a check question."""
    names = [call.value(name, str) for name in ("lesson", "question", "asked")]
    answer = answers.Answer(*names, call.value("choice", int), call.value("right", bool))
    questions = {name: [check.name for check in list_checks(lesson)] for name, lesson in COURSE.items()}

    def add_answer(room: Room, number: int) -> Room:
        return activities.put_activity(room, answers.NAME, answers.record(room, number, answer, questions, MAX_OPTIONS))

    rooms.change(*call.key, add_answer)


def _enter_room(rooms: Rooms, code: str, ticket: str) -> dict[str, Any]:
    """Returns the room as its member or teacher sees it, and the ticket of their stream."""
    return {"room": rooms.view(code, ticket), "ticket": ticket}


async def _stream(rooms: Rooms, code: str, ticket: str, request: Request) -> AsyncIterator[bytes]:
    """Yields server-sent events: this member's view of the room after each change; `gone` once they have left."""
    try:
        _, number = rooms.authenticate(code, ticket)
    except Refusal:
        yield GONE
        return
    with rooms.hub.listen(code, number) as listener:
        quiet_s = 0.0
        while not await request.is_disconnected():
            if await listener.wait(POLL_S):
                quiet_s = 0.0
                try:
                    yield b"data: %b\n\n" % orjson.dumps(rooms.view(code, ticket))
                except Refusal:
                    yield GONE
                    return
                await asyncio.sleep(MIN_INTERVAL_S)
            elif (quiet_s := quiet_s + POLL_S) >= HEARTBEAT_S:
                quiet_s = 0.0
                yield b": still here\n\n"
