"""Tasks about the order of symbols: copy, reverse, sort, rotate, brackets, lookup; and commands."""

import random
import re
from collections.abc import Callable
from itertools import pairwise
from string import ascii_lowercase

from playground.tasks import Example, Task
from playground.tasks.grammars import Grammar

LENGTHS, LONGER = (4, 16), (17, 24)  # letters in a source: training and held-out, harder
ROTATION = 3  # letters that move from the front to the end


def _letter_task(name: str, place: int, order: Callable[[str], list[int]], telling: str = "helloworld", distinct: bool = False) -> Task:
    """Returns a task that reorders the letters of the source: `order` returns the source index of each target letter."""

    def answer(src: str) -> Example:
        places = order(src)
        return Example(src, "".join([src[place] for place in places]), tuple(places))

    def draw(rng: random.Random, harder: bool) -> Example:
        return answer(letters(rng, rng.randint(*(LONGER if harder else LENGTHS))))

    def letters(rng: random.Random, length: int) -> str:
        return "".join(rng.sample(ascii_lowercase, length) if distinct else rng.choices(ascii_lowercase, k=length))

    def draw_long(rng: random.Random, length: int) -> Example | None:
        return None if distinct and length > len(ascii_lowercase) else answer(letters(rng, length))

    def answers(src: str) -> tuple[Example, ...]:
        return (answer(src),) if re.fullmatch("[a-z]+", src) else ()

    def is_harder(src: str) -> bool:
        return len(src) > LENGTHS[1]

    return Task(name, "characters", "characters", draw, answers, is_harder, draw_long=draw_long, telling=telling, place=place)


COPY = _letter_task("copy", 10, lambda src: list(range(len(src))))
REVERSE = _letter_task("reverse", 20, lambda src: list(range(len(src) - 1, -1, -1)))
SORT = _letter_task("sort", 30, lambda src: sorted(range(len(src)), key=src.__getitem__), telling="campground", distinct=True)
ROTATE = _letter_task("rotate", 40, lambda src: [(place + ROTATION) % len(src) for place in range(len(src))])


# Brackets: close everything that is still open. A stack, which the model has to track by attention.

CLOSING = {"(": ")", "[": "]", "{": "}"}
DEPTH, DEEPER = 4, 7  # the deepest nesting of training and held-out, and of the harder split
LONGEST_BRACKETS = 14


def _open_brackets(src: str) -> tuple[list[int], int] | None:
    """Returns the positions of the open brackets in order and the maximum nesting; None where a bracket closes the wrong one."""
    stack: list[int] = []
    deepest = 0
    for place, symbol in enumerate(src):
        if symbol in CLOSING:
            stack.append(place)
            deepest = max(deepest, len(stack))
        elif not stack or CLOSING[src[stack.pop()]] != symbol:
            return None
    return stack, deepest


def _draw_brackets(rng: random.Random, harder: bool) -> Example:
    limit = rng.randint(DEPTH + 1, DEEPER) if harder else DEPTH
    while True:
        symbols: list[str] = []
        stack: list[str] = []
        for _ in range(rng.randint(limit if harder else 2, LONGEST_BRACKETS)):
            if stack and (len(stack) == limit or rng.random() < (0.25 if harder else 0.45)):
                symbols.append(CLOSING[stack.pop()])
            else:
                stack.append(rng.choice("([{"))
                symbols.append(stack[-1])
        answers = _bracket_answers("".join(symbols))
        if answers and BRACKETS.is_harder(answers[0].src) == harder:
            return answers[0]


def _bracket_answers(src: str) -> tuple[Example, ...]:
    unclosed = _open_brackets(src)
    if not unclosed or not unclosed[0]:
        return ()
    places = unclosed[0][::-1]
    return (Example(src, "".join([CLOSING[src[place]] for place in places]), tuple(places)),)


def _deep(src: str) -> bool:
    return (_open_brackets(src) or ([], 0))[1] > DEPTH


BRACKETS = Task("brackets", "characters", "characters", _draw_brackets, _bracket_answers, _deep, steps=400, place=60)


# Lookup: which colour does a person have? A person and a colour are one word, so that one attention step finds both.

PEOPLE = ("ann", "ben", "dan", "eve", "fay", "ivy", "leo", "max", "sue", "tom")
COLOURS = ("red", "blue", "green", "gold", "pink", "grey", "brown", "white")
FACTS, MORE_FACTS, QUESTIONS = (3, 5), (6, 8), (2, 4)  # numbers per source


def _draw_lookup(rng: random.Random, harder: bool) -> Example:
    people = rng.sample(PEOPLE, rng.randint(*(MORE_FACTS if harder else FACTS)))
    facts = [f"{person}={rng.choice(COLOURS)}" for person in people]
    asked_indices = rng.sample(range(len(people)), min(rng.randint(*QUESTIONS), len(people)))
    return _look_up(facts, [people[place] for place in asked_indices])


