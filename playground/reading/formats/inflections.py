"""Inflection tables: a lemma, one of its forms, and the features that the form has ("gehen", "ging", "V;IND;PST;1;SG"), as UniMorph and
SIGMORPHON write them. The features belong to what is asked: without them a lemma has many right answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

MIN_ROWS = 8
_FEATURES = re.compile(r"[A-Z][\w.+/{}=-]*(?:[;|][\w.+/{}=-]+)+|[A-Z][a-zA-Z]*=\S+")  # V;IND;PRS;1;SG; Case=Nom|Number=Sing
_MOSTLY = 0.95


def features_of(columns: Sequence[Sequence[str]]) -> int | None:
    """The column of features of a table with three columns; None where there is none."""
    if len(columns) != 3:
        return None
    found = [place for place, cells in enumerate(columns) if _are_features(cells)]
    others = [cells for place, cells in enumerate(columns) if place not in found]
    if len(found) != 1 or any(" " in cell.strip() and cell.count(" ") > 3 for cells in others for cell in cells):
        return None  # beside sentences such codes are their labels
    return found[0]


def _are_features(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    if len(filled) < MIN_ROWS or 3 * len(set(filled)) > 2 * len(filled):
        return False
    return sum(bool(_FEATURES.fullmatch(cell)) for cell in filled) >= _MOSTLY * len(filled)
