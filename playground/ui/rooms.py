"""The routes of rooms: `POST {PREFIX}/room/{action}` changes a room, `GET {PREFIX}/room` reads it after a reload, `GET {PREFIX}/room/live`
streams it; `GET {PREFIX}/room/question` shows the class's guesses, `GET {PREFIX}/room/answers` the model answers of a lesson, with the
class's answers.

A token identifies the visitor, as for runs. A stream's address has a ticket, since browsers send no header of ours with it; the ticket
opens this room only (see rooms/room.py).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from playground.config import Refusal
from playground.features.lessons import checks
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View
from playground.rooms import answers
from playground.rooms.registry import Rooms
from playground.rooms.room import clean_code
from playground.runs.registry import Runs
from playground.ui import messages
from playground.ui.assets import PREFIX
from playground.ui.rights import MEMBER, TEACHER, VISITOR, GuardedRoute, require_room, require_sentences
from playground.ui.room_actions import ActionRequest, RoomActions

POLL_S, HEARTBEAT_S = 1.0, 15.0  # seconds until a closed page is noticed; between keep-alive comments on a quiet stream
MIN_INTERVAL_S = 0.2  # minimum seconds between two events of a stream: changes in between are sent together
GONE, ENDED = b"event: gone\ndata: {}\n\n", b"event: gone\ndata: {\"ended\":true}\n\n"


def routes(rooms: Rooms, runs: Runs, reader: Reader) -> list[GuardedRoute]:
    """Returns the routes of rooms."""
    room_actions = RoomActions(rooms, runs, reader)
    actions = room_actions.table()

    async def act(request: Request) -> Response:
        def carry_out(values: Any) -> dict[str, Any]:
            name = request.path_params["action"]
            if name not in actions or not isinstance(values, dict):
                raise Refusal("page.not_a_command")
            (right, action), call = actions[name], ActionRequest(request, values)
            require_room(right, rooms, *(call.key if right is not VISITOR else ("", call.token)))
            require_sentences(runs, call.values, call.token)
            return action(call) or {"done": True}

        return await messages.answer_post(request, carry_out)

    def read(answer: Callable[[ActionRequest], dict]) -> Callable:
        async def endpoint(request: Request) -> Response:
            call = ActionRequest(request, request.query_params)
            return messages.respond(await messages.run_in_thread(answer, call), call.language)

        return endpoint

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
        GuardedRoute(f"{PREFIX}/room", read(lambda call: room_actions.enter(*call.key)), MEMBER),
        GuardedRoute(f"{PREFIX}/room/question", read(room_actions.read_result), MEMBER),
        GuardedRoute(f"{PREFIX}/room/answers", read(model_answers), TEACHER),  # of a room; in none: LINK
        GuardedRoute(f"{PREFIX}/room/live", live, MEMBER, stream="visitor"),
        GuardedRoute(f"{PREFIX}/room/{{action}}", act, VISITOR, "POST"),  # each action declares its own, too
    ]


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
                except Refusal:  # one who was in it may know that it has ended
                    yield GONE if rooms.exists(code) else ENDED
                    return
                await asyncio.sleep(MIN_INTERVAL_S)
            elif (quiet_s := quiet_s + POLL_S) >= HEARTBEAT_S:
                quiet_s = 0.0
                yield b": still here\n\n"
