"""The Data tab, the preview of an upload before training, and what both say of sentences: counts, lengths, words."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from playground.config import Experiment, read_query
from playground.cursor import choices
from playground.data.corpus import Corpus
from playground.data.corpus_check import Mend, SideStatistics, Statistics, find_epochs, find_spoilers
from playground.features.shared import blocks, panels, uploading
from playground.features.shared.figures import graph, theme
from playground.features.shared.figures.theme import PLAIN, Style
from playground.features.shared.naming import title
from playground.features.shared.queries.results import pieces_of
from playground.features.shared.view import Screen, View, tokens
from playground.reading.column_mapping import MAX_CELL_CHARACTERS
from playground.reading.filtering import MAX_DROPPED_ROWS
from playground.reading.pairs import Pairs, format_line_numbers, report
from playground.runs.forecast import estimate
from playground.runs.registry import Runs
from playground.words import known, paragraph, percentage

SHOWN_SENTENCES = 4
PREVIEW_PAIRS = 3  # number of pairs shown as tokens


@panels.declare("data", "train", 3)
def panel(view: View) -> dict:
    task, sizes = view.run.experiment.data.task, view.reader.sizes(view.run)
    splits_present = [name for name in choices("split") if sizes.get(name)]
    split = view.choice("split", splits_present)
    pairs = view.reader.examples(view.run, split, SHOWN_SENTENCES)
    splits = [{"value": name, "label": view.say(f"page.split_{name}", count=f"{sizes[name]:,}")} for name in splits_present]
    lines = [{"label": view.say("page.this_sentence"), "tokens": tokens(view.reader.pieces(view.run, view.text)), "side": ""}]
    for source, target in pairs:
        lines.append({"label": view.say("page.source"), "tokens": tokens(view.reader.pieces(view.run, source)), "side": ""})
        lines.append({"label": view.say("page.target"), "tokens": tokens(view.reader.pieces(view.run, target, "tgt")), "side": ""})
    about = view.say(f"tasks.{task}.about") if known(view.language, f"tasks.{task}.about") else ""
    harder = view.say(f"tasks.{task}.harder") if split == "harder" and known(view.language, f"tasks.{task}.harder") else ""
    sizes_text = view.say("page.vocabulary_sizes", source=sizes["src_vocabulary"], target=sizes["tgt_vocabulary"], longest=sizes["longest"])
    statistics, own_upload, pairs_read = view.reader.statistics(view.run), view.run.experiment.data.own, view.run.pairs
    facts, left_out = describe_counts(statistics, view), view.reader.left_out(view.run)
    if pairs_read:
        facts += excluded_pairs(pairs_read, left_out, statistics, view.run.experiment.data.max_tokens, view)
    return {
        "step": None,
        "blocks": [
            blocks.text("of", view.say("page.sentences_of", run=title(view.run, view.language, view.token)), css="pg-heading"),
            blocks.text("about", about, css="pg-caption"),
            blocks.choice("split", "split", view.say("page.split"), splits, split),
            *([blocks.text("account", paragraph(report(pairs_read, view.language)), css="pg-caption")] if pairs_read else []),
            *([blocks.text("harder", harder, css="pg-caption")] if harder else []),
            blocks.chips("pieces", *lines, ids=True),
            blocks.text("facts", paragraph([sizes_text, *facts]), css="pg-caption"),
            *(too_long(pairs_read, left_out, view, "data") if pairs_read else []),
            *pictures(statistics, view, "data"),
            *([blocks.text("credit", view.say("page.credit", credit=view.run.credit), css="pg-caption")] if view.run.credit else []),
            *([uploading.download_links(own_upload, len(pairs_read.pairs), view)] if own_upload and pairs_read else []),
        ],
    }


def describe_counts(stats: Statistics, screen: Screen) -> list[str]:
    """Describes the counts, a sentence each; nothing for a count of zero."""
    say = screen.say
    sentences = [
        say("sentences.sizes", train=_whole(stats.sizes["train"]), heldout=_whole(stats.sizes["heldout"]), test=_whole(stats.sizes["test"]))
    ]
    for side in ("src", "tgt"):
        counted: SideStatistics = getattr(stats, side)
        if counted.known < 1:
            sentences.append(say(f"sentences.unknown_{side}", percent=percentage(1 - counted.known, None)))
    if stats.several:
        sentences.append(say("sentences.several", count=_whole(stats.several), of=_whole(stats.sources), most=stats.most_answers))
    counts = {"repeated": stats.repeated, "same": stats.same}
    return sentences + [say(f"sentences.{name}", count=_whole(count)) for name, count in counts.items() if count]


def excluded_pairs(pairs: Pairs, left_out: Sequence[int], counts: Statistics, most: int, screen: Screen) -> list[str]:
    """Describes the own pairs that are in none of the splits."""
    sentences = []
    if further := len(pairs.pairs) - len(left_out) - sum(counts.sizes.values()):
        sentences.append(screen.say("sentences.further", count=_whole(further)))
    if left_out:
        where = format_line_numbers(left_out, pairs.unit, screen.language)
        sentences.append(screen.say("sentences.left_out", count=_whole(len(left_out)), most=most, where=where))
    return sentences


def too_long(pairs: Pairs, left_out: Sequence[int], screen: Screen, place: str) -> list[dict[str, Any]]:
    """Returns a foldable table of the first pairs that are left out for their length."""
    lines = set(left_out[:MAX_DROPPED_ROWS])
    rows = [[str(line), src[:MAX_CELL_CHARACTERS], tgt[:MAX_CELL_CHARACTERS]] for src, tgt, line in pairs.pairs if line in lines]
    head = [screen.say(f"page.unit_{pairs.unit}"), screen.say("page.source"), screen.say("page.target")]
    title = screen.say("sentences.left_out_lines", count=len(rows))
    return [blocks.table(f"{place}-left-out", head, rows, title, folded=True, tokens=True)] if rows else []


def pictures(counts: Statistics, screen: Screen, place: str) -> list[dict[str, Any]]:
    """Draws lengths, coverage and the most frequent tokens, each with a caption computed from its numbers. `place` makes the ids unique on
    a page with two of them."""
    say, src, tgt = screen.say, counts.src, counts.tgt
    lengths_caption = say(
        "sentences.lengths_caption", src=f"{src.lengths.mean():.3g}", tgt=f"{tgt.lengths.mean():.3g}", src_most=int(src.lengths.max()),
        tgt_most=int(tgt.lengths.max()),
    )  # fmt: skip
    coverage_caption = say(
        "sentences.coverage_caption", src=_half(src), tgt=_half(tgt), src_all=_whole(len(src.counts)), tgt_all=_whole(len(tgt.counts))
    )
    frequent = {
        name: blocks.figure(
            f"{place}-frequent-{name}",
            screen.draw(graph.frequencies, *zip(*side.frequent, strict=True), kind=kind, width=screen.width // 2),
            say("sentences.frequent_caption", token=side.frequent[0][0], percent=percentage(side.counts[0] / side.counts.sum())),
            say(f"sentences.frequent_{name}"),
        )
        for name, side, kind in (("src", src, "encoder"), ("tgt", tgt, "decoder"))
    }
    return [
        blocks.row(
            f"{place}-shape",
            blocks.figure(f"{place}-lengths", screen.draw(lengths, src.lengths, tgt.lengths), lengths_caption, say("sentences.lengths")),
            blocks.figure(f"{place}-coverage", screen.draw(coverage, src.counts, tgt.counts), coverage_caption, say("sentences.coverage")),
            css="halves",
        ),
        blocks.row(f"{place}-frequent", frequent["src"], frequent["tgt"], css="halves"),
    ]


def _half(side: SideStatistics) -> str:
    """Returns how many of the most frequent tokens make up half of the text."""
    return _whole(int((side.counts.cumsum() * 2 < side.counts.sum()).sum()) + 1)


def _whole(number: int) -> str:
    return f"{number:,}"


def preview(runs: Runs, parameters: Mapping[str, str], token: str) -> dict[str, Any]:
    """Returns the blocks under an upload, for the settings in `parameters`. Raises Refusal if it can't be learnt with them."""
    screen = Screen(parameters)
    experiment, _ = read_query(parameters)
    experiment = experiment.with_(task="own", own=parameters.get("own", "")[:64])
    pairs, _ = uploading.experiment_pairs(runs, experiment, token)
    corpus, counts = runs.corpora.get_for_preview(experiment, pairs)
    sentences = describe_counts(counts, screen)
    sentences += excluded_pairs(pairs, corpus.left_out, counts, experiment.data.max_tokens, screen)
    lines = []
    for item in corpus.train[:PREVIEW_PAIRS]:
        for side, tokenizer, text in (("source", corpus.src_tokenizer, item.src), ("target", corpus.tgt_tokenizer, item.tgt)):
            lines.append({"label": screen.say(f"page.{side}"), "tokens": tokens(pieces_of(tokenizer, text)), "side": ""})
    score = {"tab": "evaluation", "split": "file", "file": experiment.data.own}
    tokenizers_text = screen.say(
        "sentences.tokenizers", src=screen.say(f"sentences.kind_{corpus.src_tokenizer.kind}"), src_size=f"{counts.src.vocabulary:,}",
        tgt=screen.say(f"sentences.kind_{corpus.tgt_tokenizer.kind}"), tgt_size=f"{counts.tgt.vocabulary:,}",
    )  # fmt: skip
    return {
        "of": ", ".join(pairs.names),
        "blocks": [
            blocks.text("preview-facts", paragraph(sentences), css="pg-caption"),
            *too_long(pairs, corpus.left_out, screen, "preview"),
            *_draw_warnings(experiment, pairs, corpus, counts, screen),
            *_suggestion_blocks(experiment, pairs, screen),
            blocks.text(
                "preview-estimate", estimate(experiment, pairs, find_epochs(experiment, counts), screen.language), css="pg-caption"
            ),
            blocks.text("preview-cut", tokenizers_text, css="pg-caption"),
            blocks.chips("preview-pieces", *lines, ids=True),
            *pictures(counts, screen, "preview"),
            blocks.button("preview-score", "move", screen.say("sentences.score"), to=score),
            uploading.download_links(experiment.data.own, len(pairs.pairs), screen),
        ],
    }


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


