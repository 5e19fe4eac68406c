"""Many outputs drawn of one sentence: how they spread."""

from __future__ import annotations

from playground.queries.translate import DecodingOptions, count_samples
from playground.ui import blocks
from playground.ui.view import View
from playground.words.amounts import percentage

WARM = 2.0  # the temperature to try where all outputs are the same


def spread(view: View, way: DecodingOptions) -> list[dict]:
    """Each different output with how often it came; nothing while only one is drawn."""
    count = int(view.choice("draws"))
    if count < 2:
        return []
    found = count_samples(view.reader, view.run, view.step, view.text, way, count)
    marks = {True: "✓", False: "✗", None: "–"}
    rows = [[text or "–", times, f"≈ {percentage(times / count, 0)} %", marks[correct]] for text, times, correct in found]
    head = [view.say(f"decoding.spread_{name}") for name in ("output", "times", "share", "right")]
    right = sum(times for _, times, correct in found if correct)
    said = view.say("decoding.spread_said", count=count, different=len(found), first=way.seed, last=way.seed + count - 1)
    if any(correct is not None for _, _, correct in found):
        said = f"{said} {view.say('decoding.spread_correct', right=right, count=count, percent=percentage(right / count, 0))}"
    table = blocks.table("spread", head, rows, view.say("decoding.spread", count=count), tokens=True)
    said_of_it = [blocks.text("spread-said", said, css="pg-caption")]
    if len(found) == 1 and way.temperature < WARM:
        warmer = f"{WARM:g}"
        said_of_it.append(blocks.button("warmer", "move", view.say("decoding.warmer", temperature=warmer), to={"temperature": warmer}))
    return [*said_of_it, table]
