"""What a lesson asks at its end: three questions each, with keys that other panels bear out, told to nobody before an answer."""

import csv
import io
import json
import math
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from playground.lessons import checks, course
from playground.lessons.checks import ASIDE, BELIEFS
from playground.lessons.course import LESSONS as WITH_TOUR
from playground.rooms.registry import DAY
from playground.ui.assets import PREFIX
from playground.words import say
from tests.ui.looking import all_blocks, block as named, complete
from tests.ui.test_rooms import ANNA, TEACHER, do

LESSONS = WITH_TOUR[1:]  # the tour asks on its way
RUNS = ("reverse", "sort", "german_english", "numbers_de", "numbers_zh")
NAMES = [lesson.name for lesson in LESSONS]
AT_NIGHT = [pytest.param(*each, NAMES, marks=pytest.mark.night) for each in zip(RUNS, (1, 3, 2, 4, 7), strict=True)]


def asked(site, lesson: str, run: str, **parameters) -> list[dict]:
    return site.panel("checks", run=run, lesson=lesson, **parameters)["blocks"]


def questions(blocks: list[dict]) -> list[dict]:
    return [block for block in blocks if block["kind"] == "check"]


def sentence(site, run: str) -> str:
    return site.reader.probes(site.runs.get(run))[-2][0]


def answered(site, lesson: str, answers: dict[str, tuple[dict, str]], **parameters) -> dict[str, dict]:
    """The questions of a lesson after these answers, as a browser keeps them."""
    checked = ".".join(f"{name}~{block['asked']}~{value}" for name, (block, value) in answers.items())
    return {block["id"]: block for block in questions(asked(site, lesson, checked=checked, **parameters))}


@pytest.mark.parametrize(("run", "draw", "lessons"), [("numbers_de", 1, NAMES), *AT_NIGHT])
def test_a_learner_who_reads_the_pictures_is_right(site, run, draw, lessons):
    text, count = sentence(site, run), 0
    learner, place = Learner(site, run, text), {"run": run, "text": text, "toss": draw}
    for lesson in lessons:
        blocks = asked(site, lesson, **place)
        known = [(block, learner.answers(block, blocks[:at])) for at, block in enumerate(blocks) if block["kind"] == "check"]
        answers = {block["id"]: (block, answer) for block, answer in known if answer}
        count += len(answers)
        for name, block in answered(site, lesson, answers, **place).items():
            assert block["value"] == block["right"] or name not in answers, (lesson, name, block["text"], block["why"])
    others = [name for name in lessons for check in checks.list_checks(course.get(name)) if check.name not in BELIEFS | ASIDE]
    assert count > 0.7 * len(others), "the beliefs ask about models that ship, not about this one"


def test_nobody_is_told_the_key_before_an_answer_nor_by_an_answer_to_another_question(site, monkeypatch):
    place = {"run": "reverse", "text": sentence(site, "reverse")}
    first = questions(asked(site, "attention", **place))
    assert all(block["right"] == block["why"] == block["value"] == "" and block["way"] is None for block in first)
    this = first[1]
    for checked in (f"{this['id']}~0000000000~0", f"{this['id']}~{this['asked']}~9", "nonsense", f"{this['id']}~{this['asked']}~٣"):
        assert questions(asked(site, "attention", checked=checked, **place)) == first
    after = answered(site, "attention", {this["id"]: (this, "1")}, **place)
    assert after[this["id"]]["value"] == "1"
    assert after[this["id"]]["right"] in {option["value"] for option in this["options"]}
    assert after[this["id"]]["way"]["to"]["tab"] == "attention"
    assert [block for name, block in after.items() if name != this["id"]] == [block for block in first if block != this]
    hashes = {questions(asked(site, "attention", **place | more))[1]["asked"] for more in ({"toss": 2}, {"text": "hello"})}
    assert len(hashes | {this["asked"]}) == 3
    monkeypatch.setattr(type(site.runs.get("reverse")), "working", True)
    blocks = asked(site, "attention", "reverse")
    assert (questions(blocks), blocks[-1]["text"]) == ([], say("en", "checks.while_training"))


