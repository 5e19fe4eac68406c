"""A few cases stand for all of a test, and properties are tried more often at night."""

import inspect
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import settings

from tests.thoroughness import EXAMPLES, NIGHT, every_case, examples_at_night, leave_the_others_to_the_night, sample


@pytest.mark.parametrize("sizes", [(1,), (5,), (3, 3), (2, 14, 5), (40, 4), (2, 2, 2, 2, 2, 2)])
def test_every_value_comes_in_the_sample_and_no_case_too_many(sizes):
    cases = list(product(*map(range, sizes)))
    kept = [cases[at] for at in sample(cases)]
    assert all({case[axis] for case in kept} == set(range(size)) for axis, size in enumerate(sizes))
    assert max(sizes) <= len(kept) <= sum(sizes)


def test_values_are_taken_equally_often():
    cases = list(product("abc", "de"))
    kept = [cases[at] for at in sample(cases, 3)]
    assert sorted(letter for letter, _ in kept) == ["a", "b", "c"]
    assert {letter for _, letter in kept} == {"d", "e"}


@pytest.mark.parametrize("count", [1, 2, 6, 7])
def test_as_many_as_asked_for_or_all(count):
    cases = list(product(range(3), range(2)))
    kept = sample(cases, count)
    assert kept == sorted(set(kept))
    assert len(kept) == min(count, len(cases))


def test_cases_of_one_list_are_taken_from_all_of_it():
    kept = sample([(at,) for at in range(100)], 10)
    assert all(any(begin <= at < begin + 25 for at in kept) for begin in range(0, 100, 25))


class Case:
    """As much of pytest's item as is asked."""

    def __init__(self, *marks: pytest.MarkDecorator, **arguments: object) -> None:
        self.nodeid = f"tests/test_this.py::test_that[{'-'.join(map(str, arguments.values()))}]"
        self.callspec, self.marks = SimpleNamespace(params=arguments), list(marks)

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((decorator.mark for decorator in self.marks if decorator.name == name), None)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark)


def test_the_others_are_slow():
    """What is no plain value, such as a dictionary, is a value of its own too; and what was slow before stands for nothing."""
    knobs = [{}, {"norm": "pre"}]
    cases = [Case(pytest.mark.sample, knobs=value, size=size) for size, value in product([(1, "a"), (2, "b")], knobs)]
    cases += [Case(pytest.mark.sample, pytest.mark.night, knobs=knobs[0], size=(3, "c"))]
    others = [Case(knobs=value) for value in knobs]
    leave_the_others_to_the_night(cases + others)
    left = [case.callspec.params for case in cases if not case.get_closest_marker("night")]
    assert len(left) == 2
    assert left[0]["knobs"] != left[1]["knobs"]
    assert left[0]["size"] != left[1]["size"]
    assert not any(case.get_closest_marker("night") for case in others)


def test_a_property_is_tried_less_often_by_day():
    tried = [examples_at_night(*counts).max_examples for counts in ((400,), (10,), (400, 8))]
    assert tried == ([400, 10, 400] if settings.get_current_profile_name() == NIGHT else [EXAMPLES, 10, 8])


def test_every_case_is_told_and_those_that_fail_are_named():
    tried = []

    @every_case("word", ["a", "b", "c"])
    @every_case("one, other", [(1, 1), (1, 2)])
    def test(word: str, one: int, other: int, fixture: str) -> None:
        tried.append((word, one, other))
        assert one == other or word == "a", f"{fixture} says so"
        if word == "c":
            pytest.fail("of its own accord")

    with pytest.raises(AssertionError) as error:
        test(fixture="this")
    assert tried == [(word, *pair) for word, pair in product("abc", [(1, 1), (1, 2)])]
    said = str(error.value)
    assert said.startswith("2 of 3 cases failed.\n'b': 1 of 2 cases failed.\n1, 2: this says so")
    assert "'c': 2 of 2 cases failed.\n1, 1: of its own accord" in said
    assert isinstance(error.value.__cause__, AssertionError)
    assert list(inspect.signature(test).parameters) == ["fixture"]


def test_cases_that_all_hold_say_nothing():
    every_case("n", range(3))(lambda n: None)()


@pytest.mark.parametrize("test", [lambda n, tmp_path: None, lambda n, monkeypatch: None])
def test_what_a_case_wants_for_itself_it_does_not_share(test):
    with pytest.raises(AssertionError, match="share"):
        every_case("n", [1])(test)


def test_no_cases_are_no_test():
    with pytest.raises(AssertionError, match="no cases"):
        every_case("n", [])
