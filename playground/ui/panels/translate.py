"""Translate: greedy, beam search or sampling, and every step of the way with the words that were nearly said."""

from __future__ import annotations

from playground.decoding import beam, greedy, sample
from playground.figures import attention as pictures
from playground.figures import bars
from playground.runs.reader import Candidate
from playground.ui import blocks
from playground.ui.panels.attention import chosen, seen
from playground.ui.view import View, texts, tokens

METHODS = {"greedy": greedy, "beam": beam, "sample": sample}


def panel(view: View) -> dict:
    method = view.choice("method", tuple(METHODS))
    width, penalty = view.whole("beam", 4, 1, 10), view.number("penalty", 0.6, 0.0, 2.0)
    temperature, draw = view.number("temperature", 1.0, 0.1, 3.0), view.whole("draw", 1, 0, 10**6)
    answer = view.reader.translate(
        view.run, view.step, view.text, method=method, width=width, length_penalty=penalty, temperature=temperature, seed=draw
    )
    best = answer.candidates[0]
    lines = [{"label": view.say("page.source"), "tokens": tokens(answer.source), "side": "src"}]
    lines += [_line(view, candidate, at, len(answer.candidates)) for at, candidate in enumerate(answer.candidates)]
    if answer.references:
        lines += [
            {"label": view.say("page.reference"), "tokens": tokens(view.reader.pieces(view.run, reference, "tgt")), "side": ""}
            for reference in answer.references
        ]
    controls = [
        blocks.choice(
            "method",
            "method",
            view.say("page.method"),
            [{"value": name, "label": view.say(f"page.method_{name}")} for name in METHODS],
            method,
        )
    ]
    if method == "beam":
        controls += [
            blocks.slider("beam", "beam", view.say("page.beam_width"), 1, 10, 1, width),
            blocks.slider("penalty", "penalty", view.say("page.length_penalty"), 0, 2, 0.1, penalty),
        ]
    if method == "sample":
        controls += [
            blocks.slider("temperature", "temperature", view.say("page.temperature"), 0.1, 3, 0.1, temperature),
            blocks.button("draw", "draw", view.say("page.draw_again")),
        ]
    unknown = [piece.text for piece in answer.source if not piece.known]
    return {
        "step": answer.step,
        "uses": ["text", "step", "method", "beam", "penalty", "temperature", "draw", "q", "layer", "head"],
        "blocks": [
            blocks.row("controls", *controls, css="controls"),
            blocks.chips("candidates", *lines, pick="tgt"),
            *(
                [blocks.text("unknown", view.say("page.unknown_words", words=", ".join(dict.fromkeys(unknown))), css="pg-warning")]
                if unknown
                else []
            ),
            blocks.text("verdict", _verdict(view, best, answer.references), css="pg-caption"),
            *_step(view, best),
            blocks.code("source", METHODS[method]),
        ],
    }


def _line(view: View, candidate: Candidate, at: int, count: int) -> dict:
    label = view.say("page.output") if count == 1 else view.say("page.candidate", rank=at + 1, score=f"{candidate.score:.2f}")
    return {"label": label, "tokens": tokens(candidate.pieces, candidate.right, candidate.probabilities), "side": "tgt" if at == 0 else ""}


def _verdict(view: View, best: Candidate, references: tuple[str, ...] | None) -> str:
    if references is None:
        return view.say("page.no_reference")
    if best.correct:
        return view.say("page.verdict_right")
    wrong = sum(not right for right in best.right or ())
    return view.say("page.verdict_wrong", wrong=wrong, tokens=len(best.pieces), reference=" / ".join(references))


def _step(view: View, best: Candidate) -> list[dict]:
    """The chosen step: the five likeliest tokens, and where cross-attention looks while choosing."""
    look = view.reader.look(view.run, view.step, view.text, best.text)
    steps = len(look.asked)
    at = view.row(steps) or 0
    likely = look.likely[at]
    said = next((n for n, token in enumerate(likely) if token.id == look.asked[at].id), None)
    view.look = look
    layer, head = chosen(view, "cross")
    weights = look.cross[layer, head, at]
    half = view.width if view.width < 700 else view.width // 2 - 20
    top = bars.top_tokens(
        [token.text for token in likely],
        [token.probability for token in likely],
        chosen=said,
        width=half,
        dark=view.dark,
        labels=view.labels,
    )
    looks = pictures.step_bars(
        weights,
        texts(look.source),
        mask=seen(view, "cross")[at],
        right=look.alignment[at] if look.alignment else None,
        width=half,
        dark=view.dark,
        labels=view.labels,
    )
    k = int(weights.argmax())
    return [
        blocks.slider("at", "q", view.say("page.at_step"), 0, steps - 1, 1, at, first=1),
        blocks.row(
            "step",
            blocks.figure(
                "likely",
                top,
                view.say(
                    "page.likely_caption",
                    token=likely[0].text,
                    percent=f"{100 * likely[0].probability:.1f}",
                    second=likely[1].text if len(likely) > 1 else "–",
                ),
                view.say("page.likely", step=at + 1, said=look.asked[at].text),
            ),
            blocks.figure(
                "looks",
                looks,
                view.say("page.looks_caption", layer=layer + 1, head=head + 1, token=look.source[k].text, weight=f"{weights[k]:.2f}"),
                view.say("page.looks"),
            ),
            css="halves",
        ),
    ]
