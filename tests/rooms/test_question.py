"""What a class guesses, answers and trains: who may do what, who is dealt which arm, and what nobody is told."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given, strategies as st

from playground.rooms import activities, answers, experiment, question
from playground.rooms.answers import Answer, Tally
from playground.rooms.question import LEAST, SURE, Question
from playground.rooms.room import TEACHER
from playground.ui.boot import LISTS
from tests.rooms.conftest import ANNA, BEN, TEACHER as TOKEN, Group, refused, room_of

PLACE, OPTIONS, ROOM = {"lab": "softmax"}, ("grows", "shrinks", "same"), room_of(1, 2)
THREE = [{"learning_rate": rate} for rate in (0.01, 0.02, 0.05)]
NO_EXPERIMENTS = [  # (key, arms, order, base)
    ("rooms.bad_arms", THREE[:1], "together"), ("rooms.bad_arms", [{"steps": steps} for steps in range(100, 109)], "together"),
    ("rooms.bad_arms", THREE, "at once"), ("rooms.seed_is_dealt", [{"seed": 1}, {"seed": 2}], "together"),
    ("rooms.same_arms", [{"learning_rate": 0.01}, {"learning_rate": "0.010"}], "together"),
    *(("config.not_in_range", [{"learning_rate": rate}, {}], "together") for rate in (1e9, [1])),
    *(("config.unknown", [{name: 1}, {}], "together") for name in ("nothing", "self")), ("config.unknown", THREE, "together", {"self": 1}),
    ("config.not_a_choice", THREE, "together", {"task": {"x": 1}}),
]  # fmt: skip


def asked(*guesses: tuple[str, str]) -> Question:
    start = question.ask(ROOM, TEACHER, PLACE, OPTIONS, LISTS)
    return reduce(lambda one, at: question.guess(one, ROOM, at[0], *at[1]), enumerate(guesses, 1), start)


def seen(one: Question, number: int = TEACHER) -> dict:
    return question.view(one, ROOM, number)


def test_what_one_or_two_guessed_or_how_sure_they_were_is_not_told():
    some = [("grows", sure) for sure in SURE] + [("same", "95")] * 2
    for guesses, counts in ([("shrinks", "95")] * 2, {}), (some, {"grows": [1, 1, 1, 0], "shrinks": [0, 0, 0, 0], "same": [0, 0, 0, 2]}):
        view = seen(question.reveal(asked(*guesses), ROOM, TEACHER, "grows"))
        assert (view["counts"], view["answered"], question.calibrate([view])) == (counts, len(guesses), {})


def test_late_guesses_are_told_of_an_answer_where_nothing_tells_of_fewer_than_three():
    for late_by, counts in (  # of each option: how many guessed it before training began, and after
        ({"grows": 4}, {"grows": (3, 4), "same": (3, 0)}), ({"grows": 3}, {"grows": (0, 3), "shrinks": (2, 1), "same": (1, 2)}),
        *(({}, {"grows": part}) for part in ((3, 2), (2, 3))), *(({}, {"grows": (3, 3), "same": rest}) for rest in ((4, 1), (2, 0))),
    ):  # fmt: skip
        guesses = [[option, "50", *[question.LATE] * at] for option, each in counts.items() for at in (0, 1) for _ in range(each[at])]
        late = {**asked(), "answers": {str(number): guess for number, guess in enumerate(guesses)}}
        assert seen(question.reveal(late, ROOM, TEACHER, ""))["late_by"] == late_by, counts


def test_once_closed_no_number_is_left_and_leaving_tells_nothing():
    """A count that falls when a member leaves would tell what they had guessed."""
    open_one = question.guess(asked(("same", "50"), ("grows", "75")), ROOM, 1, "grows", "75")  # in the place of the one before
    closed = question.close(open_one, ROOM, TEACHER)
    common = {"place": PLACE, "joined": 2, "answered": 2, "fixed": False}
    assert [seen(open_one, number) for number in (TEACHER, 1)] == [common | {"state": "open", "mine": mine} for mine in (False, True)]
    assert seen(closed, 1) == common | {"state": "closed", "mine": False}
    assert closed == {
        "kind": "question", "place": PLACE, "options": list(OPTIONS), "state": "closed", "joined": 2,
        "counts": {"grows": [0, 2, 0], "shrinks": [0, 0, 0], "same": [0, 0, 0]},
    }  # fmt: skip
    assert question.remove_member(closed, 1) == question.close(closed, room_of(), TEACHER) == closed
    assert question.remove_member(open_one, 1) == {**open_one, "answers": {"2": ["grows", "75"]}}
    for one in (closed, question.reveal(closed, ROOM, TEACHER, "grows")):
        with refused("rooms.question_closed"):
            question.guess(one, ROOM, 2, "same", "75")
    begun = activities.put_activity(ROOM, "arms", {"kind": experiment.KIND, "lab": "softmax", "runs": {"1": "run"}})
    late = question.guess(asked(), begun, 2, "grows", "75")  # the first guess of a member who has no run is still taken
    assert [question.view(late, room, 2)["fixed"] for room in (ROOM, begun)] == [False, True]
    assert [seen(each)["late"] for each in (late, question.reveal(late, begun, TEACHER, ""))] == [1, 1], "counted apart"
    waits = [question.awaits_guess(posed, begun, number) for posed in (asked(), late, closed) for number in (TEACHER, 1, 2)]
    assert waits == [False, False, True] + 6 * [False]
    for number in (1, 2):
        with refused("lessons.fixed"):
            question.guess(late, begun, number, "same", "75")


@pytest.mark.parametrize(("key", "act"), [
    ("rooms.not_teacher", lambda: question.ask(ROOM, 1, {"lab": "masks"}, OPTIONS, LISTS)),
    ("rooms.not_teacher", lambda: question.close(asked(), ROOM, 1)),
    ("rooms.not_teacher", lambda: question.reveal(asked(), ROOM, 1, "grows")),
    ("rooms.teacher_asks", lambda: question.guess(asked(), ROOM, TEACHER, "grows", "75")),
    ("rooms.no_activity", lambda: activities.find_activity(ROOM, "nothing", "question")),
    ("rooms.no_activity", lambda: activities.find_activity(activities.put_activity(ROOM, "one", asked()), "one", "experiment")),
    ("config.not_a_choice", lambda: question.guess(asked(), ROOM, 1, "unknown", "75")),
    ("config.not_a_choice", lambda: question.guess(asked(), ROOM, 1, "grows", "100")),
    ("config.not_a_choice", lambda: question.ask(ROOM, TEACHER, {"lab": "no"}, OPTIONS, LISTS)),
    ("config.not_a_choice", lambda: question.ask(ROOM, TEACHER, {"lesson": "no"}, OPTIONS, LISTS)),
    ("config.unknown", lambda: question.ask(ROOM, TEACHER, {"no": "1"}, OPTIONS, LISTS)),
    *((key, lambda how=how: experiment.create(how[2] if how[2:] else {}, how[0], how[1], room_of(1))) for key, *how in NO_EXPERIMENTS),
])  # fmt: skip
def test_what_is_refused(key, act):
    with refused(key):
        act()


def test_a_place_is_asked_about_once_until_it_is_deleted_and_answered_when_it_is_known():
    room = activities.put_activity(ROOM, "one", asked())
    for place in (PLACE, PLACE | {"layer": "1"}):
        with refused("rooms.question_asked"):
            question.ask(room, TEACHER, place, OPTIONS, LISTS)
    question.ask(room, TEACHER, {"lab": "masks"}, OPTIONS, LISTS)
    question.ask(activities.drop_activity(room, "one"), TEACHER, PLACE, OPTIONS, LISTS)
    one = asked(("grows", "75"))
    for answer, result in (("", ""), ("no such guess", ""), ("same", "same")):
        one = question.reveal(one, ROOM, TEACHER, answer)
        assert (seen(one, 1)["answer"], one["counts"]["grows"]) == (result, [0, 1, 0])


def test_the_calibration_counts_all_that_is_revealed_and_decided():
    decided = {"state": "revealed", "counts": {"a": [1, 1, 3, 0], "b": [2, 0, 1, 0]}, "answer": "a"}
    other = decided | {"counts": {"c": [0, 0, 3, 0], "d": [0, 0, 0, 2]}, "answer": "d"}
    undecided = decided | {"answer": ""}
    assert question.calibrate([decided, other, undecided, decided | {"counts": {}}, {"state": "closed"}]) == {"50": (1, 3), "95": (3, 7)}


CLASS = [str(n) * 32 for n in range(LEAST * 2)]
SAME, OTHER = "0123456789", "abcdef0123"
QUESTIONS, STEPS = {"attention": ["attended", "row_rest"]}, {"attention": 4, "masks": 3}


@pytest.fixture
def crowd(group: Group) -> Group:
    for token in CLASS:
        group.join(token)
    return group


def give(group: Group, token: str, choice: int, asked: str = SAME, lesson: str = "attention", question: str = "attended") -> None:
    """The choice 2 is right."""
    answer = Answer(lesson, question, asked, choice, choice == 2)
    group.change(token, answers.NAME, lambda room, number: answers.record(room, number, answer, QUESTIONS, 4))


def tally(group: Group, asked: str = SAME) -> Tally:
    return answers.tally(group.room().activities.get(answers.NAME), "attention", "attended", asked)


def test_answers_are_counted_in_groups_and_then_under_no_number(crowd):
    """Neither a count nor the difference of two tells what one member chose."""
    tallies = [tally(crowd)]
    for token, choice in zip(CLASS, (2, 0, 2, 1, 2, 2), strict=True):
        give(crowd, token, choice)
        tallies.append(tally(crowd))
    assert tallies == [Tally(0, 0, {})] * 3 + [Tally(2, 3, {2: 2, 0: 1})] * 3 + [Tally(4, 6, {2: 4, 0: 1, 1: 1})]
    groups = crowd.room().activities[answers.NAME]["given"]["attention"]["attended"]["groups"]
    assert [one["waiting"] for one in groups.values()] == [{}, {}]
    assert tally(crowd, "") == Tally(4, 6, {}), "marks alone where nothing is asked on screen"


def test_those_who_were_asked_about_other_numbers_count_as_right_or_wrong_alone(crowd):
    for token, numbers in zip(CLASS, (SAME, OTHER, SAME), strict=False):
        give(crowd, token, 2, numbers)
    assert tally(crowd) == tally(crowd, OTHER) == Tally(3, 3, {})
    give(crowd, CLASS[3], 1)
    assert (tally(crowd), tally(crowd, OTHER).choices) == (Tally(3, 3, {2: 2, 1: 1}), {})


def test_the_first_answer_of_each_counts_and_the_teacher_sees_how_many(crowd):
    for token, choices in zip(CLASS, ((0, 2, 2, 2), (0,), (0,)), strict=False):
        assert tally(crowd).count == 0
        for choice in choices:
            give(crowd, token, choice)
    assert tally(crowd) == Tally(0, 3, {0: 3})
    give(crowd, CLASS[0], 1, question="row_rest")
    views = [crowd.view(token)["activities"]["answers"] for token in (TOKEN, CLASS[0])]
    assert views == [{"kind": "answers", "counted": {"attention": 2 * LEAST}}, {"kind": "answers"}]


def report(group: Group, token: str, done: dict) -> None:
    group.change(token, answers.PROGRESS, lambda room, number: answers.record_progress(room, number, done, STEPS))


def test_the_newest_report_counts_and_only_the_teacher_sees_it(pair):
    for token, done in ((ANNA, {"attention": 1}), (BEN, {"attention": 4, "masks": 1}), (ANNA, {"attention": 2})):
        report(pair, token, done)
    views = [pair.view(token)["activities"][answers.PROGRESS] for token in (TOKEN, ANNA, BEN)]
    done = {"done": {"1": {"attention": 2}, "2": {"attention": 4, "masks": 1}}}
    assert views == [{"kind": "course"} | done, {"kind": "course"}, {"kind": "course"}]


WRONG = [{"choice": 4}, {"choice": -1}, {"asked": ""}, {"asked": "x" * 10}, {"asked": SAME + "0"}, {"lesson": "no"}, {"question": "no"}]
NOT_DONE = [{"nothing": 1}, *({"attention": count} for count in (5, 0, -1, "1", True, None))]


@pytest.mark.parametrize(("wrong", "done"), [*zip(WRONG, NOT_DONE, strict=True)], ids=str)
def test_answers_and_progress_that_the_course_does_not_have_are_refused(pair, wrong, done):
    with refused("rooms.bad_answer"):
        give(pair, ANNA, **({"choice": 1} | wrong))
    with refused("rooms.bad_progress"):
        report(pair, ANNA, done)
    for act, value in ((give, 1), (report, {"attention": 1})):
        with refused("rooms.teacher_reports"):
            act(pair, TOKEN, value)


def made(numbers: Iterable[int] = (), arms: object = THREE, order: str = "together", **base: object) -> dict:
    return experiment.create(base, arms, order, room_of(*numbers))


@given(st.integers(2, 8), st.lists(st.integers(1, 40), max_size=4))
def test_every_block_of_numbers_has_each_arm_once_however_late_they_come(count, times):
    whole = made(range(1, 41), arms=[{"steps": 100 * (1 + n)} for n in range(count)])
    late = {**whole, "dealt": {}}
    for last in (*sorted(times), 40):
        late = experiment.deal(late, room_of(*range(1, last + 1)))
    assert late["dealt"] == whole["dealt"]
    blocks = [[late["dealt"][str(n)] for n in range(first, first + count)] for first in range(1, 41 - count, count)]
    assert {tuple(sorted(block)) for block in blocks} == {tuple(range(count))}
    assert len(set(map(tuple, blocks))) > 1, "each block is drawn anew"
    few = experiment.deal({**whole, "dealt": {}, "first": [count - 1]}, room_of(1))
    assert (few["dealt"], experiment.free_arms(few)) == ({"1": count - 1}, [*range(count - 1)]), "a small class has the arms that decide"


@given(st.randoms(use_true_random=False))
def test_arms_stay_even_while_members_come_and_go(luck):
    """Those that are present differ by one at most once as many have come as have gone, and nobody's arm changes."""
    present, last = list(range(1, 10)), 9
    activity = made(present)
    for _ in range(40):
        before = dict(activity["dealt"])
        gone = luck.choice(present)
        present.remove(gone)
        activity = experiment.remove_member(activity, gone)
        last += 1
        present.append(last)
        activity = experiment.deal(activity, room_of(*present))
        assert {number: before[number] for number in map(str, present[:-1])}.items() <= activity["dealt"].items()
        counts = Counter(activity["dealt"].values())
        assert max(counts.values()) - min(counts.values()) <= 1
        assert set(activity["dealt"]) == set(map(str, present))


def test_members_see_their_own_arm_and_run_and_the_board_while_it_is_shown():
    activity = experiment.set_run(experiment.set_run(made([1, 2]), 1, "run-of-one"), 2, "run-of-two")
    room = room_of(1, 2, 3)
    common, at = {"order": "together", "shared": False, "board": False, "lab": ""}, activity["dealt"]["1"]
    assert experiment.view(activity, room, 1) == common | {"arm": THREE[at], "at": at, "run": "run-of-one"}
    assert experiment.view(activity, room, 3) == common | {"arm": None, "at": None, "run": ""}
    assert experiment.view(activity, room, TEACHER) == common | {
        "board": True, "arms": THREE, "dealt": activity["dealt"], "runs": {"1": "run-of-one", "2": "run-of-two"},
    }  # fmt: skip
    for shared, tab, boards in ((False, "", [True, False]), (False, experiment.BOARD, [True, True]), (True, "", [True, True])):
        looked_at = replace(room, cursor={"tab": tab})
        assert [experiment.shows_board({**activity, "shared": shared}, looked_at, number) for number in (TEACHER, 1)] == boards
