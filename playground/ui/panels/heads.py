"""What is said of all heads together: a name for each where a number supports it, their scores, and how they came to look there."""

from __future__ import annotations

from playground.cursor import choices
from playground.figures import heads as pictures
from playground.inspection.attention import HALF
from playground.inspection.heads import HeadScores, NamedHead, entropy_change_fact, first_aligned_fact
from playground.queries.heads import measure_curves, name_heads
from playground.ui import blocks
from playground.ui.view import View
from playground.words import known, paragraph


def scores(view: View, part: str = "") -> HeadScores:
    """Every head of a kind, or of the shown one, at the step that is looked at."""
    return name_heads(view.reader, view.run, view.step, view.look.step, part or view.part)


def name(view: View, of: str, part: str = "") -> str:
    """A name in the page's language; some mean another thing in another kind of attention."""
    key = f"heads.name_{of}"
    apart = f"{key}_{part or view.part}"
    return view.say(apart if known(view.language, apart) else key)


def names(view: View, scored: HeadScores) -> list[list[list[str]]]:
    """For each layer and head its name and the number that supports it."""
    return [[[name(view, head.name), number(view, head)] for head in layer] for layer in scored.heads]


def number(view: View, head: NamedHead) -> str:
    """The number that supports a name; of a sharp head its entropy."""
    if head.name == "sharp":
        return view.say("heads.sharp_bits", bits=f"{head.number:.2f}")
    return "" if head.number is None else f"{head.number:.2f}"


def table(view: View, scored: HeadScores) -> list[dict]:
    """A line for each head, and the rule by which names are given."""
    flat = [head for layer in scored.heads for head in layer]
    aligned, padded = (any(getattr(head, field) is not None for head in flat) for field in ("aligned", "padding"))
    columns = ["table_head", "table_name", *["table_right"] * aligned, "table_entropy", *["table_padding"] * padded, "table_second"]
    rows = [
        [
            view.say("heads.one", layer=layer + 1, head=at + 1),
            f"{name(view, head.name)} {number(view, head)}".strip(),
            *[share(head.aligned)] * aligned,
            f"{head.entropy:.2f}",
            *[share(head.padding)] * padded,
            f"{name(view, head.second.name)} {share(head.second.mass)}" if head.second else "–",
        ]
        for layer, heads in enumerate(scored.heads)
        for at, head in enumerate(heads)
    ]
    said = [view.say(rule(view), sentences=scored.sentences, most=f"{scored.most:.2f}", step=view.look.step)]
    if any(head.name == "sharp" for head in flat):
        said.append(view.say("heads.rule_sharp"))
    commonest, count = scored.commonest()
    if commonest != "unclear" and 2 * count > len(flat) > 2:
        said.append(view.say("heads.shared", count=count, heads=len(flat), name=name(view, commonest)))
    return [
        blocks.table("names", [view.say(f"heads.{column}") for column in columns], rows, view.say("heads.table"), rowheads=True),
        blocks.text("rule", paragraph(said), css="pg-caption"),
    ]


def rule(view: View) -> str:
    pictured = view.step is not None and view.run.parameters_at(view.step)[0] != view.look.step
    return "heads.rule_replay" if pictured else "heads.rule"


def share(value: float | None) -> str:
    """A share with two digits, that says 0 only where nothing at all is there; with three where it just misses the half a name needs."""
    if value is None or value == 0:
        return "–" if value is None else "0"
    return "<0.01" if value < 0.005 else f"{value:.{3 if 0.495 <= value < HALF else 2}f}"


def over_training(view: View, scored: HeadScores, chosen: tuple[int, int]) -> list[dict]:
    """The curves along the replay, of the one measure or the other; nothing while there is no replay with attention."""
    found = measure_curves(view.reader, view.run, view.part)
    if found is None:
        return []
    measure = view.choice("measure", [name for name in choices("measure") if name != "aligned" or found.aligned is not None])
    values, most = (found.aligned, 1.0) if measure == "aligned" else (found.entropy, max(scored.most, float(found.entropy.max())))
    fact = first_aligned_fact(found.steps, values) if measure == "aligned" else entropy_change_fact(values)
    picture = view.draw(
        pictures.over_training,
        found.steps,
        values,
        chosen=chosen,
        kind=view.part,
        measure=measure,
        most=most,
        step=view.step,
    )
    said = paragraph([view.say(fact.key, **fact.values), view.say("heads.curves_note", sentences=found.sentences)])
    options = [{"value": each, "label": view.say(f"heads.measure_{each}")} for each in choices("measure")]
    switch = blocks.choice("measure", "measure", view.say("heads.measure"), options, measure)
    return [
        blocks.figure("over-training", picture, said, view.say("heads.curves"), hint=view.say("heads.curves_hint")),
        *([switch] if found.aligned is not None else []),
    ]
