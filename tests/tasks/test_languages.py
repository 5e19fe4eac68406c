"""The small languages: sentences translated by hand, sentences that are wrong, and what the harder split keeps back."""

import re
from collections import Counter

import pytest

from playground.tasks import chinese, german, meanings
from playground.tasks.commands import COMPOSED, COUNTS, MOST_ACTIONS
from playground.tasks.toy_tasks import answers, examples, references, split_of
from tests.thoroughness import every_case

BY_HAND = [
    # a statement, the verb second, articles by gender and case
    ("german_english", "der Hund sieht die Katze", "the dog sees the cat", (0, 1, 2, 3, 4)),
    ("german_english", "ein kleines Mädchen sucht den Vogel", "a small girl looks for the bird", (0, 1, 2, 3, 3, 4, 5)),
    ("german_english", "ich füttere einen müden Hund", "I feed a tired dog", (0, 1, 2, 3, 4)),
    ("german_english", "heute malt die Königin ein Pferd", "today the queen paints a horse", (0, 2, 3, 1, 4, 5)),
    # verbs at the end
    ("german_english", "der Hund hat die Katze gesehen", "the dog has seen the cat", (0, 1, 2, 5, 3, 4)),
    ("german_english", "wir müssen das Schaf finden", "we must find the sheep", (0, 1, 4, 2, 3)),
    ("german_english", "ich weiß , dass der Hund die Katze sieht", "I know that the dog sees the cat", (0, 1, 3, 4, 5, 8, 6, 7)),
    (
        "german_english",
        "wenn der König den Vogel gehört hat , lacht sie",
        "when the king has heard the bird , she laughs",
        (0, 1, 2, 6, 5, 3, 4, 7, 9, 8),
    ),
    # negation
    ("german_english", "die Frau ruft den Mann nicht", "the woman does not call the man", (0, 1, 2, 5, 2, 3, 4)),
    ("german_english", "wir suchen keinen Hund", "we look for no dog", (0, 1, 1, 2, 3)),
    (
        "german_english",
        "sie glaubt , dass ich das Kind nicht höre",
        "she believes that I do not hear the child",
        (0, 1, 3, 4, 8, 7, 8, 5, 6),
    ),
    # questions
    ("german_english", "sieht der Hund die Katze ?", "does the dog see the cat ?", (0, 1, 2, 0, 3, 4, 5)),
    ("german_english", "wen sucht das Kind ?", "who does the child look for ?", (0, 1, 2, 3, 1, 1, 4)),
    ("german_english", "wer besucht die Ärztin ?", "who visits the doctor ?", (0, 1, 2, 3, 4)),
    # measure words and numbers
    ("chinese_english", "我 有 一 本 书", "I have a book", (0, 1, 2, 4)),
    ("chinese_english", "她 买 了 两 条 鱼", "she bought two fish", (0, 1, 3, 5)),
    ("chinese_english", "他 看见 一 个 苹果", "he sees an apple", (0, 1, 2, 4)),
    ("chinese_english", "他 看见 一 个 大 苹果", "he sees a big apple", (0, 1, 2, 4, 5)),
    ("chinese_english", "他们 想 买 三 把 雨伞", "they want to buy three umbrellas", (0, 1, None, 2, 3, 5)),
    ("chinese_english", "我 不 喜欢 那 只 猫", "I do not like that cat", (0, None, 1, 2, 3, 5)),
    # places
    ("chinese_english", "书 在 桌子 上", "the book is on the table", (None, 0, 1, 3, None, 2)),
    ("chinese_english", "猫 不 在 床 下面", "the cat is not under the bed", (None, 0, 2, 1, 4, None, 3)),
    ("chinese_english", "桌子 上 有 三 本 书", "there are three books on the table", (2, 2, 3, 5, 1, None, 0)),
    ("chinese_english", "盒子 里 没有 钥匙", "there is no key in the box", (2, 2, 2, 3, 1, None, 0)),
    ("chinese_english", "这 两 只 狗 在 门 后面", "these two dogs are behind the door", (0, 1, 3, 4, 6, None, 5)),
    # questions
    ("chinese_english", "他 有 几 只 狗 ？", "how many dogs does he have ?", (2, 2, 4, None, 0, 1, 5)),
    ("chinese_english", "你 有 鸡蛋 吗 ？", "do you have an egg ?", (3, 0, 1, 2, 2, 4)),
    ("chinese_english", "帽子 在 哪里 ？", "where is the hat ?", (2, 1, None, 0, 3)),
    ("chinese_english", "那 三 朵 花 很 漂亮", "those three flowers are beautiful", (0, 1, 3, None, 5)),
    # commands
    ("commands", "walk left twice and jump", "LEFT WALK LEFT WALK JUMP", (1, 0, 1, 0, 4)),
    ("commands", "look thrice after run back", "LEFT LEFT RUN LOOK LOOK LOOK", (4, 4, 3, 0, 0, 0)),
    ("commands", "jump right", "RIGHT JUMP", (1, 0)),
]


