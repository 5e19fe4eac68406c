"""All heads together: a name for each that a number supports, their scores, and these scores over training."""

from __future__ import annotations

from playground.cursor import choices
from playground.figures import heads as pictures
from playground.inspection.attention import HALF
from playground.inspection.heads import HeadScores, NamedHead, entropy_change_fact, first_aligned_fact
from playground.queries.heads import measure_curves, name_heads
from playground.ui import blocks
from playground.ui.view import View
from playground.words import known, paragraph


def score_heads(view: View, part: str = "") -> HeadScores:
    """Scores every head of a kind, or of the shown one, at the shown step."""
    return name_heads(view.reader, view.run, view.step, view.look.step, part or view.part)


def name_head(view: View, name_key: str, part: str = "") -> str:
    """Translates a head's name; some names differ by kind of attention."""
    key = f"heads.name_{name_key}"
    part_key = f"{key}_{part or view.part}"
    return view.say(part_key if known(view.language, part_key) else key)


def label_heads(view: View, scored: HeadScores) -> list[list[list[str]]]:
    """Returns the name and its supporting number for each layer and head."""
    return [[[name_head(view, head.name), format_number(view, head)] for head in layer] for layer in scored.heads]


def format_number(view: View, head: NamedHead) -> str:
    """Formats the number that supports a name; for a sharp head its entropy in bits."""
    if head.name == "sharp":
        return view.say("heads.sharp_bits", bits=f"{head.number:.2f}")
    return "" if head.number is None else f"{head.number:.2f}"


def build_table(view: View, scored: HeadScores) -> list[dict]:
    """Builds a row for each head, and the rule that names them."""
    flat = [head for layer in scored.heads for head in layer]
    aligned, padded = (any(getattr(head, field) is not None for head in flat) for field in ("aligned", "padding"))
    columns = ["table_head", "table_name", *["table_right"] * aligned, "table_entropy", *["table_padding"] * padded, "table_second"]
    rows = [
        [
            view.say("heads.one", layer=layer + 1, head=at + 1),
            f"{name_head(view, head.name)} {format_number(view, head)}".strip(),
            *[format_share(head.aligned)] * aligned,
            f"{head.entropy:.2f}",
            *[format_share(head.padding)] * padded,
            f"{name_head(view, head.second.name)} {format_share(head.second.mass)}" if head.second else "–",
        ]
        for layer, heads in enumerate(scored.heads)
        for at, head in enumerate(heads)
    ]
    sentences = [view.say(choose_rule(view), sentences=scored.sentences, most=f"{scored.most:.2f}", step=view.look.step)]
    if any(head.name == "sharp" for head in flat):
        sentences.append(view.say("heads.rule_sharp"))
    common_name, count = scored.commonest()
    if common_name != "unclear" and 2 * count > len(flat) > 2:
        sentences.append(view.say("heads.shared", count=count, heads=len(flat), name=name_head(view, common_name)))
    return [
        blocks.table("names", [view.say(f"heads.{column}") for column in columns], rows, view.say("heads.table"), rowheads=True),
        blocks.text("rule", paragraph(sentences), css="pg-caption"),
    ]


def choose_rule(view: View) -> str:
    is_snapshot = view.step is not None and view.run.parameters_at(view.step)[0] != view.look.step
    return "heads.rule_replay" if is_snapshot else "heads.rule"


def format_share(value: float | None) -> str:
    """Formats a share with two digits, so that only 0 is written as 0; with three where it just misses the half that a name needs."""
    if value is None or value == 0:
        return "–" if value is None else "0"
    return "<0.01" if value < 0.005 else f"{value:.{3 if 0.495 <= value < HALF else 2}f}"


def draw_over_training(view: View, scored: HeadScores, chosen: tuple[int, int]) -> list[dict]:
    """Draws the chosen measure of every head along the replay; nothing without a replay that has attention."""
    series = measure_curves(view.reader, view.run, view.part)
    if series is None:
        return []
    measure = view.choice("measure", [option for option in choices("measure") if option != "aligned" or series.aligned is not None])
    values, most = (series.aligned, 1.0) if measure == "aligned" else (series.entropy, max(scored.most, float(series.entropy.max())))
    fact = first_aligned_fact(series.steps, values) if measure == "aligned" else entropy_change_fact(values)
    picture = view.draw(
        pictures.over_training,
        series.steps,
        values,
        chosen=chosen,
        kind=view.part,
        measure=measure,
        most=most,
        step=view.step,
    )
    caption = paragraph([view.say(fact.key, **fact.values), view.say("heads.curves_note", sentences=series.sentences)])
    options = [{"value": option, "label": view.say(f"heads.measure_{option}")} for option in choices("measure")]
    switch = blocks.choice("measure", "measure", view.say("heads.measure"), options, measure)
    return [
        blocks.figure("over-training", picture, caption, view.say("heads.curves"), hint=view.say("heads.curves_hint")),
        *([switch] if series.aligned is not None else []),
    ]
