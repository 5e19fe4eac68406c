"""What there is to do now: one line of text, a place that exists, and a count without names."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.ui.links import LISTS
from tests.rooms.group import ANNA, BEN, TEACHER, Group, refused


def assign(group: Group, text: str, **to: str) -> None:
    group.rooms.assign(*group.key(TEACHER), text, to, LISTS)


def test_a_class_ticks_off_what_there_is_to_do(pair):
    with refused("rooms.nothing_to_do"):
        pair.rooms.tick(*pair.key(ANNA), True)
    for text in ("Sort five letters", "Something new"):  # which is not done
        assign(pair, text, task="sort")
        counts = []
        for token, done in ((BEN, True), (BEN, True), (ANNA, True), (BEN, False)):
            pair.rooms.tick(*pair.key(token), done)
            views = [pair.view(who)["now"] for who in (TEACHER, ANNA, BEN)]
            counts.append((views[0]["done"], *(view["mine"] for view in views)))
            common = {"text": text, "to": {"task": "sort"}, "done": views[0]["done"], "joined": 2, "mine": False}
            assert [view | {"mine": False} for view in views] == [common] * 3
        assert counts == [(1, False, False, True), (1, False, False, True), (2, False, True, True), (1, False, True, False)]
    for token, key in ((TEACHER, "rooms.nothing_to_do"), ("z" * 32, "rooms.not_in")):
        with refused(key):
            pair.rooms.tick(*pair.key(token), True)
    assign(pair, " \n ")
    assert pair.view(ANNA)["now"] is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.sampled_from(["a\nb\tc", "  a  b c ", "a\u202eb\u200bc", "\ud800" + "x" * 300]))
def test_the_line_is_one_line_of_visible_text(group, text):
    assign(group, text, task="sort")
    line = group.view(TEACHER)["now"]["text"]
    assert line.isprintable()
    assert line == " ".join(line.split())
    assert len(line) <= 200
    json.dumps(line, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("to", "key"),
    [
        *((to, "rooms.no_place") for to in ({"task": "own"}, {"tab": "map"}, {"lab": "skip", "task": "sort"}, {"lab": 5})),
        *(({name: "knit"}, "config.not_a_choice") for name in ("task", "lab", "lesson")),
    ],
    ids=str,
)
def test_the_class_is_sent_only_to_a_lesson_a_lab_or_a_task(group, to, key):
    with refused(key):
        group.rooms.assign(*group.key(TEACHER), "go", to, LISTS)
