"""Answers of the tasks, by hand with the source of each unit and against Python's own sorting, sums and days; the grammar behind them."""

import datetime
import random
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from playground.tasks.grammars import Grammar
from playground.tasks.toy_tasks import SPLITS, TASKS, answers, examples, references, split_of

BY_HAND = [
    ("dates", "3 March 1987", "1987-03-03", (8, 9, 10, 11, None, None, None, None, None, 0)),
    ("dates", "25.12.1987", "1987-12-25", (6, 7, 8, 9, None, 3, 4, None, 0, 1)),
    ("dates", "1987年3月25日", "1987-03-25", (0, 1, 2, 3, None, None, 5, None, 7, 8)),
    ("numbers_de", "347", "drei hundert sieben und vierzig", (0, 0, 2, None, 1)),
    ("numbers_de", "21000", "ein und zwanzig tausend", (1, None, 0, 1)), ("numbers_zh", "347", "三百四十七", (0, 0, 1, 1, 2)),
    ("numbers_zh", "20005", "两万零五", (0, 0, 1, 4)), ("numbers_en", "347", "three hundred forty seven", (0, 0, 1, 2)),
    ("beer", "ich mochte ein bier", "i want a beer", (0, 1, 2, 3)),
    ("german_english", "ein kleines Mädchen sucht den Vogel", "a small girl looks for the bird", (0, 1, 2, 3, 3, 4, 5)),
    ("german_english", "heute malt die Königin ein Pferd", "today the queen paints a horse", (0, 2, 3, 1, 4, 5)),
    ("german_english", "wir müssen das Schaf finden", "we must find the sheep", (0, 1, 4, 2, 3)),
    ("german_english", "ich weiß , dass der Hund die Katze sieht", "I know that the dog sees the cat", (0, 1, 3, 4, 5, 8, 6, 7)),
    ("german_english", "wenn der König den Vogel gehört hat , lacht sie", "when the king has heard the bird , she laughs",
     (0, 1, 2, 6, 5, 3, 4, 7, 9, 8)),
    ("german_english", "die Frau ruft den Mann nicht", "the woman does not call the man", (0, 1, 2, 5, 2, 3, 4)),
    ("german_english", "sie glaubt , dass ich das Kind nicht höre", "she believes that I do not hear the child",
     (0, 1, 3, 4, 8, 7, 8, 5, 6)),
    ("german_english", "wen sucht das Kind ?", "who does the child look for ?", (0, 1, 2, 3, 1, 1, 4)),
    ("chinese_english", "她 买 了 两 条 鱼", "she bought two fish", (0, 1, 3, 5)),
    ("chinese_english", "他们 想 买 三 把 雨伞", "they want to buy three umbrellas", (0, 1, None, 2, 3, 5)),
    ("chinese_english", "我 不 喜欢 那 只 猫", "I do not like that cat", (0, None, 1, 2, 3, 5)),
    ("chinese_english", "盒子 里 没有 钥匙", "there is no key in the box", (2, 2, 2, 3, 1, None, 0)),
    ("chinese_english", "这 两 只 狗 在 门 后面", "these two dogs are behind the door", (0, 1, 3, 4, 6, None, 5)),
    ("chinese_english", "他 有 几 只 狗 ？", "how many dogs does he have ?", (2, 2, 4, None, 0, 1, 5)),
    ("chinese_english", "你 有 鸡蛋 吗 ？", "do you have an egg ?", (3, 0, 1, 2, 2, 4)),
    ("chinese_english", "帽子 在 哪里 ？", "where is the hat ?", (2, 1, None, 0, 3)),
    ("commands", "walk left twice and jump", "LEFT WALK LEFT WALK JUMP", (1, 0, 1, 0, 4)),
    ("commands", "look thrice after run back", "LEFT LEFT RUN LOOK LOOK LOOK", (4, 4, 3, 0, 0, 0)),
]  # fmt: skip

