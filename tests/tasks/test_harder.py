"""What the harder split keeps back, and that training shows all else."""

import re
from collections import Counter
from functools import partial
from itertools import pairwise, product

from playground.tasks import chinese, german, meanings
from playground.tasks.commands import COMPOSED, COUNTS, MOST_ACTIONS
from playground.tasks.dates import PATTERNS
from playground.tasks.numbers import UNSEEN_PAIRS
from playground.tasks.toy_tasks import examples, references, split_of


def sources(task: str, split: str = "train", count: int = 0) -> list[str]:
    return [example.src for example in examples(task, split, count or {"train": 10_000}.get(split, 500), 1)]


def test_letters_are_more():
    for task, split in product(("copy", "reverse", "sort", "rotate"), ("train", "heldout", "harder")):
        words = sources(task, split, 500)
        assert {len(src) for src in words} == set(range(17, 25) if split == "harder" else range(4, 17))
        assert task != "sort" or all(len(set(src)) == len(src) for src in words)


def depth(src: str) -> int:
    return max(sum(1 if symbol in "([{" else -1 for symbol in src[:end]) for end in range(len(src) + 1))


def carries(src: str) -> int:
    carry = total = 0
    for a, b in zip(*(reversed(number) for number in src.split("+")), strict=True):
        carry = int(int(a) + int(b) + carry >= 10)
        total += carry
    return total


def test_brackets_are_deeper_people_more_and_carries_three():
    for task, measure, train, harder in (
        ("brackets", depth, {1, 2, 3, 4}, {5, 6, 7}), ("addition", carries, {0, 1, 2}, {3}),
        ("lookup", lambda src: src.count("="), {3, 4, 5}, {6, 7, 8}),
    ):  # fmt: skip
        assert [set(map(measure, sources(task, split))) for split in ("train", "heldout", "harder")] == [train, train, harder]


def test_numbers_have_a_pair_that_training_never_has():
    for task, width in (("numbers_de", 3), ("numbers_zh", 4), ("numbers_en", 3)):
        train, pairs = sources(task), partial(pairs_of, width=width)
        assert set().union(*map(pairs, train)) == {f"{pair:02}" for pair in range(100)} - set(UNSEEN_PAIRS)
        assert all(pairs(src) & set(UNSEEN_PAIRS) for src in sources(task, "harder"))
        lengths = Counter(map(len, train))
        assert set(lengths) == {1, 2, 3, 4, 5, 6}
        assert min(lengths.values()) / len(train) > 700 / 6000, "short numbers come as often as long ones"
        assert split_of(task, "0") == "train", "nothing else shows the word"


def pairs_of(src: str, width: int) -> set[str]:
    """The tens and units in each group of digits."""
    groups = [src[max(0, end - width) : end] for end in range(len(src), 0, -width)]
    return {group[-2:] for group in groups if len(group) >= 2}


def test_days_are_in_the_nineties_whose_digits_are_known_at_every_place():
    train, harder = ({example.tgt for example in examples("dates", split, 10_000, 1)} for split in ("train", "harder"))
    nineties = {str(year) for year in range(1990, 2000)}
    assert {day[:4] for day in train} == {str(year) for year in range(1900, 2100)} - nineties
    assert {day[:4] for day in harder} == nineties
    assert {day[5:7] for day in train} == {f"{month:02}" for month in range(1, 13)}
    assert all({day[place] for day in train} >= {day[place] for day in harder} for place in range(4))
    first = sources("dates", count=2000)
    assert min(sum(pattern.fullmatch(src) is not None for src in first) for pattern in PATTERNS) > 200


def triple(src: str) -> tuple | None:
    words = src.split()
    nouns = [word for word in words if word in german.GENDER_OF]
    return (nouns[0], next(german.VERB_OF[word] for word in words if word in german.VERB_OF), nouns[1]) if len(nouns) == 2 else None


def test_german_has_triples_that_training_never_has():
    train, harder = set(map(triple, sources("german_english"))) - {None}, set(map(triple, sources("german_english", "harder")))
    assert None not in harder
    assert not train & harder
    assert len(train) >= 1000, "nearly all others are seen"
    assert all(subject != thing for subject, _, thing in train | harder)


def counts(src: str) -> set[tuple[str, str]]:
    words = src.split()
    return {
        (words[place], next(word for word in words[place + 2 :] if word in chinese.NOUNS))
        for place, (word, after) in enumerate(zip(words, [*words[1:], ""], strict=True))
        if word in chinese.NUMBERS and after in chinese.MEASURES
    }


def test_chinese_counts_what_training_never_counts_so():
    train, harder = set().union(*map(counts, sources("chinese_english"))), list(map(counts, sources("chinese_english", "harder")))
    assert all(harder)
    assert not train & set().union(*harder)
    assert train | set().union(*harder) == {(number, noun) for number in chinese.NUMBERS for noun in chinese.NOUNS}


def test_commands_have_jump_with_a_modifier_and_training_has_it_alone_and_in_exactly_so_many_longer_ones():
    def after_jump(src: str) -> set[str]:
        return {after for word, after in pairwise([*src.split(), ""]) if word == "jump"}

    assert set().union(*map(after_jump, sources("commands"))) == {"", "and", "after"}
    assert all(after_jump(src) & {"left", "right", "back", "twice", "thrice"} for src in sources("commands", "harder"))
    for count in COUNTS:
        task, composed = f"commands_jump_{count}" if count else "commands_jump", set(COMPOSED[:count])
        train, harder = sources(task, count=4000), sources(task, "harder")
        assert {src for src in train if "jump" in src.split()} == {"jump", *composed}
        assert all("jump" in src.split() and src != "jump" for src in harder)
        assert not set(harder) & composed
        assert count or 0.09 < train.count("jump") / len(train) < 0.11
        assert not any("jump" in src.split() for src in sources(task, "heldout"))


def test_commands_are_longer_and_each_half_is_not():
    train, harder = ([len(example.tgt.split()) for example in examples("commands_length", split, 2000, 1)] for split in ("train", "harder"))
    assert max(train) == MOST_ACTIONS < min(harder)
    halves = {half for src in sources("commands_length", "harder") for half in re.split(" and | after ", src)}
    assert all(split_of("commands_length", half) != "harder" for half in halves)


def test_meanings_put_a_verb_with_a_noun_it_never_met_and_training_shows_both():
    def pairs(split: str) -> set[tuple[str, str]]:
        known = meanings.VERB_OF
        return {(known[verb], src.split()[-1]) for src in sources("one_to_many", split) for verb in src.split() if verb in known}

    train, harder = pairs("train"), pairs("harder")
    assert not train & harder
    assert train | harder == {(verb[2], noun) for verb in meanings.VERBS for group in meanings.NOUNS.values() for noun in group}
    usual, targets = 0, {}
    for example in examples("one_to_many", "train", 20_000, 1):
        both = references("one_to_many", example.src)
        assert example.tgt in both
        usual += example.tgt == both[0]
        targets.setdefault(example.src, set()).add(example.tgt)
    assert abs(usual / 20_000 - 0.7) < 0.01
    assert sum(len(both) == 2 for both in targets.values()) > 0.95 * len(targets)
