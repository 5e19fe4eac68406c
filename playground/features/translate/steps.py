"""Every step of a decoding: the tree of a beam with its verdict, and the table of likeliest tokens."""

from collections.abc import Sequence

import numpy as np

from playground.config import EOS
from playground.decoding import Node, Verdict
from playground.decoding.beam import extend, path
from playground.decoding.verdicts import follow
from playground.features.shared import blocks
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import View, steps
from playground.features.translate.figure import tree
from playground.features.translate.query import DecodingOptions, Translation
from playground.inspection.attention import entropy
from playground.words import paragraph, percentage

FREE_LABELS = ("tree_reference", "tree_lost")  # of a tree with constraints, for the best output without them
MIN_PROBABILITY = 0.01  # shown in the table


def build_verdict_and_tree(view: View, answer: Translation, options: DecodingOptions) -> list[dict]:
    """Builds the verdict on the reference and the tree that shows where it was lost; or the cost of constraints and the path of the best
    output without them."""
    nodes, rival = (answer.verdict.nodes, answer.verdict.path) if answer.verdict else (answer.search.nodes, ())
    if answer.free:
        free = answer.free.hypotheses[0]
        rival, nodes = follow(answer.search, free)
        for token, logprob in list(zip(free.ids, free.logprobs, strict=True))[len(rival) :]:  # after the token that the constraints exclude
            excluded = extend(rival[-1], nodes[rival[-1]], token, logprob, options.length_penalty)
            nodes, rival = (*nodes, excluded), (*rival, len(nodes))
    tokenizer = view.run.tokenizers[1]
    picture = view.draw(
        tree,
        [tokenizer.piece(node.token) for node in nodes],
        [-1 if node.parent is None else node.parent for node in nodes],
        np.array([(np.exp(node.logprob), node.total, node.score) for node in nodes]),
        [_classify_node(node) for node in nodes],
        best=path(nodes, answer.search.ends[0]),
        reference=rival,
        labels=view.labels | ({name: _say_cost(view, answer, options, name) for name in FREE_LABELS} if answer.free else {}),
    )
    caption = paragraph([_explain_score(view, answer, options), *_describe_extent(view, picture["layout"]["meta"])])
    title = view.say("decoding.tree", width=options.width, penalty=f"{options.length_penalty:g}")
    sentence = _write_cost(view, answer, options) if answer.free else _write_verdict(view, answer) if answer.verdict else ""
    verdict = [blocks.text("beam-verdict", sentence, css="pg-cell")] if sentence else []
    return [*verdict, blocks.figure("tree", picture, caption, title, css="scrolls")]


def _classify_node(node: Node) -> str:
    if not node.entered:
        return "pruned"
    if node.token != EOS:
        return "kept"
    return "finished" if node.pruned is None else "overtaken"


def _write_cost(view: View, answer: Translation, options: DecodingOptions) -> str:
    """Writes how much lower the constraints make the score of the best hypothesis."""
    best, free = answer.search.hypotheses[0], answer.free.hypotheses[0]
    name = "constraint_is_met" if best.ids == free.ids else "constraint_costs" if best.score < free.score else "constraint_gains"
    return _say_cost(view, answer, options, name)


def _say_cost(view: View, answer: Translation, options: DecodingOptions, name: str) -> str:
    best, free = answer.search.hypotheses[0], answer.free.hypotheses[0]
    kind = view.say(f"decoding.score_{'normalised' if options.length_penalty else 'plain'}")
    numbers = {"cost": free.score - best.score, "score": best.score, "free": free.score}
    output = view.run.tokenizers[1].decode(free.ids)
    return view.say(f"decoding.{name}", kind=kind, output=output, **{key: f"{value:.3f}" for key, value in numbers.items()})


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


def find_telling_step(look: SentenceTrace, right: Sequence[bool] | None, prefix_length: int) -> int:
    """Returns the first wrong token after the given prefix; without one, or without a reference, the step of the highest entropy."""
    wrong = next((at for at, correct in enumerate(right or ()) if not correct and at >= prefix_length), None)
    return find_hesitation(look, prefix_length) if wrong is None else wrong


def find_hesitation(look: SentenceTrace, prefix_length: int) -> int:
    """Returns the first step of the highest entropy after the prefix; the probability of unlisted tokens counts as one token's."""
    start = min(prefix_length, len(look.likely) - 1)
    distributions = [[candidate.probability for candidate in row] for row in look.likely[start:]]
    bits = [entropy(np.array([*row, max(1 - sum(row), 0)])) for row in distributions]
    return start + int(np.argmax(np.round(bits, 9)))


def build_table(view: View, look: SentenceTrace, prefix_length: int) -> list[dict]:
    """Builds the step of the most hesitation, and each step's likeliest tokens with probabilities of at least MIN_PROBABILITY."""
    labels = [[f"{token.text} {token.probability:.2f}" for token in row if token.probability >= MIN_PROBABILITY] for row in look.likely]
    ranks = max(map(len, labels))
    rows = [[name, *row, *[""] * (ranks - len(row))] for name, row in zip(steps(look), labels, strict=True)]
    at = find_hesitation(look, prefix_length)
    first, *rest = look.likely[at]
    values = {"step": at + 1, "token": first.text, "percent": percentage(first.probability)}
    sentence = view.say("decoding.hesitates", **values, second=rest[0].text, other=percentage(rest[0].probability)) if rest else ""
    head = [view.say("decoding.candidates_step"), *(view.say("decoding.candidates_rank", rank=rank + 1) for rank in range(ranks))]
    return [
        *([blocks.text("hesitates", sentence, css="pg-caption")] if sentence else []),
        blocks.table("steps", head, rows, view.say("decoding.candidates"), rowheads=True, tokens=True),
    ]