NUMBERS = [
    (0, "null", "零", "zero"), (1, "eins", "一", "one"), (10, "zehn", "十", "ten"), (16, "sechzehn", "十六", "sixteen"),
    (17, "siebzehn", "十七", "seventeen"), (21, "ein und zwanzig", "二十一", "twenty one"), (30, "dreißig", "三十", "thirty"),
    (101, "ein hundert eins", "一百零一", "one hundred one"), (110, "ein hundert zehn", "一百一十", "one hundred ten"),
    (1001, "ein tausend eins", "一千零一", "one thousand one"), (20_005, "zwanzig tausend fünf", "两万零五", "twenty thousand five"),
    (2222, "zwei tausend zwei hundert zwei und zwanzig", "两千二百二十二", "two thousand two hundred twenty two"),
    (100_500, "ein hundert tausend fünf hundert", "十万零五百", "one hundred thousand five hundred"),
    (220_202, "zwei hundert zwanzig tausend zwei hundert zwei", "二十二万零二百零二", "two hundred twenty thousand two hundred two"),
    (310_012, "drei hundert zehn tausend zwölf", "三十一万零一十二", "three hundred ten thousand twelve"),
]  # fmt: skip

NEVER = ["", " ", "Hello, World", "<script>", "\ud800", "\x00", "hello " * 40, "?", "=", "+", "()"]
REFUSED = {
    "german_english": [
        "der Hund sieht der Katze", "die Hund sieht die Katze", "das Kind sieht der Hund",  # a dative, a gender, the nominative
        "ich sieht den Hund", "ich weiß , dass der Hund sieht die Katze",  # no agreement, the verb not at the end
        "ein kleine Hund sieht die Katze", "der hund sieht die katze", "er weint , weil ich den Hund",  # an ending, small letters, no verb
    ],
    "chinese_english": ["我 有 一 只 书", "我 有 二 本 书", "桌子 有 三 本 书", "我有一本书"],  # measure words, gaps
    "commands": ["twice walk", "walk twice left", "walk and run and look"], "one_to_many": ["ich sehe der Hahn", "der Hahn ist"],
    "brackets": ["(]", ")", "()", "([)]", "a(", "( ["],
    "lookup": [
        "ann=red ? ben", "ann=red ann=blue ? ann", "ann=red ?", "ann=red", "ann=red ann", "zoe=red ? zoe", "ann=ultraviolet ? ann", "? ann",
    ],
    "addition": ["47+589", "1347+589", "347 + 589", "347-589", "047+589", "347+", "٣٤٧+589"],
    "dates": [
        "31.4.1987", "29.2.1900", "0.3.1987", "3.13.1987", "3.3.1899", "3.3.2100", "3 march 1987", "3. March 1987", "3 Sept 1987",
        "1987-03-03", "03.03.1987", "٣.3.1987", "3.3.1987 ",
    ],
    **{f"numbers_{language}": ["007", "1000000", "-3", "3.5", "1,000", "三", "٣", "12 "] for language in ("de", "zh", "en")},
}  # fmt: skip


def test_answered_by_hand_and_what_is_no_sentence_of_a_task_has_no_answer():
    for task, src, tgt, alignment in BY_HAND:
        assert [tuple(answer) for answer in answers(task, src)] == [(src, tgt, alignment)]
    for number, *words in NUMBERS:
        assert [references(f"numbers_{language}", str(number)) for language in ("de", "zh", "en")] == [(word,) for word in words]
    for src in ("3 March 1987", "March 3, 1987", "3 Mar 1987", "3. März 1987", "3.3.1987", "1987年3月3日"):
        assert references("dates", src) == ("1987-03-03",), src
    assert references("beer", "  ich mochte   ein bier ") == ("i want a beer",)
    assert references("one_to_many", "ich sehe das Schloss") == ("I see the castle", "I see the lock"), "the usual one first"
    assert [answer.alignment for answer in answers("one_to_many", "der Mann sucht einen Hahn")] == [(0, 1, 2, 2, 3, 4)] * 2
    for task in TASKS:
        for src in NEVER + REFUSED.get(task, []):
            assert (references(task, src), answers(task, src), split_of(task, src)) == (None, (), None), (task, src)


LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=30)


@given(LETTERS)
def test_letters(src):
    turned = src[3 % len(src) :] + src[: 3 % len(src)]
    for task, tgt in {"copy": src, "reverse": src[::-1], "sort": "".join(sorted(src)), "rotate": turned}.items():
        (answer,) = answers(task, src)
        assert answer.tgt == tgt == "".join(src[place] for place in answer.alignment)
        assert task != "sort" or all(src[a] < src[b] or a < b for a, b in pairwise(answer.alignment)), "equal letters keep their order"


