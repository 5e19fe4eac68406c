"""Copy, reverse, sort, rotate, brackets and lookup against cases worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.tasks.toy_tasks import answers, examples, references
from tests.thoroughness import every_case

LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=30)
LETTER_TASKS = ("copy", "reverse", "sort", "rotate")


@every_case(
    ("task", "src", "tgt", "alignment"),
    [
        ("copy", "hello", "hello", (0, 1, 2, 3, 4)),
        ("reverse", "hello", "olleh", (4, 3, 2, 1, 0)),
        ("sort", "dbca", "abcd", (3, 1, 2, 0)),
        ("sort", "hello", "ehllo", (1, 0, 2, 3, 4)),  # equal letters keep their order
        ("rotate", "abcdefg", "defgabc", (3, 4, 5, 6, 0, 1, 2)),
        ("rotate", "ab", "ba", (1, 0)),  # three steps around two letters are one
        ("brackets", "([{", "}])", (2, 1, 0)),
        ("brackets", "([]{(", ")})", (4, 3, 0)),
        ("brackets", "(){}[", "]", (4,)),
        ("lookup", "ann=red ben=blue tom=red ? tom ben", "red blue", (2, 1)),
        ("lookup", "eve=gold ? eve eve", "gold gold", (0, 0)),
    ],
)
def test_by_hand(task, src, tgt, alignment):
    assert [tuple(answer) for answer in answers(task, src)] == [(src, tgt, alignment)]


@given(LETTERS)
def test_letter_tasks_agree_with_python(src):
    assert references("copy", src) == (src,)
    assert references("reverse", src) == (src[::-1],)
    assert references("sort", src) == ("".join(sorted(src)),)
    if len(src) >= 3:
        assert references("rotate", src) == (src[3:] + src[:3],)


@given(st.sampled_from(LETTER_TASKS), LETTERS)
def test_each_letter_stands_where_the_alignment_says(task, src):
    (answer,) = answers(task, src)
    assert "".join(src[place] for place in answer.alignment) == answer.tgt
    assert sorted(answer.alignment) == list(range(len(src)))


@pytest.mark.parametrize("task", LETTER_TASKS)
def test_harder_means_longer(task):
    for split, lengths in (("train", range(4, 17)), ("heldout", range(4, 17)), ("harder", range(17, 25))):
        seen = {len(example.src) for example in examples(task, split, 500, 1)}
        assert seen == set(lengths)


def test_letters_to_sort_are_distinct():
    assert all(len(set(example.src)) == len(example.src) for split in ("train", "harder") for example in examples("sort", split, 300, 1))


@given(st.sampled_from(["train", "heldout", "harder"]), st.integers(0, 50))
def test_brackets_close_what_was_opened(split, seed):
    (example,) = examples("brackets", split, 1, seed)
    text = example.src + example.tgt
    while text != (text := text.replace("()", "").replace("[]", "").replace("{}", "")):
        pass
    assert text == ""
    assert ["([{"[")]}".index(closing)] for closing in example.tgt] == [example.src[place] for place in example.alignment]


def _depth(src):
    levels = [sum(1 if symbol in "([{" else -1 for symbol in src[:end]) for end in range(len(src) + 1)]
    return max(levels)


def test_harder_brackets_are_deeper_and_no_longer():
    train, harder = examples("brackets", "train", 20_000, 1), examples("brackets", "harder", 500, 1)
    assert {_depth(example.src) for example in train} == {1, 2, 3, 4}
    assert {_depth(example.src) for example in harder} == {5, 6, 7}
    assert max(len(example.src) for example in harder) <= max(len(example.src) for example in train)


@pytest.mark.parametrize("src", ["(]", ")", "()", "([)]", "a(", "( ["])
def test_brackets_that_cross_or_leave_nothing_to_close_are_refused(src):
    assert references("brackets", src) is None


def test_harder_lookups_have_more_people():
    for split, people in (("train", {3, 4, 5}), ("heldout", {3, 4, 5}), ("harder", {6, 7, 8})):
        assert {example.src.count("=") for example in examples("lookup", split, 500, 1)} == people


@given(st.sampled_from(["train", "heldout", "harder"]), st.integers(0, 50))
def test_a_lookup_agrees_with_a_dictionary(split, seed):
    (example,) = examples("lookup", split, 1, seed)
    facts, _, asked = example.src.partition(" ? ")
    colours = dict(fact.split("=") for fact in facts.split())
    assert len(colours) == len(facts.split())
    assert len(asked.split()) >= 2
    assert example.tgt == " ".join(colours[person] for person in asked.split())
    for person, place in zip(asked.split(), example.alignment, strict=True):
        assert example.src.split()[place].startswith(f"{person}=")


@pytest.mark.parametrize(
    "src",
    [
        "ann=red ? ben",  # nobody said what ben has
        "ann=red ann=blue ? ann",  # said twice
        "ann=red ?",
        "ann=red",
        "ann=red ann",
        "zoe=red ? zoe",
        "ann=ultraviolet ? ann",
        "? ann",
    ],
)
def test_questions_without_one_answer_are_refused(src):
    assert references("lookup", src) is None