def _look_up(facts: list[str], people_asked: list[str]) -> Example:
    places = {fact.split("=")[0]: place for place, fact in enumerate(facts)}
    alignment = tuple([places[person] for person in people_asked])
    return Example(" ".join([*facts, "?", *people_asked]), " ".join([facts[place].split("=")[1] for place in alignment]), alignment)


def _lookup_answers(src: str) -> tuple[Example, ...]:
    facts, question, people_asked = (part.split() for part in src.partition("?"))
    people = [fact.partition("=")[0] for fact in facts]
    known = all(re.fullmatch(f"({'|'.join(PEOPLE)})=({'|'.join(COLOURS)})", fact) for fact in facts)
    if not question or not people_asked or not known or len(set(people)) < len(people) or not set(people_asked) <= set(people):
        return ()
    return (_look_up(facts, people_asked),)


LOOKUP = Task("lookup", "words", "words", _draw_lookup, _lookup_answers, lambda src: src.count("=") > FACTS[1], steps=600, place=50)


# ---- commands and the steps that carry them out, after SCAN (Lake and Baroni, "Generalization without systematicity", 2018) ----

ACTIONS = ("walk", "run", "skip", "look", "wave", "jump")
HELD_OUT_ACTION = "jump"  # in training only by itself, never before a modifier
MODIFIERS = ("left", "right", "back", "twice", "thrice")

GRAMMAR = Grammar(
    {
        "sentence": ["$repeated = $repeated", "$first and $second = $first $second", "$second after $first = $first $second"],
        "first": ["$repeated = $repeated"],
        "second": ["$repeated = $repeated"],
        "repeated": [
            "2: $turned = $turned",
            "$turned twice = $turned $turned",
            "$turned thrice = $turned $turned $turned",
        ],
        "turned": [
            "$action = $action",
            "$action left = LEFT@1 $action",
            "$action right = RIGHT@1 $action",
            "$action back = LEFT@1 LEFT@1 $action",
        ],
        "action": [f"{action} = {action.upper()}" for action in ACTIONS],
    }
)


def _modified_loner(src: str) -> bool:
    words = src.split()
    return any(word == HELD_OUT_ACTION and after in MODIFIERS for word, after in pairwise(words))


# The split of the paper, "add jump": in training "jump" is a whole command by itself, a tenth of the time, so that the word is learnt, and
# part of no other. In the task above it also occurs beside "and" and "after", so training shows most of its uses.

# As in the paper, variants add a few longer commands with "jump" to training. They are the beginnings of the list below; none of it is in
# the held-out tenth.

JUMP_ALONE, ADDED = 0.1, 0.1  # fractions of the training draws: "jump" by itself, and the added longer commands
COMPOSED = (
    "jump twice", "walk and jump left", "jump thrice after run", "jump right and look", "jump and wave", "skip after jump back",
    "jump left twice", "run left and jump", "jump back", "look twice and jump back", "jump back twice", "wave after jump",
    "jump right thrice and walk", "jump after look back", "skip right twice and jump thrice", "jump left after wave thrice",
)  # fmt: skip
COUNTS = (0, 1, 4, 16)


def _split_at_jump(name: str, count: int) -> Task:
    """Returns the task whose training has `count` of the longer commands with "jump"; all others are the harder split."""
    added = COMPOSED[:count]

    def is_harder(src: str) -> bool:
        words = src.split()
        return HELD_OUT_ACTION in words and len(words) > 1 and src not in added

    def draw(rng: random.Random, harder: bool) -> Example:
        dice = 1.0 if harder else rng.random()
        if dice < JUMP_ALONE:
            return GRAMMAR.parse(HELD_OUT_ACTION)[0]
        if added and dice < JUMP_ALONE + ADDED:
            return GRAMMAR.parse(rng.choice(added))[0]
        accepts = is_harder if harder else lambda src: HELD_OUT_ACTION not in src.split()
        return GRAMMAR.draw_where(rng, lambda example: accepts(example.src))

    return Task(name, "words", "words", draw, GRAMMAR.parse, is_harder, steps=400, place=150 + count)


# The other split of the paper: training has commands of few actions, the harder split longer ones, each half of which is short enough to
# be a training command.

MOST_ACTIONS = 9


def _takes_longer(src: str) -> bool:
    return len(GRAMMAR.parse(src)[0].tgt.split()) > MOST_ACTIONS


def _draw_of_length(rng: random.Random, harder: bool) -> Example:
    return GRAMMAR.draw_where(rng, lambda example: (len(example.tgt.split()) > MOST_ACTIONS) == harder)


COMMANDS = GRAMMAR.make_task("commands", _modified_loner, place=140, steps=400)
COMMANDS_JUMP, COMMANDS_JUMP_1, COMMANDS_JUMP_4, COMMANDS_JUMP_16 = (
    _split_at_jump(f"commands_jump{f'_{count}' if count else ''}", count) for count in COUNTS
)
COMMANDS_LENGTH = Task("commands_length", "words", "words", _draw_of_length, GRAMMAR.parse, _takes_longer, steps=400, place=190)
