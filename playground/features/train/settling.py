"""The cross-attention heads of the Overview tab: all small, until one follows a pattern; then that one large, the others small beside it.

Whether a head follows a pattern is measured on the sentence on screen at the step on screen, by the rule that names heads (see
inspection/heads.py).
"""

from playground.features.shared.heads import (
    build_small_heads,
    compute_mask,
    draw_large_head,
    draw_threads,
    find_best_head,
    format_head,
    label_heads,
)
from playground.features.shared.naming import part_key
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import View, texts
from playground.inspection.attention import HALF
from playground.inspection.heads import HeadScores, NamedHead, Sample, score
from playground.runs.orders import FINISHED
from playground.words import percentage

LABEL = 46  # px above all heads of a presented page
RESTING = ("padding", "first", "last")  # the same token for every query: true, and nothing to watch
NO_PATTERN = (*RESTING, "even", "unclear")
KEPT = 0.45  # mean weight on its pattern at which a large head stays large; to become so it needs HALF
MASTERED = 0.7  # mean weight on its pattern from which a head has learnt it

Head = tuple[int, int]  # layer and head, from 0


def build_attention(view: View) -> tuple[list[dict], list[dict], dict]:
    """Builds (the large picture, what stands beside it, the answer's fields for the page).

    Without a chosen or a settled head all heads are the large picture; else they are small beside it, and the page is told the head to
    `held`, and whether it has `settled`, so that it stays.
    """
    scored = score_heads(view.look)
    chosen = choose_head(view, scored)
    settled, count = [head for head in iterate(scored) if has_settled(scored, head)], sum(map(len, scored.heads))
    mask, every_name = compute_mask(view, "cross"), label_heads(view, scored, "cross")
    names = [[name if (layer, at) in settled else ["", ""] for at, name in enumerate(row)] for layer, row in enumerate(every_name)]
    if chosen is None:
        part = view.say(part_key(view.run, "cross"))
        label = view.say("settling.waiting", step=view.look.step, count=count, part=part)
        tall = view.stage.get("stage", view.page[1] - LABEL)
        return [build_small_heads(view, "live-heads", label, None, view.look.cross, mask, names, tall)], [], {}
    label = view.say("settling.label", count=count, patterns=len(settled))
    small = build_small_heads(view, "live-heads", label, chosen, view.look.cross, mask, names)
    lead = write_lead(view, scored, chosen)
    if view.choice("view") == "lines":
        large = draw_threads(view, "cross", chosen, lead, stage=True)
    else:
        large = draw_large_head(view, "learn-cross", "cross", stage=True, chosen=chosen, lead=lead)
    return large, [small], {"held": format_head("cross", *chosen), "settled": has_settled(scored, chosen)}


def score_heads(look: SentenceTrace) -> HeadScores:
    """Names every cross-attention head on one sentence."""
    return score([Sample(look.cross, tuple(texts(look.targets)), tuple(texts(look.source)), look.alignment)], "cross")


def choose_head(view: View, scored: HeadScores) -> Head | None:
    """Returns the chosen head, else the one that the page shows already, else the one that has settled most clearly; None if none has.

    In a replay the page's head is not large before it has settled. A run that has ended always has a large head, for lack of a settled one
    the best.
    """
    if view.choice("follow") == "on":
        return find_best_head(view.look, "cross")
    layers, heads = len(scored.heads), len(scored.heads[0])
    if chosen := view.head(layers, heads):
        return chosen
    held = view.shown_head("cross", layers, heads)
    if view.step is None and view.run.status in FINISHED:
        return held or find_best_head(view.look, "cross")
    if held and (view.step is None or keeps_pattern(scored, held)):
        return held
    return max((head for head in iterate(scored) if has_settled(scored, head)), key=lambda head: rank(scored, head), default=None)


def iterate(scored: HeadScores) -> list[Head]:
    return [(layer, head) for layer, heads in enumerate(scored.heads) for head in range(len(heads))]


def measure(scored: HeadScores, head: Head) -> NamedHead:
    return scored.heads[head[0]][head[1]]


def has_settled(scored: HeadScores, head: Head) -> bool:
    """Tests whether a head follows a pattern with at least half of its weight, or is sharp."""
    named = measure(scored, head)
    return named.name == "sharp" or (named.name not in NO_PATTERN and named.number >= HALF)


def keeps_pattern(scored: HeadScores, head: Head) -> bool:
    """Tests whether a head follows a pattern or misses it by little, so that the large picture doesn't come and go."""
    named = measure(scored, head)
    places = {named.name: named.number or 0.0} | ({named.second.name: named.second.mass} if named.second else {})
    return has_settled(scored, head) or any(name not in NO_PATTERN and mass >= KEPT for name, mass in places.items())


def rank(scored: HeadScores, head: Head) -> tuple[bool, bool, float]:
    """Ranks settled heads: the task's alignment before other places, these before sharp heads; then by weight."""
    named = measure(scored, head)
    return named.name == "aligned", named.name != "sharp", named.number


def write_lead(view: View, scored: HeadScores, head: Head) -> str:
    """Writes what the head begins to do, or has learnt, while its run trains or is replayed; after a run that nothing came of, that no
    head has settled; else ""."""
    named, values = measure(scored, head), {"layer": head[0] + 1, "head": head[1] + 1}
    if view.step is None and view.run.status in FINISHED:
        return "" if any(has_settled(scored, other) for other in iterate(scored)) else view.say("settling.none", **values)
    if not has_settled(scored, head):
        return ""
    key = "settling.learnt" if named.name != "sharp" and named.number >= MASTERED else "settling.begins"
    pattern = view.say(f"settling.what_{find_direction(view.look) or named.name}")
    return view.say(key, what=pattern, share=percentage(named.number), **values)


def find_direction(look: SentenceTrace) -> str:
    """Returns "backward" or "forward" where the task's alignment runs through the whole source that way, else ""."""
    aligned = [at for at in look.alignment or () if at is not None]
    last = len(look.source) - 2  # the last token is <eos>
    if len(aligned) < 2:
        return ""
    return {tuple(range(last, -1, -1)): "backward", tuple(range(last + 1)): "forward"}.get(tuple(aligned[: last + 1]), "")
