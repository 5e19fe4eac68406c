"""Blocks about sentences: counts, lengths and words; the same for a run's data and for an upload that nothing is trained on yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.data.statistics import SideStatistics, Statistics
from playground.figures import bars, data
from playground.reading.column_mapping import MAX_CELL_CHARACTERS
from playground.reading.filtering import MAX_DROPPED_ROWS
from playground.reading.pairs import Pairs, format_line_numbers
from playground.ui import blocks
from playground.ui.view import Screen
from playground.words.amounts import percentage


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
    if stats.repeated:
        sentences.append(say("sentences.repeated", count=_whole(stats.repeated)))
    if stats.same:
        sentences.append(say("sentences.same", count=_whole(stats.same)))
    return sentences


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
    lengths = say(
        "sentences.lengths_caption", src=f"{src.lengths.mean():.3g}", tgt=f"{tgt.lengths.mean():.3g}", src_most=int(src.lengths.max()),
        tgt_most=int(tgt.lengths.max()),
    )  # fmt: skip
    coverage = say(
        "sentences.coverage_caption", src=_half(src), tgt=_half(tgt), src_all=_whole(len(src.counts)), tgt_all=_whole(len(tgt.counts))
    )
    frequent = {
        name: blocks.figure(
            f"{place}-frequent-{name}",
            screen.draw(bars.frequencies, *zip(*side.frequent, strict=True), kind=kind, width=screen.width // 2),
            say("sentences.frequent_caption", token=side.frequent[0][0], percent=percentage(side.counts[0] / side.counts.sum())),
            say(f"sentences.frequent_{name}"),
        )
        for name, side, kind in (("src", src, "encoder"), ("tgt", tgt, "decoder"))
    }
    return [
        blocks.row(
            f"{place}-shape",
            blocks.figure(f"{place}-lengths", screen.draw(data.lengths, src.lengths, tgt.lengths), lengths, say("sentences.lengths")),
            blocks.figure(f"{place}-coverage", screen.draw(data.coverage, src.counts, tgt.counts), coverage, say("sentences.coverage")),
            css="halves",
        ),
        blocks.row(f"{place}-frequent", frequent["src"], frequent["tgt"], css="halves"),
    ]


def _half(side: SideStatistics) -> str:
    """Returns how many of the most frequent tokens make up half of the text."""
    return _whole(int((side.counts.cumsum() * 2 < side.counts.sum()).sum()) + 1)


def _whole(number: int) -> str:
    return f"{number:,}"
