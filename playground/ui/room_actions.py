"""The actions of rooms, for ui/rooms.py. A class's experiment is dealt, each member's arm trained, the board shared; a question is asked
and guessed, closed, revealed and withdrawn, and its results read."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from playground import cursor
from playground.config import Experiment, Refusal
from playground.features.board import find_class_answer
from playground.features.board.class_board import name_empty_arms
from playground.features.lessons import room_result
from playground.features.shared import uploading
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import Screen, View, language
from playground.lessons.checks import BELIEFS, ROUNDS, list_checks
from playground.lessons.checks.posed import MAX_OPTIONS
from playground.lessons.controlled import SMALL, ControlledExperiment
from playground.lessons.course import COURSE
from playground.lessons.labs import get
from playground.rooms import activities, answers, experiment, question
from playground.rooms.registry import Rooms
from playground.rooms.room import Room, clean_code, require, require_teacher, ticket_of
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui import messages
from playground.ui.boot import LISTS
from playground.ui.network import address_of
from playground.ui.rights import MEMBER, TEACHER, VISITOR, Right
from playground.words import paragraph, say

PLACE = {"lab": ("lab", "toss", "arms"), "lesson": ("lesson", "run", "step", "text")}  # fields of the cursor that identify the question


class ActionRequest:
    """The request of an action. Raises Refusal for a value of an unexpected type."""

    def __init__(self, request: Request, values: Mapping[str, Any]) -> None:
        self.language, self.token = language(request.query_params), messages.token_of(request.headers)
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
        """The room's code, and the visitor's ticket for that room: the proof of membership."""
        return self.code, ticket_of(self.code, self.token)

    @property
    def activity(self) -> str:
        """The name of one of the room's activities."""
        return self.value("activity", str)

    @property
    def cursor(self) -> dict[str, str]:
        """The cursor of the page."""
        fields = self.value("cursor", dict)
        if not all(isinstance(value, str) for value in fields.values()):
            raise Refusal("page.not_a_command")
        return fields


Action = Callable[[ActionRequest], dict[str, Any] | None]  # None: nothing to tell but that it is done


