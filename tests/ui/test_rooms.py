"""The routes of rooms: who gets in, what a stranger learns, where no name stands; the class's guess. Who may do what: test_rights.py."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX
from playground.words import say
from tests.runs.tiny import done
from tests.ui.looking import TINY, block, panel_of

TEACHER, ANNA, BEN = (letter * 32 for letter in "def")
CANARY = "Canary-Marguerite"
ARMS = [{"learning_rate": 0.01}, {"learning_rate": 0.02}]
NO_ACTIONS = (
    ("nothing", {}), ("join", {"nickname": "", "code": 5}), ("open", {"language": "en", "ends": True}), ("open", {"ends": 1}),
    ("hide", {"member": "1", "hidden": True}), ("hide", {"member": 1, "hidden": 1}), ("cursor", {"cursor": {"head": 2}}),
    ("cursor", {"cursor": "head"}), ("follow", {"following": "no"}), ("fix", {"fixed": []}), ("fix", {}), ("assign", {"text": 5, "to": {}}),
    ("assign", {"text": "x", "to": "skip"}), ("limit", {"limits": 5}), ("tick", {"done": 1}), ("progress", {"done": []}),
    ("deal", {"knobs": [], "arms": ARMS, "order": "together"}), ("deal", {"knobs": {}, "arms": [1, 2], "order": "together"}),
    ("deal", {"knobs": {}, "arms": ARMS, "order": 1}), ("deal_lab", {"lab": "softmax", "order": "together"}),
    ("share_board", {"activity": "x", "shared": "yes"}), ("train", {"activity": 1}), ("ask", {"about": "lab", "cursor": {"lab": 5}}),
    ("close", {"activity": 5}),
)  # fmt: skip
CARL = "9" * 32
LAB = LABS["softmax"]
RIGHT = LAB.outcome().answer
WRONG = next(guess for guess in LAB.guesses if guess != RIGHT)
CURSOR = {"run": "reverse", "tab": "labs", "lab": "softmax", "guess": RIGHT, "sure": "95", "lesson": ""}


def do(site, token: str | None, action: str, lang: str = "en", **values: object) -> dict:
    headers = {} if token is None else {"X-Playground-Token": token}
    return site.http.post(f"{PREFIX}/room/{action}", params={"lang": lang}, content=json.dumps(values), headers=headers).json()


def enter(site, token: str, code: str) -> dict:
    return site.http.get(f"{PREFIX}/room", params={"code": code}, headers={"X-Playground-Token": token}).json()


@pytest.fixture
def room(site) -> Iterator[dict]:
    """As its teacher is told of it."""
    opened = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)
    yield opened["room"] | {"ticket": opened["ticket"]}
    do(site, TEACHER, "end", code=opened["room"]["code"])


def events(site, code: str, ticket: str, until: int = 1) -> list[str]:
    """The first events of a stream, as they came over the line."""
    lines: list[str] = []
    with site.http.stream("GET", f"{PREFIX}/room/live", params={"code": code, "ticket": ticket}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            lines.extend([line] if line else [])
            if sum(one.startswith("data") for one in lines) >= until:
                return lines
    return lines


def test_who_is_not_or_no_longer_in_a_room_hears_nothing_and_learns_not_whether_there_is_one(site, room):
    member = do(site, ANNA, "join", code=room["code"], nickname=CANARY)["ticket"]
    keys = [(room["code"], ""), (room["code"], BEN), (room["code"], ANNA), (room["code"], "0" * 64), ("AAAAA", member), ("", member)]
    assert {tuple(events(site, *one)) for one in keys} == {("event: gone", "data: {}")}
    answers = [enter(site, BEN, room["code"]), enter(site, BEN, "AAAAA"), enter(site, "", room["code"])]
    assert answers == [{"error": say("en", "rooms.not_in"), "key": "rooms.not_in"}] * 3
    with site.http.stream("GET", f"{PREFIX}/room/live", params={"code": room["code"], "ticket": member}) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        do(site, TEACHER, "remove", code=room["code"], member=1)
        assert [line for line in lines if line][-2:] == ["event: gone", "data: {}"]


def test_what_no_page_sends_is_refused_and_who_wants_to_be_forgotten_leaves_with_their_runs(site, room):
    for action, values in NO_ACTIONS:
        code = {} if action == "open" else {"code": room["code"]}
        assert do(site, TEACHER, action, **code | values)["key"] == "page.not_a_command", (action, values)
    assert do(site, None, "end", code=room["code"])["key"] == "runs.no_token"
    assert enter(site, TEACHER, room["code"])["room"]["teacher"]
    gone, other = site.train(ANNA, TINY), site.train(BEN, TINY)
    do(site, ANNA, "join", code=room["code"], nickname="Anna")
    answer = do(site, ANNA, "forget")
    assert (answer["gone"], answer["notice"]) == (True, say("en", "page.room_forgotten", count=1))
    assert enter(site, TEACHER, room["code"])["room"]["members"] == []
    assert (site.runs.list_owned(ANNA), site.runs.list_owned(BEN), site.runs.find(gone.id)) == ([], [other], None)


def test_a_name_is_told_to_its_teacher_and_its_owner_alone(site, room):
    code = room["code"]
    run = done(site.train(ANNA, TINY))
    anna = do(site, ANNA, "join", code=code, nickname=CANARY)
    ben = do(site, BEN, "join", code=code, nickname="Ben")
    inside = [json.dumps(ben), json.dumps(enter(site, BEN, code)), *events(site, code, ben["ticket"])]
    paths = ["boot", "runs", f"run/{run.id}", "panel/attention", "panel/compare", "panel/course", "history", "takeaway/reverse", "code"]
    query, sent = {"run": run.id, "room": code}, {"X-Playground-Token": BEN}
    outside = [site.http.get(f"{PREFIX}/{path}", params=query, headers=sent) for path in paths]
    outside += [site.http.get("/", params={"room": code}), site.http.get("/config"), site.http.get("/gradio_api/info")]
    assert not [text for text in inside if CANARY in text]
    assert not [answer.url for answer in outside if CANARY.encode() in answer.content]
    assert CANARY in json.dumps(anna)
    assert CANARY in json.dumps(enter(site, TEACHER, code))
    site.runs.delete(run.id, ANNA)


@pytest.mark.fault("the server ends while a teacher shows something else than before", "the class is where it was")
def test_where_the_teacher_looks_outlives_the_server(tmp_path):
    runs = Runs(tmp_path, shipped=None)
    try:
        rooms = Rooms(tmp_path / "rooms")
        runs.add_task(rooms.tidy)
        code = rooms.open(TEACHER, "en", time.time() + 60).code
        rooms.point(code, ticket_of(code, TEACHER), {"layer": "2"}, {})
    finally:
        runs.close()
    assert Rooms(tmp_path / "rooms").authenticate(code, ticket_of(code, TEACHER))[0].cursor == {"layer": "2"}


class Class:
    """A room with a teacher and two students, in which the question of a lab is asked."""

    def __init__(self, site) -> None:
        self.site, self.name = site, ""
        opened = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)
        self.code, self.tickets = opened["room"]["code"], {TEACHER: opened["ticket"]}
        self.join(ANNA)
        self.join(BEN)
        self.ask(CURSOR)

    def do(self, token: str, action: str, lang: str = "en", **values) -> dict:
        return do(self.site, token, action, lang, **{"code": self.code, "activity": self.name, **values})

    def join(self, token: str) -> None:
        self.tickets[token] = self.do(token, "join", nickname="")["ticket"]

    def ask(self, cursor: dict[str, str], about: str = "lab") -> dict:
        """The question that is asked last is the one that all is about from now on."""
        answer = self.do(TEACHER, "ask", about=about, cursor=cursor)
        self.name = list(self.activities(TEACHER))[-1]
        return answer

    def guess(self, token: str, guess: str, sure: str) -> dict:
        return self.do(token, "answer", guess=guess, sure=sure)

    def more(self, *guesses: tuple[str, str]) -> None:
        for guess, sure in guesses:
            self.join(token := f"member {len(self.tickets)}")
            assert self.guess(token, guess, sure) == {"done": True}

    def reveal(self, **cursor: str) -> dict:
        return self.do(TEACHER, "reveal", cursor=CURSOR | cursor)

    def activities(self, token: str) -> dict:
        return enter(self.site, token, self.code)["room"]["activities"]

    def question(self, token: str) -> dict:
        return self.activities(token)[self.name]

    def result(self, token: str, **parameters: str) -> dict:
        query = {"code": self.code, "activity": self.name, **parameters}
        return self.site.http.get(f"{PREFIX}/room/question", params=query, headers={"X-Playground-Token": token}).json()

    def everything(self) -> str:
        """All that the room tells anybody in it: what is read after a reload, every event of the stream, and the route of the result."""
        texts = [line for ticket in self.tickets.values() for line in events(self.site, self.code, ticket)]
        for token in self.tickets:
            texts += [json.dumps(enter(self.site, token, self.code)), json.dumps(self.result(token))]
        return "\n".join(texts)


@pytest.fixture
def group(site) -> Iterator[Class]:
    opened = Class(site)
    yield opened
    opened.do(TEACHER, "end")


def test_a_question_is_asked_guessed_closed_revealed_and_taken_back(group):
    """Before it is revealed there is not even the name of a guess; then all are told the same, and not whose it was."""
    place = {"kind": "question", "place": {"lab": "softmax"}, "state": "open", "joined": 2, "answered": 0, "mine": False, "fixed": False}
    assert group.question(ANNA) == place
    assert group.guess(ANNA, RIGHT, "95") == group.guess(BEN, WRONG, "50") == group.guess(BEN, RIGHT, "50") == {"done": True}
    group.more((RIGHT, "95"), (RIGHT, "95"), *[(WRONG, "75")] * 3)
    for state in ("open", "closed"):
        everything = group.everything()
        assert f'"state":"{state}"' in everything
        assert '"answered":7' in everything
        assert not [word for word in (*LAB.guesses, '"95"', '"50"', "counts", "answers", "options") if word in everything], state
        assert (group.result(ANNA)["key"], group.do(TEACHER, "close")) == ("rooms.not_revealed", {"done": True})
    assert (group.guess(ANNA, RIGHT, "95")["key"], group.reveal()) == ("rooms.question_closed", {"done": True})
    assert group.question(ANNA) == group.question(BEN) == group.question(TEACHER)
    assert group.result(ANNA) == group.result(BEN) == group.result(TEACHER)
    assert "answers" not in group.everything()
    assert (group.question(ANNA)["answer"], group.question(ANNA)["counts"][RIGHT]) == (RIGHT, [1, 0, 3, 0])
    figure, calibration = group.result(BEN, lang="zh")["blocks"]
    assert say("zh", "lessons.class_surest", percent="95", right=3, count=3) in figure["caption"]
    notes = [note["text"] for note in figure["figure"]["layout"]["annotations"]]
    assert [note for note in notes if "✓" in note] == [f"<b>✓ {LAB.say('zh', f'guess_{RIGHT}')}</b>"]
    expected = [say("zh", "lessons.class_calibration", percent=percent, right=right, count=3) for percent, right in (("75", 0), ("95", 3))]
    assert all(sentence in calibration["text"] for sentence in expected)
    assert (group.do(TEACHER, "withdraw"), group.activities(ANNA)) == ({"done": True}, {})


def test_the_question_of_a_lesson_is_about_the_run_on_screen_and_what_can_not_be_asked_is_refused(group):
    for reply, key in (
        (group.result("z" * 32), "rooms.not_in"),
        (group.ask({"lab": "nothing"}), "lessons.no_lab"),
        (group.ask({"lesson": "weight"}, "lesson"), "rooms.no_question"),  # that of "weight" is a lab's
        (group.ask({"tab": "training"}), "rooms.no_question"),
        (group.ask({"tab": "labs"}, "tab"), "rooms.no_question"),
    ):
        assert reply["key"] == key, reply
    place = {"lesson": "attention", "run": "reverse", "text": "hello"}
    group.ask({**place, "tab": "course", "lab": "masks"}, "lesson")  # a lab that was open before
    assert (group.question(BEN)["place"], group.reveal(run="sort")) == (place, {"done": True})
    question = next(lesson.question for lesson in LESSONS if lesson.name == "attention")
    reader, run = group.site.reader, group.site.runs.get("reverse")
    assert group.question(BEN)["answer"] == question.answer(reader, run, None, "hello")[0]
    assert group.do(TEACHER, "withdraw") == {"done": True}
    group.ask({"lesson": "attention", "run": "deleted"}, "lesson")
    assert (group.reveal(), group.question(BEN)["answer"]) == ({"done": True}, "")


def test_an_experiment_marks_the_right_guess_once_it_has_run(group, monkeypatch):
    lab = replace(LABS["bug_source"], base={**LABS["bug_source"].base, **TINY})
    monkeypatch.setitem(LABS, "bug_source", lab)
    group.ask(cursor := {"run": "reverse", "lab": "bug_source"})
    group.more(*[(lab.guesses[0], "95")] * 3)
    assert (group.reveal(**cursor), group.question(ANNA)["answer"]) == ({"done": True}, "")
    assert group.reveal(**cursor)["notice"] in group.result(ANNA)["blocks"][0]["caption"]
    ids = group.site.act(CARL, "experiment", "reverse", lab="bug_source", seed=1, guess=lab.guesses[0], sure="75")["arms"]
    arms = ".".join(done(group.site.runs.get(id)).id for id in ids)
    assert group.reveal(**cursor, arms=arms) == {"done": True}
    with monkeypatch.context() as patch:
        patch.setattr("playground.features.shared.experiment.is_complete", lambda run: False)
        choice = block(panel_of(group.site, CARL, "labs", **cursor, arms=arms, guess=lab.guesses[1], sure="95"), "guess")
    assert (choice["off"], choice["value"]) == (True, lab.guesses[0]), "fixed once training has begun"
    blocks = group.site.panel("labs", **cursor, arms=arms, guess=group.question(ANNA)["answer"], sure="95")["blocks"]
    assert next(block for block in blocks if block["id"] == "record")["right"]
