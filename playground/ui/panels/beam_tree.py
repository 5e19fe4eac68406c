"""Beam search on the page: the tree of considered tokens, and whether a missed reference is a search or a model error."""

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


def build_verdict_and_tree(view: View, answer: Translation, options: DecodingOptions) -> list[dict]:
    """Builds the verdict on the reference and the tree that shows where it was lost."""
    nodes = answer.verdict.nodes if answer.verdict else answer.search.nodes
    tokenizer = view.run.tokenizers[1]
    picture = view.draw(
        tree,
        [tokenizer.piece(node.token) for node in nodes],
        [-1 if node.parent is None else node.parent for node in nodes],
        np.array([(np.exp(node.logprob), node.total, node.score) for node in nodes]),
        [_classify_node(node) for node in nodes],
        best=path(nodes, answer.search.ends[0]),
        reference=answer.verdict.path if answer.verdict else (),
    )
    caption = paragraph([_explain_score(view, answer, options), *_describe_extent(view, picture["layout"]["meta"])])
    title = view.say("decoding.tree", width=options.width, penalty=f"{options.length_penalty:g}")
    verdict = [blocks.text("beam-verdict", _write_verdict(view, answer), css="pg-cell")] if answer.verdict else []
    return [*verdict, blocks.figure("tree", picture, caption, title, css="scrolls")]


def _classify_node(node: Node) -> str:
    if not node.entered:
        return "pruned"
    if node.token != EOS:
        return "kept"
    return "finished" if node.pruned is None else "overtaken"


def _write_verdict(view: View, answer: Translation) -> str:
    """Writes the verdict, and the step at which the reference was lost."""
    verdict = answer.verdict
    if verdict.kind == "found":
        return view.say("decoding.found")
    reference = view.run.tokenizers[1].decode(verdict.reference.ids)
    scores = {"score": f"{verdict.reference.score:.2f}", "best": f"{answer.search.hypotheses[0].score:.2f}"}
    return f"{view.say(f'decoding.{verdict.kind}_error', reference=reference, **scores)} {_explain_loss(view, answer, verdict)}"


def _explain_loss(view: View, answer: Translation, verdict: Verdict) -> str:
    last, at = verdict.nodes[verdict.path[-1]], verdict.path[-1]
    if verdict.pruned is None:
        ends = answer.search.ends
        return view.say("decoding.stayed", rank=ends.index(at) + 1) if at in ends and last.token == EOS else view.say("decoding.cut")
    values = {"step": verdict.pruned, "bar": f"{verdict.bar:.2f}"}
    if last.entered:
        return view.say("decoding.overtaken_at", done=last.length, **values)
    token = view.run.tokenizers[1].piece(last.token)
    return view.say("decoding.pruned_at", token=token, score=f"{last.score:.2f}", **values)


def _explain_score(view: View, answer: Translation, options: DecodingOptions) -> str:
    """Explains the score of the best hypothesis."""
    best = answer.search.hypotheses[0]
    total, length = sum(best.logprobs), len(best.ids)
    return view.say(
        "decoding.scored",
        penalty=f"{options.length_penalty:g}",
        total=f"{total:.3f}",
        length=length,
        score=f"{best.score:.3f}",
    )


def _describe_extent(view: View, meta: dict) -> list[str]:
    """Describes how much of the search is drawn."""
    if meta["drawn"] == meta["considered"]:
        return [view.say("decoding.drawn_all", considered=meta["considered"])]
    sentences = [view.say("decoding.drawn_some", drawn=meta["drawn"], considered=f"{meta['considered']:,}")]
    if (meta["first"], meta["last"]) != (1, meta["steps"]):
        sentences.append(view.say("decoding.drawn_steps", first=meta["first"], last=meta["last"], steps=meta["steps"]))
    return sentences