class RoomActions:
    """The actions on the rooms of a server, which raise Refusal for what the caller may not do, and for a missing activity."""

    def __init__(self, rooms: Rooms, runs: Runs, reader: Reader) -> None:
        self._rooms, self._runs, self._reader = rooms, runs, reader

    def table(self) -> dict[str, tuple[Right, Action]]:
        """Returns the right and the function of each action by name."""
        rooms = self._rooms
        return {
            "open": (VISITOR, self.open),
            "join": (VISITOR, self.join),
            "forget": (VISITOR, self.forget),
            "leave": (MEMBER, lambda call: rooms.leave(*call.key)),
            "end": (TEACHER, lambda call: rooms.end(*call.key)),
            "follow": (MEMBER, lambda call: rooms.follow(*call.key, call.value("following", bool))),
            "hide": (TEACHER, lambda call: rooms.hide(*call.key, call.value("member", int), call.value("hidden", bool))),
            "remove": (TEACHER, lambda call: rooms.remove(*call.key, call.value("member", int))),
            "cursor": (TEACHER, lambda call: rooms.point(*call.key, call.cursor, LISTS)),
            "call": (TEACHER, lambda call: rooms.call_back(*call.key)),
            "fix": (TEACHER, lambda call: rooms.fix(*call.key, call.value("fixed", dict), LISTS)),
            "assign": (TEACHER, lambda call: rooms.assign(*call.key, call.value("text", str), call.value("to", dict), LISTS)),
            "tick": (MEMBER, lambda call: rooms.tick(*call.key, call.value("done", bool))),
            "limit": (TEACHER, lambda call: rooms.limit(*call.key, call.value("limits", dict))),
            "withdraw": (TEACHER, lambda call: rooms.withdraw(*call.key, call.activity)),
            "ask": (TEACHER, self.ask),
            "answer": (MEMBER, self.answer),
            "close": (TEACHER, lambda call: self._change(call, question.KIND, question.close)),
            "reveal": (TEACHER, self.reveal),
            "progress": (MEMBER, self.report_progress),
            "check": (MEMBER, self.report_answer),
            "deal": (TEACHER, self.deal),
            "deal_lab": (TEACHER, self.deal_lab),
            "train": (MEMBER, self.train),
            "share_board": (TEACHER, self.share_board),
        }

    def enter(self, code: str, ticket: str) -> dict[str, Any]:
        """Returns the room as its member or teacher sees it, and the ticket of their stream."""
        return {"room": self._rooms.view(code, ticket), "ticket": ticket}

    def open(self, call: ActionRequest) -> dict[str, Any]:
        room = self._rooms.open(call.token, call.value("language", str), call.value("ends", int, float), call.address)
        return self.enter(room.code, ticket_of(room.code, call.token))

    def join(self, call: ActionRequest) -> dict[str, Any]:
        room = self._rooms.join(call.code, call.token, call.value("nickname", str), call.address)
        return self.enter(room.code, ticket_of(room.code, call.token))

    def forget(self, call: ActionRequest) -> dict[str, Any]:
        """Leaves every room that the visitor has joined, and deletes their runs."""
        self._rooms.leave_all(call.token)
        for run in (own_runs := self._runs.list_owned(call.token)):
            self._runs.delete(run.id, call.token)
        notice = say(call.language, "page.room_forgotten", count=len(own_runs))
        return {"run": self._runs.shipped()[0].id, "gone": True, "notice": notice}

    def report_progress(self, call: ActionRequest) -> None:
        """Reports the caller's completed steps by lesson."""
        ticked, steps = call.value("done", dict), {name: len(lesson.steps) for name, lesson in COURSE.items()}
        self._put(call, answers.PROGRESS, lambda room, number: answers.record_progress(room, number, ticked, steps))

    def report_answer(self, call: ActionRequest) -> None:
        """Reports the caller's answer to a check question; one before or after the course is graded here."""
        names, choice = [call.value(name, str) for name in ("lesson", "question", "asked")], call.value("choice", int)
        belief = BELIEFS.get(names[1]) if names[0] in ROUNDS else None
        is_right = choice == belief.pose().key if belief else call.value("right", bool)
        answer = answers.Answer(*names, choice, is_right)
        questions = {name: [check.name for check in list_checks(lesson)] for name, lesson in COURSE.items()}
        questions |= {name: list(BELIEFS) for name in ROUNDS}
        self._put(call, answers.NAME, lambda room, number: answers.record(room, number, answer, questions, MAX_OPTIONS))

    # ---- the class's guess --------------------------------------------------------------------------------------------------------------

    def ask(self, call: ActionRequest) -> None:
        """Asks the room the question on screen, of a "lab" or a "lesson" at the teacher's cursor."""
        about, fields = call.value("about", str), call.cursor
        if not fields.get(about) or about not in PLACE:
            raise Refusal("rooms.no_question")
        place = {name: fields[name] for name in PLACE[about] if fields.get(name)}
        offered = room_result.list_guesses(place)
        self._rooms.change(*call.key, lambda room, number: activities.add_activity(room, question.ask(room, number, place, offered, LISTS)))

    def answer(self, call: ActionRequest) -> None:
        guess, sure = call.value("guess", str), call.value("sure", str)
        self._change(call, question.KIND, lambda posed, room, number: question.guess(posed, room, number, guess, sure))

    def reveal(self, call: ActionRequest) -> dict[str, Any] | None:
        """Reveals the answer by now: of the class's runs, else of the arms' runs at the teacher's cursor. The second time, says if there is
        none yet."""
        visible = self._rooms.view(*call.key)
        require_teacher(visible["number"])
        posed, fields = _find_question(visible["activities"], call.activity), call.cursor
        place, was_revealed = posed["place"], posed["state"] == "revealed"
        try:
            context = {"run": fields.get("run", ""), **({"arms": fields["arms"]} if fields.get("arms") else {})} if "lab" in place else {}
            context |= {"room": call.code, "activity": fields.get("activity", "")}
            view = View(self._runs, self._reader, {**place, **context}, call.token, self._rooms)
            answer = find_class_answer(view) or room_result.find_right_answer(view, place)
        except Refusal:  # a run was deleted, or doesn't know the answer yet
            answer = ""
        self._change(call, question.KIND, lambda posed, room, number: question.reveal(posed, room, number, answer))
        return None if answer or not was_revealed else {"notice": say(call.language, "lessons.class_undecided")}

    def read_result(self, call: ActionRequest) -> dict[str, Any]:
        """Returns the blocks of a revealed question, from the data that this member may see only."""
        visible = self._rooms.view(*call.key)["activities"]
        revealed = _find_question(visible, call.activity)
        require(revealed["state"] == "revealed", "rooms.not_revealed")
        questions = [activity for activity in visible.values() if activity["kind"] == question.KIND]
        screen = Screen(call.values)
        return {"of": screen.say("board.class", code=call.code), "blocks": room_result.build_result(screen, revealed, questions)}

    # ---- the class's experiment ---------------------------------------------------------------------------------------------------------

    def deal(self, call: ActionRequest) -> dict[str, Any]:
        """Deals an experiment with the teacher's settings, of which `arms` differ."""
        knobs, arms = call.value("knobs", dict), call.value("arms", list)
        if not all(isinstance(arm, dict) for arm in arms):
            raise Refusal("page.not_a_command")
        base = {name: value for name, value in knobs.items() if value is not None}
        for arm in ({}, *arms):  # deleted sentences can't be dealt
            uploading.experiment_pairs(self._runs, Experiment().with_(**{**base, **arm}), call.token)
        return self._deal(call, base, arms)

    def deal_lab(self, call: ActionRequest) -> dict[str, Any]:
        """Deals the arms of a lab, and asks the class its question first."""
        lab = get(call.value("lab", str))
        if not isinstance(lab, ControlledExperiment) or lab.is_mystery:
            raise Refusal("page.not_a_command")
        return self._deal(call, {**SMALL, **lab.base}, [dict(arm) for arm in lab.arms.values()], lab)

    def train(self, call: ActionRequest) -> dict[str, Any]:
        """Trains the caller's arm, with their own token; opens their run if it exists already."""
        room, number = self._rooms.authenticate(*call.key)
        activity = activities.find_activity(room, call.activity, experiment.KIND)
        settings = experiment.build_experiment(activity, number)
        if run := self._find_run(activity, number):
            return {"run": run.id, "tab": "training"}
        self._wait_for_turn(activity)
        _require_guess(activity, room, number)
        pairs = uploading.dealt_pairs(self._runs, settings.data.own)
        run = self._runs.create(settings, call.token, pairs=pairs, sentences_shared=True)

        def enter_run(current: activities.Activity, room: Room, number: int) -> activities.Activity:
            require(not self._find_run(current, number), "rooms.trained_already")
            self._wait_for_turn(current)
            _require_guess(current, room, number)
            return experiment.set_run(current, number, run.id)

        try:
            self._change(call, experiment.KIND, enter_run)
        except Refusal:  # a concurrent call won, or the room has ended: leave no orphan run
            self._runs.delete(run.id, call.token)
            raise
        notice = say(call.language, "page.started", name=run.name)
        return {"run": run.id, "tab": "training", "carry": cursor.CARRIED, "other": True, "notice": notice}

    def share_board(self, call: ActionRequest) -> None:
        """Shows the board to the members at any time, or only while the teacher does."""
        shared = call.value("shared", bool)

        def set_shared(activity: activities.Activity, room: Room, number: int) -> activities.Activity:
            require_teacher(number)
            return {**activity, "shared": shared}

        self._change(call, experiment.KIND, set_shared)

    def _deal(
        self, call: ActionRequest, base: Mapping[str, Any], arms: Sequence[dict], lab: ControlledExperiment | None = None
    ) -> dict[str, Any]:
        order, name = call.value("order", str), lab.name if lab else ""
        first = [list(lab.arms).index(arm) for arm in lab.decisive] if lab else ()

        def add(room: Room, number: int) -> Room:
            require_teacher(number)
            with suppress(Refusal):  # it was asked before
                if lab:
                    room = activities.add_activity(room, question.ask(room, number, {"lab": name}, lab.guesses, LISTS))
            return activities.add_activity(room, experiment.create(base, arms, order, room, name, first))

        activity, dealt = list(self._rooms.change(*call.key, add).activities.items())[-1]
        needed = experiment.MIN_RUNS * len(arms)
        sentences = [say(call.language, "page.room_dealt", arms=len(arms)), name_empty_arms(call.language, dealt)]
        sentences.append(len(dealt["dealt"]) < needed and say(call.language, "page.room_deal_short", needed=needed))
        return {"activity": activity, "lab": name, "notice": paragraph(sentences)}

    def _find_run(self, activity: activities.Activity, number: int) -> Run | None:
        """Returns this member's run in an experiment; None without one, or once it is deleted."""
        return self._runs.find(activity["runs"].get(str(number), ""))

    def _wait_for_turn(self, activity: activities.Activity) -> None:
        """Raises Refusal while another run of an experiment trained in turn is at work."""
        if activity["order"] == "in_turn" and any(run and run.working for run in map(self._runs.find, activity["runs"].values())):
            raise Refusal("rooms.not_your_turn")

    def _change(
        self, call: ActionRequest, kind: str, make: Callable[[activities.Activity, Room, int], activities.Activity]
    ) -> None:
        """Replaces the request's activity, which is of this kind."""
        name = call.activity
        self._put(call, name, lambda room, number: make(activities.find_activity(room, name, kind), room, number))

    def _put(self, call: ActionRequest, name: str, make: Callable[[Room, int], activities.Activity]) -> None:
        self._rooms.change(*call.key, lambda room, number: activities.put_activity(room, name, make(room, number)))


def _require_guess(activity: activities.Activity, room: Room, number: int) -> None:
    """Raises Refusal for a member who has still to guess at the lab of an experiment."""
    require(not question.awaits_guess(question.find_by_lab(room, activity.get("lab", "")), room, number), "rooms.guess_first")


def _find_question(visible: Mapping[str, Any], name: str) -> dict[str, Any]:
    require(visible.get(name, {}).get("kind") == question.KIND, "rooms.no_activity")
    return visible[name]
