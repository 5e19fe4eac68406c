"""Made-up words whose forms and sounds follow rules: an inflection table and a pronouncing dictionary, as files, with words to ask that
stand in neither."""

from __future__ import annotations

import random
from typing import NamedTuple

ONSETS = ["b", "br", "d", "dr", "f", "fl", "g", "gr", "k", "kl", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "z"]
VOWELS = ["a", "e", "i", "o", "u", "au", "ei"]
CODAS = ["k", "l", "m", "n", "p", "r", "s", "t"]
STRONG = "kp"  # stems that end so change their vowel
UMLAUT = {"a": "ä", "o": "ö", "u": "ü", "au": "äu"}
PAST = {"a": "u", "e": "a", "i": "a", "o": "a"}

SPELT = {  # letters -> sound; the longest that fits counts
    "sh": "SH", "th": "TH", "ch": "CH", "ck": "K", "ng": "NG", "ll": "L", "b": "B", "d": "D", "f": "F", "g": "G", "h": "HH", "j": "JH",
    "k": "K", "l": "L", "m": "M", "n": "N", "p": "P", "r": "R", "s": "S", "t": "T", "v": "V", "w": "W", "c": "K",
}  # fmt: skip
SOFT = {"c": "S", "g": "JH"}  # alone before e and i
SHORT = {"a": "AE", "e": "EH", "i": "IH", "o": "AA", "u": "AH", "ea": "IY", "oo": "UW", "ai": "EY"}
LONG = {"a": "EY", "e": "IY", "i": "AY", "o": "OW", "u": "UW"}  # before one consonant and a silent e
STARTS = (
    "b", "br", "c", "ch", "cr", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "r", "s", "sh", "st", "t", "th",
    "tr", "v", "w",
)  # fmt: skip
ENDS = ("", "", "ck", "l", "ll", "m", "n", "ng", "r", "s", "t")
SILENT = "lmnrst"


class MadeFile(NamedTuple):
    """A file to learn from, and (source, target) pairs of words that are not in it."""

    name: str
    content: bytes
    asked: tuple[tuple[str, str], ...]


def inflections(lemmas: int, asked: int, seed: int) -> MadeFile:
    """Verbs in eight forms each, as lines of lemma, form and features. Some stems change their vowel."""
    dice, tables = random.Random(seed), dict[str, list[tuple[str, str]]]()
    while len(tables) < lemmas + asked:
        syllables = [dice.choice(ONSETS) + dice.choice(VOWELS) for _ in range(dice.choice((0, 0, 1)))]
        onset, vowel, coda = dice.choice(ONSETS), dice.choice(VOWELS), dice.choice(CODAS)
        tables.setdefault("".join([*syllables, onset, vowel, coda, "en"]), _forms("".join([*syllables, onset]), vowel, coda))
    rows = [[(lemma, form, features) for features, form in forms] for lemma, forms in tables.items()]
    learnt = [row for table in rows[:lemmas] for row in table]
    dice.shuffle(learnt)
    new = tuple((f"{lemma} {features}", form) for table in rows[lemmas:] for lemma, form, features in table)
    return MadeFile("made.trn", "".join("\t".join(row) + "\n" for row in learnt).encode(), new)


def _forms(begin: str, vowel: str, coda: str) -> list[tuple[str, str]]:
    strong, e = coda in STRONG, "e" if coda == "t" else ""
    stem, changed = begin + vowel + coda, begin + (UMLAUT.get(vowel, vowel) if coda in STRONG else vowel) + coda
    past = begin + PAST.get(vowel, vowel) + coda if strong else f"{stem}{e}te"
    return [
        ("V;IND;PRS;1;SG", f"{stem}e"), ("V;IND;PRS;2;SG", changed + e + ("t" if coda == "s" else "st")),
        ("V;IND;PRS;3;SG", f"{changed}{e}t"), ("V;IND;PRS;1;PL", f"{stem}en"), ("V;IND;PST;1;SG", past),
        ("V;IND;PST;3;PL", past + ("en" if strong else "n")), ("V.PTCP;PST", f"ge{stem}" + ("en" if strong else f"{e}t")),
        ("V.PTCP;PRS", f"{stem}end"),
    ]  # fmt: skip


def pronunciations(words: int, asked: int, seed: int) -> MadeFile:
    """Words and their sounds, with two blanks between them. A letter's sound depends on its neighbours, and on a silent e at the end."""
    dice, found = random.Random(seed), dict[str, str]()
    while len(found) < words + asked:
        spelt, sounds, count = "", list[str](), dice.choice((1, 2, 2, 3))
        for place in range(count):
            start, vowel, end = dice.choice(STARTS), dice.choice(list(SHORT)), dice.choice(ENDS)
            silent = place == count - 1 and vowel in LONG and end != "" and end in SILENT and dice.random() < 0.5
            spelt += start + vowel + end + ("e" if silent else "")
            sounds += [SOFT[start]] if start in SOFT and vowel[0] in "ei" else _sounds(start)
            sounds += [(LONG if silent else SHORT)[vowel] + ("1" if place == 0 else "0"), *_sounds(end)]
        found.setdefault(spelt.upper(), " ".join(sounds))
    entries = list(found.items())
    return MadeFile("made.dict", "".join(f"{word}  {sounds}\n" for word, sounds in entries[:words]).encode(), tuple(entries[words:]))


def _sounds(letters: str) -> list[str]:
    if not letters:
        return []
    size = 2 if letters[:2] in SPELT else 1
    return [SPELT[letters[:size]], *_sounds(letters[size:])]
