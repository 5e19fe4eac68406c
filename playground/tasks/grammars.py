"""Two languages from one set of rules: each rule has a source and a target side, so a sentence is generated with its translation.

This is a synchronous context-free grammar (Lewis and Stearns, "Syntax-directed transduction", 1968). A rule is one line:

    "$subject $verb $object = $subject $verb $object"     slots ($name) are filled by the rules of that name, the same filling on both sides
    "heute = today"                                       words; with a single source symbol, every target word aligns with it
    "wen $verb $subject ? = who@0 does@1 $subject $verb"  word@n aligns with symbol n of the source, a word without @ with none
    "3: $a = $a"                                          three times as likely as a rule without a number

Parsing uses the same rules in reverse: every derivation of a sentence gives a right translation.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from playground.tasks import Example, Task

TargetWords = list[tuple[str, "int | None"]]  # target words, each with the index of the source word it aligns with


@cache
def held_back(*words: str) -> bool:
    """Returns whether training excludes this combination of words. A tenth of all, chosen by hash."""
    return int.from_bytes(blake2b(" ".join(words).encode(), digest_size=8).digest(), "big") % 10 == 0


class Rule(NamedTuple):
    """One line of a grammar. A symbol is a slot's name or a word; each target word has the source symbol it aligns with."""

    src: tuple[tuple[str, bool], ...]  # (name or word, whether it is a slot)
    tgt: tuple[tuple[str, int | None, bool], ...]  # (word, its aligned source symbol, False) or (slot, its source symbol, True)


class Grammar:
    """Rules by the name of the slot they fill; sentences are fillings of the slot "sentence"."""

    def __init__(self, rules: Mapping[str, Iterable[str]]) -> None:
        self.rules: dict[str, list[Rule]] = {}
        self.weighted: dict[str, list[Rule]] = {}  # each rule repeated by its weight, to draw from
        for name, lines in rules.items():
            read = [_read(line) for line in lines]
            self.rules[name] = [rule for _, rule in read]
            self.weighted[name] = [rule for weight, rule in read for _ in range(weight)]
        for rule in [rule for lines in self.rules.values() for rule in lines]:
            for name, slot in rule.src:
                if slot and name not in self.rules:
                    raise ValueError(f"no rule fills ${name}")
        self.openings = self._openings()  # an index: the rules of each slot by the possible first words

    def _openings(self) -> dict[str, dict[str, list[Rule]]]:
        words: dict[str, dict[Rule, set[str]]] = {name: {rule: set() for rule in rules} for name, rules in self.rules.items()}
        growing = True
        while growing:
            growing = False
            for rules in words.values():
                for rule, known in rules.items():
                    symbol, slot = rule.src[0]
                    firsts = set().union(*words[symbol].values()) if slot else {symbol}
                    growing |= not firsts <= known
                    known |= firsts
        return {
            name: {word: [rule for rule in self.rules[name] if word in rules[rule]] for word in set().union(*rules.values())}
            for name, rules in words.items()
        }

    def draw(self, rng: random.Random) -> Example:
        """Draws a random sentence: at each slot one of its rules, by weight."""
        src: list[str] = []
        written = self._fill("sentence", rng, src)
        return Example(" ".join(src), " ".join([word for word, _ in written]), tuple([place for _, place in written]))

    def draw_where(self, rng: random.Random, accepts: Callable[[Example], bool]) -> Example:
        """Draws sentences until one is accepted."""
        return next(example for example in iter(lambda: self.draw(rng), None) if accepts(example))

    def make_task(self, name: str, is_harder: Callable[[str], bool], place: int, steps: int | None = None) -> Task:
        """Makes the task of translating its sentences; those that are harder are a split of their own."""

        def draw(rng: random.Random, harder: bool) -> Example:
            return self.draw_where(rng, lambda example: is_harder(example.src) == harder)

        return Task(name, "words", "words", draw, self.parse, is_harder, steps=steps, place=place)

    def _fill(self, name: str, rng: random.Random, src: list[str]) -> TargetWords:
        """Appends one filling of a slot to `src`; returns its target words."""
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
        return _translate(rule, starts, filled)

    def parse(self, src: str) -> tuple[Example, ...]:
        """Returns every translation of a sentence, in the order of the rules; () when the grammar doesn't derive it."""
        words = src.split()
        whole = [target for end, target in self._spans("sentence", tuple(words), 0, {}) if end == len(words)]
        alignments = {" ".join([word for word, _ in target]): tuple([place for _, place in target]) for target in reversed(whole)}
        return tuple(Example(src, tgt, alignment) for tgt, alignment in reversed(alignments.items()))

    def _spans(self, name: str, words: tuple[str, ...], start: int, known: dict) -> list[tuple[int, TargetWords]]:
        """Returns every filling of a slot by the words from `start` on: its end and its target words. `known` is a cache."""
        if (name, start) not in known:
            fitting = self.openings[name].get(words[start], ()) if start < len(words) else ()
            known[name, start] = [span for rule in fitting for span in self._match(rule, words, start, known)]
        return known[name, start]

    def _match(self, rule: Rule, words: tuple[str, ...], start: int, known: dict) -> Iterator[tuple[int, TargetWords]]:
        """Yields every match of a rule with the words from `start` on."""
        partial: list[tuple[int, list[int], list]] = [(start, [], [])]
        for symbol, slot in rule.src:
            longer = []
            for end, starts, filled in partial:
                if slot:
                    longer += [(after, [*starts, end], [*filled, target]) for after, target in self._spans(symbol, words, end, known)]
                elif end < len(words) and words[end] == symbol:
                    longer.append((end + 1, [*starts, end], [*filled, None]))
            partial = longer
        for end, starts, filled in partial:
            yield end, _translate(rule, starts, filled)


