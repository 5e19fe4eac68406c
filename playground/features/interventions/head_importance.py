"""The cost of a change over many sentences, and each head's importance. Computed after the rest of the tab, since both take longer."""

from playground.features.interventions import figure as pictures, query as interventions
from playground.features.interventions.panel import name_head, name_part, read_change
from playground.features.interventions.query import Importance
from playground.features.shared import blocks, panels
from playground.features.shared.queries.validation import evaluate_change
from playground.features.shared.view import View, format_share
from playground.inspection import Fact
from playground.inspection.interventions import Change, HeadId, importance_facts, list_parts, points_of
from playground.words import paragraph, percentage


@panels.declare("score", needs=panels.ATTENTION)
def build_score(view: View) -> dict:
    """Builds exact match and token accuracy before and after the link's changes."""
    change = read_change(view)
    evaluated = evaluate_change(view.reader, view.runs.corpora, view.run, view.step, change)
    before, after = (evaluation.validation for evaluation in evaluated)
    if not (all(evaluation.whole for evaluation in evaluated) or view.run.working):
        label = view.say("evaluation.trying", tried=after.pairs, asked=evaluated[1].of)
        return {"step": evaluated[1].step, "more": True, "blocks": [blocks.progress("score-progress", after.pairs, evaluated[1].of, label)]}
    rows = []
    for name, column in (("exact", "exact_match"), ("tokens", "token_accuracy")):
        points = 100 * (getattr(after, column) - getattr(before, column))
        change_key = "interventions.lost" if points < 0 else "interventions.gained" if points > 0 else "interventions.even"
        shares = [format_share(view, evaluation, column) for evaluation in evaluated]
        rows.append([view.say(f"interventions.{name}"), *shares, view.say(change_key, points=f"{abs(points):.1f}")])
    points = 100 * (before.exact_match - after.exact_match)
    key = "interventions.score_fell" if points > 0 else "interventions.score_rose" if points < 0 else "interventions.score_same"
    values = {
        "points": points_of(abs(points)),
        "before": percentage(before.exact_match),
        "after": percentage(after.exact_match),
    }
    sentences = [view.say(key, **values)] if change.off or change.memory else []
    sentences += [view.say("interventions.score_row")] if change.edit else []
    head = ["", *(view.say(f"interventions.{name}") for name in ("before", "after", "points"))]
    return {
        "step": view.step,
        "blocks": [
            blocks.table("score", head, rows, view.say("interventions.score", pairs=before.pairs), rowheads=True),
            *([blocks.text("score-said", paragraph(sentences), css="pg-caption")] if sentences else []),
        ],
    }


@panels.declare("importance", needs=panels.FORMULA)
def build_importance(view: View) -> dict:
    """Builds a bar for every head: the loss of exact match without it. Until all heads are measured, progress and an estimate."""
    importance = interventions.measure_importance(view.reader, view.runs.corpora, view.run, view.step)
    done = len(importance.without)
    title = blocks.text("importance-title", view.say("interventions.importance"), css="pg-heading")
    if done < importance.heads:
        label = view.say("interventions.importance_progress", done=done, heads=importance.heads)
        progress = blocks.progress("importance-progress", done, importance.heads, label)
        estimate = _build_estimate(view, importance.estimate) if importance.estimate else []
        return {"step": view.step, "more": True, "blocks": [title, progress, *estimate]}
    whole, (exact_lost, token_lost) = importance.whole.validation, _compute_losses(importance)
    facts = importance_facts(exact_lost, 100 * whole.exact_match)
    sentences = [_write_fact(view, fact) for fact in facts]
    exact, pair_count = percentage(whole.exact_match), importance.whole.of
    if importance.whole.whole:
        sentences.append(view.say("interventions.importance_caption", all=pair_count, exact=exact))
    else:
        sentences.append(view.say("interventions.importance_sample", pairs=whole.pairs, all=pair_count, exact=exact))
    bars, (together, more) = _draw_parts(view, exact_lost, token_lost), _compare_together(view, exact_lost)
    drawn = [title, blocks.text("importance-said", paragraph(sentences), css="pg-caption"), *together, bars]
    return {"step": view.step, "more": more, "blocks": drawn}