@pytest.mark.parametrize(("task", "src", "tgt", "alignment"), BY_HAND)
def test_translated_by_hand(task, src, tgt, alignment):
    assert [tuple(answer) for answer in answers(task, src)] == [(src, tgt, alignment)]


@every_case(
    ("task", "src"),
    [
        ("german_english", "der Hund sieht der Katze"),  # a dative
        ("german_english", "die Hund sieht die Katze"),  # a wrong gender
        ("german_english", "das Kind sieht der Hund"),  # the object in the nominative
        ("german_english", "ich sieht den Hund"),  # no agreement
        ("german_english", "ich weiß , dass der Hund sieht die Katze"),  # the verb not at the end
        ("german_english", "ein kleine Hund sieht die Katze"),  # a wrong ending
        ("german_english", "der hund sieht die katze"),
        ("german_english", "er weint , weil ich den Hund"),  # no verb
        ("chinese_english", "我 有 一 只 书"),  # a wrong measure word
        ("chinese_english", "我 有 二 本 书"),  # 两 before a measure word
        ("chinese_english", "桌子 有 三 本 书"),
        ("chinese_english", "我有一本书"),  # the gaps are part of the task
        ("commands", "twice walk"),
        ("commands", "walk twice left"),
        ("commands", "walk and run and look"),
        ("one_to_many", "ich sehe der Hahn"),
        ("one_to_many", "der Hahn ist"),
    ],
)
def test_wrong_sentences_have_no_translation(task, src):
    assert references(task, src) is None


def _triple(src):
    words = src.split()
    nouns = [word for word in words if word in german.GENDER_OF]
    return (nouns[0], next(german.VERB_OF[word] for word in words if word in german.VERB_OF), nouns[1]) if len(nouns) == 2 else None


def test_harder_german_says_triples_that_training_never_says():
    train = {_triple(example.src) for example in examples("german_english", "train", 20_000, 1)}
    harder = {_triple(example.src) for example in examples("german_english", "harder", 500, 1)}
    assert None not in harder
    assert not train & harder
    assert len(train) > 1000  # nearly all others are seen
    assert all(subject != thing for subject, _, thing in (train | harder) - {None})


def _counts(src):
    words = src.split()
    return {
        (words[place], next(word for word in words[place + 2 :] if word in chinese.NOUNS))
        for place, (word, after) in enumerate(zip(words, [*words[1:], ""], strict=True))
        if word in chinese.NUMBERS and after in chinese.MEASURES
    }


def test_harder_chinese_counts_what_training_never_counts_so():
    train = set().union(*(_counts(example.src) for example in examples("chinese_english", "train", 20_000, 1)))
    harder = [_counts(example.src) for example in examples("chinese_english", "harder", 500, 1)]
    assert all(harder)
    assert not train & set().union(*harder)
    assert train | set().union(*harder) == {(number, noun) for number in chinese.NUMBERS for noun in chinese.NOUNS}


