"""An upload before anything learns it: how it would be split and cut into tokens, what it looks like, how long it would take to learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import Experiment, read_query
from playground.data.warnings import passes
from playground.queries.results import pieces_of
from playground.reading.uploads import Pairs
from playground.runs.forecast import estimate
from playground.runs.registry import Runs
from playground.ui import blocks
from playground.ui.upload import summary, uploading
from playground.ui.upload.warnings import warnings
from playground.ui.view import Screen, tokens
from playground.words import paragraph

PAIRS = 3  # shown cut into tokens


def preview(runs: Runs, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """The blocks under a reading, for the settings in `parameters`. Raises Refusal when these sentences can't be learnt with them."""
    screen = Screen(parameters)
    experiment, _ = read_query(parameters)
    experiment = experiment.with_(task="own", own=parameters.get("own", "")[:64])
    pairs, _ = uploading.pairs(runs, experiment, token)
    corpus, found = runs.corpora.get_for_preview(experiment, pairs)
    said = summary.facts(found, screen) + summary.elsewhere(pairs, corpus.left_out, found, experiment.data.max_tokens, screen)
    lines = []
    for item in corpus.train[:PAIRS]:
        for side, tokenizer, text in (("source", corpus.src_tokenizer, item.src), ("target", corpus.tgt_tokenizer, item.tgt)):
            lines.append({"label": screen.say(f"page.{side}"), "tokens": tokens(pieces_of(tokenizer, text)), "side": ""})
    cut = screen.say(
        "sentences.tokenizers", src=screen.say(f"sentences.kind_{corpus.src_tokenizer.kind}"), src_size=f"{found.src.vocabulary:,}",
        tgt=screen.say(f"sentences.kind_{corpus.tgt_tokenizer.kind}"), tgt_size=f"{found.tgt.vocabulary:,}",
    )  # fmt: skip
    return {
        "of": ", ".join(pairs.names),
        "blocks": [
            blocks.text("preview-facts", paragraph(said), css="pg-caption"),
            *summary.too_long(pairs, corpus.left_out, screen, "preview"),
            *warnings(experiment, pairs, corpus, found, screen),
            *_suggestion(experiment, pairs, screen),
            blocks.text("preview-estimate", estimate(experiment, pairs, passes(experiment, found), screen.language), css="pg-caption"),
            blocks.text("preview-cut", cut, css="pg-caption"),
            blocks.chips("preview-pieces", *lines, ids=True),
            *summary.pictures(found, screen, "preview"),
            blocks.button("preview-score", "move", screen.say("sentences.score"), to=_scored(experiment.data.own)),
            uploading.downloads(experiment.data.own, len(pairs.pairs), screen),
        ]
    }


def _scored(own: str) -> dict[str, str | int]:
    """Where the page's run is scored on these sentences (ui/panels/evaluation.py)."""
    return {"tab": "evaluation", "split": "file", "file": own}


def _suggestion(experiment: Experiment, pairs: Pairs, screen: Screen) -> list[dict[str, Any]]:
    """The settings that suit these sentences beside what was chosen, each with its reason; and a button where there are others."""
    now = experiment.flat()
    found = uploading.suggestion(pairs, experiment.data.own, uploading.chosen_otherwise(pairs, experiment.data.own, now))
    said = [screen.say("suggestion.title"), *found.sentences(screen.language)] if found.choices else []
    others = {name: value for name, value in found.knobs.items() if value != now[name]}
    shown = [blocks.text("preview-suggestion", paragraph(said), css="pg-caption")] if said else []
    return [*shown, *([blocks.button("preview-apply", "set", screen.say("suggestion.apply"), values=others)] if others else [])]
