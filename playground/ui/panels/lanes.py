"""Lanes: decodings of one sentence under one another, a column for each step, in each what was fed and what came out."""

from __future__ import annotations

from itertools import zip_longest

from playground.figures.tokens import extent, visible
from playground.queries.results import SentenceTrace
from playground.queries.teacher_forcing import Comparison
from playground.ui import blocks
from playground.ui.view import View, tokens

CHIP, NAMES = 32, 96  # px: of a column around its token, and of the names of the rows


def correction(view: View) -> tuple[int, int] | None:
    """The correction in the link: a step and a token id."""
    step, _, token = view.field("fix").partition(":")
    return (int(step), int(token)) if token else None


def is_right(view: View, found: Comparison) -> bool:
    """Whether what was chosen in place of the model's own word is the right one, as far as anybody knows."""
    fixed = correction(view)
    return not (found.corrected and fixed and found.corrected.right and not found.corrected.right[fixed[0]])


def lanes_of(view: View, found: Comparison, at: int, steps: int) -> dict:
    lanes = [_lane(view, name, life) for name in ("forced", "free", "corrected") if (life := getattr(found, name))]
    return blocks.lanes(
        "lanes",
        view.say("teacher_forcing.step"),
        steps,
        at,
        found.parted,
        parts=view.say("teacher_forcing.parts_here"),
        fixes=view.say("teacher_forcing.corrected_here" if is_right(view, found) else "teacher_forcing.changed_here"),
        lanes=lanes,
    )


def _lane(view: View, name: str, life: SentenceTrace) -> dict:
    """What was fed and what was said, step by step. The forced life says what it finds likeliest, whatever it is made to write."""
    said, fixed = said_by(name, life), correction(view)
    fed = tokens(life.fed)
    if name != "forced" and life.right is not None:  # its own mistakes come back as its input
        fed = [fed[0], *({**token, "right": right} for token, right in zip(fed[1:], life.right, strict=False))]
    return {
        "name": view.say(f"teacher_forcing.{name}"),
        "verdict": _verdict(view, life, said),
        "right": all(token.get("right", True) for token in said) if life.right is not None else None,
        "fixed": fixed[0] if name == "corrected" and fixed else None,
        "rows": [
            {"name": "fed", "label": view.say("teacher_forcing.fed"), "tokens": fed},
            {"name": "says", "label": view.say("teacher_forcing.says"), "tokens": said},
        ],
    }


def said_by(name: str, life: SentenceTrace) -> list[dict]:
    if name != "forced":
        return tokens(life.targets, life.right, life.probabilities)
    likeliest = [row[0] for row in life.likely]
    return [
        {"text": visible(token.text), "id": token.id, "known": True, "right": token.id == wanted.id, "p": token.probability}
        for token, wanted in zip(likeliest, life.targets, strict=True)
    ]


def _verdict(view: View, life: SentenceTrace, said: list[dict]) -> str:
    if life.right is None:
        return ""
    right = sum(token["right"] for token in said)
    return view.say("teacher_forcing.right_tokens", right=right, all=len(said))


def width(lanes: dict) -> float:
    """Roughly how many pixels the lanes take across."""
    rows = [[extent(token["text"]) for token in row["tokens"]] for lane in lanes["lanes"] for row in lane["rows"]]
    return NAMES + sum(CHIP + max(column) for column in zip_longest(*rows, fillvalue=0.0))
