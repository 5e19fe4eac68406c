"""How much is tried: enough by default to tell whoever changed a file, all of it by `pytest -m night`.

Two things multiply a test: its cases and, where Hypothesis makes them up, its examples. `@every_case` tells many quick cases in one test:
pytest takes some milliseconds for each test. `@pytest.mark.sample` above a parametrized test leaves a few of its cases in the default run,
such that every value of every argument comes in one of them; the others are left to the night. `@examples_at_night(200)` above a
property has so many tried with `--hypothesis-profile=night`, and `EXAMPLES` otherwise.
"""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import wraps

import pytest
from hypothesis import settings

EXAMPLES = 25  # of a property by default
NIGHT = "night"
GOLDEN = 0.6180339887498949  # its multiples, without their whole part, lie evenly between 0 and 1
SIMPLE = (str, int, float, bool, type(None))
FAILURES = (Exception, pytest.fail.Exception, pytest.skip.Exception)  # the last two are pytest's own, and no `Exception`
FRESH = {"tmp_path", "monkeypatch", "capsys", "caplog", "request"}  # what a test has for itself

settings.register_profile("same", derandomize=True, database=None, deadline=None, max_examples=EXAMPLES)
settings.register_profile(NIGHT, derandomize=False, deadline=None, max_examples=100)


def examples_at_night(count: int, by_default: int = EXAMPLES, **options: object) -> settings:
    """Settings of a property that is worth so many examples at night. By default a few have to do."""
    tried = count if settings.get_current_profile_name() == NIGHT else min(count, by_default)
    return settings(max_examples=tried, **options)


def every_case(names: str | Sequence[str], cases: Iterable[object]) -> Callable[[Callable], Callable]:
    """`pytest.mark.parametrize` for cases that are many and quick: one test of all of them, which goes through to the end and says which
    failed, and how the first did. They share their fixtures, and none of them can be skipped."""
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [(case,) if len(wanted) == 1 else tuple(case) for case in cases]
    assert table, "no cases"

    def decorate(test: Callable) -> Callable:
        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        assert not FRESH.intersection(parameter.name for parameter in fixtures), f"the cases of {test.__name__} would share what is fresh"

        @wraps(test)
        def all_of_them(**shared: object) -> None:
            failed = []
            for values in table:
                try:
                    test(**shared, **dict(zip(wanted, values, strict=True)))
                except FAILURES as error:
                    failed.append((values, error))
            if failed:
                said = "\n".join(f"{', '.join(map(repr, values))[:200]}: {error}" for values, error in failed)
                raise AssertionError(f"{len(failed)} of {len(table)} cases failed.\n{said}") from failed[0][1]

        all_of_them.__signature__ = signature.replace(parameters=fixtures)
        return all_of_them

    return decorate


def sample(cases: Sequence[Sequence[Hashable]], count: int | None = None) -> list[int]:
    """Which of the cases stand for all: every value of every axis is in one of them. With a `count` so many, as different as can be."""
    seen: Counter[tuple[int, Hashable]] = Counter()
    left = sorted(range(len(cases)), key=lambda at: at * GOLDEN % 1)  # neighbours in the list are alike: not one after the other
    kept: list[int] = []

    def worth(at: int) -> tuple[int, int]:
        times = [seen[value] for value in enumerate(cases[at])]
        return times.count(0), -sum(times)

    while left and (count is None or len(kept) < count):
        best = max(left, key=worth)
        if count is None and not worth(best)[0]:
            break
        kept.append(best)
        left.remove(best)
        seen.update(enumerate(cases[best]))
    return sorted(kept)


def leave_the_others_to_the_night(items: Iterable[pytest.Item]) -> None:
    """Of each test that is marked `sample`, the cases that are not in the sample."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample") and not item.get_closest_marker("night"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        kept = sample([axes(item) for item in cases], *cases[0].get_closest_marker("sample").args)
        for at in set(range(len(cases))).difference(kept):
            cases[at].add_marker(pytest.mark.night)


def axes(item: pytest.Item) -> list[Hashable]:
    """The values of a case's arguments, a tuple's one by one. What is no plain value is told by which object it is."""
    found: list[Hashable] = []
    for _, value in sorted(item.callspec.params.items()):
        parts = value if isinstance(value, tuple) else (value,)
        found += parts if all(isinstance(part, SIMPLE) for part in parts) else [id(value)]
    return found
