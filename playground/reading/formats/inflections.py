"""Inflection tables: a lemma, one of its forms, and the form's features ("gehen", "ging", "V;IND;PST;1;SG"), as in UniMorph and SIGMORPHON.
Features are part of the source: a bare lemma has many correct targets."""

from __future__ import annotations

import re
from collections.abc import Sequence

MIN_ROWS = 8
_FEATURES = re.compile(r"[A-Z][\w.+/{}=-]*(?:[;|][\w.+/{}=-]+)+|[A-Z][a-zA-Z]*=\S+")  # V;IND;PRS;1;SG; Case=Nom|Number=Sing
_MOSTLY = 0.95


def find_features(columns: Sequence[Sequence[str]]) -> int | None:
    """Returns the index of the feature column of a table with three columns; None without one."""
    if len(columns) != 3:
        return None
    places = [place for place, cells in enumerate(columns) if _are_features(cells)]
    other_columns = [cells for place, cells in enumerate(columns) if place not in places]
    if len(places) != 1 or any(" " in cell.strip() and cell.count(" ") > 3 for cells in other_columns for cell in cells):
        return None  # beside sentences such codes are labels
    return places[0]


def _are_features(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    if len(filled) < MIN_ROWS or 3 * len(set(filled)) > 2 * len(filled):
        return False
    return sum(bool(_FEATURES.fullmatch(cell)) for cell in filled) >= _MOSTLY * len(filled)
