"""Every small upload of the table is read as the table says."""

import pytest

from tests.reading.cases import CASES
from tests.reading.outcomes import outcome

ALL = [pytest.param(*case, *([{}] if len(case) == 2 else []), id=f"{title}-{n}") for title in CASES for n, case in enumerate(CASES[title])]


@pytest.mark.parametrize(("content", "expected", "choices"), ALL)
def test_what_becomes_of_a_small_upload(content, expected, choices):
    assert outcome(*(content if isinstance(content, tuple) else (content,)), **choices) == expected
