"""A lemma, its features and the form: what is asked is the lemma with its features, and whole lemmas are held out."""

import random

import pytest

from playground.reading.column_mapping import BY_SOURCE
from playground.reading.uploads import Choices, read_files
from tests.reading.formats.made_words import word

CELLS = {"V;IND;PRS;3;SG": "t", "V;IND;PST;3;SG": "te", "V.PTCP;PRS": "nd", "V;NFIN": "n"}


def table(order: tuple[int, int, int] = (0, 1, 2), lemmas: int = 60) -> bytes:
    dice = random.Random(1)
    stems = sorted({word(dice) for _ in range(lemmas)})
    rows = [(f"{stem}n", stem + end, features) for stem in stems for features, end in CELLS.items()]
    return "\n".join("\t".join(row[place] for place in order) for row in rows).encode()


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_features_belong_to_the_lemma(order):
    found = read_files([("deu.trn", table(order))])
    assert all(pair.src.split()[1] in CELLS for pair in found.pairs)
    assert all(pair.tgt == pair.src.split()[0][:-1] + CELLS[pair.src.split()[1]] for pair in found.pairs)
    assert (found.joined, found.group) == ((order.index(2),), 0)


def test_somebody_may_split_by_source_and_join_other_columns():
    by_source = read_files([("deu.trn", table())], Choices(group=BY_SOURCE))
    assert (by_source.joined, by_source.group, by_source.groups) == ((2,), None, ())
    alone = read_files([("deu.trn", table())], Choices(source=0, target=1, joined=()))
    assert (alone.pairs[0].src.split(), alone.group) == ([alone.pairs[0].src], None)
    other = read_files([("deu.trn", table())], Choices(source=2, target=1, joined=(0, 1, 9), group=0))
    assert other.pairs[0].src.split()[0] in CELLS  # in the order that was wished for; the target itself can't be joined
    assert (other.joined, other.group) == ((0,), 0)


def test_codes_beside_sentences_are_no_features():
    rows = "\n".join(f"this is sentence number {n}\tdas ist wohl der Satz {n}\tA;B{n % 2}" for n in range(20))
    found = read_files([("a.tsv", rows.encode())])
    assert (found.joined, found.group, found.chosen) == ((), None, (0, 1))
