"""Controls: what stands on them is what people read, not what a link holds."""

from __future__ import annotations

import pytest

from playground.config import limits
from playground.ui.controls import CONTROLLED, options
from playground.words import LANGUAGES, entries


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_that_has_words_is_shown_in_them(language):
    for name in CONTROLLED:
        if limits(name).choices:
            about = {f"knobs.{name}.{kind}" for kind in ("label", "help")}
            words = {text for key, text in entries(language).items() if key.startswith(f"knobs.{name}.") and key not in about}
            assert words <= {text for text, _ in options(name, language)}, name
