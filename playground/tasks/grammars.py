"""Two languages from one set of rules: a rule says a thing in both, so a sentence is translated as it is made.

This is a synchronous context-free grammar (Lewis and Stearns, "Syntax-directed transduction", 1968). A rule is one line:

    "$subject $verb $object = $subject $verb $object"     slots ($name) are filled by the rules of that name, the same filling on both sides
    "heute = today"                                       words; where the source has one symbol, every word of the target is said by it
    "wen $verb $subject ? = who@0 does@1 $subject $verb"  word@n is said by symbol n of the source, a word without @ by nothing
    "3: $a = $a"                                          three times as likely as a rule without a number

The same rules read backwards are the parser: every way to derive a sentence is a right translation of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from playground.tasks.example import Example

Said = list[tuple[str, "int | None"]]  # target words, each with the place of the source word that says it


class Rule(NamedTuple):
    """One line of a grammar. A symbol is a slot's name or a word; in the target each word has the source symbol that says it."""

    src: tuple[tuple[str, bool], ...]  # (name or word, whether it is a slot)
    tgt: tuple[tuple[str, int | None, bool], ...]  # (word, source symbol that says it, False) or (slot, its source symbol, True)


class Grammar:
    """Rules by the name of the slot they fill; a sentence fills the slot "sentence"."""

    def __init__(self, rules: Mapping[str, Iterable[str]]) -> None:
        self.rules: dict[str, list[Rule]] = {}
        self.weighted: dict[str, list[Rule]] = {}  # each rule as often as its weight, to draw from
        for name, lines in rules.items():
            read = [_read(line) for line in lines]
            self.rules[name] = [rule for _, rule in read]
            self.weighted[name] = [rule for weight, rule in read for _ in range(weight)]
        for rule in [rule for lines in self.rules.values() for rule in lines]:
            for name, slot in rule.src:
                if slot and name not in self.rules:
                    raise ValueError(f"no rule fills ${name}")
        self.openings = self._openings()  # the rules of each slot by the words that what they derive can begin with

    def _openings(self) -> dict[str, dict[str, list[Rule]]]:
        words: dict[str, dict[Rule, set[str]]] = {name: {rule: set() for rule in rules} for name, rules in self.rules.items()}
        growing = True
        while growing:
            growing = False
            for rules in words.values():
                for rule, known in rules.items():
                    symbol, slot = rule.src[0]
                    found = set().union(*words[symbol].values()) if slot else {symbol}
                    growing |= not found <= known
                    known |= found
        return {
            name: {word: [rule for rule in self.rules[name] if word in rules[rule]] for word in set().union(*rules.values())}
            for name, rules in words.items()
        }

    def draw(self, rng: random.Random) -> Example:
        """A random sentence: at each slot one of its rules, by weight."""
        src: list[str] = []
        said = self._fill("sentence", rng, src)
        return Example(" ".join(src), " ".join([word for word, _ in said]), tuple([place for _, place in said]))

    def _fill(self, name: str, rng: random.Random, src: list[str]) -> Said:
        """Writes one filling of a slot at the end of `src`; returns what it says in the target language."""
        rules = self.weighted[name]
        rule = rules[int(rng.random() * len(rules))]
        starts, filled = [], []
        for symbol, slot in rule.src:
            starts.append(len(src))
            if slot:
                filled.append(self._fill(symbol, rng, src))
            else:
                src.append(symbol)
                filled.append(None)
        return _say(rule, starts, filled)

    def parse(self, src: str) -> tuple[Example, ...]:
        """Every translation of a sentence, in the order of the rules; () when the grammar doesn't derive it."""
        words = src.split()
        whole = [said for end, said in self._spans("sentence", tuple(words), 0, {}) if end == len(words)]
        found = {" ".join([word for word, _ in said]): tuple([place for _, place in said]) for said in reversed(whole)}
        return tuple(Example(src, tgt, alignment) for tgt, alignment in reversed(found.items()))

    def _spans(self, name: str, words: tuple[str, ...], start: int, known: dict) -> list[tuple[int, Said]]:
        """Every way a slot can be filled by the words from `start` on: where the filling ends, and what it says."""
        if (name, start) not in known:
            fitting = self.openings[name].get(words[start], ()) if start < len(words) else ()
            known[name, start] = [found for rule in fitting for found in self._match(rule, words, start, known)]
        return known[name, start]

    def _match(self, rule: Rule, words: tuple[str, ...], start: int, known: dict) -> Iterator[tuple[int, Said]]:
        """Every way a rule matches the words from `start` on."""
        partial: list[tuple[int, list[int], list]] = [(start, [], [])]
        for symbol, slot in rule.src:
            longer = []
            for end, starts, filled in partial:
                if slot:
                    longer += [(after, [*starts, end], [*filled, said]) for after, said in self._spans(symbol, words, end, known)]
                elif end < len(words) and words[end] == symbol:
                    longer.append((end + 1, [*starts, end], [*filled, None]))
            partial = longer
        for end, starts, filled in partial:
            yield end, _say(rule, starts, filled)


def _say(rule: Rule, starts: list[int], filled: list) -> Said:
    """The target side of a rule, its slots filled; `starts` are the places where its source symbols begin."""
    said: Said = []
    for word, symbol, slot in rule.tgt:
        if slot:
            said += filled[symbol]
        else:
            said.append((word, None if symbol is None else starts[symbol]))
    return said


def _read(line: str) -> tuple[int, Rule]:
    """A line as its weight and its rule. Raises ValueError where the target has a slot that the source lacks."""
    weight, _, rest = line.partition(": ") if line[0].isdigit() and ": " in line else ("1", "", line)
    left, _, right = rest.partition(" = ")
    src = left.split()
    tgt: list[tuple[str, int | None, bool]] = []
    for symbol in right.split():
        word, at, place = symbol.partition("@")
        if symbol.startswith("$"):
            tgt.append((symbol, src.index(symbol), True))
        elif at:
            tgt.append((word, range(len(src))[int(place)], False))
        else:
            tgt.append((word, 0 if len(src) == 1 else None, False))
    return int(weight), Rule(tuple((symbol.lstrip("$"), symbol.startswith("$")) for symbol in src), tuple(tgt))
