"""A learner who answers the questions of a lesson by what other panels show and by what the question says, and by nothing else."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from html import unescape
from typing import Any

import numpy as np

from tests.ui.panels.looking import all_blocks

NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:\s×\s10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?! ?\d)")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def numbers(text: str) -> list[float]:
    """Those of a sentence, as books print them; "12 %" is 12."""
    found = []
    for number in NUMBER.findall(text):
        digits, _, power = number.replace("\u00a0", " ").replace("−", "-").replace(",", "").partition(" × 10")
        found.append(float(digits) * 10.0 ** int(power.translate(RAISED) or 0))
    return found


def _share(text: str) -> float:
    return numbers(text)[0] / (100 if text.endswith("%") else 1)


class Learner:
    def __init__(self, site: Any, run: str, text: str) -> None:
        self.site, self.place = site, {"run": run, "text": text}

    def answers(self, block: dict, before: list[dict]) -> str:
        """The choice for a question; `before` are the blocks above it."""
        return getattr(self, block["id"])(block["text"], block["options"], before)

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

    # ---- attention and heads ----

    def largest_weight(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, 100 * self.attention_row(text).max())

    def attended(self, text: str, options: list[dict], _: list) -> str:
        at = int(self.attention_row(text).argmax())
        return next(one["value"] for one in options if one["label"].endswith(f" {at + 1}"))

    def row_rest(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, 100 - numbers(text.rpartition("has the weight")[2])[0])

    def ranked_heads(self, text: str, options: list[dict], _: list) -> str:
        heads = re.findall(r"\d\.\d", text)
        losses = {head: self.loss_without(head) for head in heads}
        return called(options, " > ".join(sorted(heads, key=lambda head: -losses[head])))

    def loss_without(self, head: str) -> float:
        figure = self.shown("interventions", "figure", "likely-pairs", off=f"c{head}")["figure"]
        after = next(trace["x"] for trace in figure["data"] if trace.get("name") == "after")
        return -float(np.mean(np.log(np.maximum(np.array(after, dtype=float), 1e-5))))

    def head_width(self, text: str, options: list[dict], _: list) -> str:
        wide, heads = numbers(text)[:2]
        return nearest(options, wide / heads)

    def head_count(self, text: str, options: list[dict], _: list) -> str:
        parts = self.shown("interventions", "switches", "heads")["parts"]
        return nearest(options, sum(len(layer["heads"]) for part in parts for layer in part["layers"]))

    # ---- tokens, positions, masks ----

    def ids(self, text: str, options: list[dict], _: list) -> str:
        return called(options, " ".join(str(token["id"]) for token in [*self.tokens(), {"id": 2}]))

    def different_ids(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, len({token["id"] for token in self.tokens()}) + 1)

    def embedding_size(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, math.prod(numbers(text)[:2]))

    def distance(self, text: str, options: list[dict], _: list) -> str:
        table = self.picture("positions", "pos-similarity", pos="similarity")
        one, other = map(int, numbers(text)[:2])
        return min(options, key=lambda each: abs(table[tuple(map(int, numbers(each["label"])))] - table[one, other]))["value"]

    def sine(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, self.picture("positions", "pos-heatmap", pos="heatmap")[int(numbers(text)[-1]), 0])

    def orders(self, text: str, options: list[dict], _: list) -> str:
        ids = [token["id"] for token in self.tokens()]
        return nearest(options, math.factorial(len(ids)) / math.prod(math.factorial(count) for count in Counter(ids).values()))

    def which_mask(self, text: str, options: list[dict], before: list) -> str:
        cells = before[-1]["figure"]["data"][0]["z"]
        future, padded = cells[0][1] is None, cells[-1][-1] is None
        return called(options, "both: causal and padding" if future and padded else "the causal mask" if future else "the padding mask")

    def visible_keys(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, int(np.isfinite(self.picture("attention", "attention", part="decoder")[self.row_of(text)]).sum()))

    def hidden_cells(self, text: str, options: list[dict], _: list) -> str:
        shown = self.shown("masks", "figure", "mask-own", mask="causal")["figure"]["data"][0]["z"]
        return nearest(options, sum(cell is None for row in shown for cell in row))

    # ---- the numbers of the map ----

    def ratio(self, text: str, options: list[dict], _: list) -> str:
        one, other = numbers(text.partition("scaled scores")[2])[:2]
        return nearest(options, math.exp(one - other))

    def scaling(self, text: str, options: list[dict], _: list) -> str:
        score, size = numbers(text)
        return nearest(options, score / math.sqrt(size))

    def shifted(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, numbers(text.partition("weight is")[2])[0])

    def residual_sum(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, sum(numbers(text)[-2:]))

    def normalised(self, text: str, options: list[dict], _: list) -> str:
        x, mean, variance = numbers(text)[-3:]
        return nearest(options, (x - mean) / math.sqrt(variance))

    def feed_forward_size(self, text: str, options: list[dict], _: list) -> str:
        wide, hidden, bias = numbers(text)
        return nearest(options, 2 * wide * hidden + bias)

    # ---- curves, steps and data ----

    def p_to_n(self, text: str, options: list[dict], _: list) -> str:
        _, share, size = numbers(text)
        return nearest(options, 100 * (share / 100) ** size)

    def cross_entropy(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, -math.log(numbers(text.partition("probability")[2])[0]))

    def first_half(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, next(row["step"] for row in self.history("validations") if row["exact_match"] >= 0.5))

    def rate_then(self, text: str, options: list[dict], _: list) -> str:
        step = numbers(text)[-1]
        return nearest(options, next(row["learning_rate"] for row in self.history("steps") if row["step"] == step))

    def largest_rate(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, max(self.history("steps"), key=lambda row: row["learning_rate"])["step"])

    def clipped(self, text: str, options: list[dict], _: list) -> str:
        _, norm, most = numbers(text)
        return nearest(options, min(1, most / norm))

    def perplexity(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, math.exp(numbers(text)[-1]))

    def held_out(self, text: str, options: list[dict], _: list) -> str:
        splits = self.shown("data", "choice", "split")["options"]
        return nearest(options, numbers(next(one["label"] for one in splits if one["value"] == "heldout"))[0])

    def trained_on(self, text: str, options: list[dict], _: list, split: str = "train") -> str:
        lines = self.shown("data", "chips", "pieces", split=split)["lines"][1::2]
        listed = {joint.join(token["text"] for token in line["tokens"]) for line in lines for joint in ("", " ")}
        return next(one["value"] for one in options if one["label"] in listed)

    # ---- rules and lists ----

    def harder_kind(self, text: str, options: list[dict], before: list) -> str:
        return self.trained_on(text, options, before, "harder")

    def sequences(self, text: str, options: list[dict], _: list) -> str:
        tokens, n = numbers(text)[:2]
        return nearest(options, tokens**n)

    def list_share(self, text: str, options: list[dict], _: list) -> str:
        tokens, _tokens, n, _n, train = numbers(text)[:5]
        share = train / tokens**n
        return min(options, key=lambda one: abs(math.log(_share(one["label"]) / share)))["value"]

    # ---- decoding ----

    def fed_token(self, text: str, options: list[dict], _: list) -> str:
        step = int(numbers(text)[0])
        rows = self.shown("attention", "chips", "tokens", part="cross", layer=1, head=1)["lines"][0]["tokens"]
        return called(options, rows[step - 1]["text"].partition(" → ")[0])

    def decoder_steps(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, len(text.partition("“")[2].rpartition("”")[0].split()))

    def second_likeliest(self, text: str, options: list[dict], _: list) -> str:
        figure = self.shown("teacher_forcing", "figure", "likely-forced", q=self.row_of(text))["figure"]
        return called(options, unescape(figure["layout"]["yaxis"]["ticktext"][1]))

    def log_sum(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, sum(numbers(text)))

    def temperature(self, text: str, options: list[dict], _: list) -> str:
        return nearest(options, math.sqrt(numbers(text.partition("times as likely")[0].rpartition("” is ")[2])[0]))

    def beam_best(self, text: str, options: list[dict], _: list) -> str:
        tokens = self.shown("translate", "chips", "candidates", method="beam", beam=4)["lines"][0]["tokens"]
        pieces = [token["text"] for token in tokens if token["text"] != "<eos>"]
        return next(one["value"] for one in options if one["label"] in ("".join(pieces), " ".join(pieces)))


def nearest(options: list[dict], value: float) -> str:
    return min(options, key=lambda one: abs(numbers(one["label"])[0] - value))["value"]


def called(options: list[dict], label: str) -> str:
    return next(one["value"] for one in options if one["label"] == label)
