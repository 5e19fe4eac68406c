"""A beam search on the page: the tree of what it considered, and whose fault it is when the right answer wasn't found."""

from __future__ import annotations

import numpy as np

from playground.config import EOS
from playground.decoding import Node, Verdict
from playground.decoding.beam import path
from playground.figures.tree import tree
from playground.queries.translate import DecodingOptions, Translation
from playground.ui import blocks
from playground.ui.view import View
from playground.words import paragraph


def tree_and_verdict(view: View, answer: Translation, way: DecodingOptions) -> list[dict]:
    """What became of the right answer, and the tree in which it can be seen."""
    nodes = answer.verdict.nodes if answer.verdict else answer.search.nodes
    tokenizer = view.run.tokenizers[1]
    picture = view.draw(
        tree,
        [tokenizer.piece(node.token) for node in nodes],
        [-1 if node.parent is None else node.parent for node in nodes],
        np.array([(np.exp(node.logprob), node.total, node.score) for node in nodes]),
        [_fate(node) for node in nodes],
        best=path(nodes, answer.search.ends[0]),
        reference=answer.verdict.path if answer.verdict else (),
    )
    caption = paragraph([_scored(view, answer, way), *_drawn(view, picture["layout"]["meta"])])
    title = view.say("decoding.tree", width=way.width, penalty=f"{way.length_penalty:g}")
    verdict = [blocks.text("beam-verdict", _judged(view, answer), css="pg-cell")] if answer.verdict else []
    return [*verdict, blocks.figure("tree", picture, caption, title, css="scrolls")]


def _fate(node: Node) -> str:
    if not node.entered:
        return "pruned"
    if node.token != EOS:
        return "kept"
    return "finished" if node.pruned is None else "overtaken"


def _judged(view: View, answer: Translation) -> str:
    """The verdict, and where the right answer was lost."""
    verdict = answer.verdict
    if verdict.kind == "found":
        return view.say("decoding.found")
    reference = view.run.tokenizers[1].decode(verdict.reference.ids)
    scores = {"score": f"{verdict.reference.score:.2f}", "best": f"{answer.search.hypotheses[0].score:.2f}"}
    return f"{view.say(f'decoding.{verdict.kind}_error', reference=reference, **scores)} {_lost(view, answer, verdict)}"


def _lost(view: View, answer: Translation, verdict: Verdict) -> str:
    last, at = verdict.nodes[verdict.path[-1]], verdict.path[-1]
    if verdict.pruned is None:
        ends = answer.search.ends
        return view.say("decoding.stayed", rank=ends.index(at) + 1) if at in ends and last.token == EOS else view.say("decoding.cut")
    told = {"step": verdict.pruned, "bar": f"{verdict.bar:.2f}"}
    if last.entered:
        return view.say("decoding.overtaken_at", done=last.length, **told)
    token = view.run.tokenizers[1].piece(last.token)
    return view.say("decoding.pruned_at", token=token, score=f"{last.score:.2f}", **told)


def _scored(view: View, answer: Translation, way: DecodingOptions) -> str:
    """How the score of the best came about."""
    best = answer.search.hypotheses[0]
    total, length = sum(best.logprobs), len(best.ids)
    return view.say(
        "decoding.scored",
        penalty=f"{way.length_penalty:g}",
        total=f"{total:.3f}",
        length=length,
        score=f"{best.score:.3f}",
    )


def _drawn(view: View, meta: dict) -> list[str]:
    """How much of the search is in the picture."""
    if meta["drawn"] == meta["considered"]:
        return [view.say("decoding.drawn_all", considered=meta["considered"])]
    said = [view.say("decoding.drawn_some", drawn=meta["drawn"], considered=f"{meta['considered']:,}")]
    if (meta["first"], meta["last"]) != (1, meta["steps"]):
        said.append(view.say("decoding.drawn_steps", first=meta["first"], last=meta["last"], steps=meta["steps"]))
    return said
