"""Lanes: decodings of one sentence, stacked, with a column for each step that holds the fed token and the predicted one."""

from __future__ import annotations

from itertools import zip_longest

from playground.features.shared.figures.tokens import extent, visible
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import View, tokens
from playground.features.teacher_forcing import kinds
from playground.features.teacher_forcing.query import Comparison

CHIP, NAMES = 32, 96  # px: a column's padding around its token, and the row names


def read_correction(view: View) -> tuple[int, int] | None:
    """Reads the correction from the link: (step, token id)."""
    step, _, token = view.field("fix").partition(":")
    return (int(step), int(token)) if token else None


def is_correction_right(view: View, comparison: Comparison) -> bool:
    """Returns whether the corrected token is right, as far as a reference is known."""
    correction = read_correction(view)
    return not (comparison.corrected and correction and comparison.corrected.right and not comparison.corrected.right[correction[0]])


def build_lanes(view: View, comparison: Comparison, at: int, steps: int) -> dict:
    lanes = [_build_lane(view, name, trace) for name in ("forced", "free", "corrected") if (trace := getattr(comparison, name))]
    return kinds.lanes(
        "lanes",
        view.say("teacher_forcing.step"),
        steps,
        at,
        comparison.parted,
        parts=view.say("teacher_forcing.parts_here"),
        fixes=view.say("teacher_forcing.corrected_here" if is_correction_right(view, comparison) else "teacher_forcing.changed_here"),
        lanes=lanes,
    )


def _build_lane(view: View, name: str, trace: SentenceTrace) -> dict:
    """Builds the fed and the predicted tokens; with teacher forcing the likeliest token counts as predicted, not the reference."""
    predictions, correction = list_predictions(name, trace), read_correction(view)
    fed = tokens(trace.fed)
    if name != "forced" and trace.right is not None:  # the model's mistakes become its input
        fed = [fed[0], *({**token, "right": right} for token, right in zip(fed[1:], trace.right, strict=False))]
    return {
        "name": view.say(f"teacher_forcing.{name}"),
        "verdict": _write_verdict(view, trace, predictions),
        "right": all(token.get("right", True) for token in predictions) if trace.right is not None else None,
        "fixed": correction[0] if name == "corrected" and correction else None,
        "rows": [
            {"name": "fed", "label": view.say("teacher_forcing.fed"), "tokens": fed},
            {"name": "says", "label": view.say("teacher_forcing.says"), "tokens": predictions},
        ],
    }


def list_predictions(name: str, trace: SentenceTrace) -> list[dict]:
    if name != "forced":
        return tokens(trace.targets, trace.right, trace.probabilities)
    likeliest = [row[0] for row in trace.likely]
    return [
        {"text": visible(token.text), "id": token.id, "known": True, "right": token.id == wanted.id, "p": token.probability}
        for token, wanted in zip(likeliest, trace.targets, strict=True)
    ]


def _write_verdict(view: View, trace: SentenceTrace, predictions: list[dict]) -> str:
    if trace.right is None:
        return ""
    right = sum(token["right"] for token in predictions)
    return view.say("teacher_forcing.right_tokens", right=right, all=len(predictions))


def measure_width(lanes: dict) -> float:
    """Estimates the width of the lanes in px."""
    rows = [[extent(token["text"]) for token in row["tokens"]] for lane in lanes["lanes"] for row in lane["rows"]]
    return NAMES + sum(CHIP + max(column) for column in zip_longest(*rows, fillvalue=0.0))