@given(st.integers(100, 999), st.integers(100, 999))
def test_a_sum_is_written_units_first(first, second):
    (answer,) = answers("addition", f"{first}+{second}")
    assert answer.tgt == str(first + second)[::-1]
    assert answer.alignment == ((2, 1, 0) if first + second < 1000 else (2, 1, 0, None))


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)))
def test_every_day_of_two_centuries(day):
    for src in (f"{day.day}.{day.month}.{day.year}", f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}"):
        assert references("dates", src) == (day.isoformat(),)
    assert references("dates", "29.2.2000") == ("2000-02-29",)


@given(st.sampled_from(SPLITS), st.integers(0, 50))
def test_brackets_close_what_was_opened_and_a_lookup_agrees_with_a_dictionary(split, seed):
    (example,) = examples("brackets", split, 1, seed)
    text = example.src + example.tgt
    while text != (text := text.replace("()", "").replace("[]", "").replace("{}", "")):
        pass
    assert text == ""
    assert ["([{"[")]}".index(closing)] for closing in example.tgt] == [example.src[place] for place in example.alignment]
    (example,) = examples("lookup", split, 1, seed)
    facts, _, people = example.src.partition(" ? ")
    colours = dict(fact.split("=") for fact in facts.split())
    assert len(colours) == len(facts.split())
    assert len(people.split()) >= 2
    assert example.tgt == " ".join(colours[person] for person in people.split())
    for person, place in zip(people.split(), example.alignment, strict=True):
        assert example.src.split()[place].startswith(f"{person}=")


VERB_LAST = {
    "sentence": ["$who $what $does = $who $does $what", "$who = $who"], "who": ["Anna = Ann", "der Mann = the@0 man@1"],
    "what": ["Tee = some tea"], "does": ["trinkt = drinks up"],
}  # fmt: skip
BANK = {"sentence": ["$bank = $bank", "die Bank = the@0 bench@1"], "bank": ["die Bank = the@0 bank@1"]}
TWICE = {"sentence": ["$a twice = $a $a", "no $a = nothing@0"], "a": ["hop = HOP"]}


def test_grammars_give_all_translations_what_is_drawn_parses_back_weights_are_odds_and_a_hole_is_an_error():
    rng, grammar = random.Random(0), Grammar(VERB_LAST)
    drawn = {grammar.draw(rng) for _ in range(50)}
    assert {example.src for example in drawn} == {"Anna", "der Mann", "Anna Tee trinkt", "der Mann Tee trinkt"}
    assert all(grammar.parse(example.src) == (example,) for example in drawn)
    odds = Grammar({"sentence": ["7: a = x", "3: a = y"]})
    assert abs(sum(odds.draw(rng).tgt == "x" for _ in range(5000)) / 5000 - 0.7) < 0.03
    for rules, error in (
        ({"sentence": ["$nobody = $nobody"]}, ValueError),  # no rule fills the slot
        ({"sentence": ["$a = $b"], "a": ["x = y"], "b": ["x = y"]}, ValueError),  # the target has a slot that the source lacks
        ({"sentence": ["a b = x@2"]}, IndexError),
    ):
        with pytest.raises(error):
            Grammar(rules)
    without_source = {"sentence": ["$it lacht laut = $it does laugh@1 loudly@2"], "it": ["es = it"]}
    first_of_slot = {"sentence": ["so $long ? = is@1 that@0 ?@2"], "long": ["sehr lang = very long"]}
    two_ways = {"sentence": ["$a = $a", "$b = $b"], "a": ["x = y"], "b": ["x = y"]}
    for rules, src, translations in (
        (VERB_LAST, "der Mann Tee trinkt", [("the man drinks up some tea", (0, 1, 3, 3, 2, 2))]),
        *((VERB_LAST, src, []) for src in ("", "Anna Tee", "trinkt", "Anna Tee trinkt trinkt", "der Anna Tee trinkt", "$who", "anna")),
        (without_source, "es lacht laut", [("it does laugh loudly", (0, None, 1, 2))]),
        (first_of_slot, "so sehr lang ?", [("is that ?", (1, 0, 3))]), (TWICE, "hop twice", [("HOP HOP", (0, 0))]),
        (TWICE, "no hop", [("nothing", (0,))]), (two_ways, "x", [("y", (0,))]),
        (BANK, "die Bank", [("the bank", (0, 1)), ("the bench", (0, 1))]),  # in the order of the rules
    ):  # fmt: skip
        assert [tuple(answer) for answer in Grammar(rules).parse(src)] == [(src, *translation) for translation in translations]
