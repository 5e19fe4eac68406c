"""What pages report of their members: how far each is in the course, and answers to lessons, which are counted in groups only."""

from __future__ import annotations

import pytest

from playground.rooms import answers, progress
from playground.rooms.answers import Answer, Tally
from playground.rooms.question import LEAST
from tests.rooms.group import ANNA, BEN, TEACHER, Group, refused

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
    group.change(token, answers.NAME, lambda room, number: answers.reported(room, number, answer, QUESTIONS, 4))


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
    views = [crowd.view(token)["activities"]["answers"] for token in (TEACHER, CLASS[0])]
    assert views == [{"kind": "answers", "counted": {"attention": 2 * LEAST}}, {"kind": "answers"}]


def test_members_that_leave_take_what_waits_along_and_what_is_counted_stays(crowd):
    for token in CLASS[: LEAST + 1]:
        give(crowd, token, 2)
    counted = tally(crowd)
    give(crowd, CLASS[LEAST + 1], 2, OTHER)
    for token in (CLASS[0], CLASS[LEAST], CLASS[LEAST + 1]):
        crowd.leave(token)
    assert tally(crowd) == counted
    given = crowd.room().activities[answers.NAME]["given"]["attention"]["attended"]
    assert given == {"by": [2, 3], "groups": {name: {"waiting": {}, "counts": one} for name, one in (("", {"right": 3}), (SAME, {"2": 3}))}}


@pytest.mark.parametrize(
    "wrong",
    [{"choice": 4}, {"choice": -1}, {"asked": ""}, {"asked": "x" * 10}, {"asked": SAME + "0"}, {"lesson": "no"}, {"question": "no"}],
)
def test_answers_to_what_no_lesson_asks_are_refused(crowd, wrong):
    with refused("rooms.bad_answer"):
        give(crowd, CLASS[0], **({"choice": 1} | wrong))


def report(group: Group, token: str, done: dict) -> None:
    group.change(token, progress.NAME, lambda room, number: progress.reported(room, number, done, STEPS))


def test_the_newest_report_counts_and_only_the_teacher_sees_it(pair):
    for token, done in ((ANNA, {"attention": 1}), (BEN, {"attention": 4, "masks": 1}), (ANNA, {"attention": 2})):
        report(pair, token, done)
    views = [pair.view(token)["activities"][progress.NAME] for token in (TEACHER, ANNA, BEN)]
    done = {"done": {"1": {"attention": 2}, "2": {"attention": 4, "masks": 1}}}
    assert views == [{"kind": "course"} | done, {"kind": "course"}, {"kind": "course"}]


@pytest.mark.parametrize("done", [{"nothing": 1}, *({"attention": count} for count in (5, 0, -1, "1", True, None))])
def test_progress_that_the_course_does_not_have_is_refused(pair, done):
    with refused("rooms.bad_progress"):
        report(pair, ANNA, done)
    for act, value in ((give, 1), (report, {"attention": 1})):
        with refused("rooms.teacher_reports"):
            act(pair, TEACHER, value)