def test_only_the_teacher_is_told_the_model_answers_and_how_the_class_chose_once_a_group_has_answered(site):
    code = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]

    def of_room(token: str, lesson: str, **more: str) -> dict:
        query = {"code": code, "run": "reverse", "lesson": lesson, "text": sentence(site, "reverse")} | more
        return site.http.get(f"{PREFIX}/room/answers", params=query, headers={"X-Playground-Token": token}).json()

    def bars(**other) -> list[dict]:
        return [block for block in of_room(TEACHER, "attention", **other)["blocks"] if block["id"].startswith("class-")]

    do(site, ANNA, "join", code=code, nickname="")
    assert of_room(ANNA, "weight")["key"] == "rooms.not_teacher"
    assert of_room("nobody in it" * 3, "weight")["key"] == "rooms.not_in"
    rows = dict(of_room(TEACHER, "weight", lang="zh")["blocks"][0]["rows"])
    weight = next(lesson for lesson in LESSONS if lesson.name == "weight")
    assert (rows[weight.say("zh", "ask")], len(rows)) == (weight.say("zh", "answer"), 1 + len(checks.list_checks(weight)))
    assert dict(of_room("learns alone" * 3, "weight", code="", lang="zh")["blocks"][0]["rows"]) == rows
    place = {"run": "reverse", "text": sentence(site, "reverse")}
    block = questions(asked(site, "attention", **place))[1]
    right = answered(site, "attention", {block["id"]: (block, "0")}, **place)[block["id"]]["right"]
    choices = (right, "0", right)
    for at, choice in enumerate(choices):
        assert bars() == []
        member = f"{at}" * 32
        do(site, member, "join", code=code, nickname=f"Nickname {at}")
        report = {"lesson": "attention", "question": block["id"], "asked": block["asked"], "choice": int(choice), "right": choice == right}
        assert do(site, member, "check", code=code, **report) == {"done": True}
    (figure,) = bars()
    assert figure["figure"]["data"][0]["x"] == [choices.count(option["value"]) for option in block["options"]]
    assert say("en", "checks.class_right", right=choices.count(right), count=3) in figure["caption"]
    assert "Nickname" not in json.dumps(figure)
    assert [bar["kind"] for bar in bars(toss="2")] == ["text"]
    assert do(site, TEACHER, "check", code=code, **report)["key"] == "rooms.teacher_reports"
    assert do(site, member, "check", code=code, **report | {"choice": True})["key"] == "page.not_a_command"


def test_the_beliefs_come_one_at_a_time_and_a_student_and_a_teacher_are_told_the_gain(site):
    code = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]
    for at in range(3):
        do(site, f"{at}" * 32, "join", code=code, nickname="")
    stored = []
    for round_name in ("before", "after"):
        for at, name in enumerate(BELIEFS, 1):
            (block,) = questions(asked(site, round_name, "reverse", toss=at))
            key = BELIEFS[name].pose().key
            choice = key if round_name == "after" or at < 5 else (key + 1) % len(block["options"])
            stored.append(f"{'before_' if round_name == 'before' else ''}{name}~{block['asked']}~{choice}")
            (over,) = questions(asked(site, round_name, "reverse", toss=at, checked=stored[-1].removeprefix("before_")))
            assert (over["value"], over["right"]) == (str(choice), str(key) if round_name == "after" else ""), "before, it is only taken"
            assert over["why"] == "" or over["why"].endswith(say("en", f"checks.{name}_why", **BELIEFS[name].measured))
            report = {"lesson": round_name, "question": name, "asked": block["asked"], "choice": choice, "right": False}  # graded there
            for member in range(3):
                assert do(site, f"{member}" * 32, "check", code=code, **report) == {"done": True}
    first = [answer.removeprefix("before_") for answer in stored[:12]]
    *_, last = asked(site, "before", "reverse", toss=12, result="on", checked=".".join(first[:11]))
    assert (last["id"], last["value"]) == (list(BELIEFS)[11], ""), "no result while one is open"
    (final,) = questions(asked(site, "before", "reverse", toss=12, checked=".".join(first)))
    assert (final["value"] != "", final["right"], final["why"]) == (True, "", ""), "the last is taken like the others"
    over = questions(asked(site, "before", "reverse", result="on", checked=".".join(first)))
    assert [bool(block["why"]) and block["value"] == block["right"] for block in over] == [True] * 4 + [False] * 8
    for checked, labels in ((stored[:23], ("own_result", "after")), (stored, ("own_result", "own_result")), ([], ("before", "after"))):
        page = site.panel("course", run="reverse", checked=".".join(checked))
        for name, key, right in zip(("before", "after"), labels, (4, 12), strict=True):
            button = named(page, name)
            assert button["label"] == say("en", f"checks.{key}", count=12, right=right)
            assert button["to"] == {"lesson": name, "toss": "", "result": "on" if key == "own_result" else ""}
    gain, _, table, *graded = asked(site, "after", "reverse", result="on", checked=".".join(stored))
    assert all(block["way"]["reason"] in block["why"] for block in (*over, *graded))
    assert gain["text"] == say("en", "checks.gain_after", all=12, before=4, after=12)
    assert [row[1:] for row in table["rows"]] == [["✓", "✓"]] * 4 + [["✗", "✓"]] * 8
    for answers, before in ((stored, "4of12"), (stored[1:], "0of0")):  # a round that is under way tells nothing
        query = {"done": "tour.masks.nothing", "answered": 5, "checked": ".".join(answers)}
        signed = site.http.get(f"{PREFIX}/handin", params=query, headers={"X-Playground-Token": TEACHER}).json()["code"]
        assert signed.split(".")[2:6] == ["tour-masks", "5", before, "12of12"], "the server knows the keys"
    query = {"code": code, "run": "reverse", "lesson": "after"}
    (of_class,) = site.http.get(f"{PREFIX}/room/answers", params=query, headers={"X-Playground-Token": TEACHER}).json()["blocks"]
    assert [row[2:] for row in of_class["rows"]] == [["3 of 3", "3 of 3"]] * 4 + [["0 of 3", "3 of 3"]] * 8


NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:\s×\s10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?! ?\d)")
AXES, SLOW = ("xaxis", "yaxis"), ("wider", "unchanged", "one_vector")  # of a figure; of the beliefs
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def numbers(text: str) -> list[float]:
    """Those of a sentence, as books print them; "12 %" is 12."""
    found = []
    for number in NUMBER.findall(text):
        digits, _, power = number.replace("\u00a0", " ").replace("−", "-").replace(",", "").partition(" × 10")
        found.append(float(digits) * 10.0 ** int(power.translate(RAISED) or 0))
    return found


def of(rule: Callable[..., float], after: str = "", numbers_of: slice = slice(None)) -> Callable[[str], float]:
    """A number that the question alone says how to work out, from these of its numbers."""
    return lambda text: rule(*numbers(text.partition(after)[2] if after else text)[numbers_of])


WORKED_OUT: dict[str, Callable[[str], float]] = {
    "embedding_size": of(lambda tokens, wide: tokens * wide, numbers_of=slice(2)),
    "ratio": of(lambda one, other: math.exp(one - other), "scaled scores", slice(2)),
    "normalised": of(lambda x, mean, variance: (x - mean) / math.sqrt(variance), numbers_of=slice(-3, None)),
    "p_to_n": of(lambda _, share, size: 100 * (share / 100) ** size),
    "cross_entropy": of(lambda probability: -math.log(probability), "probability", slice(1)),
    "clipped": of(lambda _, norm, most: min(1, most / norm)),
    "perplexity": of(math.exp, numbers_of=slice(-1, None)),
    "decoder_steps": lambda text: len(text.partition("“")[2].rpartition("”")[0].split()),
    "temperature": lambda text: math.sqrt(numbers(text.partition("times as likely")[0].rpartition("” is ")[2])[0]),
}
SHOWN = {  # what a block says of the numbers of an answer, in their order
    "qkv": r"Dot product (\S+),", "importance": r"“wir”: ([\d.]+) →", "triangle": r"“i”, (\d+) positions further right \((\d+)",
    "wider": r"Exact match\D+([\d.]+)\D+greedy\D+([\d.]+)", "padding": r"(\d+) of (\d+) cells are masked. (\d+) padding",
    "unchanged": r"cost ([\d.]+) points of exact match on (\d+) sentences; each alone at most ([\d.]+)",
    "cheating": r"\(row (\d+)\).*\(column (\d+)\): weight exactly (\d)", "parts": r"(\d+) vectors of (\d+) numbers",
    "learnt_positions": r"encodings, ([\d.]+) with them", "more_heads": r"^1, 2, 4, 8 heads: the same ([\d,]+) parameters",
    "gpt": r"(\d+) of (\d+) cells are masked",
    "one_vector": r"exact match\D+100\.0\D+([\d.]+).*token accuracy\D+100\.0\D+([\d.]+).*On (\d+)",
    "against": r"difference ([\d.]+) is the sum of these (\d+)", "updates": r"(\d+) tokens.*\. (\d+) pairs",
    "warming": r"move by ([\d.]+) times", "longer": r"Exact match\D+([\d.]+)",
}  # fmt: skip


def validations(site: Any, run: str) -> dict[float, dict[str, float]]:
    return {row["step"]: row for row in Learner(site, run, "").history("validations")}


