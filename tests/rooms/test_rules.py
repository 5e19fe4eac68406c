"""What members of a room may begin and change, how many runs, and what counts; what there is to do now, and what a room fixes."""

import json
from types import SimpleNamespace

import pytest

from playground.config import PARTS, Experiment
from playground.rooms import experiment
from playground.rooms.registry import RoomRules, Tally
from playground.rooms.room import USUAL, RunLimits, check_fixed
from playground.runs.limits import Limits
from playground.ui.boot import LISTS
from tests.rooms.conftest import ANNA, BEN, TEACHER, Group, refused

SORT = Experiment().with_(task="sort", d_model=32, bias=False)


def run_of(wanted: Experiment) -> SimpleNamespace:
    return SimpleNamespace(id="run", owner="anna", unfinished=True, experiment=wanted)


@pytest.fixture
def rules(pair) -> RoomRules:
    """Of a room in which sorting by a width is fixed and one lab open."""
    pair.rooms.fix(*pair.key(TEACHER), {"settings": {"d_model": 32, "bias": False}, "tasks": ["sort"], "labs": ["skip"]}, LISTS)
    return RoomRules(pair.rooms, SimpleNamespace(find={}.get))


@pytest.mark.parametrize(("wanted", "lab", "key"), [
    (SORT, "", ""), (SORT.with_(seed=7), "", ""), (SORT.with_(d_model=16), "skip", ""), (SORT.with_(d_model=16), "", "rooms.fixed"),
    (SORT.with_(bias=True), "", "rooms.fixed"), (SORT.with_(task="copy"), "", "rooms.task_not_today"),
    (SORT, "no_ffn", "rooms.lab_not_today"),
])  # fmt: skip
def test_a_member_begins_what_the_room_allows(pair, rules, wanted, lab, key):
    for token in (TEACHER, "z" * 32, *([] if key else [ANNA])):
        with rules.beginning([run_of(wanted)], token, lab):
            pass
    if key:
        with refused(key) as refusal, rules.beginning([run_of(wanted)], ANNA, lab):
            pass
        assert not wanted.model.bias or refusal.value.values == {"name": "bias", "value": "off", "code": pair.code}
    pair.rooms.fix(*pair.key(TEACHER), {}, LISTS)
    with rules.beginning([run_of(wanted)], ANNA, lab):
        pass


def test_what_was_dealt_is_allowed_to_its_member_alone(pair, rules):
    arms = [{"learning_rate": 0.01}, {"learning_rate": 0.02}]
    pair.change(TEACHER, "arms", lambda room, number: experiment.create({"task": "copy"}, arms, "together", room))
    dealt = experiment.build_experiment(pair.room().activities["arms"], 1)
    with rules.beginning([run_of(dealt)], ANNA):
        pass
    with refused("rooms.fixed"), rules.beginning([run_of(dealt)], BEN):
        pass


def test_a_fixed_knob_is_not_moved_and_runs_that_are_looked_at_are_shared(pair, rules):
    with refused("rooms.fixed"):
        rules.changing(ANNA, "d_model", 16)
    for token, knob, value in ((ANNA, "d_model", 32), (ANNA, "learning_rate", 0.1), (TEACHER, "d_model", 16)):
        rules.changing(token, knob, value)
    assert [rules.in_room(token) for token in (ANNA, TEACHER, "z" * 32)] == [True, False, False]
    run = run_of(SORT)
    assert not rules.shared(run)
    pair.rooms.point(*pair.key(TEACHER), {"run": run.id}, LISTS | {"run": [run.id]})
    assert (rules.shared(run), rules.awaited(run)) == (True, False)


def run(id: str, owner: str = "anna", unfinished: bool = True) -> SimpleNamespace:
    return SimpleNamespace(id=id, owner=owner, unfinished=unfinished)


