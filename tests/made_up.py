"""An encoding that does not exist yet, declared for the length of a test as a newcomer would declare it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from playground import choices, config
from playground.choices import Encoding


def declare_encoding(patch: pytest.MonkeyPatch, name: str = "learned_rotary", encoding: Encoding | None = None) -> str:
    """Adds it to what its knob may be, as importing config.py does with what is declared by then."""
    patch.setitem(choices.ENCODINGS, name, encoding or Encoding("learned", rotary=True))
    knob = replace(config.limits("positions"), choices=(*config.limits("positions").choices, name))
    patch.setitem(config.KNOBS, "positions", config._knob(config.default("positions"), **vars(knob)))
    return name