# ---- figures ----

BINS = 40  # the most bars; on longer ranges a bar has several lengths


def lengths(source: Sequence[int], target: Sequence[int], *, style: Style = PLAIN) -> dict:
    """Draws histograms of sentence lengths in tokens: source above, target below, on one axis."""
    sides = {"source": np.asarray(source, dtype=np.int64), "target": np.asarray(target, dtype=np.int64)}
    longest = max(int(values.max(initial=0)) for values in sides.values())
    shortest = min(int(values.min()) if values.size else 0 for values in sides.values())
    step = max(1, -(-(longest + 1) // BINS))
    data, most = [], 1
    for (name, values), kind, axis in zip(sides.items(), ("encoder", "decoder"), ("y", "y2"), strict=True):
        counts = np.bincount(values // step, minlength=longest // step + 1)
        most = max(most, int(counts.max(initial=0)))
        spans = [f"{i * step}" if step == 1 else f"{i * step}–{i * step + step - 1}" for i in range(len(counts))]
        data.append({
            "type": "bar", "x": ((np.arange(len(counts)) + 0.5) * step - 0.5).tolist(), "y": counts.tolist(), "width": step * 0.86,
            "yaxis": axis, "name": style.word(name), "customdata": spans, "marker": {"color": style.hue(kind)},
            "hovertemplate": style.hover("hover_length", length="%{customdata}", count="<b>%{y:,}</b>"),
        })  # fmt: skip
    span = [(shortest // step) * step - 0.9, (longest // step + 1) * step - 0.3]
    ticks = {"dtick": 1} if longest - shortest < 8 else {"nticks": 8}  # no length is half a token
    x = style.axis(style.word("length"), anchor="y2", showgrid=False, range=span, **ticks)
    rows = {
        key: style.axis(style.word(name), domain=domain, range=[0, most * 1.05], nticks=3)
        for key, name, domain in (("yaxis", "source", [0.54, 1]), ("yaxis2", "target", [0, 0.46]))
    }
    layout = style.layout(260, (66, 12, 8, 44), xaxis=x, **rows)
    return {"data": data, "layout": layout}


def coverage(source: Sequence[int], target: Sequence[int], *, style: Style = PLAIN) -> dict:
    """Draws the share of a text that its most frequent tokens cover, from either side's token counts, most frequent first."""
    data, most = [], 1
    for name, values, kind, dash in (("source", source, "encoder", "solid"), ("target", target, "decoder", "dash")):
        counts = np.asarray(values, dtype=np.float64)
        places = np.unique(np.geomspace(1, max(len(counts), 1), 60).round().astype(int))[: len(counts)]
        shares = counts.cumsum()[places - 1] / max(counts.sum(), 1.0) if len(counts) else counts
        most = max(most, len(counts))
        data.append({
            "type": "scatter", "mode": "lines", "x": places.tolist(), "y": theme.rounded(shares), "name": style.word(name),
            "line": {"color": style.hue(kind), "width": 2, "dash": dash},
            "hovertemplate": style.hover("hover_coverage", count="<b>%{x:,}</b>", share="%{y:.1%}"),
        })  # fmt: skip
    x = style.axis(style.word("most_frequent"), type="log", range=[0, float(np.log10(most)) + 0.02], dtick=1)
    y = style.axis(style.word("share_of_text"), range=[0, 1.02], tickformat=".0%", nticks=5)
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    layout = style.layout(260, (56, 12, 30, 44), xaxis=x, yaxis=y, showlegend=True, legend=legend)
    return {"data": data, "layout": layout}
