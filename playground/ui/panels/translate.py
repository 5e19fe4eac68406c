"""Translate: every way of decoding, each step of the way with the words that were nearly said, and what it cost. The sentence, what greedy
decoding makes of it and the reference stand in the frame's line; here begins what that doesn't say."""

from __future__ import annotations

from playground.config import UNK
from playground.cursor import choices
from playground.decoding import greedy, sample, search, top_k_top_p_filter
from playground.model.kv_cache import KVCache
from playground.queries.results import Candidate, SentenceTrace
from playground.queries.translate import METHODS, DecodingOptions, Translation, find_least_certain, trace_output, translate
from playground.ui import blocks
from playground.ui.panels import beam_tree, candidates, sampled
from playground.ui.panels.decoding_step import likeliest, looks
from playground.ui.panels.head_choice import chosen
from playground.ui.panels.teacher_forcing import MORE, first_wrong
from playground.ui.view import View, tokens
from playground.words import listed
from playground.words.amounts import percentage

SOURCES = {"greedy": greedy, "beam": search, "sample": sample}


def panel(view: View) -> dict:
    way = DecodingOptions(
        method=view.choice("method", METHODS),
        width=view.number("beam"),
        length_penalty=view.number("penalty"),
        temperature=view.number("temperature"),
        top_k=view.number("top_k"),
        top_p=view.number("top_p"),
        seed=view.number("draw"),
        prefix=view.field("prefix"),
        cache=view.choice("cache") == "on",
        copy_unknown=view.choice("unknown") == "copy",
    )
    answer = translate(view.reader, view.run, view.step, view.text, way)
    best = answer.candidates[0]
    lines = [_line(view, answer, at) for at in range(len(answer.candidates))]
    another = way.method != "greedy" or answer.prefix or _copied(answer)  # than the frame's line
    return {
        "step": answer.step,
        "telling": _telling(view) if way.method == "greedy" and view.step is None else "",
        "blocks": [
            blocks.row("controls", *_controls(view, way), *_unknown(view, answer, way), css="controls"),
            *([blocks.chips("candidates", *lines, pick="tgt")] if another else []),
            *_greedy(view, best),
            *_prefix(view, answer),
            *_told_copied(view, answer),
            blocks.text("verdict", _verdict(view, best, answer.references), css="pg-caption"),
            *(sampled.spread(view, way) if way.method == "sample" else []),
            *(beam_tree.tree_and_verdict(view, answer, way) if way.method == "beam" else []),
            _step(view, answer, way),
            *([blocks.row("cache", *_work(view, answer, way), css="halves")] if view.attends else []),
            blocks.code("source", SOURCES[way.method]),
            *([blocks.code("kept", top_k_top_p_filter)] if way.method == "sample" else []),
            *([blocks.code("cache-source", KVCache)] if view.attends else []),
        ],
    }


def _greedy(view: View, best: Candidate) -> list[dict]:
    """The frame's line is greedy decoding's, whatever is chosen here: said where the two aren't the same sentence."""
    asked = view.reader.look(view.run, view.step, view.text).targets
    if [piece.id for piece in asked] == [piece.id for piece in best.pieces]:
        return []
    return [blocks.text("greedy", view.say("decoding.frame_is_greedy"), css="pg-caption")]


def _telling(view: View) -> str:
    """The sentence to begin with: one that comes out wrong or, of a model without mistakes, that of the greatest doubt."""
    if view.run.working:
        return ""
    return first_wrong(view) or find_least_certain(view.reader, view.run, view.reader.examples(view.run, "heldout", MORE))


def _controls(view: View, way: DecodingOptions) -> list[dict]:
    options = [{"value": name, "label": view.say(f"page.method_{name}")} for name in METHODS]
    controls = [blocks.choice("method", "method", view.say("page.method"), options, way.method)]
    if way.method == "beam":
        controls += beam_controls(view, way.width, way.length_penalty)
    if way.method == "sample":
        counts = [{"value": count, "label": view.say("decoding.draw_count", count=count)} for count in choices("draws")]
        controls += [
            blocks.choice("draws", "draws", view.say("decoding.draws"), counts, view.choice("draws")),
            blocks.slider("temperature", "temperature", view.say("page.temperature"), way.temperature),
            blocks.slider("top_k", "top_k", view.say("decoding.top_k"), way.top_k),
            blocks.slider("top_p", "top_p", view.say("decoding.top_p"), way.top_p),
            blocks.field("seed", "draw", view.say("decoding.seed"), str(way.seed)),
            blocks.button("draw", "draw", view.say("page.draw_again")),
        ]
    return [*controls, blocks.field("prefix", "prefix", view.say("decoding.prefix"), way.prefix, view.say("decoding.prefix_hint"))]


def beam_controls(view: View, width: int, length_penalty: float) -> list[dict]:
    return [
        blocks.slider("beam", "beam", view.say("page.beam_width"), width),
        blocks.slider("penalty", "penalty", view.say("page.length_penalty"), length_penalty),
    ]


def _unknown(view: View, answer: Translation, way: DecodingOptions) -> list[dict]:
    """Of a model that writes <unk> here, what is to stand in its place."""
    if not any(piece.id == UNK for candidate in answer.candidates for piece in candidate.pieces):
        return []
    options = [{"value": value, "label": view.say(f"decoding.unknown_{value}")} for value in choices("unknown")]
    return [blocks.choice("unknown", "unknown", view.say("decoding.unknown"), options, "copy" if way.copy_unknown else "off")]


