"""Direct logit attribution of one decoding step: each part's contribution as bars that add up, and the residual stream's path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.features.shared import blocks
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View
from playground.features.teacher_forcing import figure as pictures
from playground.features.teacher_forcing.query import Comparison
from playground.inspection.interventions import HeadId
from playground.inspection.logits import Part, attribute
from playground.model.transformer import Transformer
from playground.runs.run import Run

MAX_BARS = 24  # of more parts the smallest share one bar


def panel(view: View, comparison: Comparison, at: int) -> list[dict]:
    """Builds the attribution of step `at`, with teacher forcing if the page feeds the reference, else free running: the likeliest token
    against the right one where it is wrong, else against the runner-up."""
    is_forced = view.reference and comparison.forced is not None
    trace = comparison.forced if is_forced else comparison.free
    at = min(at, len(trace.targets) - 1)
    knows_target = comparison.forced is not None and at < len(comparison.forced.targets) and (is_forced or at == comparison.parted)
    target = comparison.forced.targets[at].id if knows_target else None
    likely = [piece.id for piece in trace.likely[at]]
    token = likely[0]
    other = target if target not in (None, token) else next((id for id in likely if id != token), None)
    if other is None:
        return []
    attribution = votes(view.reader, view.run, view.step, view.text, [piece.id for piece in trace.targets], at, token, other)
    name = view.run.tokenizers[1].piece
    pair = (name(token), name(other))
    selected = _select_parts(attribution)
    parts, values = [part for part, _ in selected], [value for _, value in selected]
    names = [_name_part(view, part, "short") for part in parts]
    kinds = [part.kind if part and part.kind in pictures.KINDS else "others" for part in parts]
    heads = [str(HeadId(part.kind, part.layer, part.head)) if part and part.head is not None else "" for part in parts]
    bars = view.draw(pictures.votes, names, values, kinds, heads, tokens_of=pair, share=2)
    names, points = _trace_stream(view, attribution)
    path = view.draw(pictures.path, names, points, tokens_of=pair, share=2)
    caption_values = {"token": pair[0], "other": pair[1], "difference": f"{attribution.difference:.2f}", "parts": len(attribution.parts)}
    best, value = max(((part, value) for part, value in zip(attribution.parts, attribution.votes, strict=True)), key=lambda each: each[1])
    caption = view.say("votes.caption", **caption_values, best=_name_part(view, best), vote=f"{value:+.2f}")
    return [
        blocks.text("votes-title", view.say("votes.title", **caption_values, step=at + 1), css="pg-heading"),
        blocks.row(
            "votes",
            blocks.figure("votes-bars", bars, caption, view.say("votes.bars"), hint=view.say("votes.hint")),
            blocks.figure("votes-path", path, view.say("votes.path_caption", **caption_values), view.say("votes.path")),
            css="halves",
        ),
        blocks.code("votes-source", attribute),
    ]


def _select_parts(attribution: Votes) -> list[tuple[Part | None, float]]:
    """Returns every part with its contribution, in the order of computation; of many parts the largest, and the sum of the rest."""
    pairs = list(zip(attribution.parts, attribution.votes.tolist(), strict=True))
    if len(pairs) <= MAX_BARS:
        return pairs
    largest = {part for part, _ in sorted(pairs, key=lambda pair: -abs(pair[1]))[: MAX_BARS - 1]}
    return [*(pair for pair in pairs if pair[0] in largest), (None, sum(value for part, value in pairs if part not in largest))]


def _trace_stream(view: View, attribution: Votes) -> tuple[list[str], np.ndarray]:
    """Returns the residual stream's position after each sublayer, which is that after its last head."""
    last_parts = {}
    for number, part in enumerate(attribution.parts):
        last_parts[_name_part(view, part._replace(head=None))] = number
    return list(last_parts), attribution.path[list(last_parts.values())]


def _name_part(view: View, part: Part | None, length: str = "part") -> str:
    """Names a part, such as "cross-attention 1.2" for head 2 of layer 1; "short" beside its bar."""
    if part is None:
        return view.say("votes.others")
    numbers = [str(number + 1) for number in (part.layer, part.head) if number is not None]
    return " ".join([view.say(f"votes.{length}_{part.kind}"), ".".join(numbers)]).strip()


@dataclass(frozen=True)
class Votes:
    """`votes` (C,): each part's contribution to logit(token) - logit(other). `path` (C, 2): the stream after it on the two axes."""

    parts: tuple[Part, ...]
    votes: np.ndarray
    path: np.ndarray

    @property
    def difference(self) -> float:
        """logit(token) - logit(other)."""
        return float(self.votes.sum())


def votes(reader: Reader, run: Run, step: int | None, text: str, written: Sequence[int], at: int, token: int, other: int) -> Votes:
    """Attributes the target at `at` while the ids `written` are forced. Raises Refusal for text that is empty or too long."""
    text, ids = reader.read(run, text)

    def work(model: Transformer, actual: int) -> Votes:
        attribution = attribute(model, ids, written)
        return Votes(attribution.parts, attribution.votes(at, token, other), attribution.path(at, token, other))

    return reader.work(run, step, (text, tuple(written), at, token, other, "votes"), work)
