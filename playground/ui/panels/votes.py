"""Who voted for a token: direct logit attribution of one step, bars that add up and the residual stream's path."""

from __future__ import annotations

import numpy as np

from playground.figures import attribution as pictures
from playground.inspection.attribution import Part, attribute
from playground.inspection.interventions import HeadId
from playground.queries.attribution import Votes, votes
from playground.queries.teacher_forcing import Comparison
from playground.ui import blocks
from playground.ui.view import View

MOST = 24  # bars; of more parts the smallest are one bar together


def panel(view: View, both: Comparison, at: int) -> list[dict]:
    """The blocks for step `at`, of teacher forcing when the page feeds the reference, else of free running: the likeliest token against the
    right one where it goes wrong, else against the runner-up."""
    forced = view.reference and both.forced is not None
    life = both.forced if forced else both.free
    at = min(at, len(life.targets) - 1)
    knows = both.forced is not None and at < len(both.forced.targets) and (forced or at == both.parted)
    wanted = both.forced.targets[at].id if knows else None
    likely = [piece.id for piece in life.likely[at]]
    token = likely[0]
    other = wanted if wanted not in (None, token) else next((id for id in likely if id != token), None)
    if other is None:
        return []
    found = votes(view.reader, view.run, view.step, view.text, [piece.id for piece in life.targets], at, token, other)
    name = view.run.tokenizers[1].piece
    pair = (name(token), name(other))
    shown = _shown(found)
    parts, values = [part for part, _ in shown], [value for _, value in shown]
    names = [_name(view, part, "short") for part in parts]
    bars = view.draw(pictures.votes, names, values, [*map(_kind, parts)], [*map(_head, parts)], tokens_of=pair, share=2)
    names, points = _sublayers(view, found)
    path = view.draw(pictures.path, names, points, tokens_of=pair, share=2)
    said = {"token": pair[0], "other": pair[1], "difference": f"{found.difference:.2f}", "parts": len(found.parts)}
    best, value = max(((part, value) for part, value in zip(found.parts, found.votes, strict=True)), key=lambda each: each[1])
    caption = view.say("votes.caption", **said, best=_name(view, best), vote=f"{value:+.2f}")
    return [
        blocks.text("votes-title", view.say("votes.title", **said, step=at + 1), css="pg-heading"),
        blocks.row(
            "votes",
            blocks.figure("votes-bars", bars, caption, view.say("votes.bars"), hint=view.say("votes.hint")),
            blocks.figure("votes-path", path, view.say("votes.path_caption", **said), view.say("votes.path")),
            css="halves",
        ),
        blocks.code("votes-source", attribute),
    ]


def _shown(found: Votes) -> list[tuple[Part | None, float]]:
    """Every part with its vote, in the order of computation; of many the largest, and the sum of the others."""
    every = list(zip(found.parts, found.votes.tolist(), strict=True))
    if len(every) <= MOST:
        return every
    kept = {part for part, _ in sorted(every, key=lambda each: -abs(each[1]))[: MOST - 1]}
    return [*(each for each in every if each[0] in kept), (None, sum(value for part, value in every if part not in kept))]


def _sublayers(view: View, found: Votes) -> tuple[list[str], np.ndarray]:
    """Where the stream stands after each sublayer: after the last head of it."""
    last = {}
    for number, part in enumerate(found.parts):
        last[_name(view, part._replace(head=None))] = number
    return list(last), found.path[list(last.values())]


def _name(view: View, part: Part | None, length: str = "part") -> str:
    """"cross-attention 1.2" for head 2 of layer 1; a "short" one beside its bar."""
    if part is None:
        return view.say("votes.others")
    numbers = [str(number + 1) for number in (part.layer, part.head) if number is not None]
    return " ".join([view.say(f"votes.{length}_{part.kind}"), ".".join(numbers)]).strip()


def _kind(part: Part | None) -> str:
    return part.kind if part and part.kind in pictures.KINDS else "others"


def _head(part: Part | None) -> str:
    return str(HeadId(part.kind, part.layer, part.head)) if part and part.head is not None else ""
