"""A learner who answers the questions of a lesson by what other panels show and by what the question says, and by nothing else."""

import csv
import io
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ui.looking import all_blocks

NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:\s×\s10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?! ?\d)")
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
    "shifted": of(lambda weight: weight, "weight is", slice(1)),
    "residual_sum": of(lambda one, other: one + other, numbers_of=slice(-2, None)),
    "normalised": of(lambda x, mean, variance: (x - mean) / math.sqrt(variance), numbers_of=slice(-3, None)),
    "p_to_n": of(lambda _, share, size: 100 * (share / 100) ** size),
    "cross_entropy": of(lambda probability: -math.log(probability), "probability", slice(1)),
    "clipped": of(lambda _, norm, most: min(1, most / norm)),
    "perplexity": of(math.exp, numbers_of=slice(-1, None)),
    "decoder_steps": lambda text: len(text.partition("“")[2].rpartition("”")[0].split()),
    "temperature": lambda text: math.sqrt(numbers(text.partition("times as likely")[0].rpartition("” is ")[2])[0]),
}


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
        return called(options, rows[step - 1]["text"].partition(" → ")[0])

    def beam_best(self, text: str, options: list[dict], _: list) -> str:
        tokens = self.shown("translate", "chips", "candidates", method="beam", beam=4)["lines"][0]["tokens"]
        pieces = [token["text"] for token in tokens if token["text"] != "<eos>"]
        return next(one["value"] for one in options if one["label"] in ("".join(pieces), " ".join(pieces)))


def nearest(options: list[dict], value: float) -> str:
    return min(options, key=lambda one: abs(numbers(one["label"])[0] - value))["value"]


def called(options: list[dict], label: str) -> str:
    return next(one["value"] for one in options if one["label"] == label)