class Runs:
    def __init__(self, group: Group, **limits: int) -> None:
        group.rooms.limit(*group.key(TEACHER), limits)
        self.room, self.runs = group.room(), {}
        self.tally = Tally(group.rooms.run_limits, self.runs.get)

    def begin(self, *new: SimpleNamespace) -> None:
        with self.tally.beginning(self.room, new[0].owner, list(new)):
            self.runs.update({one.id: one for one in new})


OLD = {"unfinished": False}


@pytest.mark.parametrize(("limits", "before", "new", "key"), [
    ({"each_at_once": 2}, [run("1"), run("2")], [run("3")], "rooms.each_at_once"),
    ({"each_at_once": 2}, [run("1"), run("2")], [run("3", "ben")], ""),
    ({"each_at_once": 2}, [run("1", **OLD), run("2")], [run("3")], ""),
    ({"each_kept": 2}, [run("1", **OLD), run("2")], [run("3")], "rooms.each_kept"),
    ({"each_kept": 2}, [run("1", **OLD), run("2", "ben")], [run("3")], ""),
    ({"room_kept": 2}, [run("1", **OLD), run("2", **OLD)], [run("3", "ben", **OLD)], "rooms.room_kept"),
    ({}, [], [run(str(n)) for n in range(7)], "rooms.each_at_once"),
    ({"room_at_once": 1}, [run("1")], [run("2", "ben")], "rooms.room_at_once"),
    ({"each_at_once": 1, "room_at_once": 1}, [run("1")], [run("2", **OLD)], ""),  # a copy of what has ended
])  # fmt: skip
def test_what_counts(group, limits, before, new, key):
    runs = Runs(group, **limits)
    for one in before:
        runs.begin(one)
    if not key:
        runs.begin(*new)
        return
    with refused(key) as refusal:
        runs.begin(*new)
    assert refusal.value.values == {"most": limits.get(key[6:], USUAL[key[6:]]), "code": group.code}
    if before:
        del runs.runs["1"]  # deleted, it counts no more
        runs.begin(new[0])


def test_a_run_takes_a_place_while_it_is_made_and_none_when_that_fails(group):
    runs = Runs(group, room_at_once=1, room_kept=2)
    with pytest.raises(OSError), runs.tally.beginning(runs.room, "anna", [run("1")]):
        raise OSError
    with runs.tally.beginning(runs.room, "anna", [run("1")]), refused("rooms.room_at_once"):
        runs.begin(run("2", "ben"))
    with runs.tally.beginning(runs.room, "anna", [run("1", unfinished=False), run("2", unfinished=False)]), refused("rooms.room_kept"):
        runs.begin(run("3", "ben", unfinished=False))
    runs.begin(run("4"))


def test_a_server_that_allows_less_is_heeded_and_the_teacher_alone_sees_it(group):
    limits = RunLimits(Limits(runs_each=2, runs_unfinished=10, runs_kept=15))
    assert limits.view(group.room()) == {"each_at_once": [2, 2], "each_kept": [15, 15], "room_at_once": [10, 10], "room_kept": [15, 15]}
    group.join(ANNA)
    assert "limits" not in group.view(ANNA)
    assert {name: value for name, (value, _) in group.view(TEACHER)["limits"].items()} == USUAL


def assign(group: Group, text: str, **to: str) -> None:
    group.rooms.assign(*group.key(TEACHER), text, to, LISTS)


def test_a_class_ticks_off_what_there_is_to_do(pair):
    with refused("rooms.nothing_to_do"):
        pair.rooms.tick(*pair.key(ANNA), True)
    for text in (" Sort\nfive letters", "Something new"):  # which is not done
        assign(pair, text, task="sort")
        counts = []
        for token, done in ((BEN, True), (BEN, True), (ANNA, True), (BEN, False)):
            pair.rooms.tick(*pair.key(token), done)
            views = [pair.view(who)["now"] for who in (TEACHER, ANNA, BEN)]
            counts.append((views[0]["done"], *(view["mine"] for view in views)))
            common = {"text": " ".join(text.split()), "to": {"task": "sort"}, "done": views[0]["done"], "joined": 2, "mine": False}
            assert [view | {"mine": False} for view in views] == [common] * 3
        assert counts == [(1, False, False, True), (1, False, False, True), (2, False, True, True), (1, False, True, False)]
    with refused("rooms.nothing_to_do"):
        pair.rooms.tick(*pair.key(TEACHER), True)
    assign(pair, " \n ")
    assert pair.view(ANNA)["now"] is None