def _translate(rule: Rule, starts: list[int], filled: list) -> TargetWords:
    """Returns the target side of a rule with its slots filled; `starts` are the positions of its source symbols."""
    target: TargetWords = []
    for word, symbol, slot in rule.tgt:
        if slot:
            target += filled[symbol]
        else:
            target.append((word, None if symbol is None else starts[symbol]))
    return target


def _read(line: str) -> tuple[int, Rule]:
    """Parses a line into its weight and its rule. Raises ValueError where the target has a slot that the source lacks."""
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


# ---- German words with two meanings: a sentence has two right translations, and training shows one of them in seven of ten draws ----

NOUNS = {  # both meanings have the same gender; the first is more frequent
    "m": {"Hahn": ("rooster", "tap"), "Läufer": ("runner", "rug"), "Schalter": ("switch", "counter"), "Turm": ("tower", "rook")},
    "f": {
        "Bank": ("bank", "bench"), "Birne": ("pear", "bulb"), "Decke": ("blanket", "ceiling"), "Feder": ("feather", "spring"),
        "Karte": ("map", "card"), "Schlange": ("snake", "queue"),
    },
    "n": {"Blatt": ("leaf", "sheet"), "Gericht": ("dish", "court"), "Schloss": ("castle", "lock"), "Tor": ("gate", "goal")},
}  # fmt: skip
USUAL, OTHER = 7, 3  # of ten
VERBS = (  # ich, er, wir; English base and third person
    ("sehe", "sieht", "sehen", "see", "sees"),
    ("suche", "sucht", "suchen", "look for", "looks for"),
    ("finde", "findet", "finden", "find", "finds"),
    ("zeichne", "zeichnet", "zeichnen", "draw", "draws"),
    ("brauche", "braucht", "brauchen", "need", "needs"),
    ("meine", "meint", "meinen", "mean", "means"),
)
ARTICLES = {"m": ("der", "den", "ein", "einen"), "f": ("die", "die", "eine", "eine"), "n": ("das", "das", "ein", "ein")}
DESCRIPTIONS = ("alt = old", "groß = big", "klein = small", "schön = beautiful")


def _rules() -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {"the.nom": [], "a.nom": [], "acc": []}
    for gender, nouns in NOUNS.items():
        the, the_acc, a, a_acc = ARTICLES[gender]
        noun = f"$noun.{gender}"
        weight = len(nouns)  # makes all nouns equally frequent
        rules[noun[1:]] = [f"{n}: {de} = {en}" for de, both in nouns.items() for n, en in zip((USUAL, OTHER), both, strict=True)]
        rules["the.nom"] += [f"{weight}: {the} {noun} = the@0 {noun}"]
        rules["a.nom"] += [f"{weight}: {a} {noun} = a@0 {noun}"]
        rules["acc"] += [f"{weight}: {the_acc} {noun} = the@0 {noun}", f"{weight}: {a_acc} {noun} = a@0 {noun}"]
    return rules


GRAMMAR = Grammar(
    {
        "sentence": [
            "ich $verb.ich $acc = I@0 $verb.ich $acc",
            "4: $third $verb.er $acc = $third $verb.er $acc",
            "wir $verb.wir $acc = we@0 $verb.wir $acc",
            "$the.nom ist $description = $the.nom is@1 $description",
            "das ist $a.nom = that@0 is@1 $a.nom",
            "wo ist $the.nom ? = where@0 is@1 $the.nom ?@3",
        ],
        "third": ["er = he", "sie = she", "das Kind = the@0 child@1", "die Frau = the@0 woman@1", "der Mann = the@0 man@1"],
        "verb.ich": [f"{verb[0]} = {verb[3]}" for verb in VERBS],
        "verb.er": [f"{verb[1]} = {verb[4]}" for verb in VERBS],
        "verb.wir": [f"{verb[2]} = {verb[3]}" for verb in VERBS],
        "description": list(DESCRIPTIONS),
        **_rules(),
    }
)
VERB_OF = {form: verb[2] for verb in VERBS for form in verb[:3]}


def _unseen_pair(src: str) -> bool:
    words = src.split()
    verb = next((VERB_OF[word] for word in words if word in VERB_OF), None)
    return verb is not None and held_back(verb, words[-1])


ONE_TO_MANY = GRAMMAR.make_task("one_to_many", _unseen_pair, place=200)