def _copied(answer: Translation) -> list[str]:
    """The words that were taken from the source, as they stand in the outputs."""
    return list(dict.fromkeys(word for candidate in answer.candidates for word in candidate.copied if word is not None))


def _told_copied(view: View, answer: Translation) -> list[dict]:
    words = _copied(answer)
    return [blocks.text("copied", view.say("decoding.copied", words=listed(view.language, words)), css="pg-caption")] if words else []


def _prefix(view: View, answer: Translation) -> list[dict]:
    """What of the output was given, and what the model doesn't know of that and of the source."""
    given = "".join if view.reader.units(view.run)[1] == "characters" else " ".join
    said = []
    if answer.prefix:
        text = given(piece.text for piece in answer.prefix)
        said.append(blocks.text("given", view.say("decoding.given", text=text), css="pg-caption"))
    for id, key, pieces in (("unknown", "page.unknown_words", answer.source), ("unknown-prefix", "decoding.prefix_unknown", answer.prefix)):
        unknown = dict.fromkeys(piece.text for piece in pieces if not piece.known)
        if unknown:
            said.append(blocks.text(id, view.say(key, words=listed(view.language, unknown)), css="pg-warning"))
    return said


def _line(view: View, answer: Translation, at: int) -> dict:
    candidate, count = answer.candidates[at], len(answer.candidates)
    label = view.say("page.output") if count == 1 else view.say("page.candidate", rank=at + 1, score=f"{candidate.score:.2f}")
    shown = tokens(candidate.pieces, candidate.right, candidate.probabilities)
    for token in shown[: len(answer.prefix)]:
        token["given"] = True
    for token, word in zip(shown, candidate.copied, strict=False):
        if word is not None:
            token |= {"text": word, "copied": True}
    return {"label": label, "tokens": shown, "side": "tgt" if at == 0 else ""}


def _verdict(view: View, best: Candidate, references: tuple[str, ...] | None) -> str:
    if references is None:
        return view.say("page.no_reference")
    if best.right is None:
        return view.say("decoding.no_verdict")
    if best.correct:
        return view.say("page.verdict_right")
    wrong = sum(not right for right in best.right)
    return view.say("page.verdict_wrong", wrong=wrong, tokens=len(best.pieces), reference=" / ".join(references))


def _work(view: View, answer: Translation, way: DecodingOptions) -> list[dict]:
    """The cache, and what it saves for this very sentence."""
    cached, anew = answer.cached, answer.uncached
    head = [view.say(f"decoding.work_{name}") for name in ("cache", "positions", "products", *([] if way.cache else ["ms"]))]
    rows = [
        [view.say(f"decoding.cache_{name}"), f"{cost.positions:,}", f"{cost.multiplications:,}", *([] if way.cache else [f"{cost.ms:.1f}"])]
        for name, cost in (("on", cached), ("off", anew))
    ]
    if way.cache:
        said = view.say("decoding.work_on", times=f"{anew.multiplications / cached.multiplications:.1f}")
    else:
        said = view.say("decoding.work_off", same=view.say("decoding.same" if answer.same else "decoding.not_same"))
    options = [{"value": value, "label": view.say(f"decoding.cache_{value}")} for value in choices("cache")]
    return [
        blocks.column(
            "cache-switch",
            blocks.choice("cache", "cache", view.say("decoding.cache"), options, "on" if way.cache else "off"),
            blocks.text("saved", said, css="pg-caption"),
        ),
        blocks.table("work", head, rows, rowheads=True),
    ]


def _inside(view: View, answer: Translation) -> SentenceTrace:
    """The best output from within. Where it is the frame's line, that is known already."""
    written = answer.candidates[0].pieces
    frame = view.reader.look(view.run, view.step, view.text)
    if frame.targets == written and frame.step == answer.step:
        return frame
    return trace_output(view.reader, view.run, view.step, view.text, tuple(piece.id for piece in written))


def _step(view: View, answer: Translation, way: DecodingOptions) -> dict:
    """Every step with its likeliest tokens, and the chosen one: where cross-attention looks while choosing. At first it is the model's
    first mistake, or where it hesitates most."""
    look = _inside(view, answer)
    best, given, steps = answer.candidates[0], len(answer.prefix), len(look.targets)
    at = view.row(steps)
    at = candidates.telling(look, best.right, given) if at is None else at
    likely = look.likely[at]
    view.look = look
    beside = []
    if view.attends:
        pointed, where = looks(view, look, at, *chosen(view, "cross"), share=2)
        beside = [blocks.figure("looks", pointed, where, view.say("page.looks"))]
    says = view.say(
        "page.likely_caption",
        token=likely[0].text,
        percent=percentage(likely[0].probability),
        second=likely[1].text if len(likely) > 1 else "–",
    )
    if way.method == "sample" and at >= given:
        drawn = {"temperature": f"{way.temperature:g}", "top_k": way.top_k or "–", "top_p": f"{way.top_p:g}"}
        says = f"{says} {view.say('decoding.drawn_from', **drawn)}"
    title = view.say("decoding.likely_given" if at < given else "page.likely", step=at + 1, said=look.targets[at].text)
    return blocks.row(
        "step",
        blocks.column("every-step", *candidates.table(view, look, given)),
        blocks.column(
            "one-step",
            blocks.slider("at", "q", view.say("page.at_step"), at, steps - 1, first=1),
            blocks.figure("likely", likeliest(view, look, at, share=2), says, title),
            *beside,
        ),
        css="halves",
    )