def _compare_together(view: View, exact_lost: dict[HeadId, float]) -> tuple[list[dict], bool]:
    """Builds what the heads that are off cost together, beside the most that one of them costs alone. Also returns whether sentences of a
    run that doesn't train are still to be evaluated."""
    off = read_change(view).off.intersection(exact_lost)
    if len(off) < 2:
        return [], False
    before, after = evaluate_change(view.reader, view.runs.corpora, view.run, view.step, Change(off=off))
    values = {"together": 100 * (before.validation.exact_match - after.validation.exact_match), "alone": max(map(exact_lost.get, off))}
    values = {name: f"{value:.1f}" for name, value in values.items()}
    text = view.say("interventions.off_together", count=len(off), pairs=after.validation.pairs, **values)
    return [blocks.text("off-together", text, css="pg-cell")], not (after.whole or view.run.working)


def _compute_losses(importance: Importance) -> tuple[dict[HeadId, float], dict[HeadId, float]]:
    """Returns the points of exact match, and those of token accuracy, lost without each head."""
    whole = importance.whole.validation
    exact_lost = {head: 100 * (whole.exact_match - validation.exact_match) for head, validation in importance.without.items()}
    return exact_lost, {head: 100 * (whole.token_accuracy - validation.token_accuracy) for head, validation in importance.without.items()}


def _build_estimate(view: View, importance: Importance) -> list[dict]:
    """Builds the same bars from a few sentences, while the others are still decoded."""
    counts = {"pairs": importance.whole.validation.pairs, "all": f"{importance.whole.of:,}"}
    caption = blocks.text("importance-said", view.say("interventions.importance_estimate", **counts), css="pg-caption")
    return [caption, _draw_parts(view, *_compute_losses(importance), view.say("interventions.importance_about", **counts))]


def _draw_parts(view: View, exact_lost: dict[HeadId, float], token_lost: dict[HeadId, float], about: str = "") -> dict:
    """Draws the bars of each kind of attention, on one scale. `about` is the caption of an estimate."""
    losses, off = [*exact_lost.values(), *token_lost.values()], read_change(view).off
    scale, parts = {"least": min(losses), "most": max(losses)}, list_parts(view.run.experiment.model)
    return blocks.row("importance", *(_draw_part(view, part, exact_lost, token_lost, off, scale, about) for part in parts), css="thirds")


def _draw_part(
    view: View, part: str, exact_lost: dict[HeadId, float], token_lost: dict[HeadId, float], off: frozenset[HeadId], scale: dict, about: str
) -> dict:
    heads = [head for head in exact_lost if head.part == part]
    picture = view.draw(
        pictures.losses,
        [f"{head.layer + 1}.{head.head + 1}" for head in heads],
        [exact_lost[head] for head in heads],
        [token_lost[head] for head in heads],
        kind=part,
        off=[head in off for head in heads],
        share=3,
        **scale,
    )
    worst = max(heads, key=lambda head: exact_lost[head])
    caption = view.say("interventions.part_caption_none")
    if exact_lost[worst] > 0:
        caption = view.say("interventions.part_caption", head=name_head(view, worst), points=points_of(exact_lost[worst]))
    if about:
        caption = about
    title = view.say("interventions.importance_title", part=name_part(view, part))
    return blocks.figure(f"importance-{part}", picture, caption, title)


def _write_fact(view: View, fact: Fact) -> str:
    values = {
        name: name_head(view, value, "interventions.head_long") if isinstance(value, HeadId) else value
        for name, value in fact.values.items()
    }
    return view.say(fact.key, **values)