def test_training_says_jump_but_never_with_a_modifier():
    def after_jump(src):
        return {after for word, after in zip(src.split(), [*src.split()[1:], ""], strict=True) if word == "jump"}

    train = set().union(*(after_jump(example.src) for example in examples("commands", "train", 20_000, 1)))
    assert train == {"", "and", "after"}
    modifiers = {"left", "right", "back", "twice", "thrice"}
    assert all(after_jump(example.src) & modifiers for example in examples("commands", "harder", 500, 1))


def test_training_of_the_true_split_has_jump_by_itself_alone_and_often():
    train = [example.src for example in examples("commands_jump", "train", 20_000, 1)]
    assert {src for src in train if "jump" in src.split()} == {"jump"}
    assert 0.09 < train.count("jump") / len(train) < 0.11
    assert not any("jump" in example.src.split() for example in examples("commands_jump", "heldout", 500, 1))
    harder = [example.src.split() for example in examples("commands_jump", "harder", 500, 1)]
    assert all("jump" in words and len(words) > 1 for words in harder)
    assert {len(words) for words in harder} >= {2, 3, 4, 5, 6, 7}


@pytest.mark.parametrize("count", COUNTS[1:])
def test_of_longer_commands_with_jump_training_has_exactly_those_it_should(count):
    """None of them is held out, so all are really shown; and none of them is among the harder ones."""
    task, shown = f"commands_jump_{count}", set(COMPOSED[:count])
    train = [example.src for example in examples(task, "train", 4000, 1)]
    assert {src for src in train if "jump" in src.split()} == {"jump", *shown}
    assert len(shown) == count
    harder = {example.src for example in examples(task, "harder", 500, 1)}
    assert all("jump" in src.split() and src != "jump" for src in harder)
    assert not harder & shown


def test_training_of_the_split_by_length_has_every_half_of_the_longer_ones():
    train, harder = ([len(example.tgt.split()) for example in examples("commands_length", split, 2000, 1)] for split in ("train", "harder"))
    assert max(train) == MOST_ACTIONS < min(harder)
    halves = {half for example in examples("commands_length", "harder", 500, 1) for half in re.split(" and | after ", example.src)}
    assert all(split_of("commands_length", half) != "harder" for half in halves)


def test_a_word_with_two_meanings_has_both_the_usual_one_first():
    assert references("one_to_many", "ich sehe das Schloss") == ("I see the castle", "I see the lock")
    assert references("one_to_many", "wo ist die Schlange ?") == ("where is the snake ?", "where is the queue ?")
    assert [answer.alignment for answer in answers("one_to_many", "der Mann sucht einen Hahn")] == [(0, 1, 2, 2, 3, 4)] * 2


def test_training_shows_the_usual_meaning_in_seven_draws_of_ten():
    drawn = Counter()
    for example in examples("one_to_many", "train", 20_000, 1):
        usual, other = references("one_to_many", example.src)
        drawn[example.tgt == usual] += 1
        assert example.tgt in (usual, other)
    assert abs(drawn[True] / drawn.total() - 0.7) < 0.01


def test_both_meanings_of_most_sentences_are_shown():
    seen = {}
    for example in examples("one_to_many", "train", 20_000, 1):
        seen.setdefault(example.src, set()).add(example.tgt)
    assert sum(len(targets) == 2 for targets in seen.values()) > 0.95 * len(seen)


def test_harder_meanings_put_a_verb_with_a_noun_it_never_met():
    def pairs(split, count):
        words = [example.src.split() for example in examples("one_to_many", split, count, 1)]
        return {(meanings.VERB_OF[verb], sentence[-1]) for sentence in words for verb in sentence if verb in meanings.VERB_OF}

    train, harder = pairs("train", 20_000), pairs("harder", 500)
    nouns = {noun for group in meanings.NOUNS.values() for noun in group}
    assert not train & harder
    assert train | harder == {(verb[2], noun) for verb in meanings.VERBS for noun in nouns}