FIGURES: dict[str, Callable] = {  # and what figures, the curves and settings of a run, and a sheet say
    "sentences": lambda _, site: [100 * validations(site, "german_english")[40][name] for name in ("token_accuracy", "exact_match")],
    "against": lambda page, _: [sum(x < 0 for trace in named(page("teacher_forcing"), "votes-bars")["figure"]["data"] for x in trace["x"])],
    "updates": lambda page, _: numbers(named(page("step"), "moment")["label"]),
    "warming": lambda _, site: [site.runs.get("german_english").experiment.training.learning_rate],
    "plane": lambda page, _: [numbers(named(page("embeddings"), "plane")["figure"]["layout"][axis]["title"]["text"])[0] for axis in AXES],
    "longer": lambda _, site: [100 * [*validations(site, "reverse").values()][-1]["exact_match"]],
    "parts": lambda page, _: [len(named(page("map"), "sheet")["terms"])],
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.night) if name in SLOW else name for name in BELIEFS | ASIDE])
def test_see_it_opens_the_numbers_of_the_answer(site, name):
    belief = (BELIEFS | ASIDE)[name]
    kind, id = belief.shows.split()
    page = partial(complete, site, **{"run": "reverse"} | belief.to)
    block = named(page({"off-together": "importance", "score": "score"}.get(id, belief.to["tab"])), id)
    text = block.get("text") or block.get("caption") or json.dumps(block, ensure_ascii=False)
    values = [number for group in re.search(SHOWN.get(name, ""), text).groups() for number in numbers(group)]
    values += [float(f"{number:.3g}") for number in FIGURES.get(name, lambda *_: [])(page, site)]
    assert (block["kind"], values) == (kind, [*belief.measured.values()])
    assert set(values) <= set(numbers(" / ".join(say("en", f"checks.{key}", **belief.measured) for key in (name, f"{name}_why"))))


class Learner:
    def __init__(self, site: Any, run: str, text: str) -> None:
        self.site, self.place = site, {"run": run, "text": text}

    def answers(self, block: dict, before: list[dict]) -> str:
        """The choice for a question, "" for one that it can't answer; `before` are the blocks above it."""
        if block["id"] in WORKED_OUT:
            return nearest(block["options"], WORKED_OUT[block["id"]](block["text"]))
        return getattr(self, block["id"])(block["text"], block["options"], before) if hasattr(self, block["id"]) else ""

    def shown(self, panel: str, kind: str, id: str, **cursor: Any) -> dict:
        found = self.site.panel(panel, **self.place, **cursor)["blocks"]
        return next(block for block in all_blocks(found) if (block["kind"], block["id"]) == (kind, id))

    def picture(self, panel: str, id: str, **cursor: Any) -> np.ndarray:
        return np.array(self.shown(panel, "figure", id, **cursor)["figure"]["data"][0]["z"], dtype=float)

    def history(self, table: str) -> list[dict[str, float]]:
        text = self.site.get("history", run=self.place["run"], table=table).text.lstrip("\ufeff")
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def tokens(self) -> list[dict]:
        return self.shown("data", "chips", "pieces")["lines"][0]["tokens"]

    @staticmethod
    def row_of(text: str) -> int:
        return int(re.search(r"“(\d+): ", text)[1]) - 1

    def attention_row(self, text: str) -> np.ndarray:
        layer, head = (int(re.search(rf"{name} (\d+)", text)[1]) for name in ("layer", "head"))
        return self.picture("attention", "attention", part="cross", layer=layer, head=head)[self.row_of(text)]

    def attended(self, text: str, options: list[dict], _: list) -> str:
        at = int(self.attention_row(text).argmax())
        return next(one["value"] for one in options if one["label"].endswith(f" {at + 1}"))

    def ranked_heads(self, text: str, options: list[dict], _: list) -> str:
        heads = re.findall(r"\d\.\d", text)
        losses = {head: self.loss_without(head) for head in heads}
        return called(options, " > ".join(sorted(heads, key=lambda head: -losses[head])))

    def loss_without(self, head: str) -> float:
        figure = self.shown("interventions", "figure", "likely-pairs", off=f"c{head}")["figure"]
        after = next(trace["x"] for trace in figure["data"] if trace.get("name") == "after")
        return -float(np.mean(np.log(np.maximum(np.array(after, dtype=float), 1e-5))))

    def which_mask(self, text: str, options: list[dict], before: list) -> str:
        cells = before[-1]["figure"]["data"][0]["z"]
        future, padded = cells[0][1] is None, cells[-1][-1] is None
        return called(options, "both: causal and padding" if future and padded else "the causal mask" if future else "the padding mask")

    def visible_keys(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, int(np.isfinite(self.picture("attention", "attention", part="decoder")[self.row_of(text)]).sum()))

    def trained_on(self, text: str, options: list[dict], _: list, split: str = "train") -> str:
        lines = self.shown("data", "chips", "pieces", split=split)["lines"][1::2]
        listed = {joint.join(token["text"] for token in line["tokens"]) for line in lines for joint in ("", " ")}
        return next(one["value"] for one in options if one["label"] in listed)

    def fed_token(self, text: str, options: list[dict], _: list) -> str:
        step = int(numbers(text)[0])
        rows = self.shown("attention", "chips", "tokens", part="cross", layer=1, head=1)["lines"][0]["tokens"]
        return called(options, rows[step - 1]["text"].partition("→")[0])


def nearest(options: list[dict], value: float) -> str:
    return min(options, key=lambda one: abs(numbers(one["label"])[0] - value))["value"]


def called(options: list[dict], label: str) -> str:
    return next(one["value"] for one in options if one["label"] == label)
