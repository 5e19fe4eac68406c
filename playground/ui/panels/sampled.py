"""Sampled outputs of one sentence: how often each came."""

from __future__ import annotations

from playground.queries.translate import DecodingOptions, count_samples
from playground.ui import blocks
from playground.ui.view import View
from playground.words.amounts import percentage

WARM = 2.0  # temperature suggested when all outputs are the same


def build_spread(view: View, options: DecodingOptions) -> list[dict]:
    """Builds a table of the different outputs and their counts; nothing when only one is sampled."""
    count = int(view.choice("draws"))
    if count < 2:
        return []
    outputs = count_samples(view.reader, view.run, view.step, view.text, options, count)
    marks = {True: "✓", False: "✗", None: "–"}
    rows = [[text or "–", times, f"≈ {percentage(times / count, 0)} %", marks[correct]] for text, times, correct in outputs]
    head = [view.say(f"decoding.spread_{name}") for name in ("output", "times", "share", "right")]
    right = sum(times for _, times, correct in outputs if correct)
    caption = view.say("decoding.spread_said", count=count, different=len(outputs), first=options.seed, last=options.seed + count - 1)
    if any(correct is not None for _, _, correct in outputs):
        caption = f"{caption} {view.say('decoding.spread_correct', right=right, count=count, percent=percentage(right / count, 0))}"
    table = blocks.table("spread", head, rows, view.say("decoding.spread", count=count), tokens=True)
    caption_blocks = [blocks.text("spread-said", caption, css="pg-caption")]
    if len(outputs) == 1 and options.temperature < WARM:
        warmer = f"{WARM:g}"
        caption_blocks.append(blocks.button("warmer", "move", view.say("decoding.warmer", temperature=warmer), to={"temperature": warmer}))
    return [*caption_blocks, table]
