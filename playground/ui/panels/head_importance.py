"""What a change costs over many sentences, and what each head is worth: asked after the rest of its tab, since it takes longer."""

from __future__ import annotations

from playground.figures import changes as pictures
from playground.inspection import differences
from playground.inspection.fact import Fact
from playground.inspection.interventions import PARTS, HeadId
from playground.queries import interventions
from playground.queries.interventions import Importance
from playground.queries.validation import evaluate_change
from playground.ui import blocks
from playground.ui.measured import share_of
from playground.ui.panels.interventions import change, head_name
from playground.ui.view import View
from playground.words import paragraph
from playground.words.amounts import percentage


def score(view: View) -> dict:
    """Exact match and token accuracy before and after what the link changes."""
    asked = change(view)
    both = evaluate_change(view.reader, view.runs.corpora, view.run, view.step, asked)
    before, after = (found.validation for found in both)
    if not (all(found.whole for found in both) or view.run.working):
        said = view.say("evaluation.trying", tried=after.pairs, asked=both[1].of)
        return {"step": both[1].step, "more": True, "blocks": [blocks.progress("score-progress", after.pairs, both[1].of, said)]}
    rows = []
    for name, column in (("exact", "exact_match"), ("tokens", "token_accuracy")):
        points = 100 * (getattr(after, column) - getattr(before, column))
        sign = "interventions.lost" if points < 0 else "interventions.gained" if points > 0 else "interventions.even"
        shares = [share_of(view, found, column) for found in both]
        rows.append([view.say(f"interventions.{name}"), *shares, view.say(sign, points=f"{abs(points):.1f}")])
    points = 100 * (before.exact_match - after.exact_match)
    key = "interventions.score_fell" if points > 0 else "interventions.score_rose" if points < 0 else "interventions.score_same"
    values = {
        "points": differences.points_of(abs(points)),
        "before": percentage(before.exact_match),
        "after": percentage(after.exact_match),
    }
    said = [view.say(key, **values)] if asked.off or asked.memory else []
    said += [view.say("interventions.score_row")] if asked.edit else []
    head = ["", *(view.say(f"interventions.{name}") for name in ("before", "after", "points"))]
    return {
        "step": view.step,
        "blocks": [
            blocks.table("score", head, rows, view.say("interventions.score", pairs=before.pairs), rowheads=True),
            *([blocks.text("score-said", paragraph(said), css="pg-caption")] if said else []),
        ],
    }


def importance(view: View) -> dict:
    """A bar for every head: what is lost when it alone is switched off. Until all are measured an estimate, and how many are."""
    found = interventions.measure_importance(view.reader, view.runs.corpora, view.run, view.step)
    done = len(found.without)
    title = blocks.text("importance-title", view.say("interventions.importance"), css="pg-heading")
    if done < found.heads:
        said = view.say("interventions.importance_progress", done=done, heads=found.heads)
        progress = blocks.progress("importance-progress", done, found.heads, said)
        return {"step": view.step, "more": True, "blocks": [title, progress, *(_estimated(view, found.estimate) if found.estimate else [])]}
    whole, (lost, fewer) = found.whole.validation, _losses(found)
    facts = differences.importance(lost, 100 * whole.exact_match)
    said = [_say(view, fact) for fact in facts]
    exact, every = percentage(whole.exact_match), found.whole.of
    if found.whole.whole:
        said.append(view.say("interventions.importance_caption", all=every, exact=exact))
    else:
        said.append(view.say("interventions.importance_sample", pairs=whole.pairs, all=every, exact=exact))
    said.append(view.say("interventions.importance_alone"))
    bars = _parts(view, lost, fewer)
    return {"step": view.step, "blocks": [title, blocks.text("importance-said", paragraph(said), css="pg-caption"), bars]}


def _losses(found: Importance) -> tuple[dict[HeadId, float], dict[HeadId, float]]:
    """Points of exact match and of token accuracy that are lost without each head."""
    whole = found.whole.validation
    lost = {head: 100 * (whole.exact_match - one.exact_match) for head, one in found.without.items()}
    return lost, {head: 100 * (whole.token_accuracy - one.token_accuracy) for head, one in found.without.items()}


def _estimated(view: View, found: Importance) -> list[dict]:
    """The same bars from a few sentences, while the others are asked."""
    counts = {"pairs": found.whole.validation.pairs, "all": f"{found.whole.of:,}"}
    said = blocks.text("importance-said", view.say("interventions.importance_estimate", **counts), css="pg-caption")
    return [said, _parts(view, *_losses(found), view.say("interventions.importance_about", **counts))]


def _parts(view: View, lost: dict[HeadId, float], fewer: dict[HeadId, float], about: str = "") -> dict:
    """A picture of each kind of attention, on one scale. `about` says of how few sentences the numbers are."""
    every, off = [*lost.values(), *fewer.values()], change(view).off
    scale = {"least": min(every), "most": max(every)}
    return blocks.row("importance", *(_part(view, part, lost, fewer, off, scale, about) for part in PARTS), css="thirds")


def _part(
    view: View, part: str, lost: dict[HeadId, float], fewer: dict[HeadId, float], off: frozenset[HeadId], scale: dict, about: str
) -> dict:
    heads = [head for head in lost if head.part == part]
    picture = view.draw(
        pictures.losses,
        [f"{head.layer + 1}.{head.head + 1}" for head in heads],
        [lost[head] for head in heads],
        [fewer[head] for head in heads],
        kind=part,
        off=[head in off for head in heads],
        share=3,
        **scale,
    )
    worst = max(heads, key=lambda head: lost[head])
    said = view.say("interventions.part_caption_none")
    if lost[worst] > 0:
        said = view.say("interventions.part_caption", head=head_name(view, worst), points=differences.points_of(lost[worst]))
    if about:
        said = about
    title = view.say("interventions.importance_title", part=view.say(f"interventions.part_{part}"))
    return blocks.figure(f"importance-{part}", picture, said, title)


def _say(view: View, fact: Fact) -> str:
    values = {
        name: head_name(view, value, "interventions.head_long") if isinstance(value, HeadId) else value
        for name, value in fact.values.items()
    }
    return view.say(fact.key, **values)