def test_what_the_teacher_fixes_is_shown_to_everybody_and_lifted_again(pair):
    free = {"settings": {}, "tasks": [], "labs": [], "controls": list(PARTS)}
    wanted = {"settings": {"d_model": 32.0, "task": "sort"}, "tasks": ["sort", "sort"], "labs": ["skip"], "controls": []}
    checked = wanted | {"settings": {"d_model": 32, "task": "sort"}, "tasks": ["sort"]}
    for one, seen in ((wanted, checked), ({"controls": ["model"]}, free | {"controls": ["model"]}), ({}, free)):
        pair.rooms.fix(*pair.key(TEACHER), one, LISTS)
        assert pair.view(ANNA)["fixed"] == pair.view(TEACHER)["fixed"] == seen
        assert json.dumps(pair.view(ANNA)["fixed"]) == json.dumps(seen), "32, not 32.0"


@pytest.mark.parametrize(("act", "wanted", "key"), [
    *(("limit", {"each_at_once": value}, "rooms.bad_limit") for value in (0, 1000, "9", True, 1.5)),
    *(("assign", to, "rooms.no_place") for to in ({"task": "own"}, {"tab": "map"}, {"lab": "skip", "task": "sort"}, {"lab": 5})),
    *(("assign", {name: "knit"}, "config.not_a_choice") for name in ("task", "lab", "lesson")),
    *((act, one, "page.not_a_command") for act in ("fix", "limit") for one in ([], {"more": 1})),
    *(("fix", {name: one}, "page.not_a_command") for name, one in dict(settings=[], tasks="sort", labs=[1], controls=["all"]).items()),
    *(("fix", {name: ["knit"]}, "config.not_a_choice") for name in ("tasks", "labs")),
    ("fix", {"settings": {"d_model": 7}}, "config.not_in_range"), ("fix", {"settings": {"nothing": 7}}, "config.unknown"),
    ("fix", {"settings": {"task": "sort"}, "tasks": ["reverse"]}, "rooms.task_not_open"),
], ids=str)  # fmt: skip
def test_what_a_teacher_can_not_decide_is_refused(group, act, wanted, key):
    limit, fix = (lambda one: group.rooms.limit(*group.key(TEACHER), one)), (lambda one: check_fixed(one, LISTS))
    with refused(key):
        {"limit": limit, "fix": fix, "assign": lambda to: assign(group, "go", **to)}[act](wanted)
    limit({"each_at_once": 1, "room_kept": group.rooms.run_limits.most["room_kept"]})


@pytest.mark.parametrize("closed", [{"tasks": ["sort"], "labs": ["skip"]}, {"settings": {"task": "sort"}, "labs": ["skip"]}], ids=str)
@pytest.mark.parametrize(("to", "key"), [({"task": "copy"}, "rooms.task_not_open"), ({"lab": "no_ffn"}, "rooms.lab_not_open")])
def test_nobody_is_sent_where_nothing_is_open(group, closed, to, key):
    group.rooms.fix(*group.key(TEACHER), closed, LISTS)
    for open_to in ({"task": "sort"}, {"lab": "skip"}, {"lesson": "attention"}):
        assign(group, "", **open_to)
    with refused(key):
        assign(group, "", **to)
    group.rooms.fix(*group.key(TEACHER), {}, LISTS)
    assign(group, "", **to)
    with refused(key):
        group.rooms.fix(*group.key(TEACHER), closed, LISTS)
