"""Words that nobody has ever read."""

from __future__ import annotations

import random

SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]


def word(dice: random.Random, most: int = 4) -> str:
    """Two syllables or more."""
    return "".join(dice.choices(SYLLABLES, k=dice.randint(2, most)))
