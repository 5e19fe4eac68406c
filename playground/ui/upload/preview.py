"""Previews an upload before training: its split, its tokens, its counts and the time to learn it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from playground.config import Experiment, read_query
from playground.data.corpus import Corpus
from playground.data.statistics import Statistics
from playground.data.warnings import Mend, find_epochs, find_spoilers
from playground.queries.results import pieces_of
from playground.reading.pairs import Pairs
from playground.runs.forecast import estimate
from playground.runs.registry import Runs
from playground.ui import blocks
from playground.ui.upload import summary, uploading
from playground.ui.view import Screen, tokens
from playground.words import paragraph

PREVIEW_PAIRS = 3  # number of pairs shown as tokens


def preview(runs: Runs, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """Returns the blocks under an upload, for the settings in `parameters`. Raises Refusal if it can't be learnt with them."""
    screen = Screen(parameters)
    experiment, _ = read_query(parameters)
    experiment = experiment.with_(task="own", own=parameters.get("own", "")[:64])
    pairs, _ = uploading.experiment_pairs(runs, experiment, token)
    corpus, counts = runs.corpora.get_for_preview(experiment, pairs)
    sentences = summary.describe_counts(counts, screen)
    sentences += summary.excluded_pairs(pairs, corpus.left_out, counts, experiment.data.max_tokens, screen)
    lines = []
    for item in corpus.train[:PREVIEW_PAIRS]:
        for side, tokenizer, text in (("source", corpus.src_tokenizer, item.src), ("target", corpus.tgt_tokenizer, item.tgt)):
            lines.append({"label": screen.say(f"page.{side}"), "tokens": tokens(pieces_of(tokenizer, text)), "side": ""})
    tokenizers_text = screen.say(
        "sentences.tokenizers", src=screen.say(f"sentences.kind_{corpus.src_tokenizer.kind}"), src_size=f"{counts.src.vocabulary:,}",
        tgt=screen.say(f"sentences.kind_{corpus.tgt_tokenizer.kind}"), tgt_size=f"{counts.tgt.vocabulary:,}",
    )  # fmt: skip
    return {
        "of": ", ".join(pairs.names),
        "blocks": [
            blocks.text("preview-facts", paragraph(sentences), css="pg-caption"),
            *summary.too_long(pairs, corpus.left_out, screen, "preview"),
            *_draw_warnings(experiment, pairs, corpus, counts, screen),
            *_suggestion_blocks(experiment, pairs, screen),
            blocks.text(
                "preview-estimate", estimate(experiment, pairs, find_epochs(experiment, counts), screen.language), css="pg-caption"
            ),
            blocks.text("preview-cut", tokenizers_text, css="pg-caption"),
            blocks.chips("preview-pieces", *lines, ids=True),
            *summary.pictures(counts, screen, "preview"),
            blocks.button("preview-score", "move", screen.say("sentences.score"), to=_score_link(experiment.data.own)),
            uploading.download_links(experiment.data.own, len(pairs.pairs), screen),
        ],
    }


def _score_link(own: str) -> dict[str, str | int]:
    """Returns the cursor at which the page's run is scored on these sentences (ui/panels/evaluation.py)."""
    return {"tab": "evaluation", "split": "file", "file": own}


def _suggestion_blocks(experiment: Experiment, pairs: Pairs, screen: Screen) -> list[dict[str, Any]]:
    """Returns the suggested settings with their reasons, given the visitor's choices; and a button if some differ."""
    current = experiment.flat()
    suggested = uploading.suggest_for(pairs, experiment.data.own, uploading.chosen_values(pairs, experiment.data.own, current))
    sentences = [screen.say("suggestion.title"), *suggested.sentences(screen.language)] if suggested.choices else []
    changes = {name: value for name, value in suggested.knobs.items() if value != current[name]}
    drawn = [blocks.text("preview-suggestion", paragraph(sentences), css="pg-caption")] if sentences else []
    return [*drawn, *([blocks.button("preview-apply", "set", screen.say("suggestion.apply"), values=changes)] if changes else [])]


def _draw_warnings(experiment: Experiment, pairs: Pairs, corpus: Corpus, statistics: Statistics, screen: Screen) -> list[dict[str, Any]]:
    """Returns the blocks: a sentence and its buttons per warning."""
    drawn = []
    for spoiler in find_spoilers(experiment, pairs, corpus, statistics, partial(uploading.suggest_for, pairs, experiment.data.own)):
        drawn.append(
            blocks.text(f"warning-{spoiler.name}", screen.say(f"sentences.warn_{spoiler.name}", **spoiler.slots), css="pg-warning")
        )
        buttons = [_make_button(f"mend-{spoiler.name}-{place}", mend, pairs, screen) for place, mend in enumerate(spoiler.mends)]
        drawn += [blocks.row(f"mend-{spoiler.name}", *buttons)] if buttons else []
    return drawn


def _make_button(place: str, mend: Mend, pairs: Pairs, screen: Screen) -> dict[str, Any]:
    """Returns a button that sets knobs, or reads the sentences with other columns."""
    if mend.columns is None:
        return blocks.button(place, "set", screen.say(f"sentences.mend_{mend.name}", **mend.slots), values=dict(mend.knobs))
    source, target, joined = mend.columns
    name = pairs.columns[joined[-1]].name or screen.say("page.column", number=joined[-1] + 1)
    values = {"source": source, "target": target, "swap": False, "joined": list(joined)}
    return blocks.button(place, "read", screen.say(f"sentences.mend_{mend.name}", name=name), values=values)
