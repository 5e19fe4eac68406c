"""Small Chinese: measure words, places, questions and negation, with the gaps between words that Chinese doesn't write."""

from playground.tasks.grammars import Grammar, held_back

NOUNS = {  # noun: its measure word, English singular and plural
    "书": ("本", "book", "books"), "鱼": ("条", "fish", "fish"), "猫": ("只", "cat", "cats"), "狗": ("只", "dog", "dogs"),
    "鸟": ("只", "bird", "birds"), "苹果": ("个", "apple", "apples"), "鸡蛋": ("个", "egg", "eggs"), "杯子": ("个", "cup", "cups"),
    "雨伞": ("把", "umbrella", "umbrellas"), "照片": ("张", "photo", "photos"), "笔": ("支", "pen", "pens"),
    "花": ("朵", "flower", "flowers"), "帽子": ("顶", "hat", "hats"), "钥匙": ("把", "key", "keys"),
}  # fmt: skip
NUMBERS = {  # before a measure word two is 两
    "两": "two", "三": "three", "四": "four", "五": "five", "六": "six", "七": "seven", "八": "eight", "九": "nine", "十": "ten",
}  # fmt: skip
MEASURES = {measure for measure, _, _ in NOUNS.values()}
SIZES = {"大": "big", "小": "small"}
QUALITIES = ("大 = big", "小 = small", "贵 = expensive", "漂亮 = beautiful")
PLACES = (  # the relation follows the place in Chinese and precedes it in English
    "桌子 上 = on@1 the table@0",
    "床 上 = on@1 the bed@0",
    "床 下面 = under@1 the bed@0",
    "树 下面 = under@1 the tree@0",
    "盒子 里 = in@1 the box@0",
    "房间 里 = in@1 the room@0",
    "门 后面 = behind@1 the door@0",
)
SUBJECTS = {
    "plain": ("我 = I", "你 = you", "我们 = we", "他们 = they"),
    "third": ("他 = he", "她 = she"),
}
QUESTION_SUBJECTS = {"plain": ("你 = you", "他们 = they"), "third": SUBJECTS["third"]}


def _noun_phrases() -> dict[str, list[str]]:
    """Returns rules for noun phrases. one, many, this, these: with measure words. bare: the noun. any: "a" in English only. how.many."""
    rules: dict[str, list[str]] = {name: [] for name in ("one", "many", "this", "these", "bare", "any", "how.many")}
    rules["number"] = [f"{number} = {english}" for number, english in NUMBERS.items()]
    rules["size"] = [f"{size} = {english}" for size, english in SIZES.items()]
    for noun, (measure, single, plural) in NOUNS.items():
        a = "an" if single[0] in "aeiou" else "a"
        rules["one"] += [f"3: 一 {measure} {noun} = {a}@0 {single}@2", f"一 {measure} $size {noun} = a@0 $size {single}@3"]
        rules["many"] += [f"3: $number {measure} {noun} = $number {plural}@2", f"$number {measure} $size {noun} = $number $size {plural}@3"]
        for pointer, this, these in (("这", "this", "these"), ("那", "that", "those")):
            rules["this"] += [f"{pointer} {measure} {noun} = {this}@0 {single}@2"]
            rules["these"] += [f"{pointer} $number {measure} {noun} = {these}@0 $number {plural}@3"]
        rules["bare"] += [f"{noun} = {single}"]
        rules["any"] += [f"{noun} = {a} {single}@0"]
        rules["how.many"] += [f"几 {measure} {noun} = how@0 many@0 {plural}@2"]
    return rules


def _people() -> dict[str, list[str]]:
    """Returns rules for sentences about what a person has, bought, sees, wants or likes; English verbs agree, Chinese ones don't."""
    rules: dict[str, list[str]] = {"somebody": [], "asking": []}
    for person, (have, see, want, like, do) in {
        "plain": ("have", "see", "want", "like", "do"),
        "third": ("has", "sees", "wants", "likes", "does"),
    }.items():
        s, subject = f"$subject.{person}", f"$asked.{person}"
        rules[s[1:]], rules[subject[1:]] = list(SUBJECTS[person]), list(QUESTION_SUBJECTS[person])
        rules["somebody"] += [
            f"2: {s} 有 $things = {s} {have}@1 $things",
            f"{s} 没有 $bare = {s} {have}@1 no@1 $bare",
            f"{s} 买 了 $things = {s} bought@1 $things",
            f"{s} 看见 $things = {s} {see}@1 $things",
            f"{s} 想 买 $things = {s} {want}@1 to buy@2 $things",
            f"{s} 喜欢 $pointed = {s} {like}@1 $pointed",
            f"{s} 不 喜欢 $pointed = {s} {do} not@1 like@2 $pointed",
        ]
        rules["asking"] += [
            f"{subject} 有 $any 吗 ？ = {do}@3 {subject} have@1 $any ?@4",
            f"{subject} 有 $how.many ？ = $how.many {do} {subject} have@1 ?@3",
        ]
    return rules


GRAMMAR = Grammar(
    {
        "sentence": ["3: $somebody = $somebody", "3: $where = $where", "$what.like = $what.like", "$asking = $asking"],
        "where": [
            "$bare 在 $place = the $bare is@1 $place",
            "$bare 不 在 $place = the $bare is@2 not@1 $place",
            "$place 有 $one = there@1 is@1 $one $place",
            "3: $place 有 $many = there@1 are@1 $many $place",
            "$place 没有 $bare = there@1 is@1 no@1 $bare $place",
            "$this 在 $place = $this is@1 $place",
            "$these 在 $place = $these are@1 $place",
            "$bare 在 哪里 ？ = where@2 is@1 the $bare ?@3",
        ],
        "what.like": ["$this 很 $quality = $this is $quality", "$these 很 $quality = $these are $quality"],
        "things": ["$one = $one", "3: $many = $many"],
        "pointed": ["$this = $this", "2: $these = $these"],
        "place": list(PLACES),
        "quality": list(QUALITIES),
        **_noun_phrases(),
        **_people(),
    }
)


def _unseen_count(src: str) -> bool:
    words = src.split()
    for number, measure, *rest in zip(words, words[1:], words[2:], [*words[3:], ""], strict=False):
        if number in NUMBERS and measure in MEASURES:
            return held_back(number, rest[1] if rest[0] in SIZES else rest[0])
    return False


CHINESE_ENGLISH = GRAMMAR.make_task("chinese_english", _unseen_count, place=130)
