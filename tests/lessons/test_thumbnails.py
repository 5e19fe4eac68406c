"""The pictures of the labs that one starts with are those labs' own results."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from playground.lessons import thumbnails
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.labs import LABS, START
from playground.words import LANGUAGES

BYTES = 10_000  # of one picture, drawn


def test_every_lab_to_start_with_has_one_that_loads_at_once():
    assert list(thumbnails.kept()) == list(START)
    for lab, drawing in thumbnails.kept().items():
        lines = drawing["lines"]
        assert len(orjson.dumps(lines)) < BYTES
        assert all(LABS[lab].knows(language, f"card_{drawing['exhibit']}") for language in LANGUAGES), "what it is drawn against is said"
        assert all(0 <= value <= 1 for line in lines for value in line)
        assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("name", [name for name in START if not isinstance(LABS[name], ControlledExperiment)])
def test_what_is_kept_is_what_the_lab_computes(name, tmp_path):
    thumbnails.write(tmp_path / "found.json", (name,))
    found = orjson.loads((tmp_path / "found.json").read_bytes())[name]
    assert found["exhibit"] == thumbnails.kept()[name]["exhibit"]
    assert np.allclose(found["lines"], thumbnails.kept()[name]["lines"], atol=0.002)


@pytest.mark.night
@pytest.mark.parametrize("name", [name for name in START if isinstance(LABS[name], ControlledExperiment)])
def test_what_is_kept_is_how_the_arms_end(name):
    """Another machine rounds otherwise on the way; where the lines end says the same."""
    ends = [[line[-1] for line in lines] for lines in (thumbnails.thumbnail(LABS[name])["lines"], thumbnails.kept()[name]["lines"])]
    assert np.allclose(*ends, atol=0.15)
